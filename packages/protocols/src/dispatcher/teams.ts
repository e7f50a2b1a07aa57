/**
 * Teams: ranks of one job on one node that exchange messages in its memory, where the job's V-protocol has nothing
 * against it (docs/teams.md). Under a protocol that restarts tasks, a team is a unit (unit.ts) until it is dissolved
 * (dissolve.ts).
 *
 *  D21 The members of a team got their slots on one node in one commit, and belong to one world: spawned tasks form
 *      teams of their own. A team has at most {@link JobSpec.team} members.
 */
import { MAX_TEAM, type MapBy, type NodeId, type TaskId, type TeamChange } from '@mayfly/wire';
import { teamsBefore } from '../contract/dissolved.ts';
import { groupOf, recoveryOf, type Core, type Job, type Task } from './state.ts';

/** What a lost team costs, all of it, is not known beforehand: under a log, teams are for jobs that ask for them. */
const DEFAULT_SIZE = { transport: MAX_TEAM, unit: 1 } as const;

export function mostOf(core: Core, job: Job): number {
  const { teams } = recoveryOf(core, job);
  return teams === undefined ? 1 : (job.record.spec.team ?? DEFAULT_SIZE[teams]);
}

/** How the ranks of the job are spread: together where they form teams, apart where each closed tab costs a restart. */
export const mapByOf = (core: Core, job: Job): MapBy =>
  job.record.spec.mapBy ?? (mostOf(core, job) > 1 ? 'slot' : 'node');

/**
 * Teams of the tasks that the job was started with, as they were then (T10). All of them got their slots in one commit.
 */
export function teamsOfJob({ tasks, record }: Job): (readonly TaskId[])[] {
  const first = new Map<TaskId, readonly TaskId[] | undefined>();
  for (const d of record.dissolved ?? [])
    for (const t of d.team)
      if (!first.has(t))
        first.set(
          t,
          teamsBefore(d).find((team) => team.includes(t)),
        );
  const then = tasks.slice(0, record.spec.size).map((t) => (first.has(t.task) ? first.get(t.task) : t.team));
  return then.filter((team, t): team is readonly TaskId[] => team?.[0] === t);
}

/** D21, for tasks that have just got their slots. @returns jobs with teams that are to be made durable (D24) */
export function formTeams(core: Core, tasks: readonly Task[]): Job[] {
  const together = new Map<Job, Map<string, Task[]>>();
  const formed = new Set<Job>();
  for (const t of tasks) {
    const stay = recoveryOf(core, t.job).teams === 'unit';
    if (stay && t.incarnation !== undefined) continue; // D24
    t.team = undefined;
    if (mostOf(core, t.job) < 2) continue;
    const world = groupOf(t.job.record, t.task)?.first ?? 0;
    const teams = together.get(t.job) ?? new Map<string, Task[]>();
    together.set(t.job, teams);
    const key = `${world} ${t.node as NodeId}`;
    teams.set(key, [...(teams.get(key) ?? []), t]);
  }
  for (const [job, groups] of together)
    for (const group of groups.values()) {
      group.sort((a, b) => a.task - b.task);
      const most = mostOf(core, job);
      for (let i = 0; i < group.length; i += most) {
        const members = group.slice(i, i + most);
        const team: readonly TaskId[] = members.map((t) => t.task);
        if (team.length < 2) continue;
        for (const t of members) t.team = team;
        if (recoveryOf(core, job).teams !== 'unit') continue;
        job.record.teams = [...(job.record.teams ?? []), team];
        formed.add(job);
      }
    }
  return [...formed];
}

/** For people; the caller makes the job's record durable. */
export function noteChange(core: Core, { record }: Job, change: Omit<TeamChange, 'at'>): void {
  const before = record.teamChanges ?? [];
  if (before.length < core.settings.maxFaults) record.teamChanges = [...before, { at: core.now, ...change }];
}

/** D24, D28: whoever serves the job has to know its teams. */
export function showTeams(core: Core, job: Job): void {
  job.dissolving = false;
  const { teams = [], dissolved = [] } = job.record;
  if (teams.length + dissolved.length > 0)
    core.emit({ type: 'teams', job: job.record.spec.id, teams, ...(dissolved.length > 0 && { dissolved }) });
}
