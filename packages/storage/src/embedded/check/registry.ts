/** Checks the files of the registry, and makes a sound one of what can still be read. */
import { mkdir, readdir, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { readRegistryFiles } from '../registry-files.ts';
import { openFileRegistry } from '../registry.ts';
import { syncDirectory } from '../durable-file.ts';
import { unreadable, type Problem } from './problem.ts';

export interface RegistryCheck {
  problems: Problem[];
  /** What can be read of it. */
  entries: Map<string, unknown>;
  /** It must be rebuilt before a server starts. */
  lost: boolean;
}

/** @throws MayflyError VERSION_MISMATCH */
export async function checkRegistry(dataDir: string): Promise<RegistryCheck> {
  const directory = join(dataDir, 'registry');
  const out: RegistryCheck = { problems: [], entries: new Map(), lost: false };
  try {
    await readdir(directory);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    out.problems.push({ file: 'registry', what: code === 'ENOENT' ? 'is missing' : unreadable(error) });
    out.lost = code !== 'ENOENT';
    return out;
  }
  const files = await readRegistryFiles(directory);
  for (const [key, text] of files.state) out.entries.set(key, JSON.parse(text));
  out.problems = [
    ...files.losses.map((p) => ({ file: `registry/${p.file}`, what: p.what })),
    ...files.problems.map((p) => ({ file: `registry/${p.file}`, what: p.what, harmless: true })),
  ];
  out.lost = files.losses.length > 0;
  return out;
}

/** Makes a sound registry of `entries`; the old folder is moved to `aside`. */
export async function rebuildRegistry(
  dataDir: string,
  aside: string,
  entries: ReadonlyMap<string, unknown>,
): Promise<void> {
  const [directory, fresh] = [join(dataDir, 'registry'), join(dataDir, 'registry.rebuilt')];
  await mkdir(aside, { recursive: true, mode: 0o700 });
  // Of an attempt that did not come to its end.
  await rename(fresh, join(aside, 'registry.rebuilt')).catch(() => undefined);
  const registry = await openFileRegistry(fresh);
  const all = [...entries];
  for (let i = 0; i < all.length; i += 1000) await registry.commit(all.slice(i, i + 1000));
  await registry.close();
  await rename(directory, join(aside, 'registry')).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error;
  });
  await rename(fresh, directory);
  await syncDirectory(dataDir);
}
