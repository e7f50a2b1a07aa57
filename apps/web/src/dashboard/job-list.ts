/** Which jobs the list shows, in what order, and what is done with those that were chosen. Pure. */
import { runTime, type JobView } from '@mayfly/wire';
import { sortedBy, type Key } from './sorting.ts';
import { hasEnded, isPaused, roomText } from './status-texts.ts';

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
    [job.name, job.about, job.id, job.owner, roomText(job), job.error?.code, job.error?.message].some((t) =>
      t?.toLowerCase().includes(w),
    )
  );
}

export const COLUMNS = ['state', 'name', 'owner', 'room', 'ranks', 'submitted', 'time'] as const;
export type Column = (typeof COLUMNS)[number];
export interface Order {
  by: Column;
  down: boolean;
}
export const NEWEST_FIRST: Order = { by: 'submitted', down: true };

const KEYS: Record<Column, (j: JobView) => Key> = {
  state: (j) => j.state,
  name: (j) => j.name.toLowerCase(),
  owner: (j) => j.owner?.toLowerCase(),
  room: roomText,
  ranks: (j) => j.size,
  submitted: (j) => j.submittedAt,
  // Of one that runs: by when it began, so that it keeps its place among the others that run.
  time: (j) => (j.startedAt === undefined ? undefined : runTime(j, j.endedAt ?? Date.UTC(9999, 0))),
};

/** What a press of a column's head does: this column, then the other way round, then the newest first again. */
export function nextOrder(now: Order, by: Column): Order {
  if (now.by !== by) return { by, down: by === 'submitted' };
  return now.down === (by === 'submitted') ? { by, down: !now.down } : NEWEST_FIRST;
}

/** Those that are wanted, in this order; equals newest first. */
export const found = (jobs: readonly JobView[], wanted: Wanted, order: Order = NEWEST_FIRST): JobView[] =>
  sortedBy(
    jobs.filter((j) => matches(j, wanted)).toSorted((a, b) => b.submittedAt - a.submittedAt),
    KEYS[order.by],
    order.down,
  );

/** Jobs that were chosen, by what can be done with them. */
export interface Chosen {
  cancel: JobView[];
  remove: JobView[];
}

export const chosenOf = (shown: readonly JobView[], chosen: ReadonlySet<string>): Chosen => {
  const jobs = shown.filter((j) => chosen.has(j.id));
  return { cancel: jobs.filter((j) => !hasEnded(j.state)), remove: jobs.filter((j) => hasEnded(j.state)) };
};

/** Names that a question shows. */
const NAMED = 5;

/** '“a”, “b” and 3 more' */
export function namesOf(jobs: readonly JobView[]): string {
  const shown = jobs.slice(0, NAMED).map((j) => `“${j.name}”`);
  return jobs.length > NAMED ? `${shown.join(', ')} and ${jobs.length - NAMED} more` : shown.join(', ');
}

export interface Done {
  done: JobView[];
  failed: { job: JobView; why: string }[];
}

/** Does it with each, one after the other; what fails does not stop the rest. */
export async function eachOf(jobs: readonly JobView[], act: (id: string) => Promise<unknown>): Promise<Done> {
  const result: Done = { done: [], failed: [] };
  for (const job of jobs)
    try {
      await act(job.id);
      result.done.push(job);
    } catch (error) {
      result.failed.push({ job, why: error instanceof Error ? error.message : String(error) });
    }
  return result;
}
