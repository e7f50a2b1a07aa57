/**
 * Writes the result files of a job below a directory. Their names come from other machines, so they are judged here
 * again.
 */
import { lstat, mkdir, open, rename } from 'node:fs/promises';
import { dirname, join, resolve, sep } from 'node:path';
import type { JobView } from '@mayfly/wire';
import type { Client } from './client.ts';

const SAFE = /^[A-Za-z0-9_][A-Za-z0-9_.@+:-]*(\/[A-Za-z0-9_][A-Za-z0-9_.@+:-]*)*$/;
/** On Windows a colon would name a drive or a stream of a file. */
const local = (path: string): string => (process.platform === 'win32' ? path.replaceAll(':', '_') : path);

/** @param spare absolute paths that are never overwritten (the program's own files) */
export async function saveResultFiles(
  client: Client,
  view: JobView,
  directory: string,
  spare: ReadonlySet<string> = new Set(),
): Promise<{ saved: string[]; refused: { path: string; why: string }[] }> {
  const saved: string[] = [];
  const refused: { path: string; why: string }[] = [];
  for (const { path } of view.outputs) {
    const full = resolve(directory, local(path));
    const why =
      !SAFE.test(path) || !full.startsWith(resolve(directory) + sep)
        ? 'not a plain relative name'
        : spare.has(full)
          ? 'would overwrite a file of the program'
          : await linkOnTheWay(directory, local(path));
    if (why) {
      refused.push({ path, why });
      continue;
    }
    const bytes = await client.file(view.id, path);
    await mkdir(dirname(full), { recursive: true });
    // Whole or not at all, also when this process ends meanwhile.
    const temporary = `${full}.part-${process.pid}`;
    const handle = await open(temporary, 'w');
    try {
      await handle.writeFile(bytes);
    } finally {
      await handle.close();
    }
    await rename(temporary, full);
    saved.push(path);
  }
  return { saved, refused };
}

async function linkOnTheWay(directory: string, path: string): Promise<string | undefined> {
  let at = resolve(directory);
  for (const segment of path.split('/')) {
    at = join(at, segment);
    const info = await lstat(at).catch(() => undefined);
    if (info?.isSymbolicLink()) return 'a link stands there';
    if (at === resolve(directory, path) && info?.isDirectory()) return 'a folder with that name already exists';
  }
  return undefined;
}
