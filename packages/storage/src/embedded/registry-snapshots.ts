/** Snapshots of the registry, and the files that they make unnecessary (G4 of registry.ts). */
import { readdir, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import {
  encodeChanges,
  encodeRecords,
  encodeRegistryHead,
  fileName,
  parseFileName,
  type Change,
} from './registry-format.ts';
import { replaceFile, syncDirectory } from './durable-file.ts';
import { drawSalt } from './segment.ts';

/** Records of a snapshot have about so many bytes. */
const CHUNK_BYTES = 256 * 1024;

/** The state before commit `base`. @returns bytes of the file */
export async function writeSnapshot(
  directory: string,
  base: number,
  entries: readonly [string, string][],
): Promise<number> {
  const salt = drawSalt();
  const path = join(directory, fileName({ base, salt, kind: 'snap' }));
  let bytes = 0;
  await replaceFile(path, `${path}.new`, async (handle) => {
    const put = async (b: Uint8Array): Promise<void> => {
      await handle.writeFile(b);
      bytes += b.length;
    };
    await put(encodeRegistryHead(base, salt));
    let number = base;
    for (let i = 0; i < entries.length;) {
      const chunk: Change[] = [];
      for (let n = 0; n < CHUNK_BYTES && i < entries.length; i++) {
        chunk.push(entries[i]!);
        n += entries[i]![0].length + entries[i]![1].length;
      }
      await put(encodeRecords([encodeChanges(chunk)], salt, number, number));
      number++;
    }
    await put(encodeRecords([], salt, number, number, true));
  });
  await syncDirectory(directory);
  return bytes;
}

/** Snapshots and logs with a base below these. */
export async function removeBefore(directory: string, base: { snapshot: number; log: number }): Promise<void> {
  for (const name of await readdir(directory)) {
    const n = parseFileName(name);
    if (n && n.base < (n.kind === 'snap' ? base.snapshot : base.log))
      await unlink(join(directory, name)).catch(() => undefined);
  }
}
