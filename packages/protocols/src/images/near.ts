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
import { countsNear, makeAgain } from './level-one.ts';
import { waveOf, type Offer, type State, type Task } from './state.ts';

/** The node sends no pages. Those that are neither here nor in the level-1 image before it are what that saves. */
export function waits(o: Offer, missing: ReadonlySet<string>): void {
  const before = new Set(o.task.near?.pages);
  const { pages, bytes } = o.manifest;
  for (const hash of missing)
    if (!before.has(hash)) o.savedBytes += Math.min(PAGE_BYTES, bytes - pages.indexOf(hash) * PAGE_BYTES);
}

/** Everything that it depends on is durable. */
export function nearCovered(s: State, o: Offer): void {
  const wave = waveOf(o.task.job, o.manifest);
  if (wave !== undefined) return nearInWave(s, o, wave);
  o.stage = 'covered'; // its questions are answered
  countsNear(s, o);
}

/** C12, of a task that restarts. @returns whether its image is being made again */
export function rebuilds(s: State, t: Task): boolean {
  if (t.offer?.stage === 'rebuilding') return true;
  const { near } = t;
  if (!near || near.serial <= (t.images.at(-1)?.serial ?? 0)) return false;
  t.offer = makeAgain(s, t, near);
  return true;
}
