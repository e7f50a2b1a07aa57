/**
 * What owners have in use and used lately, and the order in which waiting jobs are looked at that comes of it
 * (fair-share.ts has the rule).
 *
 * Owns: {@link Shares}. What was used lately is written to the registry from time to time: a restart of the server
 * forgets at most that much.
 */
import { next, type Head } from './fair-share.ts';
import { SHARES_KEY } from './keys.ts';
import { ownerOf, type SlotsInUse } from './quotas.ts';
import { over, type Core, type Job } from './state.ts';
import { Shares } from './recent-use.ts';

/** Registry `shares`. */
export interface SharesRecord {
  /** Wall clock. */
  at: number;
  /** By owner. */
  recent: [string, number][];
}

interface HeadOfJob extends Head {
  owner: string;
}

/** Waiting jobs in the order of D27. One that is started in between, with its slots added to `inUse`, counts. */
export function* lineUp(core: Core, inUse: SlotsInUse): Generator<Job> {
  const lines = new Map<string, Job[]>();
  for (const job of core.jobs.values()) {
    if (over(job) || job.record.state !== 'waiting' || job.rolling) continue;
    const owner = ownerOf(job.record.spec);
    const line = lines.get(owner);
    if (line) line.push(job);
    else lines.set(owner, [job]);
  }
  const { overdueMs } = core.settings;
  while (lines.size > 0) {
    const heads = [...lines].map(([owner, [job]]): HeadOfJob => ({
      owner,
      inUse: inUse.of(owner),
      recent: core.shares.recent(owner),
      since: Math.max(job!.waitsSince, core.shares.startedAt(owner)),
      order: job!.record.order,
    }));
    const { owner } = next(heads, core.now, overdueMs)!;
    const line = lines.get(owner)!;
    yield line.shift()!;
    if (line.length === 0) lines.delete(owner);
  }
}

export const sharesRecord = (core: Core): readonly [string, SharesRecord] => [
  SHARES_KEY,
  { at: core.now, recent: core.shares.entries(core.time) },
];

/** At a start of the server. A job that has never begun has waited since it was submitted. */
export function recoverShares(core: Core, record: SharesRecord | undefined): void {
  core.shares = new Shares(core.settings.halfLifeMs, core.time, record?.recent);
  if (record) core.shares.fade(core.now - record.at);
  for (const job of core.jobs.values()) {
    const { spec, startedAt } = job.record;
    if (startedAt !== undefined) core.shares.started(ownerOf(spec), startedAt);
    job.waitsSince = startedAt === undefined && job.record.pausedAt === undefined ? spec.submittedAt : core.now;
  }
}
