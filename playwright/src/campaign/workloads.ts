/**
 * What the campaign runs: a data table. A program is held at its end until its faults are done, so that none comes too late: a
 * wrapper waits, behind the program, for a line of standard input on rank 0, and all ranks for rank 0.
 */
import { readExample, type Program } from '../client.ts';

export interface Workload {
  example: string;
  size: number;
  /** Some seconds on two slow cores. */
  args: string[];
}

export const WORKLOADS: Workload[] = [
  { example: 'ring', size: 4, args: ['--laps', '800'] },
  { example: 'pi', size: 4, args: ['--intervals', '200000000', '--rounds', '600'] },
  { example: 'heat', size: 4, args: ['--points', '126', '--steps', '500', '--pictures', '4'] },
  { example: 'mandelbrot', size: 4, args: ['--width', '640', '--iterations', '6000'] },
  { example: 'sample-sort', size: 4, args: ['--keys', '50000', '--rounds', '20'] },
  { example: 'cg', size: 4, args: ['--matrix', '1138_bus.mtx', '--repeat', '1'] },
];

const HELD = 'held-for-faults.ts';

/** The example with the wait behind it. Submit it with `interactive`. */
export async function held(example: string): Promise<Program> {
  const p = await readExample(example);
  const wrapper = `import './${p.entry}';
import { COMM_WORLD as comm, stdin } from 'mayfly';
if (comm.rank === 0) stdin.readLine();
comm.barrier();
`;
  return { ...p, entry: HELD, sources: { ...p.sources, [HELD]: wrapper } };
}
