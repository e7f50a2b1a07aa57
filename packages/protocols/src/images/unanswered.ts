/**
 * Images of a job with parity: which of them level 1 may have (C15 under waves), and, under waves, those that are
 * complete and of which their nodes hear when the wave is committed (C16; near-waves.ts).
 */
import type { ImageId, Manifest } from '@mayfly/wire';
import { isWhole } from '../contract/waves.ts';
import { emit, waveOf, type Job, type Offer, type State } from './state.ts';

/** Why level 1 cannot have this image; undefined: it can. */
export function refusesNear(job: Job, m: Pick<Manifest, 'position'>): string | undefined {
  const { wholeEvery } = job.open!;
  if (wholeEvery === undefined) return 'Images of this job have no parity, so all of them come to the server.';
  const wave = waveOf(job, m);
  return wave !== undefined && isWhole(wave, wholeEvery) ? `All images of wave ${wave} come to the server.` : undefined;
}

/** C16. @returns whether the reply waits for the wave */
export function answersLater(s: State, o: Offer, wave: number | undefined): boolean {
  if (wave === undefined || o.task.job.open?.wholeEvery === undefined) return false;
  s.unanswered.set(o.manifest.image, { task: o.task, wave, link: o.link });
  return true;
}

/** The node lost its connection, and offers what is here. @returns whether it waits for its wave */
export function waitsAgain(s: State, image: ImageId, link: string): boolean {
  const u = s.unanswered.get(image);
  if (!u) return false;
  u.link = link;
  emit(s, { type: 'need', link, image, pages: [] });
  return true;
}
