/** What becomes of ranks that are fenced as one unit, to become a team (D30, last-images.ts). */
import type { Dissolved } from '../contract/dissolved.ts';
import { arrivalsOf, regroup } from './regroup.ts';
import { recoveryOf, type Core, type Job, type Task } from './state.ts';
import { noteChange } from './teams.ts';

const RETRY_MS = 60_000;
const MOST_DOUBLED = 5;

/** In vain: after a minute, two, four … */
export function later(core: Core, job: Job): void {
  const failed = Math.min(job.regroupsFailed ?? 0, MOST_DOUBLED);
  job.regroupsFailed = failed + 1;
  job.regroupsFrom = core.time + RETRY_MS * 2 ** failed;
}

/** It is fenced as one unit with others. */
export const isBecomingTeam = (t: Task): boolean =>
  t.job.regrouping?.fencing === true && t.job.regrouping.tasks.includes(t);

/** What was to become one unit is several again: there is no room, or one of them is lost. */
export function apartAgain(core: Core, t: Task): void {
  const { job } = t;
  if (!isBecomingTeam(t)) return;
  job.regrouping = undefined;
  later(core, job);
}

/** D30, of what is fenced everywhere as one unit: where the members of the team begin; undefined: as they were. */
export function mergedFrom(core: Core, unit: readonly Task[]): Dissolved | undefined {
  const [{ job }] = unit as readonly [Task, ...Task[]];
  const { endsAt, waveAt } = recoveryOf(core, job);
  if (!endsAt || !waveAt || job.dissolving) return undefined;
  const from: Dissolved['from'][number][] = [];
  let wave = 1;
  for (const { task, image, fence, newest, exit } of unit) {
    // A set was damaged that may come back with a restart of the server.
    if (image === undefined || image !== newest?.image || exit) return undefined;
    if (!endsAt(fence!.position, fence!.logs)) return undefined;
    wave = Math.max(wave, 1 + waveAt(fence!.position));
    from.push({ task, image, sends: [], arrivals: arrivalsOf(fence!) });
  }
  const team = unit.map((m) => m.task);
  const merged = (job.record.teams ?? []).filter((t) => team.includes(t[0]!));
  return { team, merged, groups: [team], wave, from };
}

/** D30. */
export function makeTeam(core: Core, unit: readonly Task[], made: Dissolved): void {
  const { job } = unit[0]!;
  const { record } = job;
  const { team } = made;
  const ended = new Set(made.merged!.map((t) => t[0]));
  record.teams = [...(record.teams ?? []).filter((t) => !ended.has(t[0])), team];
  job.regrouping = undefined;
  job.regroupsFrom = core.time + RETRY_MS;
  job.regroupsFailed = 0;
  noteChange(core, job, { what: 'merged', ranks: [...team], teams: [[...team]] });
  for (const m of unit) m.team = team;
  regroup(core, unit, made, `ranks ${team.join(', ')} become a team`);
}
