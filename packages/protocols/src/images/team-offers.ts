/** Offers of images of a team: which wave they are of, and whether they have a place there (teams.ts). */
import { MalformedPosition } from '../contract/position.ts';
import type { Job, Offer, Team } from './state.ts';
import type { ImageRecord } from './events.ts';
import type { InTeam } from './policy.ts';

/** The wave of an image of a team; undefined: of a lone task, or a damaged record. */
export function inTeam(job: Job, { position }: Pick<ImageRecord, 'position'>): InTeam | undefined {
  try {
    return job.open?.policy.setOf?.(position);
  } catch (error) {
    if (error instanceof MalformedPosition) return undefined;
    throw error;
  }
}

/** Why the image of an offer has no place among those of its task's team, or of a lone task; undefined: it has. */
export function refusesInTeam(job: Job, { manifest, task }: Pick<Offer, 'manifest' | 'task'>): string | undefined {
  const team = job.teams.get(task.task);
  const at = inTeam(job, manifest);
  if (!team) return at && 'The image is of a member of a team, and the task has no teammates.';
  if (!at) return 'The image is of a lone task, and the task has teammates.';
  if (at.done.includes(task.task) || !at.done.every((t) => team.members.includes(t)))
    return 'The image names tasks as ended that are not its teammates.';
  const other = offersOf(team, at.wave).find((o) => o.task !== task);
  if (other && String(inTeam(job, other.manifest)!.done) !== String(at.done))
    return 'An image of a teammate for the same wave names other tasks as ended.';
  return undefined;
}

/** An offer of a later wave: the node has dropped the wave of the open one. */
export const supersedes = (job: Job, open: Offer, manifest: Offer['manifest']): boolean =>
  open.stage !== 'committing' && (inTeam(job, manifest)?.wave ?? 0) > (inTeam(job, open.manifest)?.wave ?? Infinity);

export const offersOf = (team: Team, wave: number): Offer[] =>
  team.members.flatMap((m) => {
    const o = team.job.tasks.get(m)?.offer;
    return o && inTeam(team.job, o.manifest)?.wave === wave ? [o] : [];
  });
