/** `mayfly backup` and `mayfly restore`: the data directory of a server, with its running jobs. */
import { restoreDirectory } from '@mayfly/server';
import { MayflyError } from '@mayfly/wire';
import { Client } from '../client.ts';
import { needConnection, type ConnectionOptions } from '../connection.ts';
import { CommandError, Exit } from '../exit-codes.ts';
import { say, sayLine, warn } from '../terminal.ts';

const size = (bytes: number): string =>
  bytes < 1 << 20 ? `${Math.ceil(bytes / 1024)} KB` : `${(bytes / (1 << 20)).toFixed(1)} MB`;

export async function backup(options: ConnectionOptions): Promise<number> {
  const client = new Client(await needConnection(options));
  try {
    const b = await client.backup();
    sayLine(b.path);
    warn(
      `${b.files} files, ${size(b.bytes)}, on the server's disk; jobs were stopped for ` + `${Math.ceil(b.pauseMs)} ms`,
    );
    return Exit.OK;
  } finally {
    await client.close();
  }
}

export async function restore(from: string, options: { dataDir: string }): Promise<number> {
  try {
    const b = await restoreDirectory(from, options.dataDir);
    warn(`restored ${b.files} files, ${size(b.bytes)}, as of ${new Date(b.at).toISOString()}`);
  } catch (error) {
    if (error instanceof MayflyError) throw new CommandError(error.message, Exit.FAILED);
    throw error;
  }
  say(`mayfly server --data-dir ${options.dataDir}`);
  return Exit.OK;
}
