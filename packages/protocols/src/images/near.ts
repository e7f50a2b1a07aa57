/**
 * Images of level 1: their pages stay with the nodes, protected by parity (packages/checkpoint/src/parity). The
 * Checkpoint Server has their manifests, knows which are covered, and makes one again when its task restarts.
 *
 *  C12 An image of level 1 is used only if it is covered (C1), newer than all complete ones, and made again: then its
 *      pages are here, each checked against its hash, and it is committed like any other.
 *  C13 Until then it counts for nothing: no log is trimmed for it, and no complete image goes because of it.
 *  C14 One that cannot be made again is forgotten, and the restart goes on with level 2.
 *
 * What became of one that was made again: rebuilt.ts. Those of waves: near-waves.ts.
 */
import { PAGE_BYTES } from '@mayfly/wire';
import { nearInWave } from './near-waves.ts';
import { drop } from './offers.ts';
import { emit, waveOf, type Offer, type State, type Task } from './state.ts';

/** The node sends no pages. Those that are neither here nor in the level-1 image before it are what that saves. */
export function waits(o: Offer, missing: ReadonlySet<string>): void {
  const before = new Set(o.task.near?.pages);
  const { pages, bytes } = o.manifest;
  for (const hash of missing)
    if (!before.has(hash)) o.savedBytes += Math.min(PAGE_BYTES, bytes - pages.indexOf(hash) * PAGE_BYTES);
}

/** Everything that it depends on is durable. */
export function nearCovered(s: State, o: Offer): void {
  const { task: t, manifest, savedBytes, link } = o;
  const { image, bytes } = manifest;
  const wave = waveOf(t.job, manifest);
  if (wave !== undefined) return nearInWave(s, o, wave);
  o.stage = 'covered'; // its questions are answered
  drop(s, o);
  t.near = manifest;
  t.nearImages++;
  t.savedBytes += savedBytes;
  if (link !== undefined) emit(s, { type: 'reply', link, reply: 'complete', image });
  emit(s, { type: 'near', job: t.job.id, task: t.task, image, bytes, savedBytes });
}

/** C12, of a task that restarts. @returns whether its image is being made again */
export function rebuilds(s: State, t: Task): boolean {
  if (t.offer?.stage === 'rebuilding') return true;
  const { near } = t;
  if (!near || near.serial <= (t.images.at(-1)?.serial ?? 0)) return false;
  const { image } = near;
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
  t.offer = o;
  s.offers.set(image, o); // pinned (C6)
  emit(s, { type: 'rebuild', job: t.job.id, task: t.task, image, manifest: near });
  return true;
}
