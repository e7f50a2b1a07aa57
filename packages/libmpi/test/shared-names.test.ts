/**
 * Directories of a C program: what one rank makes, all have, also across images and restores at every call and inside
 * each wait (shared-names.ts).
 */
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { buildModule } from '@mayfly/toolchain/c';
import { CFabric, ok, type RankResult } from './fabric/index.ts';

const file = (name: string): string => readFileSync(new URL(name, import.meta.url), 'utf8');
const includes = { 'mpi.h': file('../include/mpi.h') };
const build = (suspending?: string[]): WebAssembly.Module =>
  new WebAssembly.Module(
    buildModule({ '/main.c': file('programs/shared-names.c') }, { includes, ...(suspending ? { suspending } : {}) })
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
