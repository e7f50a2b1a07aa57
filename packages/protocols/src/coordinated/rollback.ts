/**
 * G7: what a Channel Memory has after a rollback to a wave. A new core begins with the counts of the wave's cuts, and
 * has the wave's records as its logs: the first arrivals behind the images, in their order. So what was in the channels
 * at the cut arrives once, what was sent later counts as never sent, and what tasks wrote behind their cuts was never
 * written.
 */
import { FILES, Flag, WORLD, emptyHeader, encodeFrame, patchArrival, readFrame, type TaskId } from '@mayfly/wire';
import type { Line } from '../channel-memory/events.ts';
import { BACK_KIND, WAVE_KIND, json, plain, viewOf } from '../channel-memory/records.ts';
import { append, slotOf, type State } from '../channel-memory/state.ts';
import { channelOf, type Destination, type World } from '../channel-memory/tasks.ts';
import { cutWorld } from '../channel-memory/world.ts';
import { countOf, type TaskOfWave, type WaveRecord } from '../contract/waves.ts';
import type { Gate } from './gate.ts';

/** A record of a wave stream. `body`: the receiver's image has consumed it, and lacks its body. */
export interface Recorded {
  readonly src: TaskId;
  readonly channel: number;
  readonly body: boolean;
}

/** …as it stands there. */
export interface WaveRecordRead extends Recorded {
  /** Its number in the life that the wave was taken in. */
  readonly arrival: number;
  readonly size: number;
  readonly frames: readonly Uint8Array[];
}

/**
 * Brings a new gate to a wave.
 * @param tasks as the wave's record has them
 * @param records of a receiver, in the order of its wave stream
 * @param log the record becomes arrival `number` of its receiver
 */
export type RestoreGate = (
  gate: Gate,
  tasks: readonly TaskOfWave[],
  records: (receiver: TaskId) => readonly Recorded[],
  log: (receiver: TaskId, number: number, record: Recorded) => void,
) => void;

export const restoreGate: RestoreGate = (gate, tasks, records, log) => {
  for (const t of tasks) {
    const dst = t.task;
    if (t.state === 'ended') {
      gate.ended(dst);
      continue;
    }
    const { arrivals, receives } = t.state === 'image' ? t.cut : { arrivals: 0, receives: [] };
    for (const [src, count] of receives) gate.counted(src, dst, count);
    let number = arrivals;
    for (const record of records(dst)) {
      if (record.body) continue;
      gate.counted(record.src, dst, record.channel);
      log(dst, ++number, record);
      gate.numbered(dst, number, record.src, record.channel);
    }
  }
};

/**
 * What the wave `to` has recorded for a task.
 * @param begins gets where the records of each wave begin
 * @throws MalformedFrame
 */
export function readWave(
  to: WaveRecord | undefined,
  task: TaskId,
  records: Iterable<{ lsn: number; bytes: Uint8Array }>,
  begins: { epoch: number; wave: number; lsn: number }[],
): WaveRecordRead[] {
  const of = to?.tasks[task];
  const image = of?.state === 'image' ? of.cut.arrivals : 0;
  const read: WaveRecordRead[] = [];
  let mine = false;
  const parts = new Map<number, Uint8Array[]>();
  for (const { lsn, bytes: stored } of records) {
    const bytes = plain(stored);
    const { header: h } = readFrame(bytes, viewOf(bytes), 0);
    if (h.kind === WAVE_KIND) {
      begins.push({ epoch: h.epoch, wave: h.word, lsn });
      mine = to !== undefined && h.epoch === to.epoch && h.word === to.wave;
      parts.clear();
      continue;
    }
    if (!mine) continue;
    const frames = h.offset === 0 ? [] : (parts.get(h.src) ?? []);
    frames.push(bytes);
    parts.set(h.src, frames);
    if ((h.flags & Flag.LAST) === 0) continue;
    parts.delete(h.src);
    const { src, channel, arrival, size } = h;
    read.push({ src, channel, arrival, size, frames, body: arrival <= image });
  }
  return read;
}

/** After all streams. `records` by task. */
export function goBack(
  s: State,
  gate: Gate,
  restore: RestoreGate,
  line: Line,
  records: ReadonlyMap<TaskId, readonly WaveRecordRead[]>,
): void {
  const tasks = line.to?.tasks ?? [];
  for (const t of tasks) {
    const d = s.destinations[t.task];
    if (!d || t.state !== 'image') continue;
    const { arrivals } = t.cut;
    d.index.atLeast(arrivals);
    d.index.trim({ prologue: 0, image: arrivals, held: [] }, []);
    d.trimmed = arrivals;
    for (const r of records.get(t.task) ?? [])
      if (r.body) {
        log(s, d, r.arrival, r);
        d.envelopes.add(r.arrival);
      }
  }
  const mine = tasks.filter((t) => s.destinations[t.task] !== undefined || t.state === 'ended');
  const of = (task: TaskId): readonly WaveRecordRead[] => records.get(task) ?? [];
  restore(gate, mine, of, (task, n, r) => log(s, s.destinations[task]!, n, r as WaveRecordRead));
  gate.take(); // outside a wave it wants nothing
  for (const d of s.destinations) {
    if (!d) continue;
    for (const from of [WORLD, FILES, ...s.sources.map((x) => x.task)]) {
      const count = gate.seen(from, d.task);
      if (count > 0) {
        const c = channelOf(d, slotOf(s, from), from);
        c.count = c.synced = count;
      }
    }
  }
  s.worlds.forEach((w, task) => w && backToCut(s, w, tasks[task]));
}

function log(s: State, d: Destination, n: number, r: WaveRecordRead): void {
  const lsns = r.frames.map((stored, i) => {
    const frame = stored.slice();
    patchArrival(viewOf(frame), 0, i === r.frames.length - 1 ? n : 0, s.sources[d.task]!.fence);
    return append(s, d.stream, frame);
  });
  d.index.restore(n, lsns.at(-1)!, r.size, lsns.length > 1 ? lsns : undefined);
}

/** What the task wrote behind its cut was never written. What an ended task wrote stays. */
function backToCut(s: State, w: World, t: TaskOfWave | undefined): void {
  if (t?.state === 'ended') return;
  const count = t?.state === 'image' ? countOf(t.cut.sends, WORLD) : 0;
  if (w.channel.count <= count) return;
  const h = emptyHeader(BACK_KIND);
  h.dst = w.channel.src;
  append(s, w.stream, encodeFrame(h, json({ count })));
  cutWorld(s, w, count);
}
