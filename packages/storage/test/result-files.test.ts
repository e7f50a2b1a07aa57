/** Result files on the disk: what is written beside them. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { taskId } from '@mayfly/wire';
import { FolderResultFiles, readFileIndex } from '../src/embedded/output/result-files.ts';
import { temporary } from './temporary.ts';

const task = taskId(3);
let dir: Awaited<ReturnType<typeof temporary>>;
beforeEach(async () => (dir = await temporary()));
afterEach(() => dir.dispose());

it('the list of files is as long as there are files, however many have come and gone', async () => {
  const files = new FolderResultFiles(dir.path, () => undefined);
  for (let i = 0; i < 300; i++) {
    files.perform({ type: 'create', path: `a/${i % 3}`, task, input: false });
    if (i < 297) files.perform({ type: 'remove', path: `a/${i % 3}` });
  }
  await files.sync();
  files.close();
  const index = (await readFile(join(dir.path, 'files.index'), 'utf8')).split('\n').slice(0, -1);
  expect(index.map((line) => (JSON.parse(line) as { path: string }).path)).toEqual(['a/0', 'a/1', 'a/2']);

  const found = await readFileIndex(dir.path);
  expect([...found]).toEqual(['a/0', 'a/1', 'a/2'].map((path) => [path, { task, size: 0 }]));
  const again = new FolderResultFiles(dir.path, () => undefined, found);
  again.perform({ type: 'create', path: 'b', task, input: false });
  await again.sync();
  again.close();
  expect([...(await readFileIndex(dir.path)).keys()]).toEqual(['a/0', 'a/1', 'a/2', 'b']);
});
