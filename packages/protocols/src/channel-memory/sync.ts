/**
 * Group commit over all dirty streams, and its consequences: acknowledgements, covered images. `none` makes nothing
 * durable: its "sync" ends at once, and consumed arrivals go.
 */
import { Kind, encodeAck, encodeFrame, emptyHeader } from '@mayfly/wire';
import { answerAttach } from './attach.ts';
import { missing } from './ranges.ts';
import { pump } from './push.ts';
import { ackSoon, type Cover, type State } from './state.ts';
import { EVERYTHING, type Source } from './tasks.ts';
import { trimConsumed } from './trim.ts';
import { releaseWorld } from './world.ts';

/**
 * Senders keep copies of everything until it is synced. Syncs that nothing waits for therefore have a bound in bytes
 * and in time.
 */
const SYNC_BYTES = 4 * 1024 * 1024;

/**
 * At a tick: something waits (the world for output, a restart, an image, a receiver for an envelope), or it is time. A
 * sync costs as much for one message as for a thousand, and the appends of a stream wait for the journal of the file
 * system meanwhile.
 */
export function syncDue(s: State): boolean {
  return (
    s.syncWanted ||
    s.ticks >= (s.options.lazyTicks ?? 1) ||
    s.unsyncedBytes >= SYNC_BYTES ||
    s.worlds.some((w) => w !== undefined && w.waiting.length > 0)
  );
}

/** Begins a sync of everything appended so far, unless one is under way (then another follows). */
export function startSync(s: State): void {
  if (s.sync !== undefined) {
    s.syncWanted = true;
    return;
  }
  s.syncWanted = false;
  s.ticks = 0;
  s.unsyncedBytes = 0;
  for (const source of s.sources) Object.assign(source.syncingEvidence, source.evidence);
  if (s.dirtyStreams.length === 0 && s.dirtyChannels.length === 0) {
    for (const source of s.sources) Object.assign(source.durableEvidence, source.syncingEvidence);
    settle(s, s.ticket + 1);
    return;
  }
  const channels = s.dirtyChannels;
  for (const c of channels) {
    c.syncing = c.count;
    c.dirty = false;
  }
  const marks = s.dirtyStreams.map((stream) => ({ stream, next: stream.next }));
  const sources = [];
  for (const source of s.sources)
    if (source.determinants.dirty)
      sources.push({ source, held: source.held.map(([a, b]): [number, number] => [a, b]) });
  const destinations = [];
  for (const d of s.destinations)
    if (d?.stream.dirty) {
      d.arrivalsSyncing = d.index.count;
      destinations.push(d);
    }
  for (const { stream } of marks) stream.dirty = false;
  s.dirtyStreams = [];
  s.dirtyChannels = [];
  s.sync = { ticket: ++s.ticket, marks, channels, sources, destinations };
  for (const stage of s.stages) stage.syncBegins?.();
  const streams = marks.filter((m) => m.stream.durable).map((m) => m.stream.name);
  if (s.durable || streams.length > 0) s.out.push({ type: 'sync', ticket: s.ticket, streams });
  else synced(s, s.ticket);
}

/** The host reports that a sync is done. */
export function synced(s: State, ticket: number): void {
  const sync = s.sync;
  if (sync?.ticket !== ticket) return;
  s.sync = undefined;
  for (const { stream, next } of sync.marks) stream.synced = next;
  for (const source of s.sources) Object.assign(source.durableEvidence, source.syncingEvidence);
  for (const c of sync.channels) {
    c.synced = Math.max(c.synced, c.syncing);
    const source = s.sources[c.src];
    if (source?.attachment) {
      source.ackChannels.push(c);
      ackSoon(s, source);
    }
  }
  for (const { source, held } of sync.sources) {
    source.durable = held;
    if (source.attachment) ackSoon(s, source);
  }
  for (const d of sync.destinations) {
    d.arrivalsSynced = Math.max(d.arrivalsSynced, d.arrivalsSyncing);
    const source = s.sources[d.task]!;
    if (source.attachment) ackSoon(s, source);
  }
  for (const stage of s.stages) stage.synced?.();
  settle(s, ticket);
  flushAcks(s);
  if (!s.durable) trimConsumed(s);
  if (s.syncWanted || (s.strict && s.dirtyStreams.length > 0)) startSync(s);
}

/** Everything that waited for durability: all appends before sync `ticket` began are durable. */
function settle(s: State, ticket: number): void {
  for (const w of s.worlds) if (w) releaseWorld(s, w);
  for (const d of s.destinations) if (d) pump(s, d);
  if (s.answers.length > 0) {
    const answers = s.answers;
    s.answers = answers.filter((a) => a.needs > ticket);
    for (const a of answers) if (a.needs <= ticket) answerAttach(s, a.attachment);
    if (s.answers.length > 0) s.syncWanted = true;
  }
  if (s.onceDurable.length > 0) {
    const waiting = s.onceDurable;
    s.onceDurable = waiting.filter((w) => w.needs > ticket);
    for (const w of waiting) if (w.needs <= ticket) w.act();
    if (s.onceDurable.length > 0) s.syncWanted = true;
  }
  if (s.trims.length > 0) {
    s.trims = s.trims.filter((t) => {
      if (t.stream.synced < t.needs) return true;
      s.out.push(t.effect);
      return false;
    });
    if (s.trims.length > 0) s.syncWanted = true;
  }
  for (const [task, list] of s.covers) for (const c of list) sayCovered(s, task, c);
}

/** ACKs, at the end of a batch or after a sync (determinants at once under `behind`, the rest when synced). */
export function flushAcks(s: State): void {
  if (s.acks.length === 0) return;
  const acks = s.acks;
  s.acks = [];
  for (const source of acks) {
    source.ackDue = false;
    const channels = source.ackChannels.splice(0);
    const a = source.attachment;
    if (!a?.answered) continue;
    const durable = durableUpTo(source);
    const h = emptyHeader(Kind.ACK);
    h.src = source.task;
    h.dst = source.task;
    h.incarnation = a.incarnation;
    const body = encodeAck({
      determinantsFirst: source.blockFirst,
      determinantsAppended: s.strict ? Math.min(durable, source.blockEnd) : source.blockEnd,
      determinantsSynced: durable,
      arrivalsSynced: s.destinations[source.task]?.arrivalsSynced ?? 0,
      channels: channels.map((c) =>
        s.destinations[c.dst]?.done
          ? { dst: c.dst, appended: EVERYTHING, synced: EVERYTHING }
          : { dst: c.dst, appended: c.count, synced: c.synced },
      ),
    });
    s.out.push({ type: 'send', conn: a.conn, bytes: encodeFrame(h, body) });
  }
}

/** Highest number up to which everything held is durable. */
function durableUpTo(source: Source): number {
  for (const [from, to] of source.held) {
    const gap = missing(source.durable, from, to)[0];
    if (gap) return gap[0];
  }
  return source.held.at(-1)?.[1] ?? 0;
}

// ---- covered images ----

export function sayCovered(s: State, task: number, c: Cover): void {
  if (!s.policy.stable(s, task, c.position)) return;
  const source = s.sources[task]!;
  const said = JSON.stringify(source.durable);
  if (c.said === said) return;
  c.said = said;
  s.out.push({
    type: 'covered',
    task: source.task,
    image: c.image,
    determinants: source.durable.map(([a, b]): [number, number] => [a, b]),
  });
}
