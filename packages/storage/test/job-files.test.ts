/** Job files in the data directory: what a crash leaves, and what somebody put in the place of a file. */
import { appendFile, mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { FolderJobFiles } from '../src/index.ts';
import type { JobFileName } from '../src/ports/index.ts';
import { temporary } from './temporary.ts';

const JOB = 'abcdefghijkl';
const text = (s: string): Uint8Array => new TextEncoder().encode(s);
let dir: Awaited<ReturnType<typeof temporary>>;
let files: FolderJobFiles;
beforeEach(async () => {
  dir = await temporary();
  files = new FolderJobFiles(dir.path);
});
afterEach(() => dir.dispose());

it('shows nothing of a job whose creation a crash cut off, creates it again, and removes it', async () => {
  const left = async (): Promise<void> => {
    await mkdir(join(dir.path, `${JOB}.new`, 'in'), { recursive: true });
    await writeFile(join(dir.path, `${JOB}.new`, 'program.js'), 'half');
  };
  await left();
  expect(await files.read(JOB, 'program.js')).toBeUndefined();
  await files.create(JOB, new Map<JobFileName, string>([['program.wasm', 'whole']]));
  expect((await readdir(join(dir.path, JOB))).sort()).toEqual(['in', 'program.wasm']);
  await left();
  await files.remove(JOB);
  expect(await readdir(dir.path)).toEqual([]);
});

it('names a folder that lies where a file belongs', async () => {
  await mkdir(join(dir.path, JOB, 'program.js'), { recursive: true });
  await mkdir(join(dir.path, JOB, 'stdin'));
  const damaged = { code: 'DAMAGED_DATA', message: expect.stringContaining('is a folder where a file belongs') };
  await expect(files.read(JOB, 'program.js')).rejects.toMatchObject(damaged);
  await expect(files.stream(JOB, 'program.js')).rejects.toMatchObject(damaged);
  await expect(files.stdin(JOB)).rejects.toMatchObject(damaged);
});

it('cuts a torn tail of standard input', async () => {
  await mkdir(join(dir.path, JOB));
  const stdin = await files.stdin(JOB);
  await stdin.append(text('one'), false);
  stdin.close();
  await appendFile(join(dir.path, JOB, 'stdin'), Buffer.from([9, 0, 0, 0, 1, 2]));
  const again = await files.stdin(JOB);
  expect([again.messages, again.bytes, again.ended]).toEqual([1, 3, false]);
  await again.append(text('two'), true);
  expect(Buffer.from(again.message(2)).toString()).toBe('two');
  again.close();
});
