/** The end of an attempt to make an image of level 1 again (near.ts): it is committed, or level 2 takes its place. */
import type { ImageId } from '@mayfly/wire';
import { commitAlone } from './complete.ts';
import { drop } from './offers.ts';
import { choose } from './restart.ts';
import { emit, waveOf, type State } from './state.ts';
import { checked } from './waves.ts';

export function rebuilt(s: State, image: ImageId, error: string | undefined): void {
  const o = s.offers.get(image);
  if (o?.stage !== 'rebuilding') return;
  const { task: t } = o;
  const inWave = waveOf(t.job, o.manifest) !== undefined;
  if (inWave)
    o.again = true; // level 1 has it until it is committed
  else delete t.near;
  if (error === undefined) return commitAlone(s, o);
  if (inWave) delete t.near;
  drop(s, o); // C14
  emit(s, { type: 'nearLost', job: t.job.id, task: t.task, image, reason: error });
  emit(s, {
    type: 'log',
    level: 'warn',
    message: `image ${image} cannot be made again from parity (${error}): back to images at the server`,
    job: t.job.id,
    task: t.task,
  });
  if (inWave) checked(s, t.job, image, false, error);
  else if (t.restart) choose(s, t);
}
