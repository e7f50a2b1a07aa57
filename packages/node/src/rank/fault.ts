/**
 * A fault on request, for the project's own tests: a headless node that was started with MAYFLY_RANK_FAULTS dies at the n-th call that a rank makes to its
 * device, where the job's arguments say `fault=task:n`. Calls are counted, not timed, so the same arguments kill at the same place of the program. Only the first
 * incarnation dies.
 */
import type { Device } from '@mayfly/mpi';

export function plantFault(device: Device, task: number, incarnation: number, args: readonly string[], die: () => void): void {
  const found = args.map((a) => /^fault=(\d+):(\d+)$/.exec(a)).find((m) => m && Number(m[1]) === task);
  if (!found || incarnation !== 0) return;
  let left = Number(found[2]);
  const counted = <K extends 'send' | 'wait' | 'poll' | 'pull' | 'clock'>(name: K): void => {
    const own = device[name].bind(device) as (...a: never[]) => unknown;
    device[name] = ((...a: never[]) => {
      if (--left === 0) die();
      return own(...a);
    }) as Device[K];
  };
  for (const name of ['send', 'wait', 'poll', 'pull', 'clock'] as const) counted(name);
}
