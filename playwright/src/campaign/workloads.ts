/**
 * What the campaign runs: a data table. A program is held at its end until its faults are done, so that none comes too
 * late: behind it, rank 0 waits for a line of standard input and all ranks for rank 0.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readExample, type Program } from '../client.ts';
import { ROOT } from '../server.ts';
import { moduleOf } from './modules.ts';

export interface Workload {
  example: string;
  size: number;
  /** Some seconds on two slow cores. */
  args: string[];
  /** What a native run printed, as committed; absent: the answer is that of an undisturbed run on tabs. */
  native?: string;
}

export const WORKLOADS: Workload[] = [
  { example: 'ring', size: 4, args: ['--laps', '800'] },
  { example: 'pi', size: 4, args: ['--intervals', '200000000', '--rounds', '600'] },
  { example: 'heat', size: 4, args: ['--points', '126', '--steps', '500', '--pictures', '4'] },
  { example: 'mandelbrot', size: 4, args: ['--width', '640', '--iterations', '6000'] },
  { example: 'sample-sort', size: 4, args: ['--keys', '50000', '--rounds', '20'] },
  { example: 'cg', size: 4, args: ['--matrix', '1138_bus.mtx', '--repeat', '1'] },
];

/** Checkpointed transparently, wherever they are. */
export const C_WORKLOADS: Workload[] = [
  { example: 'nas-ep', size: 4, args: ['W'] },
  { example: 'nas-is', size: 4, args: ['W'] },
  { example: 'nas-cg', size: 4, args: ['S'] },
  { example: 'nas-mg', size: 4, args: ['S'] },
  { example: 'nas-bt', size: 4, args: ['S'] },
  { example: 'c-ring', size: 4, args: ['--laps', '800'] },
  { example: 'c-pi', size: 4, args: ['--intervals', '2e7', '--rounds', '100'] },
  { example: 'c-heat', size: 4, args: ['--points', '126', '--steps', '400', '--pictures', '2'] },
  { example: 'c-coupling', size: 4, args: ['--cells', '2000', '--steps', '3000', '--every', '150'] },
  { example: 'c-nbody', size: 4, args: ['--bodies', '600', '--steps', '100'] },
  { example: 'c-sample-sort', size: 4, args: ['--keys', '50000', '--rounds', '12'] },
  { example: 'c-pcg', size: 4, args: ['--matrix', '1138_bus.mtx'] },
  { example: 'cxx-raytracer', size: 4, args: ['--width', '320', '--height', '240', '--samples', '1'] },
];

/** Every row of examples/native-runs.json on 4 and on 9 ranks, where it allows them. */
export function nativeWorkloads(): Workload[] {
  const examples = join(ROOT, 'examples');
  const rows = JSON.parse(readFileSync(join(examples, 'native-runs.json'), 'utf8')) as {
    name: string;
    args: string[];
    ranks: number[];
    expected?: string;
  }[];
  return rows.flatMap(({ name, args, ranks, expected = 'expected' }) =>
    ranks
      .filter((n) => n > 1)
      .map((size) => ({
        example: name,
        size,
        args,
        native: readFileSync(join(examples, name, `${expected}-${size}.txt`), 'utf8'),
      })),
  );
}

/** For `npm run verify`: of both kinds, and none that takes long. */
export const SHORT_WORKLOADS: Workload[] = [
  ...WORKLOADS.filter((w) => w.example !== 'cg' && w.example !== 'sample-sort'),
  ...C_WORKLOADS.filter((w) => w.example === 'c-nbody' || w.example === 'c-heat'),
];

/** Behind the last MPI call of a C or C++ program: its MPI_Finalize is ours, by the profiling interface. */
const HOLD_C = `#include <mpi.h>
#include <stdio.h>
int MPI_Finalize(void) {
  int rank;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) getchar();
  PMPI_Barrier(MPI_COMM_WORLD);
  return PMPI_Finalize();
}
`;
const HOLD_TS = (entry: string): string => `import './${entry}';
import { COMM_WORLD as comm, stdin } from 'mayfly';
if (comm.rank === 0) stdin.readLine();
comm.barrier();
`;
const HELD = 'held-for-faults';

/** The example with the wait behind it. Submit it with `interactive`. */
export async function held(example: string): Promise<Program> {
  const p = await readExample(example);
  const { program } = p;
  if (program.language === 'typescript')
    return {
      ...p,
      program: {
        ...program,
        entry: `${HELD}.ts`,
        sources: { ...program.sources, [`${HELD}.ts`]: HOLD_TS(program.entry) },
      },
    };
  return { ...p, program: await moduleOf(example, program, { [`${HELD}.c`]: HOLD_C }) };
}
