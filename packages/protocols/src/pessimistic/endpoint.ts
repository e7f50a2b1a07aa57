/**
 * The endpoint of a rank: the V-protocol on the worker's side of Figure 4 (MPICH-V §3.5), synchronous and without I/O.
 *
 * Owns: the numbers of the task's channels and their limits, the position in every log ({@link Line}), the determinants
 * that no frame has carried yet, and the replay. Does not own: rings and blocking (the device), retention and
 * connections (comm core), matching (MPI layer).
 *
 * **How a host drives it** (the device of packages/node; the simulator's ranks):
 *  - it begins when the comm core says `ready`: `new Endpoint(task, size, replay, start)`.
 *  - send:  `const n = ep.beginSend(dst)`; 0 → suppressed, nothing to write. Else for every chunk of at most
 *           CHUNK_BYTES: `const b = ep.block()` and `ep.dataHeader(dst, n, mode, context, tag, word, size, offset,
 *           bytes, b)` give the determinant block and the header of the frame for the up-ring (header, block, body);
 *           waiting for ring space consumes nothing. Once written, `ep.framed()`.
 *  - wait:  block until an arrival lies in the down-ring, then `ep.consume(number)` (it checks the order). One per
 *    turn.
 *  - poll:  `const n = ep.pollBegin()`. n ≥ 0: a replay, consume exactly n arrivals, *waiting* for each. n = LIVE:
 *           consume what is there until the condition holds, waiting for none. Each by `ep.consume(number)`. Then
 *           `ep.pollEnd()`.
 *  - clock: `ep.clock(read)`; place: `ep.place(read)`; `read` is called only when live.
 *  - before an image, and when `ep.pending` is large: write a frame of `ep.determinantsHeader(b)` + `b = ep.block()`,
 *    then `ep.framed()`.
 *  - image: `ep.position(held)` goes into the manifest.
 *  - checkpoint.open (TypeScript): first run: `ep.openPrologue()` → the prologue's Line, to keep for all images of this
 *           task. Restart with an image: `ep.atPrologueEnd` is true when the program reaches open; `ep.jump()` moves to
 *           the image.
 *
 * Invariants
 *  E1  A channel's numbers are 1, 2, 3 … without gaps; the same program position gives the same number in every
 *      incarnation.
 *  E2  A message whose number is at most the limit of *its channel* never reaches the ring (silent re-execution).
 *  E3  Arrivals are consumed in arrival order, each once; after the prologue the next is the image's first.
 *  E4  Every poll is recorded or replayed, also when it saw nothing: `vain` counts, never omitted.
 *  E5  A frame carries every determinant recorded before it that no frame of this endpoint has carried; none twice.
 *  E6  While replaying, a poll consumes exactly what its determinant says, and at least as many trailing vain polls are
 *      repeated as were visible to anybody.
 *  E7  Clock readings never decrease within a task, over incarnations too.
 *  E8  A determinant that a frame has carried never changes: equal clock readings share one only until then, and a line
 *      never splits one.
 */
import {
  EMPTY,
  Flag,
  Kind,
  WORLD,
  emptyHeader,
  encodeDeterminants,
  setU53,
  taskId,
  type Determinant,
  type Header,
  type Incarnation,
  type Position,
  type TaskId,
} from '@mayfly/wire';
import { positionOf, type Line, type ReplayFrom } from './position.ts';

/**
 * What the Channel Memories told about the task at its (re)start, put together by the comm core. Plain data,
 * structured-clonable.
 */
export interface EndpointStart {
  readonly incarnation: Incarnation;
  /** Messages of each channel that are logged: the limit of Figure 4, per channel. */
  readonly limits: readonly (readonly [dst: TaskId, count: number])[];
  /** Determinants [0, replay.prologue.determinants). */
  readonly prologue: readonly Determinant[];
  /** Determinants from replay.image.determinants on. */
  readonly determinants: readonly Determinant[];
  /** Vain polls after the last of them that somebody may have seen the effect of. */
  readonly openPolls: number;
  /**
   * Arrivals whose effects somebody may have seen; the replay is over when everything above is repeated. For
   * `recovered`.
   */
  readonly consumed: number;
}

/** A limit: whatever is sent there is received. */
const ALL = Number.MAX_SAFE_INTEGER;

/** {@link Endpoint.pollBegin}: not a replay, consume what is there. */
export const LIVE = -1;

/**
 * The program did not repeat what it did before: something non-deterministic went past the endpoint. Ends the job, with
 * the place.
 */
export class ReplayDiverged extends Error {
  override readonly name = 'ReplayDiverged';
}

/** What an image stores of the endpoint besides the lines in its manifest. */
export interface EndpointSnapshot {
  readonly line: Line;
  readonly lastClock: number;
}

const MAX_VAIN = 0xffff_ffff;
const isZero = (l: Line): boolean =>
  l.arrivals === 0 && l.determinants === 0 && l.openPolls === 0 && l.sends.length === 0;

export class Endpoint {
  readonly task: TaskId;
  readonly size: number;
  readonly incarnation: Incarnation;
  /** A body that reached the rank and is not kept there can be pulled from the log. */
  readonly bodiesStay: boolean = true;
  readonly #replay: ReplayFrom;
  readonly #start: EndpointStart;
  readonly #header: Header = emptyHeader(Kind.DATA);
  readonly #head = new Uint8Array(24);

  /** E1: messages given to each channel; WORLD's slot is `size`. */
  readonly #sends: Float64Array;
  readonly #limits: Float64Array;
  /**
   * E2: messages that are logged and not given again yet, in all channels but those to tasks that are done (ALL): how
   * many there were nobody knows any more.
   */
  #owed = 0;
  #arrivals = 0;
  #determinants = 0;
  /** Vain polls since the last determinant. */
  #openPolls = 0;
  #lastClock = 0;

  /** E5: recorded, carried by no frame yet; the last #pending.length determinants. */
  #pending: Determinant[] = [];

  /** The determinants being replayed, and the next of them. */
  #past: readonly Determinant[];
  #next = 0;
  /** Readings already given of the clock determinant that is being replayed. */
  #repeated = 0;
  /** E6: vain polls to repeat after the last of #past. */
  #trail: number;
  #inPrologue: boolean;
  #prologue: Line;

  /** Arrivals that the current poll must consume (LIVE: any), and has consumed. undefined: no poll under way. */
  #poll: number | undefined;
  #polled = 0;

  constructor(task: TaskId, size: number, replay: ReplayFrom, start: EndpointStart) {
    this.task = task;
    this.size = size;
    this.incarnation = start.incarnation;
    this.#replay = replay;
    this.#start = start;
    this.#sends = new Float64Array(size + 1);
    this.#limits = new Float64Array(size + 1);
    for (const [dst, count] of start.limits) this.#limits[this.#slot(dst)] = count;
    this.#owe();
    this.#prologue = replay.prologue;
    this.#inPrologue = !isZero(replay.image) || !isZero(replay.prologue);
    this.#past = this.#inPrologue ? start.prologue : start.determinants;
    this.#trail = this.#inPrologue ? replay.prologue.openPolls : start.openPolls;
  }

  // ---- sends ----

  /** Number of the next message to `dst`, or 0 when it is logged already and must not be sent (E1, E2). */
  beginSend(dst: TaskId): number {
    const i = this.#slot(dst);
    const n = this.#sends[i]! + 1;
    this.#sends[i] = n;
    if (n <= this.#limits[i]! && this.#limits[i]! < ALL) this.#owed--;
    return n <= this.#limits[i]! ? 0 : n;
  }

  /**
   * Header of one chunk; the object is reused by the next call. `bytes` of the body at `offset`; `block` as
   * {@link block} gave it.
   */
  dataHeader(
    dst: TaskId,
    channel: number,
    mode: number,
    context: number,
    tag: number,
    word: number,
    size: number,
    offset: number,
    bytes: number,
    block: Uint8Array,
  ): Header {
    const h = this.#header;
    h.kind = Kind.DATA;
    h.flags = offset + bytes >= size ? Flag.LAST : 0;
    h.mode = mode;
    h.bytes = bytes;
    h.src = this.task;
    h.dst = dst;
    h.incarnation = this.incarnation;
    h.channel = channel;
    h.arrival = 0;
    h.offset = offset;
    h.size = size;
    h.context = context;
    h.tag = tag;
    h.word = word;
    h.detBytes = block.length;
    return h;
  }

  /** Header of a frame that only carries determinants; the object is reused. */
  determinantsHeader(block: Uint8Array): Header {
    const h = this.dataHeader(this.task, 0, 0, 0, 0, 0, 0, 0, 0, block);
    h.kind = Kind.DETERMINANTS;
    h.flags = 0;
    return h;
  }

  /**
   * New determinants and the evidence, for the frame about to be written. Valid until the next call; then say
   * {@link framed}.
   */
  block(): Uint8Array {
    const first = this.#determinants - this.#pending.length;
    if (this.#pending.length > 0)
      return encodeDeterminants({
        first,
        consumed: this.#arrivals,
        openPolls: this.#openPolls,
        entries: this.#pending,
      });
    if (first === 0 && this.#arrivals === 0 && this.#openPolls === 0) return EMPTY;
    const v = new DataView(this.#head.buffer);
    setU53(v, 0, first);
    setU53(v, 8, this.#arrivals);
    v.setUint32(16, this.#openPolls, true);
    return this.#head;
  }

  /** The frame with the last {@link block} stands in the ring (E5). */
  framed(): void {
    if (this.#pending.length > 0) this.#pending = [];
  }

  /**
   * Determinants that no frame has carried. Flush them (see the file's head) before an image, and when they are some
   * thousands.
   */
  get pending(): number {
    return this.#pending.length;
  }

  // ---- arrivals ----

  /** Consumes arrival `number` (E3). @throws ReplayDiverged */
  consume(number: number): void {
    if (number !== this.#arrivals + 1)
      this.#diverged(`consumes arrival ${this.#arrivals + 1}, the log has ${number} next`);
    if (this.#inPrologue && number > this.#prologue.arrivals)
      this.#diverged('waits in its prologue for more than it received there');
    if (this.#poll !== undefined) {
      if (this.#poll !== LIVE && this.#polled >= this.#poll)
        this.#diverged(`a poll consumes more than the ${this.#poll} of its log`);
      this.#polled++;
    }
    this.#arrivals = number;
  }

  /** Number of arrivals consumed. */
  get consumed(): number {
    return this.#arrivals;
  }

  // ---- events ----

  /**
   * Begins one poll: how many arrivals it must consume, waiting for each, or {@link LIVE} (E4, E6). @throws
   * ReplayDiverged
   */
  pollBegin(): number {
    this.#polled = 0;
    const e = this.#nextPast();
    if (e !== undefined) {
      if (e.type !== 'polls') this.#diverged(`polls where it read a ${e.type}`);
      this.#poll = this.#openPolls < e.vain ? 0 : e.consumed;
    } else if (this.#openPolls < this.#trail) this.#poll = 0;
    else if (this.#inPrologue) this.#diverged('polls in its prologue more often than it did');
    else this.#poll = LIVE;
    return this.#poll;
  }

  pollEnd(): void {
    const expected = this.#poll;
    this.#poll = undefined;
    if (expected === undefined) throw new Error('pollEnd without pollBegin');
    if (expected === LIVE) {
      if (this.#polled > 0) this.#record({ type: 'polls', vain: this.#openPolls, consumed: this.#polled });
      else if (++this.#openPolls === MAX_VAIN) this.#closePolls();
    } else if (this.#polled !== expected)
      this.#diverged(`a poll consumed ${this.#polled} arrivals, its log says ${expected}`);
    else if (expected === 0) this.#openPolls++;
    else this.#passed();
  }

  /** One reading of the job's clock, in ms (E7). */
  clock(read: () => number): number {
    const e = this.#nextPast();
    if (e !== undefined) {
      if (e.type !== 'clock') this.#diverged(`reads the clock where it had ${e.type}`);
      if (++this.#repeated >= (e.count ?? 1)) this.#passed();
      this.#lastClock = Math.max(this.#lastClock, e.ms);
      return e.ms;
    }
    this.#live('reads the clock');
    const before = this.#lastClock;
    this.#lastClock = Math.max(before, read());
    // E8: a reading like the one before it is counted with it, as long as no frame has carried that one.
    const last = this.#openPolls === 0 ? this.#pending.at(-1) : undefined;
    if (last?.type === 'clock' && last.ms === this.#lastClock && (last.count ?? 1) < MAX_VAIN)
      this.#pending[this.#pending.length - 1] = { ...last, count: (last.count ?? 1) + 1 };
    else this.#record({ type: 'clock', ms: this.#lastClock });
    return this.#lastClock;
  }

  /** A value that depends on the place; at most 16383 characters are kept. */
  place(read: () => string): string {
    const e = this.#nextPast();
    if (e !== undefined) {
      if (e.type !== 'value') this.#diverged(`reads a local value where it had ${e.type}`);
      this.#passed();
      return e.value;
    }
    this.#live('reads a local value');
    const value = read().slice(0, 16383);
    this.#record({ type: 'value', value });
    return value;
  }

  // ---- positions ----

  /** Where the task is in all its logs. */
  line(): Line {
    const sends: [TaskId, number][] = [];
    this.#sends.forEach((n, i) => {
      if (n > 0) sends.push([this.#taskOf(i), n]);
    });
    return { arrivals: this.#arrivals, determinants: this.#determinants, openPolls: this.#openPolls, sends };
  }

  /** Where an image that is taken now lies. `held`: consumed arrivals whose bodies are still in the log. */
  position(held: readonly number[]): Position {
    return positionOf({ prologue: this.#prologue, image: this.line(), held: [...held] });
  }

  /**
   * For the image, besides the position in its manifest. Take it only when {@link pending} is 0, outside polls and
   * sends.
   */
  snapshot(): EndpointSnapshot {
    return { line: this.line(), lastClock: this.#lastClock };
  }

  /** First run of `checkpoint.open`: the prologue ends here. */
  openPrologue(): Line {
    this.#prologue = this.line();
    return this.#prologue;
  }

  /** The end of the prologue, as `open` drew it or the image's manifest has it. */
  get prologue(): Line {
    return this.#prologue;
  }

  /** True from the start until {@link jump}, in an incarnation that begins with an image. */
  get inPrologue(): boolean {
    return this.#inPrologue;
  }

  /**
   * Moves from the end of the prologue to the image's line: in `checkpoint.open` of a restart, or right after a
   * transparent image has been restored (empty prologue). Does nothing when there is no image. @throws ReplayDiverged
   * when the prologue was not repeated.
   */
  jump(snapshot?: EndpointSnapshot): void {
    if (!this.#inPrologue) return;
    const here = JSON.stringify(this.line());
    const there = JSON.stringify(sorted(this.#prologue));
    if (here !== there) this.#diverged(`reaches checkpoint.open at ${here}, the image's prologue ends at ${there}`);
    const image = this.#replay.image;
    this.#inPrologue = false;
    this.#arrivals = image.arrivals;
    this.#determinants = image.determinants;
    this.#openPolls = image.openPolls;
    this.#sends.fill(0);
    for (const [dst, n] of image.sends) this.#sends[this.#slot(dst)] = n;
    this.#owe();
    this.#past = this.#start.determinants;
    this.#next = 0;
    this.#trail = this.#start.openPolls;
    if (snapshot) this.#lastClock = Math.max(this.#lastClock, snapshot.lastClock);
  }

  /** True until everything that anybody may have seen is repeated: its past, and the messages that are logged. */
  get repeating(): boolean {
    return this.replaying || this.#owed > 0;
  }

  /** True as long as its past says what happens: what it consumes and reads is not its own choice. */
  get replaying(): boolean {
    return (
      this.#inPrologue ||
      this.#next < this.#past.length ||
      this.#openPolls < this.#trail ||
      this.#arrivals < this.#start.consumed
    );
  }

  // ---- within ----

  #owe(): void {
    this.#owed = this.#limits.reduce(
      (sum, limit, i) => sum + (limit < ALL ? Math.max(0, limit - this.#sends[i]!) : 0),
      0,
    );
  }

  /** The determinant to replay now; entries whose polls are all repeated and that consumed nothing are passed. */
  #nextPast(): Determinant | undefined {
    for (;;) {
      const e = this.#past[this.#next];
      if (e?.type !== 'polls') {
        if (e !== undefined && this.#openPolls > 0) this.#diverged(`reads a ${e.type} later than it did`);
        return e;
      }
      if (e.consumed > 0 || this.#openPolls < e.vain) return e;
      this.#passed();
    }
  }

  #passed(): void {
    this.#repeated = 0;
    this.#next++;
    this.#determinants++;
    this.#openPolls = 0;
  }

  #live(what: string): void {
    if (this.#inPrologue) this.#diverged(`${what} in its prologue more often than it did`);
    if (this.#openPolls < this.#trail) this.#diverged(`${what} where it polled`);
    if (this.#openPolls > 0) this.#closePolls();
  }

  #closePolls(): void {
    this.#record({ type: 'polls', vain: this.#openPolls, consumed: 0 });
  }

  #record(d: Determinant): void {
    this.#pending.push(d);
    this.#determinants++;
    this.#openPolls = 0;
    this.#trail = 0;
  }

  #slot(task: TaskId): number {
    if (task === WORLD) return this.size;
    if (task >= this.size) throw new RangeError(`task ${task} of ${this.size}`);
    return task;
  }

  #taskOf(slot: number): TaskId {
    return slot === this.size ? WORLD : taskId(slot);
  }

  #diverged(what: string): never {
    throw new ReplayDiverged(
      `task ${this.task} incarnation ${this.incarnation} ${what} (at arrival ${this.#arrivals}, determinant ` +
        `${this.#determinants})`,
    );
  }
}

const sorted = (l: Line): Line => ({
  arrivals: l.arrivals,
  determinants: l.determinants,
  openPolls: l.openPolls,
  sends: [...l.sends].sort((a, b) => a[0] - b[0]),
});
