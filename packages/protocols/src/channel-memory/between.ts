/**
 * Messages from other clusters (`hc3i`). Each cluster has a Channel Memory of its own, the home of its tasks. When a
 * cluster goes back, its Channel Memory begins with a new core; those of the others go on, so whatever they have from
 * that cluster is corrected here.
 *
 * Owns: for each task a log of what other clusters sent to it, and where each message lies there; frames that wait
 * until a CLC of their sender's cluster is over. Does not own: stamps, and when a receiver may have a message
 * (ClusterLinks).
 *
 *  X5 A message from another cluster is appended to the log of its receiver, with its interval, in the step that counts
 *     it. It becomes an arrival, and is copied to where arrivals are, when its receiver may have it.
 *  X6 A CLC of another cluster is reported as `sent` when everything that its tasks sent here before their cuts is
 *     durable: they do not send it again.
 *  X7 A frame that waits (S1) is not counted and not acknowledged: its sender keeps it. It is dropped with its
 *     connection, over which it comes again.
 *  X8 A log is trimmed behind a BASE record with the numbers of what is gone.
 */
import { Cut, Flag, patchArrival, readFrame, taskId, type Header, type Incarnation, type TaskId } from '@mayfly/wire';
import {
  type ClcRecord,
  type ClcUnderWay,
  type ClustersNow,
  type Leaving,
  type LinkEffect,
  type Rolled,
  type Stamped,
} from '../contract/clusters.ts';
import { HELD_BYTES, noMoreThan, obey, part } from './cutting.ts';
import { isForeign } from './foreign.ts';
import { discardPartial, pump } from './push.ts';
import { readBody } from './read-body.ts';
import { BASE_KIND, decodeBase, encodeBase, plain, viewOf } from './records.ts';
import {
  append,
  channelOf,
  markDirty,
  resumeStream,
  slotOf,
  touch,
  type Attachment,
  type Between,
  type Channel,
  type Destination,
  type State,
} from './state.ts';

const keyOf = ({ src, dst, channel }: Leaving): string => `${src}>${dst}#${channel}`;

// ---- messages ----

/** X7. @returns whether the frame waits */
export function waits(s: State, a: Attachment, h: Header, again: () => void): boolean {
  const b = s.between!;
  const { dst, channel } = h;
  if (!b.links.waits({ src: a.task, dst, channel })) return false;
  b.waiting.push({ attachment: a, header: h, again });
  b.waitingBytes += h.bytes;
  if (b.waitingBytes > HELD_BYTES) {
    const reason = `more than ${HELD_BYTES / 2 ** 20} MiB of messages to cluster ${b.links.own} wait for its end`;
    s.out.push({ type: 'cannot', task: a.task, wave: b.links.cutting(a.task)!, reason });
  }
  return true;
}

/** X5. One chunk for a task, in the order of its channel. */
export function fromAnotherCluster(
  s: State,
  d: Destination,
  c: Channel,
  h: Header,
  frame: Uint8Array,
  whole: boolean,
): void {
  const b = s.between!;
  const x = b.streams[d.task]!;
  const record = frame.slice();
  if (!whole) {
    part(c, h, append(s, x, record));
    return;
  }
  const lsns = c.partial?.lsns ?? [];
  c.partial = undefined;
  c.count = h.channel;
  touch(s, c);
  const ended = s.cutting!.gate.takesAll(d.task);
  const { stamped, effects } = b.links.comes({ src: c.src, dst: d.task, channel: h.channel }, ended);
  patchArrival(viewOf(record), 0, stamped.interval, 0 as Incarnation);
  lsns.push(append(s, x, record));
  b.places.set(keyOf(stamped), { lsns, size: h.size });
  perform(s, effects);
  checkSent(s);
}

function perform(s: State, effects: readonly LinkEffect[]): void {
  for (const e of effects)
    if (e.type === 'force') s.out.push(e);
    else arrives(s, e.message);
  obey(s);
}

/** X5. */
function arrives(s: State, m: Stamped): void {
  const b = s.between!;
  const d = s.destinations[m.dst]!;
  const { lsns, size } = b.places.get(keyOf(m))!;
  const n = s.policy.number(d, m.src, 0, true);
  const { stream } = d;
  const copies = lsns.map((_, i) => stream.next + i);
  markDirty(s, stream);
  s.out.push({ type: 'copy', from: b.streams[m.dst]!.name, lsns, to: stream.name, lsn: stream.next, arrival: n });
  stream.next += lsns.length;
  d.index.restore(n, copies.at(-1)!, size, copies.length > 1 ? copies : undefined);
  s.cutting!.gate.numbered(m.dst, n, m.src, m.channel);
  pump(s, d);
}

// ---- CLCs ----

/** CUT of a task of another cluster: what it had sent here before is to come (X6). It may come again. */
export function foreignCut(s: State, task: TaskId, wave: number, body: Uint8Array): void {
  const { links } = s.between!;
  if (links.cutting(task) !== wave) return;
  const cut = readBody('CUT', Cut, body);
  noMoreThan(s, task, cut);
  links.cut(wave, task, cut.sends);
  checkSent(s);
}

export function clcBegins(s: State, cluster: number, clc: ClcUnderWay): void {
  s.between!.links.begin(cluster, clc);
  checkSent(s);
}

export function clcOver(s: State, cluster: number, sn: number, record: ClcRecord | undefined): void {
  const b = s.between!;
  b.sent.delete(cluster);
  perform(s, b.links.over(cluster, sn, record));
  const waiting = b.waiting;
  b.waiting = [];
  b.waitingBytes = 0;
  // Those of another cluster wait again.
  for (const w of waiting) if (!w.attachment.dead) w.again();
}

export function taskEnds(s: State, task: TaskId): void {
  if (!s.between) return;
  s.between.links.ended(task);
  checkSent(s);
}

/** X6. */
export function checkSent(s: State): void {
  const b = s.between!;
  const seen = (src: TaskId, dst: TaskId): number | undefined => {
    const d = s.destinations[dst];
    return d && !d.done ? (d.channels[slotOf(s, src)]?.count ?? 0) : undefined;
  };
  for (let cluster = 0; cluster < s.options.count; cluster++) {
    const sn = b.links.complete(cluster, seen);
    if (sn === undefined || b.sent.get(cluster)?.sn === sn) continue;
    const needs = b.streams.flatMap((x) => (x && x.synced < x.next ? [{ stream: x, next: x.next }] : []));
    b.sent.set(cluster, { sn, needs });
    if (needs.length > 0) s.syncWanted = true;
  }
  reportSent(s);
}

/** X6; again after each sync. */
export function reportSent(s: State): void {
  for (const [cluster, sent] of s.between?.sent ?? []) {
    if (!sent.needs || sent.needs.some(({ stream, next }) => stream.synced < next)) continue;
    sent.needs = undefined;
    s.out.push({ type: 'sent', cluster, wave: sent.sn });
  }
}

// ---- rollbacks ----

/** G11. */
export function sendersWentBack(s: State, rolled: readonly Rolled[]): void {
  const b = s.between!;
  for (const { cluster, alias } of rolled) {
    b.sent.delete(cluster);
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
  const { undone, pushed } = b.links.sendersWentBack(rolled);
  for (const m of undone) b.places.delete(keyOf(m));
  b.waiting = b.waiting.filter((w) => !w.attachment.dead);
  b.waitingBytes = b.waiting.reduce((n, w) => n + w.header.bytes, 0);
  if (!pushed) return;
  // Never, or the line was wrong. An error is better than a wrong answer.
  const message =
    `Message ${pushed.channel} of rank ${pushed.src} was undone, but rank ${pushed.dst} has received it and does not ` +
    'go back.';
  s.out.push({ type: 'failed', task: pushed.dst, error: { code: 'INTERNAL', message } });
}

/** What is left of a log. @throws MalformedFrame */
export function recoverBetween(
  s: State,
  dst: TaskId,
  records: Iterable<{ lsn: number; bytes: Uint8Array }>,
  next: number,
): void {
  const b = s.between!;
  resumeStream(s, b.streams[dst]!, next);
  const parts = new Map<TaskId, number[]>();
  for (const { lsn, bytes: stored } of records) {
    const bytes = plain(stored);
    const { header: h, body } = readFrame(bytes, viewOf(bytes), 0);
    if (h.kind === BASE_KIND) {
      for (const [src, count] of decodeBase(body).channels) {
        trimmedTo(b, dst, taskId(src), count);
        atLeast(s, taskId(src), dst, count);
      }
      continue;
    }
    const lsns = h.offset === 0 ? [] : (parts.get(h.src) ?? []);
    lsns.push(lsn);
    parts.set(h.src, lsns);
    if ((h.flags & Flag.LAST) === 0) continue;
    parts.delete(h.src);
    const { src, channel, arrival: interval, size } = h;
    const message = { src, dst, channel, from: b.links.clusterOf(src), interval };
    b.recovered.push({ message, lsns, size });
  }
}

/** X8. @returns what is trimmed of the log of this receiver, by sender */
function trimmedTo(b: Between, dst: TaskId, src: TaskId, count: number): ReadonlyMap<TaskId, number> {
  const of = b.trimmed.get(dst) ?? new Map<TaskId, number>();
  b.trimmed.set(dst, of.set(src, Math.max(of.get(src) ?? 0, count)));
  return of;
}

function atLeast(s: State, src: TaskId, dst: TaskId, count: number): void {
  const c = channelOf(s.destinations[dst]!, slotOf(s, src), src);
  c.count = Math.max(c.count, count);
  c.synced = Math.max(c.synced, count);
}

/** G10. The core has recovered, and what was in the wave is numbered. */
export function restoreBetween(s: State, now: ClustersNow): void {
  const b = s.between!;
  const { recovered } = b;
  b.recovered = [];
  const ended = new Set<TaskId>();
  for (const d of s.destinations) if (d && s.cutting!.gate.takesAll(d.task)) ended.add(d.task);
  const { log, effects } = b.links.restore(
    now,
    recovered.map((r) => r.message),
    ended,
  );
  const alive = new Set(log);
  for (const { message, lsns, size } of recovered) {
    if (!alive.has(message)) continue;
    b.places.set(keyOf(message), { lsns, size });
    const c = channelOf(s.destinations[message.dst]!, slotOf(s, message.src), message.src);
    if (message.channel > c.count + 1) return missing(s, message, c.count + 1);
    c.count = Math.max(c.count, message.channel);
    touch(s, c);
  }
  perform(s, effects);
  checkSent(s);
}

function missing(s: State, { src, dst }: Stamped, channel: number): void {
  const message = `message ${channel} of rank ${src} to rank ${dst} is no longer in the log of messages between clusters`;
  s.out.push({ type: 'failed', task: dst, error: { code: 'LOST_LOG', message } });
}

/** G12, X8. */
export function trimBetween(s: State, stable: readonly ClcRecord[]): void {
  const b = s.between!;
  const gone = new Map<TaskId, ReadonlyMap<TaskId, number>>();
  for (const m of b.links.trim(stable)) {
    b.places.delete(keyOf(m));
    gone.set(m.dst, trimmedTo(b, m.dst, m.src, m.channel));
  }
  if (gone.size === 0) return;
  const needed = firstNeeded(s, b);
  for (const [dst, counts] of gone) {
    const x = b.streams[dst]!;
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
function firstNeeded(s: State, b: Between): Map<TaskId, number> {
  const first = new Map<TaskId, number>();
  const needs = (dst: TaskId, lsns: readonly number[]): void => {
    if (lsns.length > 0) first.set(dst, Math.min(first.get(dst) ?? Infinity, lsns[0]!));
  };
  for (const [key, { lsns }] of b.places)
    needs(taskId(Number(key.slice(key.indexOf('>') + 1, key.indexOf('#')))), lsns);
  for (const d of s.destinations)
    for (const c of d?.channels ?? []) if (d && c?.partial && isForeign(s, c.src)) needs(d.task, c.partial.lsns);
  return first;
}
