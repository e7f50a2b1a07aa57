/** Progress in words, for pages and command line; apart from the schema, which commands do not load. */
import type { JobProgress } from './job-progress.ts';

/** '42 %, about 3 min left, rank 2 is catching up' */
export function progressText({ fraction, remainingMs, repeating }: JobProgress): string {
  const parts = [`${Math.floor(fraction * 100)} %`];
  if (remainingMs !== undefined) parts.push(`about ${coarse(remainingMs / 1000)} left`);
  if (repeating.length > 0)
    parts.push(
      repeating.length === 1 ? `rank ${repeating[0]} is catching up` : `${repeating.length} ranks are catching up`,
    );
  return parts.join(', ');
}

/** One unit, two digits: an estimate is no measurement. */
function coarse(seconds: number): string {
  const [n, unit] = seconds < 100 ? [seconds, 's'] : seconds < 6000 ? [seconds / 60, 'min'] : [seconds / 3600, 'h'];
  return `${n < 10 && unit !== 's' ? Number(n.toFixed(1)) : Math.round(n)} ${unit}`;
}
