/**
 * Watches the ranks by their status words: reports to the daemon how they are and when one has started or caught up,
 * and looks for wake-ups that an engine has lost.
 */
import type { TaskId } from '@mayfly/wire';
import type { CommToDaemon, DaemonToComm, TaskStatus } from '../messages.ts';
import type { Channel } from '../thread-ports.ts';
import { MEMORY_WORD, SAFETY_MS } from '../ring/index.ts';
import { ended, readCalls, readPlaceTimes, readStatus, type RankStatus } from '../status.ts';
import type { Rank } from './rank.ts';
import type { CommSeams } from './seams.ts';
import type { LocalTraffic } from './teams.ts';

const STATUS_MS = 250;

export class Watch {
  private ticking = false;
  /** Lost wake-ups of ranks that are no longer here. */
  private lost = 0;

  constructor(
    private readonly ranks: ReadonlyMap<TaskId, Rank>,
    private readonly seams: CommSeams,
    private readonly daemon: Channel<CommToDaemon, DaemonToComm>,
    private readonly host: {
      progress(rank: Rank): void;
      report(rank: Rank, event: 'started' | 'recovered'): void;
      /** All data connections stand. */
      connected(): boolean;
      /** Messages of its team. */
      local(rank: Rank): LocalTraffic | undefined;
      /** Time passes. */
      tick(): void;
    },
  ) {}

  /** Reports, once each, that the rank has begun and that it has caught up. */
  flags(rank: Rank): void {
    if (!rank.running) return;
    // Its EXIT is on its way: what it has sent to its team is to be known when the job ends with it.
    if (rank.team && !rank.reported.ended && ended(rank.link.side.words)) {
      rank.reported.ended = true;
      this.status([rank]);
    }
    if (rank.reported.recovered) return;
    const s = readStatus(rank.link.side.words);
    if (s.started && !rank.reported.started) {
      rank.reported.started = true;
      this.host.report(rank, 'started');
    }
    if (s.recovered && !rank.reported.recovered) {
      rank.reported.recovered = true;
      this.host.report(rank, 'recovered');
    }
  }

  /** Runs as long as there are ranks. */
  start(): void {
    if (this.ticking) return;
    this.ticking = true;
    let n = 0;
    const once = (): void => {
      if (this.ranks.size === 0) {
        this.ticking = false;
        return;
      }
      if (++n % Math.round(SAFETY_MS / STATUS_MS) === 0) for (const rank of this.ranks.values()) rank.link.side.look();
      for (const rank of this.ranks.values()) {
        this.host.progress(rank);
        this.flags(rank);
      }
      this.host.tick();
      this.status([...this.ranks.values()]);
      this.seams.after(STATUS_MS, once);
    };
    this.seams.after(STATUS_MS, once);
  }

  /** The rank is no longer here. */
  ended(rank: Rank): void {
    this.lost += rank.link.side.lost + rank.link.side.lostByRank;
  }

  private statusOf(r: Rank): RankStatus & Pick<TaskStatus, 'local'> {
    const status = readStatus(r.link.side.words, Date.now());
    const everyMs = r.imageCost?.spaced(0) ?? 0;
    if (everyMs > r.assignment.checkpointMs) status.activity.imageEveryMs = Math.round(everyMs);
    const traffic = this.host.local(r);
    if (!traffic) return status;
    const activity = { ...status.activity, local: traffic.local };
    return { ...status, activity, ...(traffic.channels.length > 0 ? { local: traffic.channels } : {}) };
  }

  status(ranks: Rank[]): void {
    this.daemon.post({
      type: 'status',
      tasks: ranks.map((r) => ({
        task: r.assignment.task,
        incarnation: r.assignment.incarnation,
        ...this.statusOf(r),
        calls: readCalls(r.link.side.words, Date.now()),
        places: readPlaceTimes(r.link.side.words),
        memory: 65_536 * Math.max(0, r.link.side.words[MEMORY_WORD]!),
      })),
      connected: this.host.connected(),
      lostWakeUps: [...this.ranks.values()].reduce(
        (sum, r) => sum + r.link.side.lost + r.link.side.lostByRank,
        this.lost,
      ),
    });
  }
}
