/** `mayfly copy`: what a server keeps, from a data directory into a database, or back. */
import { existsSync } from 'node:fs';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { copyData, isDatabase, openPlace, type Copied } from '@mayfly/server';
import { MayflyError } from '@mayfly/wire';
import { CommandError, Exit } from '../exit-codes.ts';
import { passing, warn } from '../terminal.ts';

export async function copy(from: string, target: string | undefined): Promise<number> {
  const to = target ?? (process.env.MAYFLY_STORE || undefined);
  if (to === undefined)
    throw new CommandError(
      'name the target: a new data directory, or a database (postgres://…, or MAYFLY_STORE)',
      Exit.USAGE,
    );
  for (const place of [from, to])
    if (/^[a-z]+:\/\//.test(place) && !isDatabase(place))
      throw new CommandError(
        `"${place.split('://')[0]}://…" is not a database that Mayfly uses: postgres://…`,
        Exit.USAGE,
      );
  // Opening a folder would make a new data directory of it.
  if (!isDatabase(from) && !existsSync(join(from, 'registry')))
    throw new CommandError(`${from} is not a data directory: it has no registry`, Exit.FAILED);
  if (!isDatabase(to) && existsSync(to) && (await readdir(to)).length > 0 && !existsSync(join(to, 'registry')))
    throw new CommandError(`${to} is not empty, and is not a data directory: name a new one`, Exit.FAILED);
  const scratch = await mkdtemp(join(tmpdir(), 'mayfly-copy-'));
  try {
    const { jobs, records } = await between(from, to, scratch);
    warn(`copied ${jobs === 1 ? '1 job' : `${jobs} jobs`}, ${records} records; the source is as it was`);
    return Exit.OK;
  } catch (error) {
    if (error instanceof MayflyError) throw new CommandError(error.message, Exit.FAILED);
    throw error;
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

async function between(from: string, to: string, scratch: string): Promise<Copied> {
  const source = await openPlace(from, join(scratch, 'from'));
  try {
    const target = await openPlace(to, join(scratch, 'to'));
    try {
      return await copyData(source, target, (job, n, of) => {
        passing(`${n + 1} of ${of}: ${job}`);
      });
    } finally {
      passing(undefined);
      await target.close();
    }
  } finally {
    await source.close();
  }
}
