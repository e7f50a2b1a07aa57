/**
 * A deadlock that nodes report. deadlock.ts compares the reports of ranks (that they wait, and how far they are) with
 * the logs. But only its node knows whether a rank waits or keeps its peers waiting. One node that lies about its rank
 * could therefore end a job whose other ranks really wait.
 *
 *  D12 A deadlock ends a job when the same ranks wait at the same place of their logs a second time, after all of them
 *      were started elsewhere. A rank that re-executes repeats what is logged: a deadlocked program comes to the same
 *      place again, while the rank of a node that lied goes on. The first report counts if there is no other node to
 *      try, if the owner knows the nodes (rooms), or if all of them have a record (reputation.ts). A node without a
 *      record lied if its rank goes on elsewhere although no message has come for it; it is blamed (comparison.ts).
 *
 * Each doubt that proves right moves the logs on, so a job is doubted finitely often. Losable: a server that restarts
 * asks once more.
 */
import { suspect } from './comparison.ts';
import { endJob } from './end.ts';
import { takesRanks } from './free-slots.ts';
import { hasRecord } from './reputation.ts';
import { lose, tellToDrop } from './restart.ts';
import { roomOf } from './rooms-of-job.ts';
import { kindOfJob, over, recoveryOf, type Core, type Job, type Task } from './state.ts';

export function deadlocked(core: Core, job: Job, report: string): void {
  if (over(job) || job.record.state !== 'running') return;
  const waiting = job.tasks.filter((t) => t.phase === 'running');
  // What the logs confirm of a rank's word, and nothing that it could vary.
  const picture = JSON.stringify(waiting.map((t) => [t.task, t.activity?.arrivals, t.activity?.sends]));
  if (job.doubted === picture || !othersToAsk(core, job, waiting))
    return endJob(core, job, 'failed', { code: 'DEADLOCK', message: report });
  job.doubted = picture;
  core.emit({
    type: 'log',
    level: 'info',
    message: `possible deadlock: its ranks seem to wait for each other; restarting them elsewhere to check\n${report}`,
    job: job.record.spec.id,
  });
  for (const t of waiting) {
    if (t.node !== undefined)
      tellToDrop(core, t, t.node, {
        code: 'FENCED',
        message:
          'Possible deadlock: the ranks of this job seem to wait for each other. They restart elsewhere to check.',
      });
    const { node } = t;
    const before = job.faults.length;
    lose(core, t, 'doubted', { hearsay: true });
    if (node !== undefined && !hasRecord(core, node))
      suspect(t, {
        node,
        kind: 'wait',
        took: Infinity,
        arrivals: t.logged?.arrivals ?? 0,
        fault: job.faults.length > before ? before : undefined,
      });
  }
}

/** Is there a node that could take one of these ranks, and has it not now? */
function othersToAsk(core: Core, job: Job, waiting: readonly Task[]): boolean {
  /** Of nodes that the owner does not know. */
  const strangers = waiting.filter((t) => roomOf(job.record.spec, t.task) === undefined);
  if (!recoveryOf(core, job).restarts || strangers.every((t) => t.node !== undefined && hasRecord(core, t.node)))
    return false;
  return [...core.nodes.values()].some(
    (n) =>
      n.room === undefined &&
      n.slots > 0 &&
      n.runs.includes(kindOfJob(job)) &&
      takesRanks(core, n) &&
      strangers.some((t) => t.node !== n.id),
  );
}
