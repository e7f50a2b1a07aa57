/**
 * The device (packages/mpi/src/device.ts) over the rings of a rank memory and the endpoint core
 * (packages/protocols/src/endpoint.ts). Synchronous: it blocks in Atomics.wait for arrivals, for bodies and for space.
 *
 * Invariants
 *  D1 Frames are consumed in ring order; those that lie before an awaited body or file wait in `aside`, in order.
 *  D2 A view handed out as `Arrival.body` lies in the ring; its bytes go back to the writer at the next operation, not
 *  before.
 *  D3 A frame in the up ring is whole, with the determinants of everything before it, before it is published.
 *  D4 Waiting for space consumes no arrival.
 *  D5 A chunk that is not the last of its message is no arrival: it is collected, and leaves no trace in the program's
 *  history.
 *  D6 A mark that is wanted (coordinated/freeze.ts) stands in the up ring between whole messages; a rank that waits
 *  writes it, too.
 *  D7 Messages of teammates come beside the ring (teammates.ts). No log has them: of these, the endpoint counts only
 *  what this rank sends.
 */
import { LIVE, TIMED, type Endpoint } from '@mayfly/protocols';
import type { Arrival, Device, WaitReason } from '@mayfly/mpi';
import {
  CHUNK_BYTES,
  emptyHeader,
  Flag,
  HEADER_BYTES,
  Kind,
  MayflyError,
  pad8,
  writeHeader,
  type Assignment,
  type Header,
  type Mark,
  type TaskId,
} from '@mayfly/wire';
import { Local, type ImageHead } from '../local-frames.ts';
import { Ask, type RankSide } from '../ring/index.ts';
import { RankState, type StatusWriter } from '../status.ts';
import { DutyCycle } from './duty.ts';
import { arrivalOf, DownFrames, type Incoming } from './down-frames.ts';
import { placeNow } from './call-site.ts';
import type { Teammates } from './teammates.ts';
import { writeImage, type ImageSection } from './image-buffer.ts';

/** Bodies of unmatched messages that a rank keeps; the rest stays in the log. */
const UNEXPECTED_BYTES = 16 * 1024 * 1024;
/**
 * …that it keeps where none stays: enough for what is under way (2¼ windows) when it asks for envelopes only, which it
 * does when the smaller store is nearly full.
 */
const MOST_UNEXPECTED_BYTES = 4 * UNEXPECTED_BYTES;
/** Determinants that may wait for a frame to carry them. */
const PENDING = 2048;
const EMPTY = new Uint8Array(0);
const text = new TextEncoder();

export class RingDevice implements Device {
  readonly task: TaskId;
  readonly size: number;
  readonly capacity?: number;
  readonly universe?: number;
  readonly library: number;
  readonly incarnation: number;
  readonly spawned?: NonNullable<Assignment['spawned']>;
  readonly part?: NonNullable<Assignment['part']>;
  readonly teams?: NonNullable<Assignment['teams']>;
  readonly unexpectedBytes: number;
  private readonly frames: DownFrames;
  private live = false;
  private full = false;
  /** The next message is looked for among those of teammates first: in turn. */
  private localFirst = false;
  /** Operations so far: a rank in which nothing has happened needs no new image. */
  steps = 0;
  /**
   * Asked before a wait blocks, and whenever something rings: an image is to be taken instead. Absent: waits are never
   * interrupted.
   */
  interrupted: (() => boolean) | undefined;
  private readonly duty: DutyCycle;

  constructor(
    private readonly side: RankSide,
    private readonly endpoint: Endpoint,
    private readonly status: StatusWriter,
    /** What the rank learns about its job's worlds. */
    world: Pick<Assignment, 'size' | 'capacity' | 'universe' | 'spawned' | 'part' | 'library' | 'teams'>,
    /** The job's clock, ms; read only when live. */
    private readonly now: () => number,
    /** The engine's own clock, ms. */
    private readonly engineNow: () => number = now,
    private readonly team?: Teammates,
  ) {
    this.frames = new DownFrames(side.down);
    this.duty = new DutyCycle(side, status, engineNow);
    this.task = endpoint.task;
    // No log has the bodies of local messages: all are kept.
    this.unexpectedBytes = team ? Infinity : endpoint.bodiesStay ? UNEXPECTED_BYTES : MOST_UNEXPECTED_BYTES;
    this.incarnation = endpoint.incarnation;
    this.size = world.size;
    if (world.capacity !== undefined) this.capacity = world.capacity;
    this.library = world.library ?? 1;
    if (world.universe !== undefined) this.universe = world.universe;
    if (world.spawned) this.spawned = world.spawned;
    if (world.part) this.part = world.part;
    if (world.teams) this.teams = world.teams;
    this.moved();
  }

  // ── up ─────────────────────────────────────────────────────────────────────────────────────────────────────────────

  send(dst: TaskId, mode: number, context: number, tag: number, word: number, body: Uint8Array): void {
    this.steps++;
    this.enter();
    const ep = this.endpoint;
    const channel = ep.beginSend(dst);
    const place = this.team?.placeOf(dst);
    if (place !== undefined) {
      const h = this.team!.header(dst, channel, mode, context, tag, word, body.length);
      this.team!.send(place, h, body, this.waitForRoom);
      return;
    }
    this.status.sent(body.length);
    if (channel !== 0) {
      let offset = 0;
      do {
        const n = Math.min(CHUNK_BYTES, body.length - offset);
        const block = ep.block();
        this.write(
          ep.dataHeader(dst, channel, mode, context, tag, word, body.length, offset, n, block),
          block,
          offset === 0 && n === body.length ? body : body.subarray(offset, offset + n),
        );
        ep.framed();
        offset += n;
      } while (offset < body.length);
    }
    this.moved();
  }

  /** At the entry of an MPI call. */
  private enter(): void {
    this.duty.call(this.working);
    this.release();
    if (this.side.wanted(Ask.MARK)) this.mark();
  }

  /** D2. */
  private release(): void {
    this.side.down.release();
    this.team?.release();
  }

  /** D6. */
  private mark(): void {
    if (!this.side.asked(Ask.MARK)) return;
    const h = emptyHeader(Kind.MARK);
    h.src = h.dst = this.task;
    h.incarnation = this.endpoint.incarnation;
    this.write(h, EMPTY, text.encode(JSON.stringify({ sends: this.endpoint.sent() } satisfies Mark)));
  }

  /** Writes one frame and publishes it. */
  private write(h: Header, block: Uint8Array, body: Uint8Array): void {
    const length = HEADER_BYTES + block.length + body.length;
    const up = this.side.up;
    const at = this.side.reserve(length, this.waitForRoom);
    h.bytes = body.length;
    h.detBytes = block.length;
    writeHeader(up.view, at, h);
    if (block.length > 0) up.bytes.set(block, at + HEADER_BYTES);
    if (body.length > 0) up.bytes.set(body, at + HEADER_BYTES + block.length);
    if (pad8(length) !== length) up.bytes.fill(0, at + length, at + pad8(length));
    up.commit(length);
    up.publish();
  }

  private readonly working = (): number => (this.endpoint.repeating ? RankState.REPLAYING : RankState.COMPUTING);

  private readonly waitForRoom = (ready: () => boolean): void => {
    const from = this.engineNow();
    this.status.sending(false);
    this.side.block(() => {
      this.team?.drain();
      return ready();
    }, true);
    this.status.sending(true);
    this.duty.rested(from);
  };

  /** Lets the determinants go that no message has carried. */
  flush(): void {
    if (this.endpoint.pending === 0) return;
    const block = this.endpoint.block();
    this.write(this.endpoint.determinantsHeader(block), block, EMPTY);
    this.endpoint.framed();
  }

  // ── down ───────────────────────────────────────────────────────────────────────────────────────────────────────────

  /** Blocks while there is `nothing`. */
  private block(nothing: () => boolean, stop?: () => boolean): void {
    const from = this.engineNow();
    let stopped = false;
    const ready = (): boolean => !nothing() || this.side.wanted(Ask.MARK) || (stopped = stop?.() ?? false);
    do {
      this.side.block(ready, false, this.waitGoesOn);
      this.mark();
    } while (nothing() && !stopped);
    this.duty.rested(from);
  }

  /** Nothing has come from anywhere. */
  private readonly idle = (): boolean => this.frames.empty && (this.team === undefined || this.team.empty);

  /** Nothing has come from the comm worker. What has come from teammates is moved (teammates.ts, N2). */
  private readonly noFrame = (): boolean => {
    this.team?.drain();
    return this.side.down.empty;
  };

  /** From where in the program the rank waits: for people, who see it while it does, and how long it did in all. */
  private readonly waitGoesOn = (): void => this.status.waitsAt(placeNow);

  private waited(state: number): void {
    this.status.state(state);
    if (this.status.placeDue) this.waitGoesOn();
  }

  /** The next arrival; with a `reason` it blocks until `stop()`. */
  private next(reason: WaitReason | undefined, stop?: () => boolean): Arrival | undefined {
    for (;;) {
      const { team } = this;
      const found = team ? this.either(team) : this.remote();
      if (found) return found;
      if (!reason || stop?.()) return undefined;
      this.status.waiting(reason.call, reason.peer, reason.tag);
      let stopped = false;
      this.block(this.idle, () => (stopped = stop?.() ?? false));
      if (stopped) return undefined;
      this.waited(this.working());
    }
  }

  private either(team: Teammates): Arrival | undefined {
    this.localFirst = !this.localFirst;
    return this.localFirst ? (team.take() ?? this.remote()) : (this.remote() ?? team.take());
  }

  private remote(): Arrival | undefined {
    const next = this.frames.next();
    return next && this.arrival(next);
  }

  private arrival({ header: h, body }: Incoming): Arrival {
    const number = h.arrival;
    this.endpoint.consume(number, h.src);
    this.status.received(number, h.size);
    this.moved();
    return arrivalOf(h, number, (h.flags & Flag.NO_BODY) !== 0 ? undefined : body);
  }

  wait(reason: WaitReason): Arrival | undefined {
    this.enter();
    const first = this.next(reason, this.interrupted);
    if (first) this.steps++;
    return first;
  }

  rest(reason: WaitReason, ms: number): boolean {
    if (this.endpoint.replaying) return true;
    this.release();
    const end = this.engineNow() + ms;
    let stopped = false;
    const over = (): boolean => (stopped = this.interrupted?.() ?? false) || this.engineNow() >= end;
    if (this.idle() && !over()) {
      this.status.waiting(`${reason.call}${TIMED}`, reason.peer, reason.tag);
      this.block(this.idle, over);
      this.waited(this.working());
    }
    return !stopped;
  }

  poll(consume: (arrival: Arrival) => boolean): void {
    this.steps++;
    this.enter();
    const ep = this.endpoint;
    const wanted = ep.pollBegin();
    if (wanted === LIVE) {
      for (let f = this.next(undefined); f; f = this.next(undefined)) {
        const done = consume(f);
        this.release();
        if (done) break;
      }
    } else
      for (let i = 0; i < wanted; i++) {
        consume(this.next({ call: 'replay' })!);
        this.release();
      }
    ep.pollEnd();
    if (ep.pending >= PENDING) this.flush();
    this.moved();
  }

  pull(arrival: number, into: Uint8Array): void {
    this.release();
    if (arrival < 0) return this.team!.pull(arrival, into, this.waitForPart);
    // One request for the whole: the comm core asks the log for range after range, so that what is under way stays
    // bounded.
    const h = emptyHeader(Kind.PULL);
    h.src = this.task;
    h.dst = this.task;
    h.incarnation = this.endpoint.incarnation;
    h.arrival = arrival;
    h.size = into.length;
    this.write(h, EMPTY, EMPTY);
    for (let got = 0; got < into.length;) {
      const f = this.awaited((x) => x.kind === Kind.BODY && x.arrival === arrival && x.offset === got, 'message body');
      if (f.header.size !== into.length)
        throw new Error(`the body of arrival ${arrival} has ${f.header.size} bytes, not ${into.length}`);
      into.set(f.body, got);
      got += f.body.length;
      this.side.down.release();
    }
  }

  private readonly waitForPart = (ready: () => boolean): void => {
    this.status.waiting('message', undefined, undefined);
    this.block(() => !ready());
    this.waited(this.working());
  };

  /** Blocks for a frame that is no arrival. */
  private awaited(mine: (h: Header) => boolean, call: string): Incoming {
    for (let f = this.frames.find(mine); ; f = this.frames.find(mine)) {
      if (f) return f;
      this.status.waiting(call, undefined, undefined);
      this.block(this.noFrame);
      this.waited(RankState.COMPUTING);
    }
  }

  // ── events ─────────────────────────────────────────────────────────────────────────────────────────────────────────

  unexpected(bytes: number): void {
    const full = this.full ? bytes > UNEXPECTED_BYTES / 2 : bytes > (UNEXPECTED_BYTES * 3) / 4;
    if (full === this.full) return;
    this.full = full;
    this.status.envelopeOnly(full);
  }

  progress(fraction: number): void {
    this.status.progress(fraction);
  }

  clock(): number {
    this.steps++;
    this.duty.call(this.working);
    const ms = this.endpoint.clock(this.now);
    if (this.endpoint.pending >= PENDING) this.flush();
    this.moved();
    return ms;
  }

  place(read: () => string): string {
    const value = this.endpoint.place(read);
    this.moved();
    return value;
  }

  /** The replay is over as soon as everything that anybody may have seen is repeated. */
  private moved(): void {
    if (this.live || this.endpoint.repeating) return;
    this.live = true;
    this.status.recovered();
  }

  // ── the rank host's own ────────────────────────────────────────────────────────────────────────────────────────────

  /** Reads an input file, blocking. Files never change, so this is no event. @throws MayflyError NOT_FOUND */
  read(path: string): Uint8Array {
    this.side.down.release();
    this.write(emptyHeader(Local.READ), EMPTY, text.encode(path));
    let all: Uint8Array | undefined;
    for (;;) {
      const f = this.awaited((h) => h.kind === Local.CONTENT, 'file');
      all ??= new Uint8Array(f.header.size);
      all.set(f.body, f.header.offset);
      this.side.down.release();
      if ((f.header.flags & Flag.LAST) === 0) continue;
      if (f.header.mode === 1) throw new MayflyError('NOT_FOUND', new TextDecoder().decode(all));
      return all;
    }
  }

  /** Does nothing for `ms`, or until `stop()`; returns what is left. A replay does not wait. */
  sleep(ms: number, stop: () => boolean, now: () => number): number {
    if (this.endpoint.replaying) return 0;
    const end = now() + ms;
    let stopped = false;
    const over = (): boolean => {
      this.mark();
      return (stopped = stop());
    };
    this.side.pause(ms, over, now);
    return stopped ? Math.max(0, end - now()) : 0;
  }

  /** The program has ended, and its EXIT is in the ring. */
  leave(): void {
    this.team?.leave();
  }

  /** The node leaves: the image that was handed over is the last thing that this incarnation did. */
  park(): never {
    this.status.state(RankState.CHECKPOINTING);
    for (;;) this.side.park();
  }

  /**
   * True once after the comm worker asked for a checkpoint, and whenever `elapsed`; never while an image is still on
   * its way.
   */
  checkpointDue(elapsed: boolean): boolean {
    if (this.side.imageUnderWay) return false;
    return this.side.asked(Ask.CHECKPOINT) || elapsed;
  }

  /** The endpoint stands on its image's line. */
  jumped(): void {
    this.moved();
  }

  /**
   * Hands an image to the comm worker, behind everything sent before it: the first section by a copy into `buffer`
   * where there is one, the others through the ring. The stall of a checkpoint is this copy. The buffer belongs to the
   * comm worker until imageUnderWay falls. True: the node leaves, {@link park} behind it.
   */
  image(head: Omit<ImageHead, 'sections'>, sections: readonly ImageSection[], buffer?: SharedArrayBuffer): boolean {
    this.side.down.release();
    this.flush();
    this.status.state(RankState.CHECKPOINTING);
    const leaving = this.side.asked(Ask.LEAVE);
    if (leaving) this.status.parked();
    this.side.imageUnderWay = true;
    writeImage(head, sections, buffer, (h, body) => this.write(h, EMPTY, body));
    this.status.state(RankState.COMPUTING);
    return leaving;
  }

  /** A sentence for the node's log. */
  note(sentence: string): void {
    this.write(emptyHeader(Local.NOTE), EMPTY, text.encode(sentence).subarray(0, CHUNK_BYTES));
  }
}
