/**
 * The stamps of messages that leave a cluster: "The current cluster's sequence number is piggy-backed on each
 * inter-cluster application message" (hc3i, section 3.2). With counts, the interval of message n of task q is the
 * largest committed CLC c whose cut has sent fewer than n.
 *
 * Owns: the cuts of committed CLCs, the CLC under way, the messages that wait for it, how many messages have come.
 *
 *  S1 A message from after its sender's cut waits until the CLC under way is committed or abandoned. So no stamp names
 *     a CLC that does not exist, and none names the interval before the cut.
 *  S2 A CLC is complete only when every message from before its cut has come: the sender does not send it again.
 *  S3 After a rollback to CLC s, new messages have the number of its alias. What waited was never sent.
 */
import type { TaskId } from '@mayfly/wire';
import type { ClcRecord, Counts } from '../contract/clusters.ts';

export type { Counts };

/** A message between clusters, and where it is in its channel. */
export interface Leaving {
  readonly src: TaskId;
  readonly dst: TaskId;
  /** From 1. */
  readonly channel: number;
}

export interface Stamped extends Leaving {
  /** Cluster of the sender. */
  readonly from: number;
  readonly interval: number;
}

type Sends = ReadonlyMap<TaskId, ReadonlyMap<TaskId, number>>;
const sendsOf = (cuts: Iterable<readonly [TaskId, Counts]>): Sends =>
  new Map([...cuts].map(([task, { sends }]) => [task, new Map(sends)]));

interface Cuts {
  readonly sn: number;
  readonly sends: Sends;
}

export class Stamps {
  readonly #cluster: number;
  /** Of committed CLCs, the oldest first; the first is the start of the program, or older than all that comes. */
  #committed: Cuts[];
  #underWay: { readonly sn: number; readonly sends: Map<TaskId, ReadonlyMap<TaskId, number>> } | undefined;
  #waiting: Leaving[] = [];
  readonly #seen = new Map<TaskId, Map<TaskId, number>>();

  /** @param sn of the CLC at the start of the program */
  constructor(cluster: number, sn: number) {
    this.#cluster = cluster;
    this.#committed = [{ sn, sends: new Map() }];
  }

  /** Messages that wait (S1). */
  get waiting(): number {
    return this.#waiting.length;
  }

  /** S1. */
  holds(m: Leaving): boolean {
    return this.waits(m);
  }

  /** A Channel Memory begins. @param stored the CLCs that are kept, the oldest first */
  restore(stored: readonly ClcRecord[]): void {
    this.#committed = stored.map(({ sn, cuts }) => ({ sn, sends: sendsOf(cuts) }));
    this.#underWay = undefined;
    this.#waiting = [];
  }

  /** What the tasks that have cut count in the CLC under way; undefined: none is. */
  get cuts(): { readonly sn: number; readonly sends: Sends } | undefined {
    return this.#underWay;
  }

  /** The next message of its channel is here. @returns undefined if it waits */
  comes(m: Leaving): Stamped | undefined {
    let channels = this.#seen.get(m.src);
    if (!channels) this.#seen.set(m.src, (channels = new Map()));
    channels.set(m.dst, m.channel);
    if (this.waits(m)) {
      this.#waiting.push(m);
      return undefined;
    }
    return this.#stamp(m);
  }

  /** CLC `sn` is under way. */
  begin(sn: number): void {
    this.#underWay = { sn, sends: new Map() };
  }

  /** A task has cut in CLC `sn`. */
  cut(sn: number, task: TaskId, sends: Counts['sends']): void {
    if (this.#underWay?.sn === sn) this.#underWay.sends.set(task, new Map(sends));
  }

  /**
   * S2.
   * @param tasks of the cluster
   * @param counts whether messages to this task come here: it is in another cluster, and here is its Channel Memory
   */
  complete(tasks: readonly TaskId[], counts: (dst: TaskId) => boolean): boolean {
    const cuts = this.#underWay?.sends;
    return tasks.every((src) => {
      const seen = this.#seen.get(src);
      const sends = cuts?.get(src);
      return sends && [...sends].every(([dst, count]) => !counts(dst) || (seen?.get(dst) ?? 0) >= count);
    });
  }

  /** CLC `sn` is committed. @returns what waited for it */
  committed(sn: number): Stamped[] {
    if (this.#underWay?.sn === sn) this.#committed.push(this.#underWay);
    return this.over();
  }

  /** The CLC under way is abandoned, or committed. @returns what waited for it */
  over(): Stamped[] {
    this.#underWay = undefined;
    return this.#waiting.splice(0).map((m) => this.#stamp(m));
  }

  /** S3. */
  wentBack(to: number, alias: number, cuts: Iterable<readonly [TaskId, Counts]>): void {
    this.#underWay = undefined;
    this.#waiting = [];
    const sends = sendsOf(cuts);
    this.#committed = [...this.#committed.filter(({ sn }) => sn < to), { sn: alias, sends }];
    for (const [src, channels] of this.#seen)
      for (const [dst, seen] of channels) channels.set(dst, Math.min(seen, sends.get(src)?.get(dst) ?? 0));
  }

  /** CLCs before `sn` are gone. */
  forget(sn: number): void {
    this.#committed = this.#committed.filter((c) => c.sn >= sn);
  }

  /** S1. */
  protected waits({ src, dst, channel }: Leaving): boolean {
    const cut = this.#underWay?.sends.get(src);
    return cut !== undefined && channel > (cut.get(dst) ?? 0);
  }

  #stamp(m: Leaving): Stamped {
    const { src, dst, channel } = m;
    const after = this.#committed.findLast(({ sends }) => channel > (sends.get(src)?.get(dst) ?? 0));
    return { ...m, from: this.#cluster, interval: (after ?? this.#committed[0]!).sn };
  }
}
