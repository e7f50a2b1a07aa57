/**
 * Messages from other clusters (`hc3i`), on their way through a Channel Memory. Each cluster has a Channel Memory of
 * its own, the home of its tasks. When a cluster goes back, its Channel Memory begins with a new core; those of the
 * others go on, so whatever they have from that cluster is corrected here.
 *
 * Owns: for each task a log of what other clusters sent to it, and where each message lies there; frames that wait
 * until a CLC of their sender's cluster is over. Does not own: stamps, and when a receiver may have a message
 * (links.ts); the cut of its own cluster's channels (coordinated/wave-stage.ts), which a message passes once it has
 * become an arrival.
 *
 *  X5 A message from another cluster is appended to the log of its receiver, with its interval, in the step that counts
 *     it. It becomes an arrival, and is copied to where arrivals are, when its receiver may have it.
 *  X6 A CLC of another cluster is reported as `sent` when everything that its tasks sent here before their cuts is
 *     durable: they do not send it again.
 *  X7 A frame that waits (S1) is not counted and not acknowledged: its sender keeps it. It is dropped with its
 *     connection, over which it comes again.
 *  X8 A log is trimmed behind a BASE record with the numbers of what is gone.
 */
import {
  Cut,
  Flag,
  Kind,
  patchArrival,
  readFrame,
  taskId,
  type Header,
  type Incarnation,
  type TaskId,
} from '@mayfly/wire';
import { part } from '../channel-memory/deliver.ts';
import type { StageEvent } from '../channel-memory/events.ts';
import { discardPartial, pump } from '../channel-memory/push.ts';
import { readBody } from '../channel-memory/read-body.ts';
import { BASE_KIND, decodeBase, encodeBase, plain, viewOf } from '../channel-memory/records.ts';
import type { LogStage, OwnMessages } from '../channel-memory/stage.ts';
import { append, markDirty, newStream, resumeStream, slotOf, touch, type State } from '../channel-memory/state.ts';
import { channelOf, type Attachment, type Channel, type Destination, type Stream } from '../channel-memory/tasks.ts';
import type { ClcRecord, ClustersNow, Rolled } from '../contract/clusters.ts';
import { HELD_BYTES, type WaveStage } from '../coordinated/wave-stage.ts';
import type { LinkEffect, Links } from './links.ts';
import type { Leaving, Stamped } from './stamps.ts';

const keyOf = ({ src, dst, channel }: Leaving): string => `${src}>${dst}#${channel}`;

/** Where a message lies in the log of its receiver. */
interface Place {
  readonly lsns: readonly number[];
  readonly size: number;
}

interface Sent {
  readonly sn: number;
  /** To be synced before the CLC is reported; then nothing. */
  needs: readonly { stream: Stream; next: number }[] | undefined;
}

export class InterCluster implements LogStage, OwnMessages {
  readonly letter = 'x';
  readonly own = this;
  readonly #s: State;
  readonly #links: Links;
  readonly #waves: WaveStage;
  /** Frames of senders that have cut (S1). */
  #waiting: { readonly attachment: Attachment; readonly header: Header; readonly again: () => void }[] = [];
  #waitingBytes = 0;
  /** By task; undefined where another Channel Memory is its home. */
  readonly #streams: (Stream | undefined)[] = [];
  /** By message: where its log has it. */
  readonly #places = new Map<string, Place>();
  /** By cluster: its CLC whose messages are here. */
  readonly #sent = new Map<number, Sent>();
  /** By receiver, by sender: messages that are trimmed. */
  readonly #trimmed = new Map<TaskId, Map<TaskId, number>>();
  /** Until the core has recovered: what is left of the logs, in order. */
  #recovered: (Place & { readonly message: Stamped })[] = [];

  constructor(s: State, links: Links, waves: WaveStage) {
    this.#s = s;
    this.#links = links;
    this.#waves = waves;
  }

  // ---- the life of a core ----

  streams(): Stream[] {
    return this.#streams.filter((x) => x !== undefined);
  }

  grow(size: number): void {
    for (let task = this.#streams.length; task < size; task++)
      this.#streams.push(this.#s.destinations[task] ? newStream('x', task, true) : undefined);
  }

  recover(dst: TaskId, records: Iterable<{ lsn: number; bytes: Uint8Array }>, next: number): void {
    resumeStream(this.#s, this.#streams[dst]!, next);
    const parts = new Map<TaskId, number[]>();
    for (const { lsn, bytes: stored } of records) {
      const bytes = plain(stored);
      const { header: h, body } = readFrame(bytes, viewOf(bytes), 0);
      if (h.kind === BASE_KIND) {
        for (const [src, count] of decodeBase(body).channels) {
          this.#trimmedTo(dst, taskId(src), count);
          this.#atLeast(taskId(src), dst, count);
        }
        continue;
      }
      const lsns = h.offset === 0 ? [] : (parts.get(h.src) ?? []);
      lsns.push(lsn);
      parts.set(h.src, lsns);
      if ((h.flags & Flag.LAST) === 0) continue;
      parts.delete(h.src);
      const { src, channel, arrival: interval, size } = h;
      const message = { src, dst, channel, from: this.#links.clusterOf(src), interval };
      this.#recovered.push({ message, lsns, size });
    }
  }

  #atLeast(src: TaskId, dst: TaskId, count: number): void {
    const c = channelOf(this.#s.destinations[dst]!, slotOf(this.#s, src), src);
    c.count = Math.max(c.count, count);
    c.synced = Math.max(c.synced, count);
  }

  /** G10. The core has recovered, and what was in the wave is numbered. */
  #restore(now: ClustersNow): void {
    const s = this.#s;
    const recovered = this.#recovered;
    this.#recovered = [];
    const ended = new Set<TaskId>();
    for (const d of s.destinations) if (d && this.#waves.takesAll(d.task)) ended.add(d.task);
    const { log, effects } = this.#links.restore(
      now,
      recovered.map((r) => r.message),
      ended,
    );
    const alive = new Set(log);
    for (const { message, lsns, size } of recovered) {
      if (!alive.has(message)) continue;
      this.#places.set(keyOf(message), { lsns, size });
      const c = channelOf(s.destinations[message.dst]!, slotOf(s, message.src), message.src);
      if (message.channel > c.count + 1) return this.#missing(message, c.count + 1);
      c.count = Math.max(c.count, message.channel);
      touch(s, c);
    }
    this.#perform(effects);
    this.#checkSent();
  }

  #missing({ src, dst }: Stamped, channel: number): void {
    const message = `message ${channel} of rank ${src} to rank ${dst} is no longer in the log of messages between clusters`;
    this.#s.out.push({ type: 'failed', task: dst, error: { code: 'DAMAGED_LOG', message } });
  }

  // ---- messages ----

  owns(task: TaskId): boolean {
    return task < this.#s.sources.length && this.#links.clusterOf(task) !== this.#links.own;
  }

  /** X7. */
  waits(a: Attachment, h: Header, again: () => void): boolean {
    const { dst, channel } = h;
    if (!this.#links.waits({ src: a.task, dst, channel })) return false;
    this.#waiting.push({ attachment: a, header: h, again });
    this.#waitingBytes += h.bytes;
    if (this.#waitingBytes > HELD_BYTES) {
      const reason = `more than ${HELD_BYTES / 2 ** 20} MiB of messages to cluster ${this.#links.own} wait for its end`;
      this.#s.out.push({ type: 'cannot', task: a.task, wave: this.#links.cutting(a.task)!, reason });
    }
    return true;
  }

  /** X5. */
  takes(d: Destination, c: Channel, h: Header, frame: Uint8Array, whole: boolean): void {
    const s = this.#s;
    const x = this.#streams[d.task]!;
    const record = frame.slice();
    if (!whole) {
      part(c, h, append(s, x, record));
      return;
    }
    const lsns = c.partial?.lsns ?? [];
    c.partial = undefined;
    c.count = h.channel;
    touch(s, c);
    const ended = this.#waves.takesAll(d.task);
    const { stamped, effects } = this.#links.comes({ src: c.src, dst: d.task, channel: h.channel }, ended);
    patchArrival(viewOf(record), 0, stamped.interval, 0 as Incarnation);
    lsns.push(append(s, x, record));
    this.#places.set(keyOf(stamped), { lsns, size: h.size });
    this.#perform(effects);
    this.#checkSent();
  }

  #perform(effects: readonly LinkEffect[]): void {
    for (const e of effects)
      if (e.type === 'force') this.#s.out.push(e);
      else this.#arrives(e.message);
    this.#waves.settle();
  }

  /** X5. */
  #arrives(m: Stamped): void {
    const s = this.#s;
    const d = s.destinations[m.dst]!;
    const { lsns, size } = this.#places.get(keyOf(m))!;
    const n = s.policy.number(d, m.src, 0, true);
    const { stream } = d;
    const copies = lsns.map((_, i) => stream.next + i);
    markDirty(s, stream);
    const from = this.#streams[m.dst]!.name;
    s.out.push({ type: 'copy', from, lsns, to: stream.name, lsn: stream.next, arrival: n });
    stream.next += lsns.length;
    d.index.restore(n, copies.at(-1)!, size, copies.length > 1 ? copies : undefined);
    this.#waves.numbered(m.dst, n, m.src, m.channel);
    pump(s, d);
  }

  // ---- what tasks say ----

  /** CUT of a task of another cluster: what it had sent here before is to come (X6). It may come again. */
  frame(task: TaskId, kind: number, sn: number, body: Uint8Array): boolean {
    if (!this.owns(task) || (kind !== Kind.CUT && kind !== Kind.MARK && kind !== Kind.CANNOT)) return false;
    if (kind !== Kind.CUT || this.#links.cutting(task) !== sn) return true;
    const cut = readBody('CUT', Cut, body);
    this.#waves.noMoreThan(task, cut);
    this.#links.cut(sn, task, cut.sends);
    this.#checkSent();
    return true;
  }

  // ---- CLCs ----

  step(event: StageEvent): boolean {
    switch (event.type) {
      case 'clusters':
        this.#restore(event.now);
        return true;
      case 'clcBegins':
        this.#links.begin(event.cluster, event.clc);
        this.#checkSent();
        return true;
      case 'clcOver':
        this.#over(event.cluster, event.sn, event.record);
        return true;
      case 'ended':
        this.#waves.step(event);
        this.#links.ended(event.task);
        this.#checkSent();
        return true;
      case 'sendersWentBack':
        this.#sendersWentBack(event.rolled);
        return true;
      case 'stableClcs':
        this.#trim(event.records);
        return true;
      default:
        return false;
    }
  }

  #over(cluster: number, sn: number, record: ClcRecord | undefined): void {
    this.#sent.delete(cluster);
    this.#perform(this.#links.over(cluster, sn, record));
    const waiting = this.#waiting;
    this.#waiting = [];
    this.#waitingBytes = 0;
    // Those of another cluster wait again.
    for (const w of waiting) if (!w.attachment.dead) w.again();
  }

  /** X6. */
  #checkSent(): void {
    const s = this.#s;
    const seen = (src: TaskId, dst: TaskId): number | undefined => {
      const d = s.destinations[dst];
      return d && !d.done ? (d.channels[slotOf(s, src)]?.count ?? 0) : undefined;
    };
    for (let cluster = 0; cluster < s.options.count; cluster++) {
      const sn = this.#links.complete(cluster, seen);
      if (sn === undefined || this.#sent.get(cluster)?.sn === sn) continue;
      const needs = this.#streams.flatMap((x) => (x && x.synced < x.next ? [{ stream: x, next: x.next }] : []));
      this.#sent.set(cluster, { sn, needs });
      if (needs.length > 0) s.syncWanted = true;
    }
    this.synced();
  }

  /** X6. */
  synced(): void {
    for (const [cluster, sent] of this.#sent) {
      if (!sent.needs || sent.needs.some(({ stream, next }) => stream.synced < next)) continue;
      sent.needs = undefined;
      this.#s.out.push({ type: 'sent', cluster, wave: sent.sn });
    }
  }

  // ---- rollbacks ----

  /** G11. */
  #sendersWentBack(rolled: readonly Rolled[]): void {
    const s = this.#s;
    for (const { cluster, alias } of rolled) {
      this.#sent.delete(cluster);
      for (const [src, { sends }] of alias.cuts) {
        const counts = new Map(sends);
        for (const d of s.destinations) {
          const c = d?.channels[slotOf(s, src)];
          if (!d || !c) continue;
          discardPartial(d, c);
          c.resync = false;
          c.count = Math.min(c.count, counts.get(d.task) ?? 0);
          c.synced = Math.min(c.synced, c.count);
          c.syncing = Math.min(c.syncing, c.count);
        }
      }
    }
    const { undone, pushed } = this.#links.sendersWentBack(rolled);
    for (const m of undone) this.#places.delete(keyOf(m));
    this.#waiting = this.#waiting.filter((w) => !w.attachment.dead);
    this.#waitingBytes = this.#waiting.reduce((n, w) => n + w.header.bytes, 0);
    if (!pushed) return;
    // Never, or the line was wrong. An error is better than a wrong answer.
    const message =
      `Message ${pushed.channel} of rank ${pushed.src} was undone, but rank ${pushed.dst} has received it and does ` +
      'not go back.';
    s.out.push({ type: 'failed', task: pushed.dst, error: { code: 'INTERNAL', message } });
  }

  // ---- trimming ----

  /** X8. @returns what is trimmed of the log of this receiver, by sender */
  #trimmedTo(dst: TaskId, src: TaskId, count: number): ReadonlyMap<TaskId, number> {
    const of = this.#trimmed.get(dst) ?? new Map<TaskId, number>();
    this.#trimmed.set(dst, of.set(src, Math.max(of.get(src) ?? 0, count)));
    return of;
  }

  /** G12, X8. */
  #trim(stable: readonly ClcRecord[]): void {
    const s = this.#s;
    const gone = new Map<TaskId, ReadonlyMap<TaskId, number>>();
    for (const m of this.#links.trim(stable)) {
      this.#places.delete(keyOf(m));
      gone.set(m.dst, this.#trimmedTo(m.dst, m.src, m.channel));
    }
    if (gone.size === 0) return;
    const needed = this.#firstNeeded();
    for (const [dst, counts] of gone) {
      const x = this.#streams[dst]!;
      const to = needed.get(dst) ?? x.next;
      const base = { count: 0, trimmed: 0, channels: [...counts], evidence: [] };
      const lsn = append(s, x, encodeBase(dst, base));
      if (to === 0) continue;
      const effect = { type: 'trim' as const, stream: x.name, from: 0, to, keep: new Set<number>() };
      s.trims.push({ stream: x, needs: lsn + 1, effect });
      s.syncWanted = true;
    }
  }

  /** By receiver: the first record that is still needed. */
  #firstNeeded(): Map<TaskId, number> {
    const first = new Map<TaskId, number>();
    const needs = (dst: TaskId, lsns: readonly number[]): void => {
      if (lsns.length > 0) first.set(dst, Math.min(first.get(dst) ?? Infinity, lsns[0]!));
    };
    for (const [key, { lsns }] of this.#places)
      needs(taskId(Number(key.slice(key.indexOf('>') + 1, key.indexOf('#')))), lsns);
    for (const d of this.#s.destinations)
      for (const c of d?.channels ?? []) if (d && c?.partial && this.owns(c.src)) needs(d.task, c.partial.lsns);
    return first;
  }

  // ---- views ----

  keepsBack(task: TaskId): number {
    return this.awaiting(task) + this.#waiting.filter((w) => w.header.dst === task).length;
  }

  awaiting(task: TaskId): number {
    return this.#links.awaiting(task);
  }
}
