/**
 * Directories of a C program, which all ranks have, and files to which several ranks append; also across images and
 * restores at every call and inside each wait (shared-names.ts).
 */
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { buildModule } from '@mayfly/toolchain/c';
import { CFabric, ok, type RankResult } from './fabric/index.ts';

const file = (name: string): string => readFileSync(new URL(name, import.meta.url), 'utf8');
const includes = { 'mpi.h': file('../include/mpi.h') };
const build = (suspending?: string[], name = 'shared-names'): WebAssembly.Module =>
  new WebAssembly.Module(
    buildModule({ '/main.c': file(`programs/${name}.c`) }, { includes, ...(suspending ? { suspending } : {}) })
      .wasm as Uint8Array<ArrayBuffer>,
  );

let fabric: CFabric;
beforeAll(() => void (fabric = new CFabric()));
afterAll(() => fabric.close());

/** As POSIX has it for processes of one machine, but for what the comments name. */
const SAID = [
  `0: stat out: No such file or directory
0: mkdir out: ok
0: mkdir no/such: No such file or directory
0: mkdir a-file/x: Not a directory
0: nowhere/x: No such file or directory
made once: 1
0: rmdir out: Directory not empty
0: rmdir out/deep: ok
0: rmdir out: ok
0: rmdir out: No such file or directory
0: stat out: No such file or directory
0: mkdir a: ok
0: mkdir a/b: ok
0: rename: ok
0: stat a: No such file or directory
0: stat c/b/x: file
0: mkdir /tmp/own: ok
0: mkdir .own: ok
`,
  // The last two: private names.
  `1: stat out: directory
1: nowhere/x: No such file or directory
1: mkdir out: File exists
1: mkdir out/deep: ok
1: remove out: Directory not empty
1: stat a: No such file or directory
1: stat c/b: directory
1: rename: ok
1: stat handler: directory
1: stat /tmp/own: No such file or directory
1: stat .own: No such file or directory
`,
  // stat c/b: the file of rank 0 stays.
  `2: opendir out: ok
2: nowhere/x: No such file or directory
2: remove once: ok
2: stat once: No such file or directory
2: unlink: ok
2: stat d: directory
2: stat c/b: directory
2: stat c: directory
2: mkdir handler: ok
2: unlink: ok
`,
];
const results = (ranks: readonly RankResult[]): string[] => Object.keys(ranks[0]!.shared).sort();

test('what one rank makes, all have', async () => {
  const ranks = ok(await fabric.run(build(), 3));
  expect(ranks.map((r) => r.stdout)).toEqual(SAID);
  expect(results(ranks)).toEqual(['a-file', 'c/b/x', 'd/y']);
  expect(ranks[1]!.stderr).toContain('the directory /c/b has files of other ranks');
  expect(ranks[0]!.stderr + ranks[2]!.stderr).toBe('');
});

test('with an image and a restore at every call, and inside each wait', async () => {
  const module = build();
  const calm = ok(await fabric.run(module, 3));
  const cycled = ok(await fabric.run(module, 3, { cycle: 1, bodiless: 0.3 }));
  expect(cycled.map((r) => r.stdout)).toEqual(SAID);
  expect(cycled.map((r) => r.stderr)).toEqual(calm.map((r) => r.stderr));
  expect(results(cycled)).toEqual(results(calm));
  for (const r of cycled) expect(r.images).toBeGreaterThan(40);
});

test('a program of an older build has its own directories, as before', async () => {
  const [rank] = ok(await fabric.run(build(['env.MPI_Barrier', 'env.MPI_Init', 'env.MPI_Allreduce']), 1));
  expect(rank!.stdout).toContain('0: mkdir out: ok\n');
  expect(rank!.stdout).toContain('0: rmdir out: ok\n');
  expect(results([rank!])).toEqual(['a-file', 'c/b/x']);
});

test.each([[{}], [{ cycle: 1, bodiless: 0.3 }]])('ranks append to one file, %j', async (options) => {
  const module = build(undefined, 'appending');
  const files = { 'in.txt': new TextEncoder().encode('input\n') };
  const ranks = ok(await fabric.run(module, 3, { ...options, files }));
  const lines = [0, 1, 2].flatMap((turn) => [2, 1, 0].map((rank) => `turn ${turn} of rank ${rank}\n`));
  expect(
    Object.fromEntries(Object.entries(ranks[0]!.shared).map(([path, b]) => [path, new TextDecoder().decode(b)])),
  ).toEqual({
    'all.txt': `head\n${lines.join('')}`,
    'in.txt': 'input\nturn 0 of rank 0\nturn 1 of rank 1\n',
    'own.txt': 'turn 0 of rank 1\nturn 1 of rank 1\n',
  });
  // It reads what it has appended itself, and says so where that is not all.
  expect(ranks[1]!.stdout).toBe(
    'own.txt: turn 0 of rank 1, turn 1 of rank 1,\nall.txt: turn 0 of rank 1, turn 1 of rank 1, turn 2 of rank 1,\n',
  );
  expect(ranks.map((r) => r.stderr)).toEqual([
    '',
    'mayfly: /all.txt: other ranks have written to this file too. This rank has only what it has written itself\n',
    '',
  ]);
});
