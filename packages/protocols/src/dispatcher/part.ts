/**
 * Which team that runs is dissolved: one that found too few slots (D23), where several nodes together have a slot for
 * each of its ranks and none has room for all of them (D30, last-images.ts). With room on one node it moves instead
 * (move.ts).
 */
import { fitsApart, fitsElsewhere } from './dissolve.ts';
import { type Core, type Job, type Task } from './state.ts';
import { mayStop, unitOf } from './unit.ts';

export function apart(core: Core, job: Job): readonly Task[] | undefined {
  for (const t of job.tasks) {
    if (!t.oversubscribed || t.team?.[0] !== t.task || t.moves?.by !== undefined) continue;
    const unit = unitOf(core, t);
    if (unit.every(mayStop) && !fitsElsewhere(core, unit) && fitsApart(core, unit)) return unit;
  }
  return undefined;
}
