/**
 * Teams that were dissolved, at the Checkpoint Server.
 *
 *  C18 (T9) "One commit reassigns the tasks and makes these images the first sets of the new teams; older sets are
 *      void." The dispatcher's commit has the image with which each member began alone. Here follows what comes of it,
 *      each time that it is heard: images of the team besides these go, these lie where those of a lone task do, and
 *      the start of the program is no way back any more, as no log has what its team exchanged. (Of a team that had no
 *      image, it is.)
 */
import type { ImageId, JobId } from '@mayfly/wire';
import type { Dissolved } from '../contract/dissolved.ts';
import { MalformedPosition } from '../contract/position.ts';
import { discardThese } from './retention.ts';
import { jobOf, taskOf, type Job, type State, type Task } from './state.ts';
import type { ImageRecord } from './events.ts';

/** The teams are dissolved; or the job's policy is known by now. */
export function dissolveTeams(s: State, id: JobId, dissolved?: readonly Dissolved[]): void {
  const job = jobOf(s, id);
  if (dissolved) job.dissolved = dissolved;
  for (const { team, from } of job.dissolved) {
    if (String(job.teams.get(team[0]!)?.members) === String(team)) for (const m of team) job.teams.delete(m);
    if (job.open) for (const { task, image } of from) begins(s, taskOf(job, task), image);
  }
}

function begins(s: State, t: Task, image: ImageId | undefined): void {
  const ofTeam = t.images.filter((i) => isOfTeam(t.job, i));
  discardThese(
    s,
    t,
    ofTeam.filter((i) => i.image !== image),
  );
  t.images = t.images.map((i) => (ofTeam.includes(i) ? { ...i, position: t.job.open!.policy.alone!(i.position) } : i));
  if (image !== undefined && !t.done) t.trimmed = true;
}

function isOfTeam(job: Job, { position }: ImageRecord): boolean {
  try {
    return job.open!.policy.setOf?.(position) !== undefined;
  } catch (error) {
    if (error instanceof MalformedPosition) return false;
    throw error;
  }
}
