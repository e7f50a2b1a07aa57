/**
 * The endpoint of a rank, as far as it is the same under every V-protocol: the V-protocol on the worker's side of
 * Figure 4 (MPICH-V §3.5), synchronous and without I/O. As it stands here nothing is logged and nothing repeated.
 *
 * Owns: the numbers of the task's channels, the number of its last arrival, its last clock reading. Does not own: rings
 * and blocking (the device), retention and connections (comm core), matching (MPI layer).
 *
 * **How a host drives it** (the device of packages/node; the simulator's ranks):
 *  - it begins at the comm core's effect `ready`: `protocols[name].rank(task, size, position, start)`.
 *  - send:  `const n = ep.beginSend(dst)`; 0 → suppressed, nothing to write. Else for every chunk of at most
 *           CHUNK_BYTES: `const b = ep.block()` and `ep.dataHeader(dst, n, mode, context, tag, word, size, offset,
 *           bytes, b)` give the protocol's block and the header of the frame for the up-ring (header, block, body);
 *           waiting for ring space consumes nothing. Once written, `ep.framed()`.
 *  - wait:  block until an arrival lies in the down-ring, then `ep.consume(number)` (it checks the order). One per
 *           turn.
 *  - poll:  `const n = ep.pollBegin()`. n ≥ 0: a replay, consume exactly n arrivals, *waiting* for each. n = LIVE:
 *           consume what is there until the condition holds, waiting for none. Each by `ep.consume(number)`. Then
 *           `ep.pollEnd()`.
 *  - clock: `ep.clock(read)`; place: `ep.place(read)`; `read` is called only when live.
 *  - before an image, and when `ep.pending` is large: write a frame of `ep.determinantsHeader(b)` + `b = ep.block()`,
 *    then `ep.framed()`.
 *  - image: `ep.position(held)` goes into the manifest, `ep.snapshot()` into the image.
 *  - checkpoint.open (TypeScript): first run: `ep.openPrologue()`. Restart with an image: `ep.jump()` moves to the
 *           image when the program reaches open.
 *
 * Invariants
 *  E1  A channel's numbers are 1, 2, 3 … without gaps; the same program position gives the same number in every
 *      incarnation.
 *  E3  Arrivals are consumed in arrival order, each once.
 *  E7  Clock readings never decrease within a task.
 */
import {
  EMPTY,
  Flag,
  Kind,
  WORLD,
  emptyHeader,
  taskId,
  type Determinant,
  type DeterminantBlock,
  type Header,
  type Incarnation,
  type Position,
  type TaskId,
} from '@mayfly/wire';

/**
 * What the Channel Memories reported about the task at its (re)start, combined by the comm core. Plain data,
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
  /** Vain polls after the last of them whose effect another rank may have seen. */
  readonly openPolls: number;
  /**
   * Arrivals whose effects another rank may have seen; the replay is over when everything above is repeated. For
   * `recovered`.
   */
  readonly consumed: number;
}

/** {@link Endpoint.pollBegin}: not a replay, consume what is there. */
export const LIVE = -1;

/**
 * The program did not repeat what it did before: something non-deterministic went past the endpoint. Ends the job, with
 * the place.
 */
export class ReplayDiverged extends Error {
  override readonly name = 'ReplayDiverged';
}

/** What an image stores of the endpoint besides the position in its manifest. */
export interface EndpointSnapshot {
  readonly lastClock: number;
}

/** Characters of a value that depends on the place. */
const MAX_VALUE = 16383;

/** What may be consumed next. */
export type Choice =
  /** The next arrival, or any teammate's next message. */
  | { readonly from: 'any' }
  /** The next arrival, and nothing else. */
  | { readonly from: 'log' }
  /** That teammate's next message. */
  | { readonly from: 'ring'; readonly src: TaskId }
  /** That sender's message of a regrouping, at once. */
  | { readonly from: 'carried'; readonly src: TaskId };

/**
 * Messages that regroupings carried over, in order: sender, number of the first, how many, and the arrivals before
 * them.
 */
export type Carried = readonly (readonly [src: TaskId, first: number, count: number, place: number])[];

/** What a rank has to put down before it publishes anything; `stamp` is of the counter that its team shares. */
export interface Report {
  readonly stamp: number;
  readonly block: DeterminantBlock;
}

/**
 * Messages of teammates as events, where the choice between them and the log's arrivals has to be repeatable
 * (pessimistic/teams/endpoint.ts).
 */
export interface LocalEvents {
  /** What may be consumed now. A wait blocks for it; a live poll takes what is there. @throws ReplayDiverged */
  choice(): Choice;
  /** Messages of `src` that were consumed, by whichever route. */
  received(src: TaskId): number;
  /** May message `number` of a teammate be consumed? */
  isNext(src: TaskId, number: number): boolean;
  /** Consumes message `number` of a teammate. @throws ReplayDiverged */
  consumeLocal(src: TaskId, number: number): void;
  /** Before anything is consumed: the image has these (T9). */
  carries(carried: Carried): void;
  /** Consumes message `number` of `src` that a regrouping carried over. @throws ReplayDiverged */
  consumeCarried(src: TaskId, number: number): void;
  /** To be written before what is published, outside polls; undefined: the last one had it all. */
  report(count: () => number): Report | undefined;
}

/** Which of them is next is an event of the log. */
export type PrologueEvents = Pick<LocalEvents, 'choice' | 'consumeLocal'>;

export abstract class Endpoint {
  /** Absent: messages of teammates, if there are any, are consumed as they come. */
  get local(): LocalEvents | undefined {
    return undefined;
  }

  /**
   * A script that begins with an image and has not come to `checkpoint.open`: what it received of the teammates that it
   * had then (pessimistic/teams/prologue.ts).
   */
  get prologueEvents(): PrologueEvents | undefined {
    return undefined;
  }

  readonly task: TaskId;
  readonly size: number;
  readonly incarnation: Incarnation;
  /** A body that reached the rank and is not kept there can be pulled from the log. */
  readonly bodiesStay: boolean = true;
  /** T9: arrivals before what lay in the channels of its image, if its team was regrouped since. */
  readonly carriedPlace: number | undefined = undefined;
  /** It decides by itself when an image is due. */
  readonly choosesImages: boolean = true;
  /** E1: messages sent on each channel; WORLD's slot is `size`. */
  protected readonly sends: Float64Array;
  protected arrivals = 0;
  protected lastClock = 0;
  readonly #header: Header = emptyHeader(Kind.DATA);

  constructor(task: TaskId, size: number, incarnation: Incarnation) {
    this.task = task;
    this.size = size;
    this.incarnation = incarnation;
    this.sends = new Float64Array(size + 1);
  }

  // ---- sends ----

  /** Number of the next message to `dst`, or 0 when it is logged already and must not be sent (E1). */
  beginSend(dst: TaskId): number {
    const i = this.slot(dst);
    return (this.sends[i] = this.sends[i]! + 1);
  }

  /** Messages sent on each channel so far. */
  sent(): [dst: TaskId, count: number][] {
    const sent: [TaskId, number][] = [];
    this.sends.forEach((n, i) => {
      if (n > 0) sent.push([i === this.size ? WORLD : taskId(i), n]);
    });
    return sent;
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

  /** What travels between header and body of the frame about to be written. Valid until the next call. */
  block(): Uint8Array {
    return EMPTY;
  }

  /** The frame with the last {@link block} stands in the ring. */
  framed(): void {
    // Nothing was carried.
  }

  /**
   * Determinants that no frame has carried. Flush them (see the file's head) before an image, and when they are some
   * thousands.
   */
  get pending(): number {
    return 0;
  }

  // ---- arrivals ----

  /** Consumes arrival `number` (E3), a message of `src`. @throws ReplayDiverged */
  consume(number: number, _src: TaskId): void {
    if (number !== this.arrivals + 1)
      this.diverged(`consumes arrival ${this.arrivals + 1}, the log has ${number} next`);
    this.arrivals = number;
  }

  /** Number of arrivals consumed. */
  get consumed(): number {
    return this.arrivals;
  }

  // ---- events ----

  /** Begins one poll: how many arrivals it must consume, waiting for each, or {@link LIVE}. @throws ReplayDiverged */
  pollBegin(): number {
    return LIVE;
  }

  pollEnd(): void {
    // The result of a poll is not asked for later.
  }

  /** One reading of the job's clock, in ms (E7). */
  clock(read: () => number): number {
    return (this.lastClock = Math.max(this.lastClock, read()));
  }

  /** A value that depends on the place; at most 16383 characters are kept. */
  place(read: () => string): string {
    return read().slice(0, MAX_VALUE);
  }

  // ---- positions ----

  /** Where an image that is taken now lies. `held`: consumed arrivals whose bodies are still in the log. */
  abstract position(held: readonly number[]): Position;

  /**
   * For the image, besides the position in its manifest. Take it only when {@link pending} is 0, outside polls and
   * sends.
   */
  snapshot(): EndpointSnapshot {
    return { lastClock: this.lastClock };
  }

  /** First run of `checkpoint.open`: the prologue ends here. */
  openPrologue(): void {
    // No incarnation starts there again.
  }

  /** True from the start until {@link jump}, in an incarnation that begins with an image. */
  get inPrologue(): boolean {
    return false;
  }

  /**
   * Moves from the end of the prologue to the image's position: in `checkpoint.open` of a restart, or right after a
   * transparent image has been restored (empty prologue). Does nothing when there is no image. `script`: what it does
   * behind `open` need not be all that it did behind the image.
   * @throws ReplayDiverged when the prologue was not repeated
   */
  jump(_snapshot?: EndpointSnapshot, _script = false): void {
    // There is none.
  }

  /** True until everything that anybody may have seen is repeated: its past, and the messages that are logged. */
  get repeating(): boolean {
    return false;
  }

  /** True while the log determines what it consumes and reads. */
  get replaying(): boolean {
    return false;
  }

  // ---- within ----

  protected slot(task: TaskId): number {
    if (task === WORLD) return this.size;
    if (task >= this.size) throw new RangeError(`task ${task} of ${this.size}`);
    return task;
  }

  protected get where(): string {
    return `arrival ${this.arrivals}`;
  }

  protected diverged(what: string): never {
    throw new ReplayDiverged(`task ${this.task} incarnation ${this.incarnation} ${what} (at ${this.where})`);
  }
}
