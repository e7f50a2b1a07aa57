/**
 * A fault on request, for the project's own tests: a headless node that was started with MAYFLY_RANK_FAULTS dies at the
 * n-th call that a rank makes to its device, if the job's arguments contain `fault=task:n`. Calls are counted, not
 * timed, so the same arguments kill at the same place of the program. Only the first incarnation dies. At its end a
 * rank reports how many calls it made, so that a test can draw a fault from the calls of a run without one.
 */
import type { Device } from '@mayfly/mpi';

export interface FaultSeam {
  /** Ends this node as a crash would. */
  die(): void;
  /** Calls that a rank's first incarnation made from its beginning to its end. */
  made(task: number, calls: number): void;
}

/** @returns what is to be called when the rank has ended */
export function plantFault(
  device: Device,
  task: number,
  incarnation: number,
  args: readonly string[],
  seam: FaultSeam,
): () => void {
  if (incarnation !== 0) return () => undefined;
  const found = args.map((a) => /^fault=(\d+):(\d+)$/.exec(a)).find((m) => m && Number(m[1]) === task);
  const fatal = found ? Number(found[2]) : Infinity;
  let calls = 0;
  const counted = <K extends 'send' | 'wait' | 'poll' | 'pull' | 'clock'>(name: K): void => {
    const own = device[name].bind(device) as (...a: never[]) => unknown;
    device[name] = ((...a: never[]) => {
      if (++calls === fatal) seam.die();
      return own(...a);
    }) as Device[K];
  };
  for (const name of ['send', 'wait', 'poll', 'pull', 'clock'] as const) counted(name);
  return () => seam.made(task, calls);
}
