/**
 * Coordinated checkpointing at the Checkpoint Server: an image belongs to a wave and is kept as long as that, however
 * many there are. Which waves count is for the checkpoint scheduler to say.
 *
 *  C7 An image is taken for the wave under way only. When a wave ends without a commit, its images go, those included
 *     whose commit is under way.
 *  C8 A task restarts from the image that the line names, or from its start where the line names none (restart.ts). No
 *     other image takes the place of one that is damaged.
 */
import type { ImageId, TaskId } from '@mayfly/wire';
import { refuse } from './offers.ts';
import { rebuildsInWave, waveAnswers } from './near-waves.ts';
import { discardThese } from './retention.ts';
import { OVER, emit, waveOf, type Job, type State, type Task } from './state.ts';
import type { CheckpointServerEvent } from './events.ts';

/** Of a cluster; undefined: all tasks. */
type Tasks = readonly TaskId[] | undefined;

export function begin(job: Job, wave: number, tasks: Tasks): void {
  end(job, tasks);
  job.waves.underWay.push({ wave, tasks: tasks && new Set(tasks) });
}

/** No wave of these tasks is under way. */
function end(job: Job, tasks: Tasks): void {
  job.waves.underWay = job.waves.underWay.filter((w) => tasks && !tasks.some((t) => w.tasks?.has(t)));
}

export function over(s: State, job: Job, wave: number, committed: boolean, tasks: Tasks): void {
  job.waves.underWay = job.waves.underWay.filter(
    (w) => w.wave !== wave || (tasks && !tasks.some((t) => w.tasks?.has(t))),
  );
  waveAnswers(s, of(job, tasks), wave, committed);
  if (!committed) drop(s, job, (w) => w === wave, tasks);
}

const of = (job: Job, tasks: Tasks): Task[] => [...job.tasks.values()].filter((t) => !tasks || tasks.includes(t.task));

export function forget(s: State, job: Job, wave: number, tasks: Tasks): void {
  drop(s, job, (w) => w === wave, tasks);
}

/** Images of these waves go, and offers of them. */
function drop(s: State, job: Job, goes: (wave: number) => boolean, tasks: Tasks): void {
  for (const t of of(job, tasks)) {
    const o = t.offer;
    if (o && o.stage !== 'committing' && goes(waveOf(job, o.manifest) ?? 0)) refuse(s, o, OVER);
    if (t.near && goes(waveOf(job, t.near) ?? 0)) delete t.near;
    discardThese(
      s,
      t,
      t.images.filter((i) => goes(waveOf(job, i) ?? 0)),
    );
  }
}

export function goBack(s: State, job: Job, e: Extract<CheckpointServerEvent, { type: 'goBack' }>): void {
  const kept = new Set(e.kept);
  end(job, e.tasks);
  job.waves.check = undefined;
  if (e.tasks) for (const t of e.tasks) job.waves.line.delete(t);
  else job.waves.line.clear();
  for (const [task, image] of e.images) job.waves.line.set(task, image);
  drop(s, job, (wave) => !kept.has(wave), e.tasks);
}

export function check(s: State, job: Job, wave: number, images: readonly ImageId[]): void {
  const here = new Set([...job.tasks.values()].flatMap((t) => t.images.map((i) => i.image)));
  const c: NonNullable<Job['waves']['check']> = { wave, left: new Set(images), sound: true };
  job.waves.check = c;
  for (const image of images) {
    if (!here.has(image) && rebuildsInWave(s, job, image)) continue; // C15
    c.sound &&= here.has(image);
    emit(s, { type: 'check', image });
  }
  checked(s, job, undefined, true);
}

/** An image has been looked at, of a wave or of a restart. */
export function checked(s: State, job: Job, image: ImageId | undefined, sound: boolean, reason?: string): void {
  const c = job.waves.check;
  if (!c || (image !== undefined && !c.left.delete(image))) return;
  c.sound &&= sound;
  c.reason ??= reason;
  if (c.left.size > 0) return;
  job.waves.check = undefined;
  const why = !c.sound && c.reason !== undefined && { reason: c.reason };
  emit(s, { type: 'waveChecked', job: job.id, wave: c.wave, sound: c.sound, ...why });
}
