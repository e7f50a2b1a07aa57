/**
 * The Mayfly server as a factory: `createServer(options)` listens when it resolves and has recovered every job by then.
 */
export { createServer } from './create-server.ts';
export { createSharedServer, type SharedServer, type SharedServerOptions } from './shared-server.ts';
export {
  defaultLimits,
  defaultRetention,
  MOST_RANK_MEMORY,
  type MayflyServer,
  type Retention,
  type ServerLimits,
  type ServerOptions,
} from './options.ts';
export { restoreDirectory, type BackupInfo } from '@mayfly/storage';
export { copyData, isDatabase, openPlace, type Copied } from './copy-data.ts';
export { checkDataDirectory, type CheckOptions, type DataCheck } from './check/check.ts';
