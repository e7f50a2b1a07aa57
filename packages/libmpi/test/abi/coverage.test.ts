/**
 * What the code says of itself: the coverage page, the list of suspending calls, and what a missing function answers.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { createLayer, type Device } from '@mayfly/mpi';
import { expect, test } from 'vitest';
import { constantNames } from '../../src/abi/constants.ts';
import { NEVER_ANSWERED, coverageText } from '../../src/abi/coverage.ts';
import { EXTENSIONS } from '../../src/abi/extensions.ts';
import { FUNCTIONS } from '../../src/abi/functions.ts';
import { createBinding, supported } from '../../src/binding/index.ts';
import { SUSPENDING } from '../../src/binding/suspending-calls.ts';

const NAMES = new Set(FUNCTIONS.flatMap((f) => [f.name, `P${f.name}`]));

test('docs/mpi-coverage.md is current', async () => {
  await expect(coverageText(supported())).toMatchFileSnapshot('../../../../docs/mpi-coverage.md');
});

test('each error class that the standard names is provoked once, or the page says why no call answers it', () => {
  const source = readFileSync(new URL('../../conformance/classes.c', import.meta.url), 'utf8');
  const tests = (macro: string): string[] =>
    [...source.matchAll(new RegExp(`^${macro}\\((ERR_\\w+),`, 'gm'))].map((m) => m[1]!);
  const named = constantNames()
    .filter((n) => /^MPI_ERR_(?!LASTCODE)/.test(n))
    .map((n) => n.slice(4));
  expect(named.length).toBeGreaterThan(60);
  expect([...tests('CLASS'), ...tests('RAISED')].sort()).toEqual(named.sort());
  expect(tests('RAISED').sort()).toEqual(Object.keys(NEVER_ANSWERED).sort());
});

test('a program of the tests calls every function that is there, with large counts too', () => {
  const texts = ['../../conformance/', '../binding/programs/', '../', '../binding/'].flatMap((folder) => {
    const at = new URL(folder, import.meta.url);
    return readdirSync(at)
      .filter((f) => /\.([ch]|test\.ts)$/.test(f))
      .map((f) => readFileSync(new URL(f, at), 'utf8'));
  });
  const text = texts.join('\n');
  const called = new Set([...text.matchAll(/\bMPI_(\w+)\s*\(/g)].map((m) => m[1]!));
  // Calls that macros of forms.c and environment.c put together.
  for (const [, blocking, rest] of text.matchAll(/^ *(?:FORMS|SCALAR)\((\w+), (\w+),/gm))
    for (const c of ['', '_c'])
      for (const n of [`${blocking!}${c}`, `I${rest!}${c}`, `${blocking!}_init${c}`]) called.add(n);
  for (const [, kind] of text.matchAll(/\bBACK\((\w+),/g)) called.add(`${kind!}_c2f`).add(`${kind!}_f2c`);
  for (const [, kind] of text.matchAll(/\bWHOLE\((\w+),/g)) called.add(`${kind!}_toint`).add(`${kind!}_fromint`);
  const there = supported();
  expect(there.size).toBeGreaterThan(500);
  expect(
    FUNCTIONS.map((f) => ({ name: f.name.slice(4), base: (f.largeOf ?? f.name).slice(4) }))
      .filter((f) => there.has(f.base) && !called.has(f.name))
      .map((f) => f.name),
  ).toEqual([]);
});

test('every implementation is of a function that the header declares, and of no large form twice', () => {
  expect([...supported()].filter((n) => !NAMES.has(`MPI_${n}`))).toEqual([]);
});

test('suspending names are functions of the header; no look-up is among them', () => {
  expect(SUSPENDING.filter((n) => !NAMES.has(n))).toEqual(['MPIX_Checkpoint_poll', 'MPI_Ckpt_here', 'PMPI_Ckpt_here']);
  for (const n of ['MPI_Recv', 'PMPI_Recv_c', 'MPI_Waitall', 'MPI_Allreduce_c', 'MPI_Comm_split'])
    expect(SUSPENDING).toContain(n);
  for (const n of ['MPI_Comm_rank', 'MPI_Wtime', 'MPI_Get_count', 'MPI_Irecv', 'MPI_Type_commit'])
    expect(SUSPENDING).not.toContain(n);
});

class Aborted extends Error {}
const stated: number[] = [];
const silent = {
  task: 0,
  size: 1,
  unexpectedBytes: 0,
  send: () => undefined,
  unexpected: () => undefined,
  progress: (fraction: number) => void stated.push(fraction),
} as unknown as Device;
const rank = () => {
  const memory = new WebAssembly.Memory({ initial: 1 });
  let top = 4096;
  const binding = createBinding({
    layer: createLayer(silent, () => new Uint8Array(memory.buffer)),
    program: {
      memory,
      callable: () => () => undefined,
      callableLast: () => () => undefined,
      malloc: (n) => (top += n) - n,
      free: () => undefined,
      abort: (code, message) => {
        throw new Aborted(`${code} ${message}`);
      },
    },
    processorName: () => 'here',
    version: 'test',
  });
  return { binding, memory };
};

test('every declared function is exported under both names, and the missing ones answer a clear error', () => {
  const { binding } = rank();
  const own = [...EXTENSIONS.flatMap((f) => [f.name, `P${f.name}`]), 'MPIX_Checkpoint_poll', 'MPIX_Progress'];
  expect(new Set(Object.keys(binding.functions))).toEqual(new Set([...NAMES, ...own]));
  binding.functions['MPI_Init']!(0, 0);
  binding.functions['MPI_Comm_set_errhandler']!(0x101, 0x143);
  const there = supported();
  for (const f of FUNCTIONS) {
    if (there.has((f.largeOf ?? f.name).slice(4)) || there.has(f.name.slice(4))) continue;
    const args = f.parameters.map((p) => (/^(MPI_Count|MPI_Offset) \w+$/.test(p) ? 0n : 0));
    expect([f.name, binding.functions[f.name]!(...args)]).toEqual([f.name, 55]);
  }
  binding.functions['MPI_Comm_set_errhandler']!(0x101, 0x141);
  const absent = FUNCTIONS.find(
    (f) =>
      !there.has((f.largeOf ?? f.name).slice(4)) &&
      !there.has(f.name.slice(4)) &&
      !f.parameters.some((p) => /^(MPI_Count|MPI_Offset) \w+$/.test(p)),
  );
  if (absent)
    expect(() => binding.functions[absent.name]!(...absent.parameters.map(() => 0))).toThrow(
      `55 ${absent.name}: Mayfly does not have this function yet (docs/mpi-coverage.md) ` +
        '[MPI_ERR_UNSUPPORTED_OPERATION]',
    );
});

test('§11.2.1: before MPI_Init and after MPI_Finalize only few functions may be called', () => {
  const { binding } = rank();
  expect(() => binding.functions['MPI_Comm_rank']!(0x101, 1024)).toThrow('MPI_Comm_rank: called before MPI_Init');
  expect(binding.functions['MPI_Initialized']!(1024)).toBe(0);
  binding.functions['MPI_Init']!(0, 0);
  expect(() => binding.functions['MPI_Init']!(0, 0)).toThrow('called a second time');
  binding.functions['MPI_Finalize']!();
  expect(() => binding.functions['MPI_Barrier']!(0x101)).toThrow('called after MPI_Finalize');
});

test('MPIX_Progress states a share from 0 to 1, also before MPI_Init; other numbers are an error', () => {
  const { binding } = rank();
  const say = (done: number, total: number): unknown => binding.functions['MPIX_Progress']!(done, total);
  expect([say(0, 4), say(1, 4), say(5, 4), say(0, 0)]).toEqual([0, 0, 0, 0]);
  expect(stated).toEqual([0, 0.25, 1, 1]);
  for (const [done, total] of [
    [-1, 4],
    [1, -4],
    [NaN, 4],
    [1, NaN],
  ] as const)
    expect(() => say(done, total)).toThrow(/MPIX_Progress.*expected numbers from 0/s);
  expect(stated).toHaveLength(4);
});
