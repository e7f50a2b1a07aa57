/** A backup of the data directory, while the server runs. */
import type { FastifyInstance } from 'fastify';
import { join, resolve } from 'node:path';
import type { BackupInfo, Storage } from '@mayfly/storage';
import type { ResolvedOptions } from './options.ts';

/**
 * Into `<data directory>-backups/<moment>`: beside it, so that the file system can link and retention does not count
 * it.
 */
export async function backUp(
  storage: Storage,
  o: ResolvedOptions,
  log: FastifyInstance['log'],
): Promise<BackupInfo & { path: string; pauseMs: number }> {
  const at = Date.now();
  const root = `${resolve(o.dataDir)}-backups`;
  const path = join(root, new Date(at).toISOString().replaceAll(':', '-').replace('Z', ''));
  const done = await storage.backup(path, { version: o.version, at });
  log.info({ path, files: done.files, bytes: done.bytes, pauseMs: done.pauseMs }, 'backup taken');
  return { path, ...done };
}
