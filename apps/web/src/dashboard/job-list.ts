/** Which jobs the list shows, and in what order. Pure. */
import type { JobView } from '@mayfly/wire';
import { hasEnded, isPaused } from './status-texts.ts';

export const WHICH = ['all', 'waiting', 'running', 'paused', 'ended', 'failed'] as const;
export type Which = (typeof WHICH)[number];

export interface Wanted {
  text: string;
  which: Which;
  /** '' for everybody's. */
  owner: string;
}

function matches(job: JobView, { text, which, owner }: Wanted): boolean {
  if (owner !== '' && job.owner !== owner) return false;
  const group = isPaused(job.state) ? 'paused' : job.state === 'stalled' ? 'running' : job.state;
  if (which === 'ended' ? !hasEnded(job.state) : which !== 'all' && group !== which) return false;
  const w = text.trim().toLowerCase();
  return (
    w === '' ||
    [job.name, job.about, job.id, job.owner, job.room, job.error?.code, job.error?.message].some((t) =>
      t?.toLowerCase().includes(w),
    )
  );
}

/** Newest first. */
export const found = (jobs: readonly JobView[], wanted: Wanted): JobView[] =>
  jobs.filter((j) => matches(j, wanted)).toSorted((a, b) => b.submittedAt - a.submittedAt);
