/** How many bytes a data directory takes on its disk. */
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { StorageUsage } from '../ports/index.ts';

/** Of all files below a directory; what vanishes meanwhile counts nothing. */
export async function directoryBytes(dir: string): Promise<number> {
  let sum = 0;
  const entries = await readdir(dir, { withFileTypes: true }).catch(() => []);
  for (const e of entries) {
    const path = join(dir, e.name);
    if (e.isDirectory()) sum += await directoryBytes(path);
    else if (e.isFile()) sum += await fileBytes(path);
  }
  return sum;
}

const fileBytes = (path: string): Promise<number> =>
  stat(path).then(
    (s) => s.blocks * 512,
    () => 0,
  );

export async function usageOf(dataDir: string): Promise<StorageUsage> {
  const usage: StorageUsage = { log: 0, images: 0, jobs: 0, registry: 0, total: 0 };
  for (const e of await readdir(dataDir, { withFileTypes: true }).catch(() => [])) {
    const path = join(dataDir, e.name);
    const bytes = e.isDirectory() ? await directoryBytes(path) : e.isFile() ? await fileBytes(path) : 0;
    usage.total += bytes;
    if (e.name === 'log' || e.name === 'images' || e.name === 'jobs' || e.name === 'registry') usage[e.name] = bytes;
  }
  return usage;
}
