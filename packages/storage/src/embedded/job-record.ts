/**
 * `jobs/<job>/record.json`: the folder's own description. With it `mayfly check` verifies that the folder is whole, and
 * registers the job again when the registry was lost. It decides nothing while the registry is there.
 *
 *   {version, job, records?, sums}     sealed; `records`: all that the registry has of the job, once it has ended;
 *   `sums`: bytes and CRC-32 of each file
 */
import { open, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { MayflyError } from '@mayfly/wire';
import type { JobNote, SealedFiles } from '../ports/index.ts';
import { seal, unseal } from '../sealed-text.ts';
import { replaceFile } from './durable-file.ts';

export interface JobFolderRecord extends JobNote {
  version: 1;
  sums: Record<string, [bytes: number, crc: number]>;
}

export const RECORD = 'record.json';
/** Statistics, which are written some seconds after the end. They have checksums of their own as well. */
const LATE = ['history.bin', 'run.json'];
/** Itself, and what is being written. */
const UNSUMMED = /^(?:record\.json|[^/]*\.new|out\/journal\.new)$/;

const newBlock = (): Buffer => Buffer.allocUnsafeSlow(1 << 20);

const WANTED: Readonly<Record<SealedFiles, (path: string) => boolean>> = {
  submitted: (path) => path !== 'stdin' && !path.startsWith('out/'),
  ended: (path) => !LATE.includes(path),
  all: () => true,
};

/** @throws as the file system does */
export async function writeRecord(dir: string, note: JobNote, of: SealedFiles): Promise<void> {
  const record: JobFolderRecord = { version: 1, ...note, sums: await sumsOf(dir, WANTED[of]) };
  const path = join(dir, RECORD);
  await replaceFile(path, `${path}.new`, (handle) => handle.writeFile(seal(JSON.stringify(record))));
}

export async function recorded(dir: string): Promise<SealedFiles | 'nothing' | 'damaged'> {
  let known: JobFolderRecord | undefined;
  try {
    known = await readRecord(dir);
  } catch {
    return 'damaged';
  }
  if (!known) return 'nothing';
  if (!known.records) return 'submitted';
  const names = await readdir(dir).catch((): string[] => []);
  return LATE.some((file) => names.includes(file) && !known.sums[file]) ? 'ended' : 'all';
}

/** Undefined: there is none. @throws MayflyError DAMAGED_DATA, or as the file system does */
export async function readRecord(dir: string): Promise<JobFolderRecord | undefined> {
  let text: string;
  try {
    text = await readFile(join(dir, RECORD), 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
  try {
    const record = JSON.parse(unseal(text, RECORD)) as JobFolderRecord;
    if (record.version === 1) return record;
  } catch {
    // Falls through.
  }
  throw new MayflyError('DAMAGED_DATA', `${RECORD} is damaged`);
}

/** Of all files below a folder, by their path in it. */
export async function sumsOf(dir: string, wanted: (path: string) => boolean): Promise<JobFolderRecord['sums']> {
  const out: JobFolderRecord['sums'] = {};
  let block: Buffer | undefined;
  for (const e of await readdir(dir, { withFileTypes: true, recursive: true })) {
    if (!e.isFile()) continue;
    const path = join(e.parentPath ?? e.path, e.name)
      .slice(dir.length + 1)
      .replaceAll('\\', '/');
    if (!UNSUMMED.test(path) && wanted(path)) out[path] = await sumOf(join(dir, path), (block ??= newBlock()));
  }
  return out;
}

/** @param block what is read at once; one for many files, since most of them are small and there are many */
export async function sumOf(path: string, block = newBlock()): Promise<[bytes: number, crc: number]> {
  let [bytes, crc] = [0, 0];
  const file = await open(path, 'r');
  try {
    for (;;) {
      const { bytesRead } = await file.read(block, 0, block.length, null);
      if (bytesRead === 0) return [bytes, crc];
      bytes += bytesRead;
      crc = crc32(block.subarray(0, bytesRead), crc);
    }
  } finally {
    await file.close();
  }
}
