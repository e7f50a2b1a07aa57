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
import { discardThese } from './retention.ts';
import { OVER, emit, waveOf, type Job, type State } from './state.ts';
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
  if (!committed) drop(s, job, (w) => w === wave, tasks);
}

export function forget(s: State, job: Job, wave: number, tasks: Tasks): void {
  drop(s, job, (w) => w === wave, tasks);
}

/** Images of these waves go, and offers of them. */
function drop(s: State, job: Job, of: (wave: number) => boolean, tasks: Tasks): void {
  for (const t of job.tasks.values()) {
    if (tasks && !tasks.includes(t.task)) continue;
    const o = t.offer;
    if (o && o.stage !== 'committing' && of(waveOf(job, o.manifest) ?? 0)) refuse(s, o, OVER);
    discardThese(
      s,
      t,
      t.images.filter((i) => of(waveOf(job, i) ?? 0)),
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
  job.waves.check = { wave, left: new Set(images), sound: images.every((i) => here.has(i)) };
  for (const image of images) emit(s, { type: 'check', image });
  checked(s, job, undefined, true);
}

/** An image has been looked at, of a wave or of a restart. */
export function checked(s: State, job: Job, image: ImageId | undefined, sound: boolean): void {
  const c = job.waves.check;
  if (!c || (image !== undefined && !c.left.delete(image))) return;
  c.sound &&= sound;
  if (c.left.size > 0) return;
  job.waves.check = undefined;
  emit(s, { type: 'waveChecked', job: job.id, wave: c.wave, sound: c.sound });
}
