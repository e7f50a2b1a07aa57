/** Beside the schemas, not among them: a command that only prints a list loads no schema. */
import type { JobView } from './job.ts';

/** How long a job has run, ms: without the time that it was paused. 0: not begun. */
export const runTime = (
  v: Pick<JobView, 'startedAt' | 'endedAt' | 'pausedAt' | 'pausedMs' | 'awayMs'>,
  now: number,
): number =>
  v.startedAt === undefined
    ? 0
    : Math.max(0, (v.endedAt ?? v.pausedAt ?? now) - v.startedAt - (v.pausedMs ?? 0) - (v.awayMs ?? 0));
