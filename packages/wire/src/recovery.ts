/** How long the recovery from the loss of a rank took: one definition for pages and reports. */
import type { Fault } from './job.ts';
import type { RollbackView, WavesView } from './waves.ts';

/** ms. `total` is the sum of the phases that are known. */
export interface Recovery {
  /** Until the old incarnation was fenced and a slot was found. */
  place: number | undefined;
  /** Until its checkpoint was there and it began. */
  start: number | undefined;
  /** Of old work, before it does something new. */
  repeat: number | undefined;
  total: number;
}

/**
 * Undefined: it has not recovered. `waves`: of a job under coordinated checkpointing. There a rank does not know itself
 * what it repeats, and is said to have recovered as it begins: the rollback tells what was undone, of the rank that had
 * most.
 */
export function recoveryOf(f: Fault, waves: Pick<WavesView, 'rolledBack'> | undefined): Recovery | undefined {
  const { assignedAfterMs: place, startedAfterMs: started, recoveredAfterMs: recovered } = f;
  if (recovered === undefined) return undefined;
  if (place === undefined || started === undefined)
    return { place: undefined, start: undefined, repeat: undefined, total: recovered };
  const start = Math.max(0, started - place);
  const repeat = waves ? rollbackOf(waves.rolledBack, f)?.mostMs : Math.max(0, recovered - started);
  return { place, start, repeat, total: place + start + (repeat ?? 0) };
}

/** The rollback that the loss of a rank came to; undefined: none is listed. */
function rollbackOf(rollbacks: readonly RollbackView[], fault: Pick<Fault, 'at' | 'task'>): RollbackView | undefined {
  const far = (r: RollbackView): number => Math.abs(r.at - fault.at);
  return rollbacks
    .filter((r) => r.ranks.includes(fault.task))
    .reduce<RollbackView | undefined>((best, r) => (best && far(best) <= far(r) ? best : r), undefined);
}
