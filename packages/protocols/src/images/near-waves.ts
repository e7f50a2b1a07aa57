/**
 * Images of level 1 under waves: they count with their wave, and a rollback to it has them made again, all of them.
 *
 *  C15 An image of level 1 is taken for a wave that may have such images, in a job with parity. Its offer stays until
 *      the wave is over; without a commit it goes. A wave is sound when all its images are here: those of level 1 are
 *      made again and committed first. One that cannot be makes the wave unsound, and says why.
 *  C16 In a job with parity a node hears that an image is complete when the wave is committed, and not before: holders
 *      add its change to their checksums then, and can show the wave before until then (Z5).
 *  C17 The manifests of a committed wave's images of level 1 outlive the server; of their pages only the nodes know. So
 *     after a restart the wave is one to go back to, if the pages can be had.
 */
import type { ImageId } from '@mayfly/wire';
import { countsNear, makeAgain } from './level-one.ts';
import { drop } from './offers.ts';
import { discardAll } from './retention.ts';
import { OVER, emit, waveOf, type Job, type Offer, type State, type Task } from './state.ts';

/** It is covered, and waits for its wave. */
export function nearInWave(s: State, o: Offer, wave: number): void {
  o.stage = 'covered';
  const { job, task, image, bytes } = o.manifest;
  emit(s, { type: 'nearStored', job, task, image, wave, bytes });
}

/** What waited for a wave of these tasks. `near`: counts from now on, if the wave is committed. */
export function waveAnswers(s: State, tasks: Iterable<Task>, wave: number, committed: boolean): void {
  const of = new Set(tasks);
  for (const [image, u] of [...s.unanswered]) {
    if (u.wave !== wave || !of.has(u.task)) continue;
    s.unanswered.delete(image);
    const reply = committed ? { reply: 'complete' as const } : { reply: 'refused' as const, error: OVER };
    if (u.link !== undefined) emit(s, { type: 'reply', link: u.link, image, ...reply });
  }
  if (!committed) return; // waves.ts drops the offers
  for (const t of of) {
    const o = t.offer;
    if (!o?.near || o.stage !== 'covered' || waveOf(t.job, o.manifest) !== wave) continue;
    countsNear(s, o);
  }
}

/** C15. @returns whether this image of a wave has to be made again */
export function rebuildsInWave(s: State, job: Job, image: ImageId): boolean {
  const under = s.offers.get(image);
  if (under) return under.stage === 'rebuilding' || under.stage === 'committing';
  const t = [...job.tasks.values()].find((x) => x.near?.image === image);
  if (!t?.near) return false;
  // Not the task's own offer: a commit of a wave that was abandoned may be under way.
  makeAgain(s, t, t.near);
  return true;
}

/** C15: the image is at the server, and is none of level 1 any more. */
export function committedAgain(s: State, o: Offer): void {
  const { task: t, record } = o;
  drop(s, o);
  if (!record) return;
  t.images = [...t.images, record].sort((a, b) => a.serial - b.serial);
  if (t.near?.image === record.image) delete t.near;
  if (o.unwanted) return discardAll(s, t);
  const { image, serial, bytes, sentBytes } = record;
  emit(s, { type: 'complete', job: t.job.id, task: t.task, image, serial, bytes, sentBytes });
}
