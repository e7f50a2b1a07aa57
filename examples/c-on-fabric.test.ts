/**
 * Every MPI call a checkpoint: the C examples, compiled by our toolchain, on an in-memory fabric where each rank is
 * saved and restored in a fresh instance at every call that may wait. They must print what they print when left alone,
 * and write the same files; and what they print when left alone is what they print natively (c-on-nodes.test.ts shows
 * that on nodes; here it is shown for all numbers of ranks on demand).
 *
 *   MAYFLY_ROWS=nas-bt,cxx-raytracer   other rows of native-runs.json, compared with the committed output on all their
 *   numbers of ranks
 *   MAYFLY_CYCLE=10                    an image at every tenth call, and in each first wait
 *
 * The rows make thousands of images: there a new instance is made at every hundredth, and in between one whose memory
 * and globals were spoilt (host/cycle.ts).
 */
import { patient } from '@mayfly/testing';
import { CFabric, ok } from '@mayfly/libmpi/test-fabric';
import { buildModule } from '@mayfly/toolchain/c';
import { afterAll, describe, expect, it } from 'vitest';
import { expectedOutput, readExample, rows, type Row } from './c-sources.ts';

const fabric = new CFabric();
afterAll(() => fabric.close());

function build(name: string): WebAssembly.Module {
  const { sources, flags } = readExample(name);
  const { wasm } = buildModule(Object.fromEntries(Object.entries(sources).map(([path, text]) => [`/${path}`, text])), {
    flags,
  });
  return new WebAssembly.Module(wasm as Uint8Array<ArrayBuffer>);
}

async function run(
  name: string,
  module: WebAssembly.Module,
  args: string[],
  ranks: number,
  cycle?: number,
  fresh?: number,
): Promise<{ stdout: string; files: Record<string, Buffer>; images: number }> {
  const done = ok(
    await fabric.run(module, ranks, {
      args,
      files: { ...readExample(name).files },
      ...(cycle === undefined ? {} : { cycle, fresh }),
    }),
  );
  return {
    stdout: done.map((r) => r.stdout).join(''),
    files: Object.fromEntries(
      done.flatMap((r) => Object.entries(r.files).map(([path, bytes]) => [path, Buffer.from(bytes)] as const)),
    ),
    images: done.reduce((sum, r) => sum + r.images, 0),
  };
}

/** Small runs: each rank is saved some dozens of times. */
const SMALL: readonly (readonly [name: string, ranks: number, ...args: string[]])[] = [
  ['c-ring', 3, '--laps', '5'],
  ['c-pi', 3, '--intervals', '2e4', '--rounds', '4'],
  ['c-heat', 4, '--points', '30', '--steps', '4', '--pictures', '1'],
  ['c-coupling', 4, '--cells', '20', '--steps', '6', '--every', '2'],
  ['c-nbody', 3, '--bodies', '40', '--steps', '2'],
  ['c-sample-sort', 3, '--keys', '500', '--rounds', '2'],
  ['c-pcg', 3, '--poisson', '4'],
];

describe.each(SMALL)('%s', (name, ranks, ...args) => {
  it('prints and writes the same when every call is a checkpoint', async () => {
    const module = build(name);
    const calm = await run(name, module, args, ranks);
    expect(calm.stdout).toMatch(/^PASS: /m);
    const cycled = await run(name, module, args, ranks, 1);
    expect(cycled.stdout).toBe(calm.stdout);
    expect(Object.keys(cycled.files)).toEqual(Object.keys(calm.files));
    for (const [path, bytes] of Object.entries(calm.files)) expect(cycled.files[path]!.equals(bytes)).toBe(true);
    expect(cycled.images).toBeGreaterThanOrEqual(4 * ranks);
  });
});

const wanted = process.env['MAYFLY_ROWS']?.split(',') ?? [];
const chosen: readonly Row[] = rows.filter((r) => r.expected === undefined && wanted.includes(r.name));
if (chosen.length > 0)
  describe.each(chosen)('$name', (row) => {
    it.each(row.ranks)(
      'on %i ranks prints what it prints natively, also with checkpoints',
      async (ranks) => {
        const module = build(row.name);
        expect((await run(row.name, module, row.args, ranks)).stdout).toBe(expectedOutput(row, ranks));
        const cycled = await run(row.name, module, row.args, ranks, Number(process.env['MAYFLY_CYCLE'] ?? 1), 100);
        process.stderr.write(
          `${row.name} on ${ranks}: ${cycled.images} images; processor time so far ` +
            `${Math.round(process.cpuUsage().user / 1e6 + process.cpuUsage().system / 1e6)} s\n`,
        );
        expect(cycled.stdout).toBe(expectedOutput(row, ranks));
      },
      patient(3_600_000),
    );
  });
