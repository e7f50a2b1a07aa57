/**
 * Our differential set (packages/libmpi/conformance): programs whose tests quote the standard print on the fabric what
 * they print natively under MPICH. `npm run conformance` runs the same on nodes and a server, on more numbers of ranks
 * and with ranks killed.
 */
import { readFileSync } from 'node:fs';
import { patient } from '@mayfly/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { buildModule } from '@mayfly/toolchain/c';
import { collate, judge, programs, recorded, type Conformance } from '../conformance/outputs.ts';
import { SUSPENDING } from '../src/index.ts';
import { CFabric, ok, type RunOptions } from './fabric/index.ts';

const file = (name: string): string => readFileSync(new URL(name, import.meta.url), 'utf8');
const includes = { 'mpi.h': file('../include/mpi.h'), 'check.h': file('../conformance/check.h') };
const suspending = SUSPENDING.map((n) => `env.${n}`);
/** Only to end a hang. */
const PATIENCE = patient(240_000);

let fabric: CFabric;
beforeAll(() => void (fabric = new CFabric()));
afterAll(() => fabric.close());

/** Processes that spawn.c starts, and has ended before others come. */
const SPAWNED = 23;

const modules = new Map<string, WebAssembly.Module>();
function moduleOf({ name, source }: Conformance, width = '-mlong64'): WebAssembly.Module {
  let m = modules.get(name + width);
  if (!m)
    modules.set(
      name + width,
      (m = new WebAssembly.Module(
        buildModule({ [`/${name}.c`]: source }, { includes, suspending, flags: ['-w', '-O0', width] })
          .wasm as Uint8Array<ArrayBuffer>,
      )),
    );
  return m;
}

async function problems(
  program: Conformance,
  size: number,
  options: RunOptions = {},
  width?: string,
): Promise<string[]> {
  const ranks = ok(
    await fabric.run(moduleOf(program, width), size, {
      patience: PATIENCE,
      ...(program.name === 'spawn' ? { spare: SPAWNED, inboxBytes: 1 << 22 } : {}),
      ...options,
    }),
  );
  if (options.cycle || options.unwind) for (const r of ranks) expect(r.images).toBeGreaterThan(0);
  return judge(
    program,
    size,
    collate(
      program,
      ranks.map((r) => r.stdout),
    ),
    recorded(program, size),
  ).problems;
}

/** The fewest, the most, and one between: an odd number where there is one. */
const some = (ranks: readonly number[]): number[] => [
  ...new Set([ranks[0]!, ranks.find((n) => n > 2 && n % 2 === 1) ?? ranks[1]!, ranks.at(-1)!]),
];
/** Programs that are also stored and restored in a fresh instance at every n-th call, and inside their waits. */
const CYCLED: Readonly<Record<string, number>> = { partitioned: 1, requests: 9, spawn: 3 };

test('a list of blocks is there again after an image has been written over it', async () => {
  const pack = programs().find((p) => p.name === 'pack')!;
  expect(await problems(pack, 2, { unwind: 1 })).toEqual([]);
});

describe.each(programs())('$name', (program) => {
  test.each(some(program.ranks))('on %i ranks', async (size) => {
    expect(await problems(program, size)).toEqual([]);
  });
  const cycle = CYCLED[program.name];
  if (cycle !== undefined)
    test('stored and restored at the calls', async () => {
      expect(await problems(program, 2, { cycle })).toEqual([]);
    });
});

// MPI_LONG and its kin are then types of the same names, of other sizes.
test.each(programs().filter((p) => /\bMPI_(?:UNSIGNED_)?LONG\b|\bMPI_LONG_INT\b/.test(p.source)))(
  '$name with a long of 32 bits',
  async (program) => {
    for (const size of some(program.ranks)) expect(await problems(program, size, {}, '-mno-long64')).toEqual([]);
  },
);
