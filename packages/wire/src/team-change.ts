/** Beside the schemas, as run-time.ts. */
import type { TeamChange } from './job.ts';

type Ranks = readonly number[];

/** What became of a team, in words: 'the team of ranks 0, 1, 2 is dissolved: ranks 0, 1 go on as a team, 2 alone'. */
export function teamChangeText({
  what,
  ranks,
  teams,
}: {
  what: TeamChange['what'];
  ranks: Ranks;
  teams: readonly Ranks[];
}): string {
  const team = `the team of ranks ${ranks.join(', ')}`;
  if (what === 'moved') return `${team} moves to a node with more free slots`;
  if (what === 'merged') return `ranks ${ranks.join(', ')} become a team`;
  const alone = ranks.filter((r) => !teams.some((t) => t.includes(r)));
  const smaller = teams.map((t) => `ranks ${t.join(', ')} go on as a team`);
  if (smaller.length === 0) return `${team} is dissolved: its ranks go on alone`;
  return `${team} is dissolved: ${[...smaller, ...(alone.length > 0 ? [`${alone.join(', ')} alone`] : [])].join(', ')}`;
}
