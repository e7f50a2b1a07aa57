/** What people read when checkpoints are further apart than their job asks, in the pages and on the command line. */
import type { JobView } from './job.ts';

const seconds = (ms: number): string => `${ms < 9_950 ? (ms / 1000).toFixed(1) : Math.round(ms / 1000)} s`;

/** undefined: they come as the job asks. */
export function spacingText({ tasks, waves }: Pick<JobView, 'tasks' | 'waves'>): string | undefined {
  const why = 'because one takes';
  const everyMs = Math.max(0, ...tasks.map((t) => t.activity?.imageEveryMs ?? 0));
  if (everyMs > 0)
    return `checkpoints are ${seconds(everyMs)} apart, further than the job asks, ${why} ${seconds(everyMs / 2)}`;
  const raised = waves?.clusters?.find((c) => c.askedMs !== undefined) ?? waves;
  if (raised?.askedMs === undefined || raised.periodMs === undefined) return undefined;
  return (
    `${seconds(raised.periodMs)} pass between checkpoints, and not ${seconds(raised.askedMs)} as the job asks, ` +
    `${why} ${seconds(raised.periodMs)}`
  );
}
