/** The faults of a job: each loss of an incarnation once, how far its recovery is, and what the registry lacks. */
import type { FaultCause, FaultRecord } from './events.ts';
import { faultKey } from './keys.ts';
import type { Core, Job, Task } from './state.ts';
import type { LossDetail } from './suspicions.ts';

/** Changes for the faults that are not in the registry as they are now. Those beyond go with the job's record. */
export function faultChanges(job: Job): (readonly [string, FaultRecord])[] {
  const out = [...job.dirtyFaults].map((n) => [faultKey(job.record.spec.id, n), { ...job.faults[n]! }] as const);
  job.dirtyFaults.clear();
  return out;
}

/**
 * Notes the end of an incarnation (D7: once for each). Returns its place in the list; undefined: that is full, and the
 * loss is counted.
 */
export function addFault(core: Core, t: Task, cause: FaultCause, { hearsay, why }: LossDetail): number | undefined {
  const { job } = t;
  const node = t.node === undefined ? undefined : core.nodes.get(t.node);
  if (node && cause !== 'killed' && cause !== 'team') node.faults++;
  if (job.faults.length >= core.settings.maxFaults) {
    const more = job.record.moreFaults;
    job.record.moreFaults = { ...more, [cause]: (more?.[cause] ?? 0) + 1 };
    job.moreFaultsDirty = true;
    return undefined;
  }
  const fault: FaultRecord = { at: core.now, task: t.task, incarnation: t.incarnation!, cause };
  if (hearsay) fault.hearsay = true;
  if (why !== undefined) fault.error = why;
  if (t.node !== undefined) fault.node = t.node;
  t.openFaults.push(job.faults.length);
  job.dirtyFaults.add(job.faults.length);
  return job.faults.push(fault) - 1;
}

const since = (core: Core, f: FaultRecord): number => Math.max(0, core.now - f.at - (f.pausedMs ?? 0));

/** How far a restart has come: the phases of a recovery, for the faults that it answers. */
export function reached(core: Core, t: Task, phase: 'assignedAfterMs' | 'startedAfterMs'): void {
  for (const n of t.openFaults) {
    const f = t.job.faults[n]!;
    f[phase] = since(core, f);
    t.job.dirtyFaults.add(n);
  }
}

/** The task took its first step beyond what earlier incarnations did, or came back. */
export function recovered(core: Core, t: Task): void {
  if (t.openFaults.length === 0) return;
  for (const n of t.openFaults) {
    const f = t.job.faults[n]!;
    f.recoveredAfterMs = since(core, f);
    t.job.dirtyFaults.add(n);
  }
  t.openFaults = [];
  core.changed(t.job);
  core.persist({ kind: 'nothing' }, faultChanges(t.job));
}
