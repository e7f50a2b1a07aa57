/** What the end of a team (dissolve.ts) and the beginning of one (make-team.ts) have in common. */
import { andThen, type Dissolved } from '../contract/dissolved.ts';
import { jobKey } from './keys.ts';
import { release } from './slots.ts';
import type { Core, Task } from './state.ts';

/** That the log of a fenced task had. */
export const arrivalsOf = ({ logs }: NonNullable<Task['fence']>): number => Math.max(0, ...logs.map((l) => l.arrivals));

/**
 * One commit for `unit`, whose record and tasks name their teams already: its members wait for slots again. They may
 * get some before this is durable, but no incarnation is fenced: its commit comes after this one.
 */
export function regroup(core: Core, unit: readonly Task[], parted: Dissolved, message: string): void {
  const { job } = unit[0]!;
  const { record } = job;
  job.dissolving = true;
  record.dissolved = andThen(record.dissolved ?? [], parted);
  for (const m of unit) {
    m.phase = 'idle';
    release(core, m);
  }
  core.persist({ kind: 'dissolve', job }, [[jobKey(record.spec.id), { ...record }]]);
  core.emit({ type: 'log', level: 'info', message, job: record.spec.id, task: parted.team[0]! });
  core.reschedule = true;
  core.changed(job);
}
