/**
 * The messages that come to a cluster from others: their log, and when the cluster may receive them. "When a CLC has
 * been stored in the sender's cluster since the last communication", a CLC of the receiver's cluster is forced, and
 * "the application takes messages into account only when the forced CLC is committed" (hc3i, section 3.2).
 *
 * Owns: the cluster's DDV as committed, the log of messages that a rollback of this cluster may need again, how many
 * messages have come on each channel, the dead intervals of the senders.
 *
 *  G8  A message of a dead interval is dropped: its sender went back to before it was sent.
 *  G9  A message of an interval that is higher than the DDV's entry forces a CLC. It is pushed when a CLC that has the
 *      interval is committed. Messages of a channel keep their order.
 *  G10 After a rollback of this cluster, everything above the counts of its CLC comes again from the log. The paper
 *      sends again what was acknowledged with a *greater* SN than that of the CLC: the message that forced this CLC
 *      would be lost.
 *  G11 After a rollback of a sender, its messages above the counts of its CLC are dropped. None of them was pushed, or
 *      this cluster would go back as well.
 *  G12 The log keeps what is above the counts of the oldest CLC that garbage collection kept.
 */
import type { TaskId } from '@mayfly/wire';
import type { Counts, DeadIntervals } from '../contract/clusters.ts';
import type { Stamped } from './stamps.ts';

export type { DeadIntervals };

/** A record of the log. */
export interface Logged extends Stamped {
  /** G9. */
  pushed: boolean;
}

export type IntakeEffect =
  /** Durable before `push`. */
  | { readonly type: 'log'; readonly message: Stamped }
  | { readonly type: 'push'; readonly message: Stamped }
  /** G9, to the federation's scheduler. */
  | { readonly type: 'force'; readonly from: number; readonly interval: number };

type Cuts = ReadonlyMap<TaskId, Counts>;
type Counter = (src: TaskId, dst: TaskId) => number;

/** How many messages of each channel the receivers, or the senders, count in their cuts. */
export function counter(cuts: Cuts, side: 'sends' | 'receives'): Counter {
  const maps = new Map([...cuts].map(([task, counts]) => [task, new Map(counts[side])]));
  if (side === 'sends') return (src, dst) => maps.get(src)?.get(dst) ?? 0;
  return (src, dst) => maps.get(dst)?.get(src) ?? 0;
}

export class Intake {
  #ddv: readonly number[];
  /** In the order in which they came. */
  #log: Logged[] = [];
  readonly #seen = new Map<TaskId, Map<TaskId, number>>();
  #dead: readonly DeadIntervals[] = [];
  /** G9: by cluster, what has been asked for. */
  #asked: number[];
  #out: IntakeEffect[] = [];

  constructor(ddv: readonly number[]) {
    this.#ddv = ddv;
    this.#asked = [...ddv];
  }

  get log(): readonly Logged[] {
    return this.#log;
  }

  /**
   * A message is here, the next of its channel that has not come yet. One that comes again has no effect.
   * @throws if one of its channel is missing
   */
  comes(m: Stamped): IntakeEffect[] {
    if (this.dead(m)) return []; // G8
    const seen = this.#seen.get(m.dst)?.get(m.src) ?? 0;
    if (m.channel <= seen) return [];
    if (m.channel !== seen + 1) throw new Error(`message ${seen + 1} of rank ${m.src} to ${m.dst} is missing`);
    this.#count(m.src, m.dst, m.channel);
    this.#out.push({ type: 'log', message: m });
    return this.accept(m, false);
  }

  /**
   * A message is logged, in the order of its channel. `ended`: its receiver has ended, so that it is needed only when
   * this cluster goes back.
   */
  accept(m: Stamped, ended: boolean): IntakeEffect[] {
    const record = { ...m, pushed: ended };
    this.#log.push(record);
    if (ended) return [];
    this.#admit(record);
    return this.#take();
  }

  /** A Channel Memory begins with this log. @param held whether the image of its receiver has the message */
  restore(ddv: readonly number[], log: readonly Stamped[], held: (m: Stamped) => boolean): IntakeEffect[] {
    this.#ddv = ddv;
    this.#asked = [...ddv];
    this.#log = log.map((m) => ({ ...m, pushed: held(m) }));
    for (const record of this.#log) if (!record.pushed) this.#admit(record);
    return this.#take();
  }

  /** A CLC of this cluster with this DDV is committed. */
  committed(ddv: readonly number[]): IntakeEffect[] {
    this.#ddv = ddv;
    for (const record of this.#log) if (!record.pushed) this.#admit(record);
    return this.#take();
  }

  /** G8. @param dead all dead intervals of the job */
  declareDead(dead: readonly DeadIntervals[]): void {
    this.#dead = dead;
  }

  /**
   * G11: a sender's cluster went back. Comes before {@link wentBack} if this cluster goes back with it.
   * @returns what was never sent
   */
  senderWentBack(cluster: number, cuts: Cuts): Logged[] {
    const sent = counter(cuts, 'sends');
    const dropped = this.#log.filter((m) => m.from === cluster && this.undone(m, sent(m.src, m.dst)));
    if (dropped.length > 0) {
      const gone = new Set(dropped);
      this.#log = this.#log.filter((m) => !gone.has(m));
    }
    this.#asked = this.#asked.map((x, i) => (i === cluster ? this.#ddv[i]! : x));
    for (const [dst, channels] of this.#seen)
      for (const [src, seen] of channels) if (cuts.has(src)) channels.set(src, Math.min(seen, sent(src, dst)));
    return dropped;
  }

  /** G10: this cluster went back to a CLC with this DDV and these cuts. */
  wentBack(ddv: readonly number[], cuts: Cuts): IntakeEffect[] {
    this.#ddv = ddv;
    this.#asked = [...ddv];
    const received = counter(cuts, 'receives');
    for (const record of this.#log)
      if (this.again(record, received(record.src, record.dst))) {
        record.pushed = false;
        this.#admit(record);
      }
    return this.#take();
  }

  /** G12. @param cuts of the oldest CLC that is kept @returns what is gone */
  trim(cuts: Cuts): Logged[] {
    const received = counter(cuts, 'receives');
    const trimmed = this.#log.filter((m) => m.channel <= received(m.src, m.dst));
    if (trimmed.length > 0) this.#log = this.#log.filter((m) => m.channel > received(m.src, m.dst));
    return trimmed;
  }

  // ---- rules ----

  /** G8. */
  protected dead({ from, interval }: Stamped): boolean {
    return this.#dead.some((d) => d.cluster === from && d.from <= interval && interval < d.until);
  }

  /** G9. */
  protected mayPush({ from, interval }: Stamped): boolean {
    return interval <= this.#ddv[from]!;
  }

  /** G10. */
  protected again(record: Logged, received: number): boolean {
    return record.channel > received;
  }

  /** G11. */
  protected undone(record: Logged, sent: number): boolean {
    return record.channel > sent;
  }

  // ---- within ----

  #admit(record: Logged): void {
    const { from, interval } = record;
    if (this.mayPush(record)) {
      record.pushed = true;
      this.#out.push({ type: 'push', message: record });
    }
    if (interval <= Math.max(this.#ddv[from]!, this.#asked[from]!)) return;
    this.#asked[from] = interval;
    this.#out.push({ type: 'force', from, interval });
  }

  #count(src: TaskId, dst: TaskId, channel: number): void {
    let channels = this.#seen.get(dst);
    if (!channels) this.#seen.set(dst, (channels = new Map()));
    channels.set(src, channel);
  }

  #take(): IntakeEffect[] {
    return this.#out.splice(0);
  }
}
