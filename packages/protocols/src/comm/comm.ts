/**
 * The comm core: a job's communication daemon on one node (MPICH-V's successor calls it so), serving every rank of the
 * job there.
 *
 * Owns, per attached incarnation: what was sent until it is durable, determinants until durable, arrivals received
 * until durable, credit, pulls under way, and the route of each destination. Does not own: sockets and rings (the host,
 * see events.ts), numbers and replay (endpoint), placement (dispatcher).
 *
 * Messages out: ATTACH, DETACH, DATA, DETERMINANTS, CREDIT, PULL, RESUPPLY, RESUPPLIED. In: ATTACHED, REFUSED, ARRIVAL,
 * BODY, ACK, DETERMINANTS, RESEND. Durable state: none.
 *
 * Invariants (M1, D1 and D2 in pessimistic/commd.ts; M8 and M9 in task-waves.ts)
 *  M2  A sent message is kept until its Channel Memory has acknowledged it as synced. Every new connection begins with
 *      the messages that the CM lacks: whole ones, per channel in order.
 *  M3  Arrivals go to the rank in arrival order, each once. Their chunks go as they come, those of different senders
 *      mixed; a first chunk makes void what came of its sender's message before, and an arrival exists for the rank
 *      when its last chunk is there.
 *  M4  An arrival is kept until it is synced, and returned to a Channel Memory that lost it.
 *  M5  The rank begins when every Channel Memory has fenced its predecessors and answered.
 *  M6  EXIT leaves when everything sent before it is durable.
 *  M7  Less than a quarter of the window is consumed and not yet credited.
 */
import {
  CHUNK_BYTES,
  Flag,
  Kind,
  MalformedDeterminants,
  MalformedFrame,
  WORLD,
  WorldMode,
  decodeAck,
  encodeFrame,
  frameBytes,
  homeOf,
  readFrame,
  type Attached,
  type ErrorBody,
  type Frame,
  type Header,
  type Position,
  type TaskId,
} from '@mayfly/wire';
import { DEFAULT_WINDOW } from '../channel-memory/initial.ts';
import { cost } from '../channel-memory/push.ts';
import { json, parse, plain } from '../channel-memory/records.ts';
import type { Outbox } from './outbox.ts';
import { CommTask } from './task.ts';
import type { CommEffect, CommEvent, CommOptions } from './events.ts';

/** The far side broke the protocol: the link is closed and opened again. */
class BadLink extends Error {}

export class Comm {
  readonly #options: CommOptions;
  readonly #window: number;
  readonly #pullBytes: number;
  readonly #connected: boolean[];
  readonly #tasks = new Map<TaskId, CommTask>();
  #out: CommEffect[] = [];

  constructor(options: CommOptions) {
    this.#options = options;
    this.#window = options.window ?? DEFAULT_WINDOW;
    const chunk = options.chunkBytes ?? CHUNK_BYTES;
    this.#pullBytes = Math.max(1, Math.floor(this.#window / 4 / chunk)) * chunk;
    this.#connected = new Array<boolean>(options.channelMemories).fill(false);
  }

  /** Bytes that the task has written and that are not durable yet. */
  retained(task: TaskId): number {
    const t = this.#tasks.get(task);
    return t ? t.retainedBytes + t.waves.frozenBytes : 0;
  }

  step(event: CommEvent): CommEffect[] {
    switch (event.type) {
      case 'start': {
        const t = new CommTask(
          this.#options,
          event.task,
          event.incarnation,
          event.capability,
          event.nonce,
          event.position,
          homeOf(event.task, this.#options.channelMemories),
        );
        this.#tasks.set(t.task, t);
        for (let cm = 0; cm < this.#connected.length; cm++) if (this.#connected[cm]) this.#attach(t, cm);
        break;
      }
      case 'stop':
        this.#forget(event.task);
        break;
      case 'connected':
        this.#connected[event.cm] = true;
        for (const t of this.#tasks.values()) this.#attach(t, event.cm);
        break;
      case 'disconnected':
        this.#connected[event.cm] = false;
        for (const t of this.#tasks.values()) {
          t.attached[event.cm] = false;
          if (event.cm !== t.home) continue;
          t.partials.clear();
          t.reportFrom = undefined;
        }
        break;
      case 'received':
        this.#received(event.cm, plain(event.bytes));
        break;
      case 'ring':
        this.#ring(event.task, plain(event.bytes));
        break;
      case 'consumed':
        this.#consumed(event.task, event.arrivals, event.envelopeOnly);
        break;
      case 'image':
        this.#image(event.task, event.position);
        break;
    }
    const out = this.#out;
    if (out.length > 0) this.#out = [];
    return out;
  }

  // ---- from the rank ----

  #ring(task: TaskId, bytes: Uint8Array): void {
    const t = this.#tasks.get(task);
    if (t === undefined) return;
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    for (let o = 0; o < bytes.length;) {
      const f = readFrame(bytes, view, o);
      const end = o + frameBytes(f.header);
      const frame = o === 0 && end === bytes.length ? bytes : bytes.subarray(o, end);
      o = end;
      const h = f.header;
      if (h.detBytes > 0) t.policy.wrote(f.determinants);
      if (h.kind === Kind.DATA) {
        if (h.dst === WORLD && h.mode === WorldMode.EXIT) {
          this.#thaw(t); // M9
          t.exit.push({ channel: h.channel, bytes: frame });
          this.#maybeExit(t);
        } else this.#data(t, h, frame);
      } else if (h.kind === Kind.DETERMINANTS) this.#sendBlock(t, t.home);
      else if (h.kind === Kind.PULL) this.#pull(t, h);
      else if (h.kind === Kind.MARK) this.#toAll(t, t.waves.marks(f.body));
      else throw new RangeError(`kind ${h.kind} in the ring of task ${task}`);
    }
  }

  #data(t: CommTask, h: Header, frame: Uint8Array): void {
    const box = t.outbox(h.dst);
    if (!t.waves.holds({ box, channel: h.channel, bytes: frame })) return this.#keepAndSend(t, box, h.channel, frame);
    const cannot = t.waves.cannot();
    if (cannot && t.attached[t.home]) this.#out.push({ type: 'send', cm: t.home, bytes: cannot.slice() });
  }

  #keepAndSend(t: CommTask, box: Outbox, channel: number, frame: Uint8Array): void {
    t.retain(box, channel, frame);
    if (t.attached[box.cm]) this.#send(t, box.cm, frame);
  }

  #send(t: CommTask, cm: number, frame: Uint8Array): void {
    this.#out.push({ type: 'send', cm, bytes: t.policy.leaves(frame) });
  }

  /** What the protocol has to send without a message. */
  #sendBlock(t: CommTask, cm: number): void {
    if (t.attached[cm] && !t.policy.allLogged) this.#send(t, cm, encodeFrame(t.header(Kind.DETERMINANTS)));
  }

  /** M6. */
  #maybeExit(t: CommTask): void {
    if (t.exitSent || t.exit.length === 0) return;
    if (!t.settled) return this.#wantSync(t);
    t.exitSent = true;
    const box = t.outbox(WORLD);
    for (const { channel, bytes } of t.exit) this.#keepAndSend(t, box, channel, bytes);
  }

  /** Asks for a sync, once per connection: without such a request, syncs are rare. */
  #wantSync(t: CommTask): void {
    t.attached.forEach((here, cm) => {
      if (!here || t.syncAsked[cm]) return;
      t.syncAsked[cm] = true;
      const h = t.header(Kind.DETERMINANTS);
      h.flags = Flag.SYNC;
      this.#out.push({ type: 'send', cm, bytes: encodeFrame(h) });
    });
  }

  #maybeFinish(t: CommTask): void {
    if (!t.exitSent || !t.settled) return;
    this.#forget(t.task);
    this.#out.push({ type: 'finished', task: t.task });
  }

  // ---- waves ----

  #image(task: TaskId, position: Position): void {
    const t = this.#tasks.get(task);
    if (t === undefined) return;
    const image = t.waves.image(position);
    this.#toAll(t, image?.cut);
    if (image?.cut) this.#thaw(t);
    this.#out.push({ type: 'image', task, position: image?.position });
  }

  /** 0: none is under way any more. */
  #wave(t: CommTask, wave: number): void {
    if (wave === t.waves.wave) return;
    this.#thaw(t);
    const ask = t.waves.begins(wave);
    if (ask) this.#out.push({ type: ask, task: t.task });
  }

  #toAll(t: CommTask, frame: Uint8Array | undefined): void {
    t.attached.forEach((here, cm) => here && frame && this.#out.push({ type: 'send', cm, bytes: frame.slice() }));
  }

  #thaw(t: CommTask): void {
    for (const { box, channel, bytes } of t.waves.thaw()) this.#keepAndSend(t, box, channel, bytes);
  }

  // ---- attaching ----

  #attach(t: CommTask, cm: number): void {
    const body = {
      capability: t.capability,
      nonce: t.nonce,
      position: t.position,
      received: cm === t.home ? t.received : 0,
      resume: t.known[cm]!,
    };
    this.#out.push({ type: 'send', cm, bytes: encodeFrame(t.header(Kind.ATTACH), json(body)) });
  }

  #attached(t: CommTask, cm: number, m: Attached): void {
    const resumed = t.known[cm]!;
    t.attached[cm] = true;
    t.known[cm] = true;
    t.syncAsked[cm] = false;
    for (const bytes of resumed ? t.waves.answers(cm === t.home) : []) this.#out.push({ type: 'send', cm, bytes });
    if (cm === t.home) {
      t.reportFrom = m.resupplyFrom;
      if (t.ready) this.#report(t);
      this.#credit(t);
      for (const [arrival, p] of t.pulls) {
        p.asked = p.next;
        this.#ask(t, arrival, p);
      }
    }
    if (!t.ready) {
      t.policy.attached(m, cm);
      if (!t.known.every(Boolean)) return;
      const start = t.policy.start(t.incarnation, t.position);
      if ('lost' in start) {
        this.#refuse(t, { code: 'LOST_LOG', message: `the logs of task ${t.task} lost ${start.lost}` });
        return;
      }
      t.ready = true;
      this.#report(t);
      this.#out.push({ type: 'ready', task: t.task, start });
      for (const bytes of t.early.splice(0)) this.#out.push({ type: 'deliver', task: t.task, bytes });
    }
    if (!resumed) return;
    t.policy.returned(cm, m);
    this.#sendBlock(t, cm);
    const counts = new Map(m.received);
    for (const box of t.outboxes.values()) if (box.cm === cm) this.#resend(t, box, counts.get(box.dst) ?? 0);
    this.#maybeExit(t);
  }

  /** M2. */
  #resend(t: CommTask, box: Outbox, count: number): void {
    for (let i = box.head; i < box.frames.length; i++) {
      const s = box.frames[i]!;
      if (s.channel > count) this.#send(t, box.cm, s.bytes);
    }
  }

  /** M4: to a home CM that recovers. Its log stays closed until the logs were found consistent (`ready`). */
  #report(t: CommTask): void {
    const from = t.reportFrom;
    if (from === undefined) return;
    t.reportFrom = undefined;
    const cm = t.home;
    for (let i = t.arrivalsHead; i < t.arrivals.length; i++) {
      const a = t.arrivals[i]!;
      if (a.arrival <= from) continue;
      for (const frame of a.frames) {
        const copy = frame.slice();
        const v = new DataView(copy.buffer);
        v.setUint8(0, Kind.RESUPPLY);
        v.setUint32(16, t.incarnation, true);
        this.#out.push({ type: 'send', cm, bytes: copy });
      }
    }
    this.#out.push({ type: 'send', cm, bytes: encodeFrame(t.header(Kind.RESUPPLIED)) });
  }

  #refuse(t: CommTask, error: ErrorBody): void {
    this.#forget(t.task);
    this.#out.push({ type: 'refused', task: t.task, error });
  }

  #forget(task: TaskId): void {
    const t = this.#tasks.get(task);
    if (t === undefined) return;
    this.#tasks.delete(task);
    for (let cm = 0; cm < t.attached.length; cm++)
      if (t.attached[cm]) this.#out.push({ type: 'send', cm, bytes: encodeFrame(t.header(Kind.DETACH)) });
  }

  // ---- from a Channel Memory ----

  #received(cm: number, bytes: Uint8Array): void {
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    try {
      for (let o = 0; o < bytes.length;) {
        const f = readFrame(bytes, view, o);
        const end = Math.min(bytes.length, o + frameBytes(f.header));
        this.#frame(cm, f, bytes.subarray(o, end));
        o = end;
      }
    } catch (e) {
      if (!(
        e instanceof BadLink ||
        e instanceof MalformedFrame ||
        e instanceof MalformedDeterminants ||
        e instanceof SyntaxError
      ))
        throw e;
      this.#out.push({ type: 'drop', cm, error: { code: 'BAD_FRAME', message: e.message } });
    }
  }

  #frame(cm: number, f: Frame, bytes: Uint8Array): void {
    const h = f.header;
    if (h.kind === Kind.REFUSED) {
      const error = parse(f.body) as ErrorBody;
      const t = this.#tasks.get(h.dst);
      if (h.dst === WORLD) this.#out.push({ type: 'drop', cm, error });
      // FENCED names the acting incarnation: this one, if its predecessor on the same connection was refused.
      else if (t && !(error.code === 'FENCED' && h.incarnation <= t.incarnation)) {
        t.attached[cm] = false;
        this.#refuse(t, error);
      }
      return;
    }
    const t = this.#tasks.get(h.kind === Kind.RESEND ? h.src : h.dst);
    if (t === undefined || h.incarnation !== t.incarnation) return;
    switch (h.kind) {
      case Kind.ATTACHED:
        return this.#attached(t, cm, parse(f.body) as Attached);
      case Kind.DETERMINANTS:
        if (!t.ready) t.policy.answered(f.determinants, cm);
        return;
      case Kind.ARRIVAL:
        return this.#arrival(t, h, bytes);
      case Kind.BODY:
        return this.#body(t, h, bytes);
      case Kind.ACK: {
        const ack = decodeAck(f.body);
        t.policy.acknowledged(cm, ack);
        for (const c of ack.channels) {
          const box = t.outboxes.get(c.dst as TaskId);
          if (box?.cm === cm) t.release(box, c.synced);
        }
        if (cm === t.home) t.releaseArrivals(ack.arrivalsSynced);
        this.#maybeExit(t);
        this.#maybeFinish(t);
        return;
      }
      case Kind.WAVE:
        return this.#wave(t, h.word);
      case Kind.FLUSHED:
        if (t.waves.flushed(h.word)) this.#out.push({ type: 'checkpoint', task: t.task });
        return;
      case Kind.WAVE_OVER:
        if (h.word === t.waves.wave) this.#wave(t, 0);
        return;
      case Kind.RESEND: {
        const box = t.outboxes.get(h.dst);
        if (box?.cm === cm && t.attached[cm]) this.#resend(t, box, h.channel);
        return;
      }
      default:
        throw new BadLink(`kind ${h.kind} does not come from a Channel Memory`);
    }
  }

  #arrival(t: CommTask, h: Header, bytes: Uint8Array): void {
    const last = (h.flags & Flag.LAST) !== 0;
    let p = h.offset === 0 ? undefined : t.partials.get(h.src);
    if (h.offset > 0 && (p?.bytes !== h.offset || p.channel !== h.channel))
      throw new BadLink(`part at ${h.offset} of a message that did not begin`);
    if (p === undefined) {
      p = { frames: [], bytes: 0, channel: h.channel };
      if (!last) t.partials.set(h.src, p);
    }
    if (t.policy.retainsArrivals) p.frames.push(bytes);
    p.bytes += h.bytes;
    if (!last) {
      this.#deliver(t, bytes);
      return;
    }
    t.partials.delete(h.src);
    if (h.arrival < t.expected) return;
    if (h.arrival > t.expected) throw new BadLink(`arrival ${h.arrival} instead of ${t.expected}`);
    t.received = h.arrival;
    const envelope = (h.flags & Flag.NO_BODY) !== 0;
    if (t.policy.retainsArrivals) t.arrivals.push({ arrival: h.arrival, frames: p.frames });
    t.numbers.push(h.arrival);
    t.costs.push(cost(envelope ? 0 : h.size));
    this.#deliver(t, bytes);
  }

  #deliver(t: CommTask, bytes: Uint8Array): void {
    if (t.ready) this.#out.push({ type: 'deliver', task: t.task, bytes });
    else t.early.push(bytes);
  }

  // ---- flow control ----

  #consumed(task: TaskId, arrivals: number, envelopeOnly: boolean): void {
    const t = this.#tasks.get(task);
    if (t === undefined) return;
    t.consumed = Math.max(t.consumed, arrivals);
    while (t.head < t.numbers.length && t.numbers[t.head]! <= arrivals) t.uncredited += t.costs[t.head++]!;
    if (t.head > 256 && t.head * 2 > t.numbers.length) {
      t.numbers.splice(0, t.head);
      t.costs.splice(0, t.head);
      t.head = 0;
    }
    const turned = envelopeOnly !== t.envelopeOnly;
    t.envelopeOnly = envelopeOnly;
    if (turned || t.uncredited >= this.#window / 4) this.#credit(t);
  }

  #credit(t: CommTask): void {
    if (!t.attached[t.home]) return;
    t.uncredited = 0;
    const h = t.header(Kind.CREDIT);
    h.arrival = Math.min(t.consumed, t.received);
    h.size = this.#window;
    h.flags = t.envelopeOnly ? Flag.ENVELOPE_ONLY : 0;
    this.#out.push({ type: 'send', cm: t.home, bytes: encodeFrame(h) });
  }

  #pull(t: CommTask, h: Header): void {
    const p = { size: h.size, next: 0, asked: 0 };
    t.pulls.set(h.arrival, p);
    this.#ask(t, h.arrival, p);
  }

  /** Keeps up to two ranges of a quarter window asked for. */
  #ask(t: CommTask, arrival: number, p: { size: number; next: number; asked: number }): void {
    if (!t.attached[t.home]) return;
    do {
      const h = t.header(Kind.PULL);
      h.arrival = arrival;
      h.offset = p.asked;
      h.word = this.#pullBytes;
      p.asked += this.#pullBytes;
      this.#out.push({ type: 'send', cm: t.home, bytes: encodeFrame(h) });
    } while (p.asked < p.size && p.asked - p.next <= this.#pullBytes);
  }

  #body(t: CommTask, h: Header, bytes: Uint8Array): void {
    const p = t.pulls.get(h.arrival);
    if (p === undefined || h.offset !== p.next) return;
    p.size = h.size;
    p.next += h.bytes;
    if ((h.flags & Flag.LAST) !== 0) {
      t.pulls.delete(h.arrival);
      if (t.policy.confirmsBodies && t.attached[t.home]) {
        const end = t.header(Kind.PULL);
        end.arrival = h.arrival;
        end.offset = p.size;
        this.#out.push({ type: 'send', cm: t.home, bytes: encodeFrame(end) });
      }
    } else if (p.asked < p.size && p.asked - p.next <= this.#pullBytes) this.#ask(t, h.arrival, p);
    this.#deliver(t, bytes);
  }
}
