/**
 * Teams that were dissolved, at the Checkpoint Server.
 *
 *  C18 (T9) "One commit reassigns the tasks and makes these images the first sets of the new teams; older sets are
 *      void." The dispatcher's commit has the image with which each member began. Here follows what comes of it, each
 *      time that it is heard: older images of the team go, these lie where those of the smaller team do or of a lone
 *      task, and the start of the program is no way back any more, as no log has what its team exchanged. (Of a team
 *      that had no image, it is.) Of a task that was in several such teams, one after the other, the last one counts.
 */
import type { JobId, TaskId } from '@mayfly/wire';
import { groupIn, type Dissolved } from '../contract/dissolved.ts';
import { MalformedPosition } from '../contract/position.ts';
import { endNear } from './near-teams.ts';
import { discardThese } from './retention.ts';
import { jobOf, taskOf, type Job, type State, type Task } from './state.ts';
import type { ImageRecord } from './events.ts';

/** The teams are dissolved; or the job's policy is known by now. Comes before {@link formTeams}. */
export function dissolveTeams(s: State, id: JobId, dissolved?: readonly Dissolved[]): void {
  const job = jobOf(s, id);
  if (dissolved) job.dissolved = dissolved;
  const last = new Map<TaskId, Dissolved>();
  for (const d of job.dissolved) {
    const team = job.teams.get(d.team[0]!);
    if (team && String(team.members) === String(d.team)) {
      endNear(s, team); // its set is older, and of a team
      for (const m of d.team) job.teams.delete(m);
    }
    for (const m of d.team) last.set(m, d);
  }
  if (job.open) for (const [task, d] of last) begins(s, taskOf(job, task), d);
}

function begins(s: State, t: Task, d: Dissolved): void {
  const team = groupIn(d, t.task);
  const { image } = d.from.find((f) => f.task === t.task)!;
  const ofTeam = t.images.filter((i) => isOfTeam(t.job, i));
  // The smaller team's own ones, which are newer, are of a team as well.
  const before = team
    ? ofTeam.slice(
        0,
        Math.max(
          0,
          ofTeam.findIndex((i) => i.image === image),
        ),
      )
    : ofTeam;
  discardThese(
    s,
    t,
    before.filter((i) => i.image !== image),
  );
  const { regrouped } = t.job.open!.policy;
  t.images = t.images.map((i) => (ofTeam.includes(i) ? { ...i, position: regrouped!(i.position, team) } : i));
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
