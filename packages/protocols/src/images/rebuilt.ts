/**
 * The end of an attempt to make images of level 1 again (near.ts, near-teams.ts): they are committed, or level 2 takes
 * their place.
 */
import type { ImageId, TaskId } from '@mayfly/wire';
import { commitAlone, recordOf } from './complete.ts';
import { forgetNear, madeAgain } from './near-teams.ts';
import { drop } from './offers.ts';
import { choose } from './restart.ts';
import { emit, waveOf, type Offer, type State, type Team } from './state.ts';
import { chooseForTeam, commitTaken } from './teams.ts';
import { checked } from './waves.ts';
import type { ImageRecord } from './events.ts';

export function rebuilt(s: State, image: ImageId, error: string | undefined): void {
  const o = s.offers.get(image);
  if (o?.stage !== 'rebuilding') return;
  const { task: t } = o;
  const team = t.job.teams.get(t.task);
  if (team) return rebuiltInTeam(s, team, o, error);
  const inWave = waveOf(t.job, o.manifest) !== undefined;
  if (inWave)
    o.again = true; // level 1 has it until it is committed
  else delete t.near;
  if (error === undefined) return commitAlone(s, o);
  if (inWave) delete t.near;
  drop(s, o); // C14
  lostNear(s, o, error, `image ${image}`);
  if (inWave) checked(s, t.job, image, false, error);
  else if (t.restart) choose(s, t);
}

/** For people. */
function lostNear(s: State, { manifest }: Offer, reason: string, what: string): void {
  const { job, task, image } = manifest;
  emit(s, { type: 'nearLost', job, task, image, reason });
  const message = `${what} cannot be made again from parity (${reason}): back to images at the server`;
  emit(s, { type: 'log', level: 'warn', message, job, task });
}

/** C20. */
function rebuiltInTeam(s: State, team: Team, o: Offer, error: string | undefined): void {
  const { again } = team;
  if (!again?.left.delete(o.manifest.image)) return;
  if (error === undefined && again.left.size > 0) return;
  const offers = madeAgain(team);
  team.again = undefined;
  forgetNear(team);
  const { wave, done } = again.set;
  if (error !== undefined) {
    for (const x of offers) drop(s, x);
    lostNear(s, o, error, `an image of wave ${wave} of the team`);
    return chooseForTeam(s, team);
  }
  const images = new Map<TaskId, ImageRecord>();
  for (const x of offers) images.set(x.task.task, (x.record = recordOf(s, x)));
  commitTaken(s, team, { wave, images, done }, offers);
}
