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
 *  D7 Messages of teammates come beside the ring (teammates.ts). No log has them. Where the choice between them and the
 *  ring is an event, the endpoint says what is next (sources.ts), and reports leave before what depends on them
 *  (team-log.ts): frames of such a rank carry no determinants.
 */
import { LIVE, TIMED, protocols, type Awaited, type Endpoint } from '@mayfly/protocols';
import { sharedCodes } from '@mayfly/checkpoint/codes';
import { copyBytes, type Arrival, type Device, type WaitReason } from '@mayfly/mpi';
import {
  CHUNK_BYTES,
  emptyHeader,
  Flag,
  ftModes,
  HEADER_BYTES,
  Kind,
  pad8,
  WORLD,
  WorldMode,
  writeHeader,
  type Assignment,
  type ExitReport,
  type Header,
  type Mark,
  type TaskId,
} from '@mayfly/wire';
import { Ask, type RankSide } from '../ring/index.ts';
import { RankState, type StatusWriter } from '../status.ts';
import { DutyCycle } from './duty.ts';
import { arrivalOf, DownFrames, type Incoming } from './down-frames.ts';
import { placeNow } from './call-site.ts';
import { Sources } from './sources.ts';
import { TeamLog } from './team-log.ts';
import type { Teammates } from './teammates.ts';

/** Bodies of unmatched messages that a rank keeps; the rest stays in the log. */
const UNEXPECTED_BYTES = 16 * 1024 * 1024;
/**
 * …that it keeps where none stays: enough for what is under way (2¼ windows) when it asks for envelopes only, which it
 * does when the smaller store is nearly full.
 */
const MOST_UNEXPECTED_BYTES = 4 * UNEXPECTED_BYTES;
/** Determinants that may wait for a frame to carry them, or for a report: that has to fit into its ring. */
const PENDING = 2048;
const PENDING_REPORT = 256;
/** Messages that one poll takes where its record goes into a report. The rest is for the next poll. */
const MOST_POLLED = 512;
const EMPTY = new Uint8Array(0);
const text = new TextEncoder();
/** Does this EXIT end the job? */
const aborts = (exit: Uint8Array): boolean => 'abort' in (JSON.parse(new TextDecoder().decode(exit)) as ExitReport);

export class RingDevice implements Device {
  readonly task: TaskId;
  readonly size: number;
  readonly capacity?: number;
  readonly universe?: number;
  readonly incarnation: number;
  readonly spawned?: NonNullable<Assignment['spawned']>;
  readonly part?: NonNullable<Assignment['part']>;
  readonly teams?: NonNullable<Assignment['teams']>;
  readonly tellsLosses: boolean;
  readonly codes?: NonNullable<Device['codes']>;
  readonly ft?: NonNullable<Device['ft']>;
  unexpectedBytes: number;
  private readonly frames: DownFrames;
  protected readonly sources: Sources;
  /** Absent: it has no team, or the team has no log. */
  readonly log: TeamLog | undefined;
  private readonly pending: number;
  private live = false;
  private full = false;
  /** Operations so far: a rank in which nothing has happened needs no new image. */
  steps = 0;
  /**
   * Asked before a wait blocks, and whenever something rings: an image is to be taken instead. Absent: waits are never
   * interrupted.
   */
  interrupted: (() => boolean) | undefined;
  private readonly duty: DutyCycle;

  constructor(
    protected readonly side: RankSide,
    protected readonly endpoint: Endpoint,
    protected readonly status: StatusWriter,
    /** What the rank learns about its job's worlds. */
    world: Pick<Assignment, 'size' | 'capacity' | 'universe' | 'spawned' | 'part' | 'teams' | 'ft'> &
      Partial<Pick<Assignment, 'protocol'>>,
    /** The job's clock, ms; read only when live. */
    private readonly now: () => number,
    /** The engine's own clock, ms. */
    private readonly engineNow: () => number = now,
    protected readonly team?: Teammates,
    /** Of a script: the time between two images, ms. Absent: a module, whose images are transparent. */
    intervalMs?: number,
  ) {
    this.frames = new DownFrames(side.down);
    this.duty = new DutyCycle(side, status, engineNow);
    const { local } = endpoint;
    if (team && local)
      this.log = new TeamLog(
        team,
        local,
        side,
        (h, body) => this.write(h, EMPTY, body),
        this.waitForRoom,
        intervalMs === undefined ? undefined : { intervalMs, now: engineNow },
      );
    this.pending = this.log ? PENDING_REPORT : PENDING;
    this.sources = new Sources(
      this.frames,
      (f) => this.arrival(f),
      team,
      this.log,
      () => endpoint.consumed,
    );
    this.task = endpoint.task;
    // No log has the bodies of local messages: all are kept.
    this.unexpectedBytes = team ? Infinity : endpoint.bodiesStay ? UNEXPECTED_BYTES : MOST_UNEXPECTED_BYTES;
    this.incarnation = endpoint.incarnation;
    this.size = world.size;
    if (world.ft) this.ft = { ...ftModes(world.ft.modes), ...(world.ft.restarted && { restarted: true }) };
    this.tellsLosses =
      world.protocol !== undefined &&
      protocols[world.protocol].recovery.tells === true &&
      this.ft?.communicators !== 'abort';
    if (this.tellsLosses) this.codes = sharedCodes();
    if (world.capacity !== undefined) this.capacity = world.capacity;
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
    // It was sent before the image, too.
    if (place !== undefined && channel === 0) return this.moved();
    if (place !== undefined || channel !== 0) this.log?.report();
    else if (this.log && dst === WORLD && mode === WorldMode.EXIT) this.log.exitWasSent();
    if (place !== undefined) {
      const h = this.team!.header(dst, channel, mode, context, tag, word, body.length);
      this.team!.send(place, h, body, this.waitForRoom);
      if (dst === this.task) this.overflows();
      return;
    }
    this.status.sent(body.length);
    if (dst === WORLD && mode === WorldMode.EXIT && aborts(body)) this.status.failed();
    if (channel !== 0) {
      let offset = 0;
      do {
        const n = Math.min(CHUNK_BYTES, body.length - offset);
        const block = this.log ? EMPTY : ep.block();
        this.write(
          ep.dataHeader(dst, channel, mode, context, tag, word, body.length, offset, n, block),
          block,
          offset === 0 && n === body.length ? body : body.subarray(offset, offset + n),
        );
        if (!this.log) ep.framed();
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
    this.log?.settle();
  }

  /** D2. */
  private release(): void {
    this.side.down.release();
    this.team?.release();
  }

  /** D6. */
  protected mark(): void {
    if (!this.side.asked(Ask.MARK)) return;
    const h = emptyHeader(Kind.MARK);
    h.src = h.dst = this.task;
    h.incarnation = this.endpoint.incarnation;
    this.write(h, EMPTY, text.encode(JSON.stringify({ sends: this.endpoint.sent() } satisfies Mark)));
  }

  /** Writes one frame and publishes it. */
  protected write(h: Header, block: Uint8Array, body: Uint8Array): void {
    const length = HEADER_BYTES + block.length + body.length;
    const up = this.side.up;
    const at = this.side.reserve(length, this.waitForRoom);
    h.bytes = body.length;
    h.detBytes = block.length;
    writeHeader(up.view, at, h);
    if (block.length > 0) up.bytes.set(block, at + HEADER_BYTES);
    if (body.length > 0) copyBytes(up.bytes, at + HEADER_BYTES + block.length, body);
    if (pad8(length) !== length) up.bytes.fill(0, at + length, at + pad8(length));
    up.commit(length);
    up.publish();
  }

  private readonly working = (): number => (this.endpoint.repeating ? RankState.REPLAYING : RankState.COMPUTING);

  private readonly waitForRoom = (ready: () => boolean): void => {
    const { team } = this;
    const before = team?.backlog.awaits;
    this.awaits('nothing');
    const from = this.engineNow();
    this.status.sending(false);
    this.side.block(() => {
      team?.drain();
      return ready() || this.heldBack();
    }, true);
    this.overflows();
    this.status.sending(true);
    this.duty.rested(from);
    if (team) team.backlog.awaits = before!;
  };

  /** Whose messages it takes, however many it has not received (H2). */
  private awaits(whom: Awaited): void {
    if (this.team) this.team.backlog.awaits = this.endpoint.replaying ? 'all' : whom;
  }

  /** It waits. True: it has as many unreceived messages as it may have. */
  private heldBack(): boolean {
    const { team } = this;
    if (!team) return false;
    team.backlog.waits(team.holding, this.engineNow);
    return team.backlog.full;
  }

  /** Does not return if it has. */
  protected overflows(): void {
    // For a device that can end (host-device.ts).
  }

  /** Lets the determinants go that no message has carried. */
  flush(): void {
    if (this.log) return this.log.report();
    if (this.endpoint.pending === 0) return;
    const block = this.endpoint.block();
    this.write(this.endpoint.determinantsHeader(block), block, EMPTY);
    this.endpoint.framed();
  }

  // ── down ───────────────────────────────────────────────────────────────────────────────────────────────────────────

  /** Blocks while there is `nothing`. */
  protected block(nothing: () => boolean, stop?: () => boolean): void {
    const from = this.engineNow();
    let stopped = false;
    const { log } = this;
    const ready = (): boolean =>
      !nothing() ||
      this.side.wanted(Ask.MARK) ||
      log?.whole === true ||
      log?.tired === true ||
      this.heldBack() ||
      (stopped = stop?.() ?? false);
    do {
      this.side.block(ready, false, this.waitGoesOn, nothing);
      this.overflows();
      this.mark();
      log?.settle();
    } while (nothing() && !stopped && log?.tired !== true);
    this.duty.rested(from);
  }

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
    this.awaits(reason?.call === 'replay' ? 'all' : (reason?.peer ?? 'any'));
    for (;;) {
      const found = this.sources.next();
      if (found) {
        this.moved(); // a teammate's message may be the last that was to be repeated
        return found;
      }
      if (!reason || stop?.()) return undefined;
      // L2, L5: this wait cannot be interrupted.
      if (this.log?.passes()) continue;
      this.status.waiting(reason.call, reason.peer, reason.tag);
      let stopped = false;
      this.block(this.sources.nothing, () => (stopped = stop?.() ?? false));
      if (stopped) return undefined;
      this.waited(this.working());
    }
  }

  private arrival({ header: h, body }: Incoming): Arrival {
    const number = h.arrival;
    this.endpoint.consume(number, h.src);
    this.status.received(number, h.size);
    return arrivalOf(h, number, (h.flags & Flag.NO_BODY) !== 0 ? undefined : body);
  }

  wait(reason: WaitReason): Arrival | undefined {
    this.enter();
    const first = this.next(reason, this.interrupted);
    if (first) this.steps++;
    if (this.log && this.endpoint.pending >= this.pending) this.log.report();
    return first;
  }

  rest(reason: WaitReason, ms: number): boolean {
    if (this.endpoint.replaying) return true;
    this.release();
    const end = this.engineNow() + ms;
    let stopped = false;
    const over = (): boolean => (stopped = this.interrupted?.() ?? false) || this.engineNow() >= end;
    this.sources.look();
    this.awaits('any');
    if (this.sources.nothing() && !over()) {
      this.status.waiting(`${reason.call}${TIMED}`, reason.peer, reason.tag);
      this.block(this.sources.nothing, over);
      this.waited(this.working());
    }
    return !stopped;
  }

  poll(consume: (arrival: Arrival) => boolean): void {
    this.steps++;
    this.enter();
    const ep = this.endpoint;
    const wanted = ep.pollBegin();
    this.carries(consume);
    if (wanted === LIVE) {
      let left = this.log ? MOST_POLLED : Infinity;
      for (let f = this.next(undefined); f; f = this.next(undefined)) {
        const done = consume(f);
        this.release();
        this.carries(consume);
        if (done || --left === 0) break;
      }
    } else
      for (let i = 0; i < wanted; i++) {
        consume(this.next({ call: 'replay' })!);
        this.release();
        this.carries(consume);
      }
    ep.pollEnd();
    this.log?.polled();
    if (ep.pending >= this.pending) this.flush();
    this.moved();
  }

  /** In a poll, whose record does not count it (carried-over.ts). */
  private carries(consume: (arrival: Arrival) => boolean): void {
    for (let m = this.sources.takeCarried(); m; m = this.sources.takeCarried()) consume(m);
  }

  pull(arrival: number, into: Uint8Array): void {
    this.release();
    if (arrival < 0) {
      if (!this.team) return this.sources.carried!.pull(arrival, into);
      this.team.pull(arrival, into, this.waitForPart);
      return this.log?.pulled(arrival, into);
    }
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
      copyBytes(into, got, f.body);
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
  protected awaited(mine: (h: Header) => boolean, call: string): Incoming {
    this.awaits('nothing');
    for (let f = this.frames.find(mine); ; f = this.frames.find(mine)) {
      if (f) return f;
      this.status.waiting(call, undefined, undefined);
      this.block(this.noFrame);
      this.waited(RankState.COMPUTING);
    }
  }

  // ── events ─────────────────────────────────────────────────────────────────────────────────────────────────────────

  unexpected(bytes: number, messages: number): void {
    const { team } = this;
    if (team) {
      const before = team.backlog.bytes;
      team.backlog.keeps(messages, bytes);
      if (team.backlog.bytes > before && !this.endpoint.replaying) this.overflows();
    }
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
    if (this.endpoint.pending >= this.pending) this.flush();
    this.moved();
    return ms;
  }

  place(read: () => string): string {
    const value = this.endpoint.place(read);
    // It may be long.
    this.log?.report();
    this.moved();
    return value;
  }

  /** The replay is over as soon as everything that anybody may have seen is repeated. */
  protected moved(): void {
    if (this.live || this.endpoint.repeating) return;
    this.live = true;
    this.status.recovered();
  }
}
