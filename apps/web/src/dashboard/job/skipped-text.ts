/** What the pages say of teams of scripts that get no checkpoint (docs/teams.md). Pure. */
import { MANY_SKIPPED, type TaskView } from '@mayfly/wire';

/** One sentence for each team that has taken no checkpoint together for long. */
export function skippedLines(tasks: readonly TaskView[]): { team: number; text: string }[] {
  const teams = new Map<number, TaskView[]>();
  for (const t of tasks)
    if (t.team !== undefined && (t.activity?.local?.skipped ?? 0) >= MANY_SKIPPED)
      teams.set(t.team, [...(teams.get(t.team) ?? []), t]);
  return [...teams].map(([team, ranks]) => {
    const times = Math.max(...ranks.map((t) => t.activity!.local!.skipped!));
    const text =
      `Ranks ${ranks.map((t) => t.task).join(', ')} took no checkpoint together ${times} times in a row: one received a ` +
      'message before its checkpoint.here that another one had sent after its own. Call it at the same place in each ' +
      'step, or submit the job with teams of 1.';
    return { team, text };
  });
}
