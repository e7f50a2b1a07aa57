/**
 * What comes for a task whose home this is: it is numbered, logged and pushed. Under coordinated checkpointing the
 * channels are cut on the way: the gate (coordinated/gate.ts) holds messages back, releases them, and has arrivals
 * recorded that an image lacks.
 *
 * Owns: messages that are held back; for each task a wave stream, and how much of it is durable.
 *
 *  X1 A message that is held back counts as received: its sender may forget it. It has no number and is not logged, so
 *     it is gone when the wave's process is; then everybody goes back behind it.
 *  X2 A record of a wave stream is a copy of what was logged, behind a mark that names epoch and wave.
 *  X3 What is held back is bounded: beyond {@link HELD_BYTES} the wave cannot be had.
 *  X4 What a task had written to the world before its cut is durable before its channels count as recorded: it goes on
 *     behind that.
 */
import {
  Cannot,
  Cut,
  FILES,
  Kind,
  Mark,
  WORLD,
  WorldMode,
  emptyHeader,
  encodeFrame,
  patchArrival,
  taskId,
  type Header,
  type TaskId,
} from '@mayfly/wire';
import { START_OF_TASK, countOf } from '../contract/waves.ts';
import { isForeign } from './foreign.ts';
import { readBody } from './read-body.ts';
import { cost, inputArrives, pushAhead, pushWhole } from './push.ts';
import { WAVE_KIND } from './records.ts';
import { protocolError } from './refuse.ts';
import {
  append,
  slotOf,
  markDirty,
  touch,
  type Channel,
  type Cutting,
  type Destination,
  type GateCounts,
  type Held,
  type Partial,
  type State,
} from './state.ts';

/** Most that is held back at one Channel Memory. */
export const HELD_BYTES = 64 * 1024 * 1024;

export const noCounts = (): GateCounts => ({ recorded: 0, recordedBytes: 0, held: 0, heldBytes: 0 });

const keyOf = (src: TaskId, dst: TaskId, channel: number): string => `${src}>${dst}#${channel}`;

// ---- messages ----

export function part(c: Channel, h: Header, lsn: number): Partial {
  const p = (c.partial ??= { size: h.size, bytes: 0, lsns: [], ahead: false, pushed: 0, bodies: [] });
  p.bytes += h.bytes;
  p.lsns.push(lsn);
  return p;
}

/** One chunk for a task, in the order of its channel. `record`: what is logged, where that is not `frame`. */
export function toTask(
  s: State,
  d: Destination,
  c: Channel,
  h: Header,
  v: DataView,
  at: number,
  frame: Uint8Array,
  whole: boolean,
  record: Uint8Array | undefined,
): void {
  if (!whole) {
    number(s, d, c, h, v, at, record);
    const lsn = append(s, d.stream, record ?? frame);
    pushAhead(s, d, part(c, h, lsn), frame);
    return;
  }
  const { partial } = c;
  c.partial = undefined;
  c.count = h.channel;
  touch(s, c);
  if (s.cutting?.gate.comes(c.src, d.task, h.channel))
    hold(s, s.cutting, d, { channel: c, header: h, view: v, at, frame, record, partial });
  else arrives(s, d, c, h, v, at, frame, record, partial);
  obey(s);
}

/** C3. */
function number(
  s: State,
  d: Destination,
  c: Channel,
  h: Header,
  v: DataView,
  at: number,
  record: Uint8Array | undefined,
): number {
  const n = s.policy.number(d, c.src, h.offset, h.offset + h.bytes === h.size);
  const receiver = d.push?.attachment.incarnation ?? s.sources[d.task]!.fence;
  patchArrival(v, at, n, receiver);
  if (record) patchArrival(new DataView(record.buffer, record.byteOffset), 0, n, receiver);
  return n;
}

function arrives(
  s: State,
  d: Destination,
  c: Channel,
  h: Header,
  v: DataView,
  at: number,
  frame: Uint8Array,
  record: Uint8Array | undefined,
  partial: Partial | undefined,
): void {
  const n = number(s, d, c, h, v, at, record);
  const lsn = append(s, d.stream, record ?? frame);
  if (partial) {
    partial.bytes += h.bytes;
    partial.lsns.push(lsn);
  }
  d.index.restore(n, lsn, h.size, partial?.lsns);
  if (c.src === WORLD || c.src === FILES) inputArrives(d, n, h.size);
  pushWhole(s, d, n, h.size, frame, partial);
  s.cutting?.gate.numbered(d.task, n, c.src, h.channel);
}

/** X1. What was pushed of it ahead is void. */
function hold(s: State, cutting: Cutting, d: Destination, held: Held): void {
  const { header: h, partial } = held;
  if (partial?.ahead) {
    if (d.push) d.push.reserved -= cost(partial.size);
    partial.ahead = false;
    partial.pushed = 0;
  }
  cutting.held.set(keyOf(h.src, d.task, h.channel), held);
  cutting.heldBytes += held.frame.length;
  const { counts } = cutting;
  counts.held = Math.max(counts.held, cutting.held.size);
  cutting.heldSizes += held.header.size;
  counts.heldBytes = Math.max(counts.heldBytes, cutting.heldSizes);
  if (cutting.heldBytes > HELD_BYTES)
    cannot(s, d.task, `more than ${HELD_BYTES / 2 ** 20} MiB of messages wait for images`); // X3
}

function cannot(s: State, task: TaskId, reason: string): void {
  s.out.push({ type: 'cannot', task, wave: s.cutting!.gate.wave, reason });
}

/** Numbers of records that trimming must spare: parts of what is held back. */
export function openLsns(s: State, d: Destination): number[] {
  const open = d.channels.flatMap((c) => (c?.partial && !isForeign(s, c.src) ? c.partial.lsns : []));
  for (const { channel, partial } of s.cutting?.held.values() ?? [])
    if (channel.dst === d.task && partial) open.push(...partial.lsns);
  return open;
}

/**
 * For the deadlock report: messages of the task to the world that are not out. Under coordinated checkpointing output
 * may wait for long: only what the task waits for, and messages for it that are held back.
 */
export function waitingFor(s: State, task: TaskId): number {
  const waiting = s.worlds[task]?.waiting ?? [];
  if (!s.cutting) return waiting.length;
  let held = s.between?.links.awaiting(task) ?? 0;
  for (const { header } of s.between?.waiting ?? []) if (header.dst === task) held++;
  for (const { channel } of s.cutting.held.values()) if (channel.dst === task) held++;
  return held + waiting.filter((m) => m.mode === WorldMode.REQUEST).length;
}

// ---- what the gate wants ----

export function obey(s: State): void {
  const { cutting } = s;
  if (!cutting) return;
  for (let effects = cutting.gate.take(); effects.length > 0; effects = cutting.gate.take())
    for (const e of effects)
      switch (e.type) {
        case 'release': {
          const key = keyOf(e.message.src, e.dst, e.message.channel);
          const held = cutting.held.get(key)!;
          cutting.held.delete(key);
          cutting.heldBytes -= held.frame.length;
          cutting.heldSizes -= held.header.size;
          arrives(
            s,
            s.destinations[e.dst]!,
            held.channel,
            held.header,
            held.view,
            held.at,
            held.frame,
            held.record,
            held.partial,
          );
          break;
        }
        case 'record':
          record(s, cutting, e.dst, e.number);
          break;
        case 'recorded':
          cutting.unreported.push({ task: e.dst, wave: e.wave });
          s.syncWanted = true;
          break;
        case 'flushed':
          send(s, e.dst, Kind.FLUSHED, e.wave);
          break;
      }
  reportRecorded(s);
}

/** X4. */
export function reportRecorded(s: State): void {
  const { cutting } = s;
  if (!cutting || cutting.unreported.length === 0) return;
  cutting.unreported = cutting.unreported.filter(({ task, wave }) => {
    if (wave !== cutting.gate.wave) return false;
    const c = s.worlds[task]!.channel;
    if (c.synced < (cutting.written.get(task) ?? 0)) return true;
    s.out.push({ type: 'recorded', task, wave });
    return false;
  });
}

/** X2. */
function record(s: State, cutting: Cutting, dst: TaskId, n: number): void {
  const d = s.destinations[dst]!;
  const ws = cutting.streams[dst]!;
  const lsns = d.index.chunksOf(n) ?? [d.index.lsnOf(n)];
  if (lsns[0]! < 0) return cannot(s, dst, `arrival ${n} of rank ${dst} is no longer here`);
  const { wave } = cutting.gate;
  cutting.counts.recorded++;
  cutting.counts.recordedBytes += d.index.sizeOf(n);
  if (ws.records++ === 0) {
    const mark = emptyHeader(WAVE_KIND);
    mark.dst = dst;
    mark.word = wave;
    mark.epoch = cutting.epoch;
    const lsn = append(s, ws.stream, encodeFrame(mark));
    ws.begins.push({ epoch: cutting.epoch, wave, lsn });
  }
  markDirty(s, ws.stream);
  s.out.push({ type: 'copy', from: d.stream.name, lsns, to: ws.stream.name, lsn: ws.stream.next });
  ws.stream.next += lsns.length;
  s.syncWanted = true;
}

/** So many messages of the wave were recorded when a sync began that has ended. */
export function recordsSynced(s: State, marks: readonly { task: TaskId; wave: number; records: number }[]): void {
  for (const { task, wave, records } of marks) s.cutting!.gate.synced(task, wave, records);
  obey(s);
}

/** Wave streams that a sync makes durable as far as they are now. */
export function recordMarks(s: State): { task: TaskId; wave: number; records: number }[] {
  const { cutting } = s;
  if (!cutting || cutting.gate.wave === 0) return [];
  const { wave } = cutting.gate;
  return cutting.streams.flatMap((ws, task) =>
    ws && ws.records > 0 ? [{ task: taskId(task), wave, records: ws.records }] : [],
  );
}

// ---- a wave ----

export function beginWave(s: State, wave: number, ended: readonly TaskId[], starting: readonly TaskId[]): void {
  const cutting = s.cutting!;
  for (const ws of cutting.streams) if (ws) ws.records = 0;
  cutting.written.clear();
  cutting.counts = noCounts();
  cutting.gate.begin(wave, ended);
  for (const task of starting) {
    cutting.gate.frozen(wave, task, START_OF_TASK.sends);
    cutting.gate.cut(wave, task, START_OF_TASK);
  }
  for (const { task } of s.sources) askForCut(s, task);
  obey(s);
}

/** The task's comm worker hears of the wave under way, once it is here; when it is back, also that none is. */
export function askForCut(s: State, task: TaskId): void {
  const gate = s.cutting?.gate;
  if (!gate || gate.hasCut(task) || (gate.wave === 0 && !s.sources[task]!.attachment?.resume)) return;
  send(s, task, Kind.WAVE, gate.wave);
  if (gate.mayCut(task)) send(s, task, Kind.FLUSHED, gate.wave);
}

function send(s: State, task: TaskId, kind: number, wave: number): void {
  const a = s.sources[task]!.attachment;
  if (!s.destinations[task] || !a?.answered) return;
  const h = emptyHeader(kind);
  h.src = task;
  h.dst = task;
  h.incarnation = a.incarnation;
  h.epoch = a.epoch;
  h.word = wave;
  s.out.push({ type: 'send', conn: a.conn, bytes: encodeFrame(h) });
}

/** CUT, MARK or CANNOT of a task, which may come again. @throws ProtocolError when it says what cannot be */
export function waveFrame(s: State, task: TaskId, kind: number, wave: number, body: Uint8Array): void {
  const gate = s.cutting?.gate;
  if (!gate) throw protocolError('BAD_FRAME', `kind ${kind} where channels are not cut`);
  if (kind === Kind.CUT) return cutComes(s, task, wave, readBody('CUT', Cut, body));
  if (kind === Kind.MARK) {
    gate.frozen(wave, task, readBody('MARK', Mark, body).sends);
    return obey(s);
  }
  const { reason } = readBody('CANNOT', Cannot, body);
  if (wave === gate.wave) cannot(s, task, reason);
}

/** @throws ProtocolError when more has come of the task than it has sent before its cut */
export function noMoreThan(s: State, task: TaskId, cut: Cut): void {
  const sends = new Map(cut.sends);
  for (const to of s.destinations) {
    const count = to?.channels[slotOf(s, task)]?.count ?? 0;
    if (to && !s.cutting!.gate.takesAll(to.task) && count > (sends.get(to.task) ?? 0))
      throw protocolError('OUT_OF_SEQUENCE', `a cut behind message ${count} of ${task} → ${to.task}`);
  }
}

function cutComes(s: State, task: TaskId, wave: number, cut: Cut): void {
  const cutting = s.cutting!;
  const { gate } = cutting;
  if (wave !== gate.wave || gate.hasCut(task)) return;
  noMoreThan(s, task, cut);
  const d = s.destinations[task];
  if (d && cut.arrivals > d.index.count)
    throw protocolError('OUT_OF_SEQUENCE', `a cut at arrival ${cut.arrivals} of ${d.index.count}`);
  if (d) {
    cutting.written.set(task, countOf(cut.sends, WORLD));
    s.out.push({ type: 'cut', task, wave, cut });
  }
  gate.cut(wave, task, cut);
  obey(s);
}

export function waveOver(s: State, wave: number): void {
  const { gate } = s.cutting!;
  if (wave !== gate.wave) return;
  gate.over(wave);
  for (const { task } of s.sources) send(s, task, Kind.WAVE_OVER, wave);
  obey(s);
}

/** Records of waves before this one go. */
export function forgetWaves(s: State, before: number): void {
  for (const ws of s.cutting!.streams) {
    if (!ws) continue;
    const first = ws.begins.findIndex((b) => b.wave >= before);
    const gone = first < 0 ? ws.begins.splice(0) : ws.begins.splice(0, first);
    if (gone.length === 0) continue;
    const to = ws.begins[0]?.lsn ?? ws.stream.next;
    s.out.push({ type: 'trim', stream: ws.stream.name, from: 0, to, keep: new Set() });
  }
}
