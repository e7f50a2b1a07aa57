/**
 * Trimming: what the images that are kept make superfluous goes; counts and evidence stay in a BASE record (C7).
 *
 * A BASE record may outlive what came after everything that it replaces. Example of C8: output 16 of task 0 is shown,
 * and `w0` is trimmed behind a BASE record. Meanwhile a frame has come that says "task 0 has made 103 events"; its
 * records are in other streams, and no sync has taken them yet. A BASE record that names the 103 events may survive a
 * loss of power that takes them: the next restart of task 0 would look for events that nobody has seen, and the job
 * would end with LOST_LOG. So a BASE record is written once everything before it is durable, and says only that.
 */
import type { Position, TaskId } from '@mayfly/wire';
import { encodeBase } from './records.ts';
import { ownerOf } from './stage.ts';
import { append, type State } from './state.ts';
import type { Destination, World } from './tasks.ts';

/** C7: records go only when a BASE record with what they had established is durable. */
export function trim(s: State, task: number, position: Position): void {
  const source = s.sources[task]!;
  const dets = s.policy.superfluous(source, position);
  if (dets.to > 0)
    s.out.push({ type: 'trim', stream: source.determinants.name, from: 0, to: dets.to, keep: dets.keep });
  const d = s.destinations[task];
  if (d) onceDurable(s, () => trimArrivals(s, d, position));
}

function trimArrivals(s: State, d: Destination, position: Position): void {
  if (d.done || d.closed) return;
  const open = openLsns(s, d);
  const replays = s.policy.replays(position);
  d.trimmed = Math.max(d.trimmed, Math.min(replays.image, d.index.count));
  const gone = d.index.trim(replays, open);
  if (gone.to > 0) trimBehindBase(s, d, gone);
}

/** C8. A log in memory loses everything at once, and has nothing to wait for. */
export function onceDurable(s: State, act: () => void): void {
  if (!s.durable || !s.policy.baseWaits(s)) return act();
  s.onceDurable.push({ needs: s.ticket + 1, act });
  s.syncWanted = true;
}

/** Records that trimming must spare: chunks of messages that are not whole, or that a stage holds back. */
function openLsns({ stages }: State, d: Destination): number[] {
  const open = d.channels.flatMap((c) => (c?.partial && !ownerOf(stages, c.src) ? c.partial.lsns : []));
  for (const stage of stages) open.push(...(stage.spares?.(d.task) ?? []));
  return open;
}

export function trimBehindBase(s: State, d: Destination, gone: { from: number; to: number; keep: Set<number> }): void {
  const lsn = appendBase(s, d);
  s.trims.push({
    stream: d.stream,
    needs: s.policy.trimsBehind(lsn),
    effect: { type: 'trim', stream: d.stream.name, ...gone },
  });
  s.syncWanted = true;
}

/** What is known of this log's channels, whatever becomes of their messages. */
export function appendBase(s: State, d: Destination): number {
  const channels = d.channels.filter((c) => c !== undefined);
  const base = encodeBase(d.task, {
    count: d.index.count,
    trimmed: d.trimmed,
    channels: channels.map((c) => [c.src, c.count]),
    evidence: evidenceOf(
      s,
      channels.map((c) => c.src),
    ),
  });
  return append(s, d.stream, base);
}

export function trimWorld(s: State, task: number, channel: number): void {
  const w = s.worlds[task];
  if (w) onceDurable(s, () => trimOutput(s, w, channel));
}

function trimOutput(s: State, w: World, channel: number): void {
  const gone = w.index.trim({ prologue: 0, image: channel, held: [] }, w.channel.partial?.lsns ?? []);
  if (gone.to === 0) return;
  const lsn = append(
    s,
    w.stream,
    encodeBase(w.channel.src, {
      count: w.channel.count,
      trimmed: channel,
      channels: [],
      evidence: evidenceOf(s, [w.channel.src]),
    }),
  );
  s.trims.push({ stream: w.stream, needs: lsn + 1, effect: { type: 'trim', stream: w.stream.name, ...gone } });
  s.syncWanted = true;
}

/** Of the senders, and of all whose sections may have come with their messages. */
const evidenceOf = (s: State, senders: readonly TaskId[]): [number, number, number, number][] =>
  [...new Set([...senders, ...s.inSections])].flatMap((t): [number, number, number, number][] => {
    const source = s.sources[t];
    if (!source) return [];
    const e = s.policy.outlives(source);
    return [[t, e.determinants, e.openPolls, e.consumed]];
  });

/** A log in memory: what is consumed can never be asked for again. */
export function trimConsumed(s: State): void {
  for (const d of s.destinations) {
    const consumed = d?.push?.consumed ?? 0;
    if (d === undefined || consumed <= d.trimmed) continue;
    d.trimmed = consumed;
    const gone = d.index.trim({ prologue: 0, image: consumed, held: [...d.envelopes] }, openLsns(s, d));
    if (gone.to > 0) s.out.push({ type: 'trim', stream: d.stream.name, ...gone });
  }
}
