/** What a running server is made of. */
import type { Archive, ImageStore, JobFiles, JobOutput, MessageLog, Registry, Sharing } from '@mayfly/storage/ports';
import type { Board } from './board.ts';
import type { Disk } from './disk.ts';
import type { Logger } from './logger.ts';
import type { Metrics } from './metrics.ts';
import type { ResolvedOptions } from './options.ts';
import type { Rooms } from './rooms.ts';
import type { Secrets } from './secrets.ts';
import type { Webhooks } from './webhooks.ts';

export interface RuntimeDeps {
  options: ResolvedOptions;
  disk: Disk;
  log: MessageLog;
  images: ImageStore;
  registry: Registry;
  files: JobFiles;
  output: JobOutput;
  archive: Archive;
  secrets: Secrets;
  rooms: Rooms;
  board: Board;
  webhooks: Webhooks;
  logger: Logger;
  metrics: Metrics;
  sharing: Sharing | undefined;
}
