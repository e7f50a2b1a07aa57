/**
 * MPI-IO through a real C program (chapter 14), on several ranks, and again with an image and a restore of every rank
 * in a fresh instance at suspending calls and inside their first wait. The program checks itself; natively, under
 * MPICH, it does so too, and leaves the same files.
 */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { buildModule } from '@mayfly/toolchain/c';
import { SUSPENDING } from '../../src/index.ts';
import { CFabric, ok } from '../fabric/index.ts';

const file = (name: string): string => readFileSync(new URL(name, import.meta.url), 'utf8');
const suspending = SUSPENDING.map((n) => `env.${n}`);

let fabric: CFabric;
let module: WebAssembly.Module;
beforeAll(() => {
  fabric = new CFabric();
  const includes = { 'mpi.h': file('../../include/mpi.h'), 'check.h': file('programs/check.h') };
  module = new WebAssembly.Module(
    buildModule({ '/files.c': file('programs/files.c') }, { includes, suspending }).wasm as Uint8Array<ArrayBuffer>,
  );
});
afterAll(() => fabric.close());

/**
 * What MPICH 4.0.2 left natively (`mpicc files.c && mpiexec -n …`), by number of processes; `shared.dat` depends on who
 * comes first.
 */
const NATIVE: Readonly<Record<number, Record<string, string>>> = {
  1: {
    'external.dat': '92adc47ef883b961',
    'open.dat': 'e3b0c44298fc1c14',
    'pointers.dat': 'bb9af77d7f28a4e0',
    'views.dat': '5db13f13b9574316',
  },
  3: {
    'external.dat': '594dcd2c7fbe2fe0',
    'open.dat': 'e3b0c44298fc1c14',
    'pointers.dat': '6c301880f9d1422f',
    'views.dat': 'c836d1bbd3d044ba',
  },
  4: {
    'external.dat': '83e443dde8c6a42e',
    'open.dat': 'e3b0c44298fc1c14',
    'pointers.dat': 'c85e81184a552f53',
    'views.dat': '3bcfe6ea0c1aae56',
  },
};
/** SHA-256, its first 16 digits. */
const prints = (files: Record<string, Uint8Array>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(files)
      .filter(([p]) => p !== 'shared.dat')
      .map(([p, b]): [string, string] => [p, createHash('sha256').update(b).digest('hex').slice(0, 16)]),
  );

test.each([1, 3, 4])('on %i ranks', async (size) => {
  const ranks = await fabric.run(module, size);
  expect(ranks.map((r) => r.exit?.abort ?? r.died)).toEqual(ranks.map(() => undefined));
  expect(ranks.map((r) => r.stdout)).toEqual(ranks.map((_, i) => `${i}: ok\n`));
  expect(prints(ok(ranks)[0]!.shared)).toEqual(NATIVE[size]);
});

test('stored and restored at calls and inside waits', async () => {
  const ranks = await fabric.run(module, 2, { args: ['part'], cycle: 10, bodiless: 0.3 });
  expect(ranks.map((r) => r.stdout)).toEqual(['0: ok\n', '1: ok\n']);
  for (const r of ok(ranks)) expect(r.images).toBeGreaterThan(10);
});
