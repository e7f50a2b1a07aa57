/**
 * What the disks of the Channel Memories have of clusters (`hc3i`): rules Q2, Q7 and Q12 of clustered.ts about records.
 *
 * Owns: records of wave streams, of messages to the world, of messages between clusters.
 */
import { WORLD, type Frame } from '@mayfly/wire';
import { Violation } from '../violation.ts';
import type { Clc } from './clc-lines.ts';
import { Records, messageKey, type Place } from './records.ts';
import type { Surviving } from './surviving.ts';
import { name, type Stores, type Trim } from './universal.ts';
import { consumedBefore, memberOf, sentBefore, shownBefore, type Member, type Wave } from './wave-records.ts';

/** A committed CLC. `wave` absent: the start of the program. */
export interface ClcRecord extends Clc {
  readonly cluster: number;
  readonly images: number;
  readonly wave?: Wave;
}

export interface DeadInterval {
  readonly cluster: number;
  readonly from: number;
  readonly until: number;
}

export class ClcLogs {
  private readonly records = new Records();
  /** Messages of a task to the world that are in the files for good. */
  private readonly out = new Map<number, number>();
  dead: readonly DeadInterval[] = [];

  /** @param of by task: its cluster */
  constructor(
    private readonly surviving: Surviving,
    private readonly stores: Stores,
    private readonly of: readonly number[],
  ) {}

  /** Durable messages of the wave streams of a cluster, by channel and number. */
  recordedIn({ cluster, sn, images }: ClcRecord, { epoch }: Wave, tasks: Iterable<number>): Map<string, number> {
    const found = new Map<string, number>();
    for (const task of tasks) {
      let mine = false;
      this.durably(cluster, `v${task}`, (m) => {
        if (m.type === 'wave') mine = m.wave === images && m.epoch === epoch;
        else if (mine && m.type === 'message' && m.digest !== undefined) {
          const key = messageKey(m.src, m.dst, m.channel);
          if (found.has(key))
            throw new Violation(`Q2: CLC ${sn} has message ${m.channel} of ${name(m.src)} → ${m.dst} twice`);
          found.set(key, m.digest);
        }
      });
    }
    return found;
  }

  private durably(
    cm: number,
    stream: string,
    each: (m: NonNullable<ReturnType<Records['of']>[number]>, lsn: number) => void,
  ): void {
    const synced = this.stores.disks[cm]!.syncedTo(stream);
    this.records.of(cm, stream).forEach((m, lsn) => m && lsn < synced && each(m, lsn));
  }

  /** Q2: of messages that a member of a CLC had sent to other clusters. */
  sentOut({ sn, cluster }: ClcRecord, q: Member): void {
    this.of.forEach((cm, p) => {
      if (cm === cluster) return;
      {
        const sends = this.surviving.sentTo(q.task, p);
        const due = Math.min(sends.length, sentBefore(q, p));
        const has = new Map<number, number>();
        this.durably(cm, `x${p}`, (m) => {
          if (m.type === 'message' && m.src === q.task && m.digest !== undefined && !this.isDead(m))
            has.set(m.channel, m.digest);
        });
        for (let n = 1; n <= due; n++)
          if (has.get(n) !== sends[n - 1])
            throw new Violation(`Q2: CLC ${sn} of cluster ${cluster}: message ${n} of ${q.task} → ${p} is not durable`);
      }
    });
  }

  /** A message that an undone life has sent: in the log of its receiver, its interval stands where a number would. */
  private isDead({ src, arrival }: { src: number; arrival: number }): boolean {
    return this.dead.some((d) => d.cluster === this.of[src] && d.from <= arrival && arrival < d.until);
  }

  /** Q7: of a task that has ended, everything. */
  durable({ sn, cluster }: ClcRecord, m: Member): void {
    const wrote = this.surviving.sentTo(m.task, WORLD);
    const due = Math.min(wrote.length, shownBefore(m));
    const has = new Map<number, number>();
    let out = this.out.get(m.task) ?? 0;
    this.durably(cluster, `w${m.task}`, (r) => {
      if (r.type === 'base') out = Math.max(out, r.count);
      else if (r.type === 'message' && r.digest !== undefined) has.set(r.channel, r.digest);
    });
    for (let n = out + 1; n <= due; n++)
      if (has.get(n) !== wrote[n - 1])
        throw new Violation(`Q7: CLC ${sn} counts, and message ${n} of task ${m.task} to the world is not durable`);
  }

  logged(at: Place, frame: Frame): void {
    if (/^[vwx]/.test(at.stream)) this.records.append(at, frame);
  }

  cut(cm: number, stream: string, next: number): void {
    this.records.cut(cm, stream, next);
  }

  /** Q12. `kept` of its cluster; `first`: the oldest that a loss may need. */
  trims(cm: number, { stream, to }: Trim, kept: readonly ClcRecord[], first: ClcRecord): void {
    const task = Number(stream.slice(1));
    const kind = stream[0];
    const member = first.wave && memberOf(first.wave, task);
    this.records.of(cm, stream).forEach((m, lsn) => {
      if (!m || lsn >= to) return;
      if (kind === 'w' && m.type === 'message') this.out.set(task, Math.max(m.channel, this.out.get(task) ?? 0));
      if (kind === 'v' && m.type === 'wave' && kept.some((r) => r.wave?.wave === m.wave && r.wave.epoch === m.epoch))
        throw new Violation(`Q12: what task ${task} lacks in CLC ${m.wave} goes, and the CLC is kept`);
      if (kind !== 'x' || m.type !== 'message' || m.digest === undefined || member?.state === 'ended') return;
      if (this.isDead(m)) return;
      if (m.channel > consumedBefore(member, m.src) && m.channel <= this.surviving.sentTo(m.src, task).length)
        throw new Violation(`Q12: message ${m.channel} of ${m.src} → ${task} goes, and CLC ${first.sn} lacks it`);
    });
  }
}
