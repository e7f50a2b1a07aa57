/**
 * Teams that were dissolved or made of others, at the Checkpoint Server.
 *
 *  C18 (T9) "One commit reassigns the tasks and makes these images the first sets of the new teams; older sets are
 *      void." The dispatcher's commit has the image with which each member began. Here follows what comes of it, each
 *      time that it is heard: older images go, these lie where those of the new team do or of a lone task, and the
 *      start of the program is no way back any more, as no log has what its team exchanged. (Of a team that had no
 *      image, it is.) Of a task that was in several such commits, one after the other, the last one counts.
 */
import type { JobId, TaskId } from '@mayfly/wire';
import { groupIn, regroupedAt, teamsBefore, type Dissolved } from '../contract/dissolved.ts';
import { MalformedPosition } from '../contract/position.ts';
import { endNear } from './near-teams.ts';
import { discardThese } from './retention.ts';
import { jobOf, taskOf, type Job, type State, type Task } from './state.ts';
import type { ImageRecord } from './events.ts';

/** The teams are dissolved; or the job's policy is known by now. Comes before {@link formTeams}. */
export function dissolveTeams(s: State, id: JobId, dissolved?: readonly Dissolved[]): void {
  const job = jobOf(s, id);
  const known = new Set(job.dissolved.map((d) => JSON.stringify(d)));
  if (dissolved) job.dissolved = dissolved;
  const last = new Map<TaskId, Dissolved>();
  for (const d of job.dissolved) {
    // The same tasks may have become a team once more since.
    if (!known.has(JSON.stringify(d))) for (const members of teamsBefore(d)) ends(s, job, members);
    for (const m of d.team) last.set(m, d);
  }
  if (job.open) for (const [task, d] of last) begins(s, taskOf(job, task), d);
}

function ends(s: State, job: Job, members: readonly TaskId[]): void {
  const team = job.teams.get(members[0]!);
  if (!team || String(team.members) !== String(members)) return;
  endNear(s, team); // its set is older, and of a team
  for (const m of members) job.teams.delete(m);
}

function begins(s: State, t: Task, d: Dissolved): void {
  const team = groupIn(d, t.task);
  const { image } = d.from.find((f) => f.task === t.task)!;
  const at = t.images.findIndex((i) => i.image === image);
  const before = t.images.slice(0, Math.max(0, at));
  // What a team took behind it, and was no whole set.
  const left = team ? [] : t.images.filter((i) => i.image !== image && isOfTeam(t.job, i));
  discardThese(s, t, [...new Set([...before, ...left])]);
  const { regrouped } = t.job.open!.policy;
  const { dissolved } = t.job;
  t.images = t.images.map((i) =>
    i.image === image || isOfTeam(t.job, i)
      ? { ...i, position: regrouped!(i.position, team, regroupedAt(dissolved, t.task, i.image)) }
      : i,
  );
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
