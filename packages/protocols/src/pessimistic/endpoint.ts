/**
 * The endpoint of a rank that runs again alone (MPICH-V §3.5, Figure 4).
 *
 * Owns, besides what every endpoint owns: the limits of the task's channels, its position in every log ({@link Line}),
 * the determinants that no frame has carried yet, and the replay.
 *
 * Invariants, besides E1, E3 and E7
 *  E2  A message whose number is at most the limit of *its channel* never reaches the ring (silent re-execution).
 *  E3  After the prologue the next arrival is the image's first.
 *  E4  Every poll is recorded or replayed, also when it saw nothing: `vain` counts, never omitted.
 *  E5  A frame carries every determinant recorded before it that no frame of this endpoint has carried; none twice.
 *  E6  While replaying, a poll consumes exactly what its determinant records, and the rank repeats at least as many
 *      trailing vain polls as were visible to others.
 *  E7  Clock readings never decrease over incarnations either.
 *      A script that begins with an image may read the clock where it did not, to time what it goes on with: there it
 *      reads the last value again.
 *  E8  A determinant that a frame has carried never changes: equal clock readings share one only until then, and a line
 *      never splits one.
 */
import { EMPTY, encodeDeterminants, setU53, type Determinant, type Position, type TaskId } from '@mayfly/wire';
import { Endpoint, LIVE, type EndpointSnapshot, type EndpointStart } from '../endpoint.ts';
import { isZero, positionOf, type Line, type ReplayFrom } from './position.ts';

/** A limit: whatever is sent there is received. */
const ALL = Number.MAX_SAFE_INTEGER;

const MAX_VAIN = 0xffff_ffff;
/** A script that waits for the clock would wait for ever. */
const MAX_REREADS = 100_000;

export class LoggedEndpoint extends Endpoint {
  override readonly carriedPlace: number | undefined;
  readonly #replay: ReplayFrom;
  readonly #start: EndpointStart;
  readonly #head = new Uint8Array(24);

  readonly #limits: Float64Array;
  /**
   * E2: messages that are logged and not sent again yet, in all channels but those to tasks that are done (ALL), whose
   * number is no longer known.
   */
  #owed = 0;
  #determinants = 0;
  /** Vain polls since the last determinant. */
  protected openPolls = 0;

  /** E5: recorded, carried by no frame yet; the last `pendingEntries.length` determinants. */
  protected pendingEntries: Determinant[] = [];
  /** E8: determinants before the end of the prologue, which counts nothing more into them. */
  #drawn = 0;

  /** The determinants being replayed, and the next of them. */
  #past: readonly Determinant[];
  #next = 0;
  /** Events already repeated of the determinant that is being replayed, if it counts several. */
  protected repeated = 0;
  /** E6: vain polls to repeat after the last of #past. */
  #trail: number;
  #inPrologue: boolean;
  /** E7: so often may it read the clock where it did not. */
  #rereads = 0;
  #prologue: Line;

  /** Arrivals that the current poll must consume (LIVE: any), and has consumed. undefined: no poll under way. */
  #poll: number | undefined;
  #polled = 0;

  constructor(task: TaskId, size: number, replay: ReplayFrom, start: EndpointStart) {
    super(task, size, start.incarnation);
    this.#replay = replay;
    this.carriedPlace = replay.place;
    this.#start = start;
    this.#limits = new Float64Array(size + 1);
    for (const [dst, count] of start.limits) this.#limits[this.slot(dst)] = count;
    this.#owe();
    this.#prologue = replay.prologue;
    this.#inPrologue = !isZero(replay.image) || !isZero(replay.prologue);
    this.#past = this.#inPrologue ? start.prologue : start.determinants;
    this.#trail = this.#inPrologue ? replay.prologue.openPolls : start.openPolls;
  }

  // ---- sends ----

  /** Number of the next message to `dst`, or 0 when it is logged already and must not be sent (E1, E2). */
  override beginSend(dst: TaskId): number {
    const i = this.slot(dst);
    const n = this.sends[i]! + 1;
    this.sends[i] = n;
    if (n <= this.#limits[i]! && this.#limits[i]! < ALL) this.#owed--;
    return n <= this.#limits[i]! ? 0 : n;
  }

  /**
   * New determinants and the evidence, for the frame about to be written. Valid until the next call; then say
   * {@link framed}.
   */
  override block(): Uint8Array {
    const first = this.#determinants - this.pendingEntries.length;
    if (this.pendingEntries.length > 0)
      return encodeDeterminants({
        first,
        consumed: this.arrivals,
        openPolls: this.openPolls,
        entries: this.pendingEntries,
      });
    if (first === 0 && this.arrivals === 0 && this.openPolls === 0) return EMPTY;
    const v = new DataView(this.#head.buffer);
    setU53(v, 0, first);
    setU53(v, 8, this.arrivals);
    v.setUint32(16, this.openPolls, true);
    return this.#head;
  }

  /** The frame with the last {@link block} stands in the ring (E5). */
  override framed(): void {
    if (this.pendingEntries.length > 0) this.pendingEntries = [];
  }

  /**
   * Determinants that no frame has carried. Flush them (see the file's head) before an image, and when they are some
   * thousands.
   */
  override get pending(): number {
    return this.pendingEntries.length;
  }

  // ---- arrivals ----

  /** Consumes arrival `number` (E3). @throws ReplayDiverged */
  override consume(number: number, _src?: TaskId): void {
    if (number !== this.arrivals + 1)
      this.diverged(`consumes arrival ${this.arrivals + 1}, the log has ${number} next`);
    if (this.#inPrologue && number > this.#prologue.arrivals)
      this.diverged('waits in its prologue for more than it received there');
    this.took();
    this.arrivals = number;
  }

  /** A message is consumed, perhaps by a poll (E6). @throws ReplayDiverged */
  protected took(): void {
    if (this.#poll === undefined) return;
    if (this.#poll !== LIVE && this.#polled >= this.#poll)
      this.diverged(`a poll consumes more than the ${this.#poll} of its log`);
    this.#polled++;
  }

  // ---- events ----

  /**
   * Begins one poll: how many arrivals it must consume, waiting for each, or {@link LIVE} (E4, E6). @throws
   * ReplayDiverged
   */
  override pollBegin(): number {
    this.#polled = 0;
    const e = this.nextPast();
    if (e !== undefined) {
      if (e.type !== 'polls') this.diverged(`polls where it read a ${e.type}`);
      this.#poll = this.openPolls < e.vain ? 0 : e.consumed;
    } else if (this.openPolls < this.#trail) this.#poll = 0;
    else if (this.#inPrologue) this.diverged('polls in its prologue more often than it did');
    else this.#poll = LIVE;
    return this.#poll;
  }

  override pollEnd(): void {
    const expected = this.#poll;
    this.#poll = undefined;
    if (expected === undefined) throw new Error('pollEnd without pollBegin');
    if (expected === LIVE) {
      if (this.#polled > 0) this.record({ type: 'polls', vain: this.openPolls, consumed: this.#polled });
      else if (++this.openPolls === MAX_VAIN) this.closePolls();
    } else if (this.#polled !== expected)
      this.diverged(`a poll consumed ${this.#polled} arrivals, its log says ${expected}`);
    else if (expected === 0) this.openPolls++;
    else this.repeatedPoll();
  }

  /** A poll has consumed what its determinant records. */
  protected repeatedPoll(): void {
    this.passed();
  }

  /** Events recorded or repeated so far. */
  protected get determinants(): number {
    return this.#determinants;
  }

  /** What the poll under way must consume; undefined: none is under way. */
  protected get poll(): number | undefined {
    return this.#poll;
  }

  /** One reading of the job's clock, in ms (E7). */
  override clock(read: () => number): number {
    const e = this.nextPast();
    const hadNone = e === undefined ? this.openPolls < this.#trail : e.type !== 'clock';
    if (hadNone && this.#rereads > 0) {
      this.#rereads--;
      return this.lastClock;
    }
    if (e !== undefined) {
      if (e.type !== 'clock') this.diverged(`reads the clock where it had ${e.type}`);
      if (++this.repeated >= (e.count ?? 1)) this.passed();
      this.lastClock = Math.max(this.lastClock, e.ms);
      return e.ms;
    }
    this.#live('reads the clock');
    const before = this.lastClock;
    this.lastClock = Math.max(before, read());
    // E8: a reading like the one before it is counted with it, as long as no frame has carried that one.
    const last = this.mayGrow;
    if (last?.type === 'clock' && last.ms === this.lastClock && (last.count ?? 1) < MAX_VAIN)
      this.pendingEntries[this.pendingEntries.length - 1] = { ...last, count: (last.count ?? 1) + 1 };
    else this.record({ type: 'clock', ms: this.lastClock });
    return this.lastClock;
  }

  /** A value that depends on the place; at most 16383 characters are kept. */
  override place(read: () => string): string {
    const e = this.nextPast();
    if (e !== undefined) {
      if (e.type !== 'value') this.diverged(`reads a local value where it had ${e.type}`);
      this.passed();
      return e.value;
    }
    this.#live('reads a local value');
    const value = read().slice(0, 16383);
    this.record({ type: 'value', value });
    return value;
  }

  // ---- positions ----

  /** Where the task is in all its logs. */
  line(): Line {
    const { arrivals } = this;
    return { arrivals, determinants: this.#determinants, openPolls: this.openPolls, sends: this.sent() };
  }

  /** Where an image that is taken now lies. `held`: consumed arrivals whose bodies are still in the log. */
  override position(held: readonly number[]): Position {
    return positionOf({ prologue: this.#prologue, image: this.line(), held: [...held] });
  }

  /**
   * For the image, besides the position in its manifest. Take it only when {@link pending} is 0, outside polls and
   * sends.
   */
  override snapshot(): EndpointSnapshot & { readonly line: Line } {
    return { line: this.line(), lastClock: this.lastClock };
  }

  /** First run of `checkpoint.open`: the prologue ends here. */
  override openPrologue(): void {
    this.#prologue = this.line();
    this.#drawn = this.#determinants;
  }

  /** The end of the prologue, as `open` drew it or the image's manifest has it. */
  get prologue(): Line {
    return this.#prologue;
  }

  /** True from the start until {@link jump}, in an incarnation that begins with an image. */
  override get inPrologue(): boolean {
    return this.#inPrologue;
  }

  /**
   * Moves from the end of the prologue to the image's line: in `checkpoint.open` of a restart, or right after a
   * transparent image has been restored (empty prologue). Does nothing when there is no image. @throws ReplayDiverged
   * when the prologue was not repeated.
   */
  override jump(snapshot?: EndpointSnapshot, script = false): void {
    if (!this.#inPrologue) return;
    const here = JSON.stringify(this.line());
    const there = JSON.stringify(sorted(this.#prologue));
    if (here !== there) this.diverged(`reaches checkpoint.open at ${here}, the image's prologue ends at ${there}`);
    const image = this.#replay.image;
    this.#inPrologue = false;
    this.#rereads = script ? MAX_REREADS : 0;
    this.arrivals = image.arrivals;
    this.#determinants = image.determinants;
    this.openPolls = image.openPolls;
    this.sends.fill(0);
    for (const [dst, n] of image.sends) this.sends[this.slot(dst)] = n;
    this.#owe();
    this.#past = this.#start.determinants;
    this.#next = 0;
    this.#trail = this.#start.openPolls;
    if (snapshot) this.lastClock = Math.max(this.lastClock, snapshot.lastClock);
  }

  /** True until everything that anybody may have seen is repeated: its past, and the messages that are logged. */
  override get repeating(): boolean {
    return this.replaying || this.#owed > 0;
  }

  /** True while the log determines what it consumes and reads. */
  override get replaying(): boolean {
    return (
      this.#inPrologue ||
      this.#next < this.#past.length ||
      this.openPolls < this.#trail ||
      this.arrivals < this.#start.consumed
    );
  }

  // ---- within ----

  #owe(): void {
    this.#owed = this.#limits.reduce(
      (sum, limit, i) => sum + (limit < ALL ? Math.max(0, limit - this.sends[i]!) : 0),
      0,
    );
  }

  /** The determinant to replay now; entries whose polls are all repeated and that consumed nothing are passed. */
  protected nextPast(): Determinant | undefined {
    for (;;) {
      const e = this.#past[this.#next];
      if (e?.type !== 'polls') {
        if (e !== undefined && this.openPolls > 0) this.diverged(`reads a ${e.type} later than it did`);
        return e;
      }
      if (e.consumed > 0 || this.openPolls < e.vain) return e;
      this.passed();
    }
  }

  protected passed(): void {
    this.repeated = 0;
    this.#next++;
    this.#determinants++;
    this.openPolls = 0;
  }

  #live(what: string): void {
    if (this.#inPrologue) this.diverged(`${what} in its prologue more often than it did`);
    if (this.openPolls < this.#trail) this.diverged(`${what} where it polled`);
    if (this.openPolls > 0) this.closePolls();
  }

  /** E8: what comes now may be counted with it. */
  protected get mayGrow(): Determinant | undefined {
    return this.openPolls === 0 && this.#determinants > this.#drawn ? this.pendingEntries.at(-1) : undefined;
  }

  protected closePolls(): void {
    this.record({ type: 'polls', vain: this.openPolls, consumed: 0 });
  }

  protected record(d: Determinant): void {
    this.pendingEntries.push(d);
    this.#determinants++;
    this.openPolls = 0;
    this.#trail = 0;
  }

  protected override get where(): string {
    return `${super.where}, determinant ${this.#determinants}`;
  }
}

const sorted = (l: Line): Line => ({
  arrivals: l.arrivals,
  determinants: l.determinants,
  openPolls: l.openPolls,
  sends: [...l.sends].sort((a, b) => a[0] - b[0]),
});
