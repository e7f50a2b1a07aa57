/**
 * Coordinated checkpointing on the way of a message through a Channel Memory: the channels are cut. The gate (gate.ts)
 * holds messages back, releases them, and has arrivals recorded that an image lacks.
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
import { Cannot, Cut, Kind, Mark, WORLD, emptyHeader, encodeFrame, taskId, type TaskId } from '@mayfly/wire';
import { arrives } from '../channel-memory/deliver.ts';
import type { StageEvent } from '../channel-memory/events.ts';
import { readBody } from '../channel-memory/read-body.ts';
import { WAVE_KIND } from '../channel-memory/records.ts';
import { protocolError } from '../channel-memory/refuse.ts';
import type { LogStage, WholeMessage } from '../channel-memory/stage.ts';
import { append, markDirty, newStream, resumeStream, slotOf, type State } from '../channel-memory/state.ts';
import type { Channel, Destination, Stream } from '../channel-memory/tasks.ts';
import { START_OF_TASK, countOf, type GateCounts } from '../contract/waves.ts';
import type { Gate } from './gate.ts';
import { goBack, readWave, type RestoreGate, type WaveRecordRead } from './rollback.ts';

/** Most that is held back at one Channel Memory. */
export const HELD_BYTES = 64 * 1024 * 1024;

/** What a protocol with waves decides here; a planted bug is another row. */
export interface WaveRules {
  gate(tasks: number, home: (task: TaskId) => boolean): Gate;
  readonly restoreGate: RestoreGate;
}

/** What the image of a task in a wave lacks. */
interface WaveStream {
  readonly stream: Stream;
  /** Messages recorded in the wave under way. */
  records: number;
  /** Where the records of each wave begin, oldest first. */
  readonly begins: { readonly epoch: number; readonly wave: number; readonly lsn: number }[];
}

const noCounts = (): GateCounts => ({ recorded: 0, recordedBytes: 0, held: 0, heldBytes: 0 });

const keyOf = (src: TaskId, dst: TaskId, channel: number): string => `${src}>${dst}#${channel}`;

export class WaveStage implements LogStage {
  readonly letter = 'v';
  counts = noCounts();
  readonly #s: State;
  readonly #rules: WaveRules;
  readonly #gate: Gate;
  /** The epoch of the waves that are recorded. */
  readonly #epoch: number;
  readonly #held = new Map<string, WholeMessage>();
  #heldBytes = 0;
  /** Bytes of the whole messages; of those in chunks only the last is held in memory. */
  #heldSizes = 0;
  /** Messages of each task to the world before its cut in the wave under way. */
  readonly #written = new Map<TaskId, number>();
  /** Recorded, and what the task has written before its cut is not known durable. */
  #unreported: { readonly task: TaskId; readonly wave: number }[] = [];
  /** By task; undefined where another Channel Memory is its home. */
  readonly #streams: (WaveStream | undefined)[] = [];
  /** Records in the wave streams that the sync under way makes durable. */
  #syncing: readonly { readonly task: TaskId; readonly wave: number; readonly records: number }[] = [];
  /** Until `recovered`: what the wave streams have for the line that the job goes back to. */
  readonly #recorded = new Map<TaskId, readonly WaveRecordRead[]>();

  constructor(s: State, rules: WaveRules) {
    this.#s = s;
    this.#rules = rules;
    this.#gate = rules.gate(0, () => false);
    this.#epoch = s.options.line?.epoch ?? 0;
  }

  // ---- the life of a core ----

  streams(): Stream[] {
    return this.#streams.flatMap((ws) => (ws ? [ws.stream] : []));
  }

  grow(size: number): void {
    const home = (task: number): boolean => this.#s.destinations[task] !== undefined;
    for (let task = this.#streams.length; task < size; task++)
      this.#streams.push(home(task) ? { stream: newStream('v', task, true), records: 0, begins: [] } : undefined);
    this.#gate.grow(size, home);
  }

  recover(task: TaskId, records: Iterable<{ lsn: number; bytes: Uint8Array }>, next: number): void {
    const { stream, begins } = this.#streams[task]!;
    resumeStream(this.#s, stream, next);
    this.#recorded.set(task, readWave(this.#s.options.line?.to, task, records, begins));
  }

  recovered(): void {
    const { line } = this.#s.options;
    if (line) goBack(this.#s, this.#gate, this.#rules.restoreGate, line, this.#recorded);
    this.#recorded.clear();
  }

  // ---- messages ----

  takesAll(task: TaskId): boolean {
    return this.#gate.takesAll(task);
  }

  holds({ src, dst, count }: Channel): boolean {
    return this.#gate.comes(src, dst, count);
  }

  /** X1. */
  hold(d: Destination, message: WholeMessage): void {
    const { header: h, frame } = message;
    this.#held.set(keyOf(h.src, d.task, h.channel), message);
    this.#heldBytes += frame.length;
    this.#heldSizes += h.size;
    const { counts } = this;
    counts.held = Math.max(counts.held, this.#held.size);
    counts.heldBytes = Math.max(counts.heldBytes, this.#heldSizes);
    if (this.#heldBytes > HELD_BYTES)
      this.#cannot(d.task, `more than ${HELD_BYTES / 2 ** 20} MiB of messages wait for images`); // X3
  }

  numbered(dst: TaskId, number: number, src: TaskId, channel: number): void {
    this.#gate.numbered(dst, number, src, channel);
  }

  consumed(task: TaskId, arrival: number): void {
    this.#gate.consumed(task, arrival);
  }

  /** What the gate wants. */
  settle(): void {
    for (let effects = this.#gate.take(); effects.length > 0; effects = this.#gate.take())
      for (const e of effects)
        switch (e.type) {
          case 'release':
            this.#release(e.dst, keyOf(e.message.src, e.dst, e.message.channel));
            break;
          case 'record':
            this.#record(e.dst, e.number);
            break;
          case 'recorded':
            this.#unreported.push({ task: e.dst, wave: e.wave });
            this.#s.syncWanted = true;
            break;
          case 'flushed':
            this.#send(e.dst, Kind.FLUSHED, e.wave);
            break;
        }
    this.#reportRecorded();
  }

  #release(dst: TaskId, key: string): void {
    const { channel, header, view, at, frame, record, partial } = this.#held.get(key)!;
    this.#held.delete(key);
    this.#heldBytes -= frame.length;
    this.#heldSizes -= header.size;
    arrives(this.#s, this.#s.destinations[dst]!, channel, header, view, at, frame, record, partial);
  }

  /** X2. */
  #record(dst: TaskId, n: number): void {
    const s = this.#s;
    const d = s.destinations[dst]!;
    const ws = this.#streams[dst]!;
    const lsns = d.index.chunksOf(n) ?? [d.index.lsnOf(n)];
    if (lsns[0]! < 0) return this.#cannot(dst, `arrival ${n} of rank ${dst} is no longer here`);
    const { wave } = this.#gate;
    const { stream } = ws;
    this.counts.recorded++;
    this.counts.recordedBytes += d.index.sizeOf(n);
    if (ws.records++ === 0) {
      const mark = emptyHeader(WAVE_KIND);
      mark.dst = dst;
      mark.word = wave;
      mark.epoch = this.#epoch;
      ws.begins.push({ epoch: mark.epoch, wave, lsn: append(s, stream, encodeFrame(mark)) });
    }
    markDirty(s, stream);
    s.out.push({ type: 'copy', from: d.stream.name, lsns, to: stream.name, lsn: stream.next });
    stream.next += lsns.length;
    s.syncWanted = true;
  }

  // ---- durability ----

  syncBegins(): void {
    const { wave } = this.#gate;
    this.#syncing =
      wave === 0
        ? []
        : this.#streams.flatMap((ws, task) =>
            ws && ws.records > 0 ? [{ task: taskId(task), wave, records: ws.records }] : [],
          );
  }

  synced(): void {
    const marks = this.#syncing;
    this.#syncing = [];
    for (const { task, wave, records } of marks) this.#gate.synced(task, wave, records);
    this.settle();
  }

  /** X4. */
  #reportRecorded(): void {
    if (this.#unreported.length === 0) return;
    const s = this.#s;
    this.#unreported = this.#unreported.filter(({ task, wave }) => {
      if (wave !== this.#gate.wave) return false;
      const c = s.worlds[task]!.channel;
      if (c.synced < (this.#written.get(task) ?? 0)) return true;
      s.out.push({ type: 'recorded', task, wave });
      return false;
    });
  }

  spares(task: TaskId): number[] {
    return [...this.#held.values()].flatMap((m) => (m.channel.dst === task && m.partial ? m.partial.lsns : []));
  }

  // ---- what tasks say ----

  /** The task's comm worker hears of the wave under way, once it is here; when it is back, also that none is. */
  attached(task: TaskId): void {
    const gate = this.#gate;
    if (gate.hasCut(task) || (gate.wave === 0 && !this.#s.sources[task]!.attachment?.resume)) return;
    this.#send(task, Kind.WAVE, gate.wave);
    if (gate.mayCut(task)) this.#send(task, Kind.FLUSHED, gate.wave);
  }

  /** CUT, MARK or CANNOT of a task, which may come again. @throws ProtocolError when it says what cannot be */
  frame(task: TaskId, kind: number, wave: number, body: Uint8Array): boolean {
    switch (kind) {
      case Kind.CUT:
        this.#cut(task, wave, readBody('CUT', Cut, body));
        return true;
      case Kind.MARK:
        this.#gate.frozen(wave, task, readBody('MARK', Mark, body).sends);
        this.settle();
        return true;
      case Kind.CANNOT: {
        const { reason } = readBody('CANNOT', Cannot, body);
        if (wave === this.#gate.wave) this.#cannot(task, reason);
        return true;
      }
      default:
        return false;
    }
  }

  #cut(task: TaskId, wave: number, cut: Cut): void {
    const gate = this.#gate;
    if (!gate.expects(wave, task)) return;
    this.noMoreThan(task, cut);
    const d = this.#s.destinations[task];
    if (d && cut.arrivals > d.index.count)
      throw protocolError('OUT_OF_SEQUENCE', `a cut at arrival ${cut.arrivals} of ${d.index.count}`);
    if (d) {
      this.#written.set(task, countOf(cut.sends, WORLD));
      this.#s.out.push({ type: 'cut', task, wave, cut });
    }
    gate.cut(wave, task, cut);
    this.settle();
  }

  /** @throws ProtocolError when more has come of the task than it has sent before its cut */
  noMoreThan(task: TaskId, cut: Cut): void {
    const sends = new Map(cut.sends);
    for (const to of this.#s.destinations) {
      const count = to?.channels[slotOf(this.#s, task)]?.count ?? 0;
      if (to && !this.#gate.takesAll(to.task) && count > (sends.get(to.task) ?? 0))
        throw protocolError('OUT_OF_SEQUENCE', `a cut behind message ${count} of ${task} → ${to.task}`);
    }
  }

  // ---- a wave ----

  step(event: StageEvent): boolean {
    switch (event.type) {
      case 'wave':
        this.#begin(event);
        break;
      case 'mark':
        this.#gate.mark(event.wave);
        break;
      case 'waveOver':
        if (event.wave !== this.#gate.wave) return true;
        this.#gate.over(event.wave);
        for (const { task } of this.#s.sources) this.#send(task, Kind.WAVE_OVER, event.wave);
        break;
      case 'ended':
        this.#gate.ended(event.task);
        break;
      case 'forgetWaves':
        this.#forget(event.before);
        return true;
      default:
        return false;
    }
    this.settle();
    return true;
  }

  #begin({ wave, tasks, ended, starting }: Extract<StageEvent, { type: 'wave' }>): void {
    const gate = this.#gate;
    for (const ws of this.#streams) if (ws) ws.records = 0;
    this.#written.clear();
    this.counts = noCounts();
    gate.begin(wave, ended);
    const spawned = this.#s.sources.slice(tasks).map((s) => s.task);
    for (const task of [...starting, ...spawned]) {
      if (!gate.mayStart(task)) {
        this.#cannot(task, 'it began while word of the wave was on its way'); // G5
        continue;
      }
      gate.frozen(wave, task, START_OF_TASK.sends);
      gate.cut(wave, task, START_OF_TASK);
    }
    for (const { task } of this.#s.sources) this.attached(task);
  }

  /** Records of waves before this one go. */
  #forget(before: number): void {
    for (const ws of this.#streams) {
      if (!ws) continue;
      const first = ws.begins.findIndex((b) => b.wave >= before);
      const gone = first < 0 ? ws.begins.splice(0) : ws.begins.splice(0, first);
      if (gone.length === 0) continue;
      const to = ws.begins[0]?.lsn ?? ws.stream.next;
      this.#s.out.push({ type: 'trim', stream: ws.stream.name, from: 0, to, keep: new Set() });
    }
  }

  // ---- views ----

  keepsBack(task: TaskId): number {
    let held = 0;
    for (const { channel } of this.#held.values()) if (channel.dst === task) held++;
    return held;
  }

  memory(): { bytes: number; held: number } {
    return { bytes: this.#heldBytes, held: this.#held.size };
  }

  // ---- within ----

  #cannot(task: TaskId, reason: string): void {
    this.#s.out.push({ type: 'cannot', task, wave: this.#gate.wave, reason });
  }

  #send(task: TaskId, kind: number, wave: number): void {
    const s = this.#s;
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
}
