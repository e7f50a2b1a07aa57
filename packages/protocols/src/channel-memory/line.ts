/**
 * Coordinated checkpointing: a new core begins where all tasks of the job go back to. Channels have the counts of the
 * wave's cuts, logs the wave's records, and what tasks wrote behind their cuts was never written.
 */
import { FILES, Flag, WORLD, emptyHeader, encodeFrame, patchArrival, readFrame, type TaskId } from '@mayfly/wire';
import { countOf, type Recorded, type TaskOfWave } from '../contract/waves.ts';
import type { Line } from './events.ts';
import { BACK_KIND, WAVE_KIND, json, plain, viewOf } from './records.ts';
import { inMemory } from './world.ts';
import { append, channelOf, resumeStream, slotOf, type Destination, type State, type World } from './state.ts';

/** A message of a wave stream. */
export interface WaveRecordRead extends Recorded {
  /** Its number in the life that the wave was taken in. */
  readonly arrival: number;
  readonly size: number;
  readonly frames: readonly Uint8Array[];
}

/** What the wave of the line has recorded for a task. @throws MalformedFrame */
export function recoverWaves(
  s: State,
  task: TaskId,
  records: Iterable<{ lsn: number; bytes: Uint8Array }>,
  next: number,
): WaveRecordRead[] {
  const ws = s.cutting!.streams[task]!;
  const to = s.options.line?.to;
  const of = to?.tasks[task];
  const image = of?.state === 'image' ? of.cut.arrivals : 0;
  resumeStream(s, ws.stream, next);
  const read: WaveRecordRead[] = [];
  let mine = false;
  const parts = new Map<number, Uint8Array[]>();
  for (const { lsn, bytes: stored } of records) {
    const bytes = plain(stored);
    const { header: h } = readFrame(bytes, viewOf(bytes), 0);
    if (h.kind === WAVE_KIND) {
      ws.begins.push({ epoch: h.epoch, wave: h.word, lsn });
      mine = to !== undefined && h.epoch === to.epoch && h.word === to.wave;
      parts.clear();
      continue;
    }
    if (!mine) continue;
    const frames = h.offset === 0 ? [] : (parts.get(h.src) ?? []);
    frames.push(bytes);
    parts.set(h.src, frames);
    if ((h.flags & Flag.LAST) === 0) continue;
    const { src, channel, arrival, size } = h;
    read.push({ src, channel, arrival, size, frames, body: arrival <= image });
  }
  return read;
}

/** After all streams. `records` by task. */
export function goBack(s: State, line: Line, records: ReadonlyMap<TaskId, readonly WaveRecordRead[]>): void {
  const cutting = s.cutting!;
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
  s.policy.waves!.goBack(cutting.gate, mine, of, (task, n, r) => log(s, s.destinations[task]!, n, r as WaveRecordRead));
  cutting.gate.take(); // outside a wave it wants nothing
  for (const d of s.destinations) {
    if (!d) continue;
    for (const from of [WORLD, FILES, ...s.sources.map((x) => x.task)]) {
      const count = cutting.gate.seen(from, d.task);
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

export function cutWorld(s: State, w: World, count: number): void {
  w.index.cutBack(count);
  w.channel.count = count;
  w.channel.synced = Math.min(w.channel.synced, count);
  for (const m of w.waiting) if (m.channel > count) s.worldBytes -= inMemory(m.body);
  w.waiting = w.waiting.filter((m) => m.channel <= count);
  w.exit = undefined;
}
