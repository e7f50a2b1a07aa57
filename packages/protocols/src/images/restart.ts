/**
 * Restarts: the newest image that is sound is chosen, as soon as a commit that was under way has ended (C4). An end of
 * the task is the end of its images.
 */
import type { ImageId, Incarnation, JobId, TaskId } from '@mayfly/wire';
import { discardAll } from './retention.ts';
import { rebuilds } from './near.ts';
import { drop, refuse } from './offers.ts';
import { emit, jobOf, taskOf, type State, type Task } from './state.ts';

export function restart(s: State, id: JobId, task: TaskId, incarnation: Incarnation): void {
  const t = taskOf(jobOf(s, id), task);
  if (t.acting !== undefined && incarnation < t.acting) return;
  t.acting = incarnation;
  const checking = t.restart?.checking;
  t.restart = checking === undefined ? { incarnation } : { incarnation, checking };
  const o = t.offer;
  if (o && o.stage !== 'committing' && o.stage !== 'rebuilding' && o.manifest.incarnation < incarnation)
    refuse(s, o, { code: 'FENCED', message: `Incarnation ${incarnation} of task ${task} acts.` });
  if (t.offer?.stage !== 'committing' && checking === undefined) choose(s, t); // C4
}

/** The newest image that is sound; a damaged one costs time and no answer. */
export function choose(s: State, t: Task): void {
  if (!t.restart || t.restart.checking !== undefined || t.job.teams.has(t.task)) return;
  if (t.job.open?.policy.waveOf) return chooseOnLine(s, t);
  if (rebuilds(s, t)) return;
  const newest = t.images.at(-1);
  if (newest) {
    t.restart.checking = newest.image;
    emit(s, { type: 'check', image: newest.image });
  } else if (t.trimmed) lost(s, t);
  else chosen(s, t, undefined);
}

/** Nothing is left from which the task could restart. */
export function lost(s: State, t: Task): void {
  const { incarnation } = t.restart!;
  delete t.restart;
  emit(s, {
    type: 'lost',
    job: t.job.id,
    task: t.task,
    incarnation,
    error: {
      code: 'LOST_CHECKPOINTS',
      message:
        `All images of rank ${t.task} are damaged, and the logs before them are already trimmed, so the ` +
        'rank cannot restart.',
    },
  });
}

/** C8 (waves.ts). */
function chooseOnLine(s: State, t: Task): void {
  const image = t.job.waves.line.get(t.task);
  if (image === undefined) return chosen(s, t, undefined);
  if (!t.images.some((i) => i.image === image)) return damagedOnLine(s, t);
  t.restart!.checking = image;
  emit(s, { type: 'check', image });
}

/** C8. */
export function damagedOnLine(s: State, t: Task): void {
  delete t.restart;
  emit(s, { type: 'waveDamaged', job: t.job.id, task: t.task });
}

export function chosen(s: State, t: Task, image: ImageId | undefined): void {
  const { incarnation } = t.restart!;
  delete t.restart;
  const answer = { type: 'chosen' as const, job: t.job.id, task: t.task, incarnation };
  const record = t.images.find((i) => i.image === image);
  emit(s, record === undefined ? answer : { ...answer, image: record.image, position: record.position });
}

/** The task has ended. */
export function end(s: State, t: Task): void {
  t.done = true;
  delete t.restart;
  delete t.near;
  for (const o of [...s.offers.values()])
    if (o.task === t && o !== t.offer) {
      if (o.stage === 'committing') o.unwanted = true;
      else drop(s, o);
    }
  for (const [image, u] of s.unanswered) if (u.task === t) s.unanswered.delete(image);
  if (t.offer?.stage === 'committing') t.offer.unwanted = true;
  else {
    if (t.offer) refuse(s, t.offer, { code: 'UNKNOWN_JOB', message: 'The task has ended.' });
    discardAll(s, t);
  }
}
