/** What happens to every image of level 1 (near.ts), of a wave or not: it begins to count, and it is made again. */
import { drop } from './offers.ts';
import { emit, type Offer, type State, type Task } from './state.ts';

/** The image of a covered offer is its task's of level 1 from now on. */
export function countsNear(s: State, o: Offer): void {
  const { task: t, manifest, savedBytes, link } = o;
  const { job, image, bytes } = manifest;
  drop(s, o);
  t.near = manifest;
  t.nearImages++;
  t.savedBytes += savedBytes;
  if (link !== undefined) emit(s, { type: 'reply', link, reply: 'complete', image });
  emit(s, { type: 'near', job, task: t.task, image, bytes, savedBytes });
}

/** Has its image of level 1 made again. Its offer pins its pages (C6). */
export function makeAgain(s: State, t: Task, near: Offer['manifest']): Offer {
  const o: Offer = {
    task: t,
    manifest: near,
    near: true,
    savedBytes: 0,
    stage: 'rebuilding',
    link: undefined,
    ask: 0,
    waiting: new Set(),
    covered: new Map(),
    askedAt: 0,
    since: s.now,
    sentBytes: 0,
  };
  s.offers.set(near.image, o);
  emit(s, { type: 'rebuild', job: t.job.id, task: t.task, image: near.image, manifest: near });
  return o;
}
