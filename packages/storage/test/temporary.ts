import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A fresh directory, and how to remove it. */
export async function temporary(): Promise<{ path: string; dispose(): Promise<void> }> {
  const path = await mkdtemp(join(tmpdir(), 'mayfly-storage-'));
  return { path, dispose: () => rm(path, { recursive: true, force: true }) };
}
