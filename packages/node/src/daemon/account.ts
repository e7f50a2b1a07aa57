/**
 * Reports on a node's ranks: to the server with each heartbeat, to the page for display, and how much work this node
 * has done so far.
 */
import { SPENT, type Heartbeat } from '@mayfly/wire';
import type { Gave, RankSnapshot } from '../page/snapshot.ts';
import type { HeldRank } from './jobs.ts';

/** `calls`: with the time by MPI call, which is most of it. */
export const tasksOf = (ranks: readonly HeldRank[], calls: boolean): Heartbeat['tasks'] =>
  ranks.slice(0, 1024).map(({ assignment: a, status, parked }) => ({
    job: a.job,
    task: a.task,
    incarnation: a.incarnation,
    started: status?.started ?? false,
    ...(status?.recovered ? { recovered: true } : {}),
    ...(status?.parked && { parked: parked === true }),
    activity: status?.activity ?? { state: 'loading', arrivals: 0, sends: 0 },
    ...(status ? { spent: status.spent } : {}),
    ...(status?.local ? { local: status.local } : {}),
    ...(status?.memory ? { memory: status.memory } : {}),
    ...(calls && status ? { calls: status.calls, ...(status.places.length > 0 ? { places: status.places } : {}) } : {}),
  }));

/** A rank as the page shows it. */
export const shown = ({ assignment: a, since, status, imageAt }: HeldRank): RankSnapshot => ({
  job: a.job,
  ...(a.jobName ? { jobName: a.jobName } : {}),
  ...(a.about ? { about: a.about } : {}),
  task: a.task,
  incarnation: a.incarnation,
  size: a.size,
  program: a.program.entry,
  state: !status?.started ? 'loading' : status.activity.state === 'ended' ? 'ending' : 'running',
  ...(status ? { activity: status.activity } : {}),
  ...(status?.memory ? { memory: status.memory } : {}),
  messagesIn: status?.counters.messagesIn ?? 0,
  bytesIn: status?.counters.bytesIn ?? 0,
  messagesOut: status?.counters.messagesOut ?? 0,
  bytesOut: status?.counters.bytesOut ?? 0,
  since,
  ...(imageAt === undefined ? {} : { imageAt }),
  canImage: status?.canImage ?? false,
});

const at = (name: (typeof SPENT)[number]): number => SPENT.indexOf(name);
const REPLAYING = at('replaying');
const RESTING = at('resting');

/** What this node has contributed: the time that its ranks spent on work. */
export class Given {
  /** Of ranks that are no longer here. */
  private readonly gone = { usefulMs: 0, replayedMs: 0, finished: 0 };
  private readonly jobs = new Set<string>();

  /** A rank of the job starts here. */
  begun(job: string): void {
    this.jobs.add(job);
  }

  /** The rank goes. */
  ended(rank: HeldRank, finished = false): void {
    add(this.gone, rank);
    if (finished) this.gone.finished++;
  }

  /** With what the ranks have done that are here. */
  total(held: Iterable<HeldRank>): Gave {
    const gave = { ...this.gone, jobs: this.jobs.size };
    for (const rank of held) add(gave, rank);
    return gave;
  }
}

function add(sum: { usefulMs: number; replayedMs: number }, { status }: HeldRank): void {
  const spent = status?.spent ?? [];
  const all = spent.reduce((total, ms) => total + ms, 0);
  sum.usefulMs += all - (spent[REPLAYING] ?? 0) - (spent[RESTING] ?? 0);
  sum.replayedMs += spent[REPLAYING] ?? 0;
}
