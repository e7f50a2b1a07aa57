/**
 * The messages that come from other clusters to the tasks of one Channel Memory, which is the home of one cluster:
 * their stamps, and when their receivers may have them. Cores: stamps.ts, for each other cluster; intake.ts, for its
 * own.
 *
 * Owns: which tasks have ended since their cluster last went back. Does not own: the messages and their log
 * (inter-cluster.ts), which numbers have come.
 *
 *  S4 A message is accepted, logged and stamped in one step. One that has to wait (S1) is not accepted: its sender
 *     keeps it, so it outlives a rollback of this cluster alone.
 *  S5 What a task sent is before the cut of each CLC that begins after its end. A message to a task that has ended is
 *     logged as well: the receiver's cluster may go back to before that end.
 */
import type { TaskId } from '@mayfly/wire';
import {
  tasksOfClc,
  type ClcRecord,
  type ClcUnderWay,
  type ClustersNow,
  type Counts,
  type Rolled,
} from '../contract/clusters.ts';
import { Intake, counter, type IntakeEffect } from './intake.ts';
import { Stamps, type Leaving, type Stamped } from './stamps.ts';

/** `push`: the message gets the next arrival number of its receiver. `force`: for the scheduler (G9). */
export type LinkEffect =
  | { readonly type: 'push'; readonly message: Stamped }
  | { readonly type: 'force'; readonly from: number; readonly interval: number };

export class Links {
  /** Its own cluster. */
  readonly own: number;
  readonly #clusters: readonly number[];
  /** By cluster; nothing comes from the own one. */
  readonly #stamps: readonly Stamps[];
  readonly #intake: Intake;
  readonly #ended = new Set<TaskId>();

  /** @param clusters by task */
  constructor(clusters: readonly number[], own: number) {
    this.own = own;
    this.#clusters = clusters;
    const count = Math.max(...clusters) + 1;
    this.#stamps = Array.from({ length: count }, (_, cluster) => this.newStamps(cluster));
    this.#intake = this.newIntake(Array.from({ length: count }, (_, i) => (i === own ? 1 : 0)));
  }

  protected newStamps(cluster: number): Stamps {
    return new Stamps(cluster, 1);
  }

  protected newIntake(ddv: readonly number[]): Intake {
    return new Intake(ddv);
  }

  clusterOf(task: TaskId): number {
    return this.#clusters[task] ?? 0;
  }

  /** S1: its sender has cut, and it was sent after the cut: it is not accepted before the CLC is over. */
  waits(m: Leaving): boolean {
    return this.#stampsOf(m.src).holds(m);
  }

  /**
   * A message is here, the next of its channel. `ended`: its receiver has ended, and gets it only if it goes back.
   * @returns its stamp, which is logged with it, and what follows
   */
  comes(m: Leaving, ended: boolean): { stamped: Stamped; effects: LinkEffect[] } {
    const stamped = this.#stampsOf(m.src).comes(m);
    if (!stamped) throw new Error(`message ${m.channel} of rank ${m.src} to ${m.dst} waits for a CLC`);
    return { stamped, effects: linked(this.#intake.accept(stamped, ended)) };
  }

  begin(cluster: number, { sn, ended, starting }: ClcUnderWay): void {
    for (const task of ended) this.#ended.add(task);
    if (cluster === this.own) return;
    this.#stamps[cluster]!.begin(sn);
    for (const task of starting) this.#stamps[cluster]!.cut(sn, task, []);
  }

  /** The CLC under way of the task's cluster. */
  cutting(task: TaskId): number | undefined {
    return this.#stampsOf(task).cuts?.sn;
  }

  cut(sn: number, task: TaskId, sends: Counts['sends']): void {
    this.#stampsOf(task).cut(sn, task, sends);
  }

  ended(task: TaskId): void {
    this.#ended.add(task);
  }

  /** The CLC under way of another cluster, if everything that it counts is here (S2). `seen`: of a channel. */
  complete(cluster: number, seen: (src: TaskId, dst: TaskId) => number | undefined): number | undefined {
    const cuts = this.#stamps[cluster]!.cuts;
    if (cluster === this.own || !cuts) return undefined;
    for (let src = 0 as TaskId; src < this.#clusters.length; src++) {
      if (this.#clusters[src] !== cluster) continue;
      const sends = cuts.sends.get(src);
      if (!sends) {
        if (this.#ended.has(src)) continue; // S5
        return undefined;
      }
      for (const [dst, count] of sends) if ((seen(src, dst) ?? Infinity) < count) return undefined;
    }
    return cuts.sn;
  }

  /** The CLC under way of a cluster is over. */
  over(cluster: number, sn: number, record: ClcRecord | undefined): LinkEffect[] {
    if (cluster === this.own) return record ? linked(this.#intake.committed(record.ddv)) : [];
    const stamps = this.#stamps[cluster]!;
    if (stamps.cuts?.sn !== sn) return [];
    if (record) stamps.committed(sn);
    else stamps.over();
    return [];
  }

  /** G11: other clusters went back. @returns messages that were never sent, and whether one of them was pushed */
  sendersWentBack(rolled: readonly Rolled[]): { undone: Stamped[]; pushed: Stamped | undefined } {
    const undone = rolled.flatMap(({ cluster, to, alias }) => {
      this.#stamps[cluster]!.wentBack(to, alias.sn, alias.cuts);
      this.#endedIn(alias);
      return this.#intake.senderWentBack(cluster, new Map(alias.cuts));
    });
    return { undone, pushed: undone.find((m) => m.pushed && !this.#ended.has(m.dst)) };
  }

  /** A core begins: `log` is what is logged and not trimmed, in order. `ended`: of its own tasks. */
  restore(
    { stored, underWay, dead }: ClustersNow,
    log: readonly Stamped[],
    ended: ReadonlySet<TaskId>,
  ): { log: Stamped[]; effects: LinkEffect[] } {
    stored.forEach((records, cluster) => {
      this.#endedIn(records.at(-1)!);
      if (cluster === this.own) return;
      this.#stamps[cluster]!.restore(records);
      const clc = underWay[cluster];
      if (clc) this.begin(cluster, clc);
    });
    const newest = stored[this.own]!.at(-1)!;
    const received = counter(new Map(newest.cuts), 'receives');
    // Of one number only the last was sent in a life that counts.
    const last = new Map<string, Stamped>();
    for (const m of log) if (!this.dead(m, dead)) last.set(`${m.src}>${m.dst}#${m.channel}`, m);
    const alive = log.filter((m) => last.get(`${m.src}>${m.dst}#${m.channel}`) === m);
    const held = (m: Stamped): boolean => m.channel <= received(m.src, m.dst) || ended.has(m.dst);
    return { log: alive, effects: linked(this.#intake.restore(newest.ddv, alive, held)) };
  }

  /** G12. @returns messages that no rollback needs again */
  trim(stable: readonly ClcRecord[]): Stamped[] {
    for (const { cluster, sn } of stable) if (cluster !== this.own) this.#stamps[cluster]!.forget(sn);
    return this.#intake.trim(new Map(stable[this.own]!.cuts));
  }

  /** Messages for this task that wait for a CLC of its cluster (G9). */
  awaiting(task: TaskId): number {
    return this.#intake.log.reduce((n, m) => n + (m.dst === task && !m.pushed ? 1 : 0), 0);
  }

  // ---- rules ----

  /** G8. */
  protected dead({ from, interval }: Stamped, dead: ClustersNow['dead']): boolean {
    return dead.some((d) => d.cluster === from && d.from <= interval && interval < d.until);
  }

  // ---- within ----

  #stampsOf(task: TaskId): Stamps {
    return this.#stamps[this.clusterOf(task)]!;
  }

  #endedIn(record: ClcRecord): void {
    for (const { task, state } of tasksOfClc(record))
      if (state === 'ended') this.#ended.add(task);
      else this.#ended.delete(task);
  }
}

const linked = (effects: readonly IntakeEffect[]): LinkEffect[] => effects.filter((e) => e.type !== 'log');
