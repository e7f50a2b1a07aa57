/**
 * The endpoint of a rank that has teammates: the merge of two sources of messages, the log (remote arrivals) and the
 * rings of its teammates, and its replay. A message to oneself takes a ring as well.
 *
 * Owns, besides what the endpoint of a lone task owns: the messages consumed of each sender, and what a regrouping
 * carried over. Does not own: rings and what waits in them (image-cut.ts), the team's counter (the host).
 *
 *  T2  "One channel, one numbering. The n-th message of channel (s,d) has number n whatever its route." "A rank
 *      consumes each channel in the order of its numbers."
 *  T3  "The choice of a source is an event." A message of a teammate is recorded, run-length encoded; a poll's record
 *      counts all that it consumed and stands before those of its local messages. Arrivals after the last record are
 *      evidence: "a replay takes no unrecorded local message before it has consumed as many remote arrivals as anybody
 *      may have seen the effect of".
 *  T4  "Publish after recording." {@link report} is written before a frame or a local message is published. "What a
 *      report holds never changes" (E8).
 *  T6  The prologue of a script's image: "a restart from an image feeds it these [copies] and suppresses its sends",
 *      "also when A has left the team": the teammates and routes of then count, whatever they are now.
 *  T7  "Local messages are resent during a replay, never suppressed, because their receivers are replaying too."
 *  T9  What a regrouping carried over is consumed "without a record", once as many arrivals have been as the log had
 *      then. The ranks of a team that a regrouping made take a local message only behind the arrivals that the log had
 *      then (`gate`), and so behind all that was carried over: a channel that becomes local goes on behind what it has
 *      in the log. What a rank had consumed of a sender that was not its teammate is not known: the first local message
 *      says it.
 */
import type { LocalDeterminant, Position, TaskId } from '@mayfly/wire';
import {
  LIVE,
  type Carried,
  type Choice,
  type EndpointSnapshot,
  type EndpointStart,
  type LocalEvents,
  type PrologueEvents,
  type Report,
} from '../../endpoint.ts';
import { LoggedEndpoint } from '../endpoint.ts';
import type { Line, ReplayFrom } from '../position.ts';
import { positionInTeam, type ReplayInTeam } from './position.ts';

const ANY: Choice = { from: 'any' };
const LOG: Choice = { from: 'log' };
const MAX_RUN = 0xffff_ffff;

/** A rank alone has no ring, not even to itself: everything is today's. */
export const localsOf = (members: readonly TaskId[]): readonly TaskId[] => (members.length > 1 ? members : []);

export interface Team {
  readonly members: readonly TaskId[];
  /** T9: what the members' first image left in channels. */
  readonly carried?: Carried;
}

export class TeamEndpoint extends LoggedEndpoint implements LocalEvents {
  override readonly carriedPlace: number | undefined;
  readonly #mates: ReadonlySet<TaskId>;
  readonly #position: ReplayInTeam;
  readonly #consumedThen: number;
  /** T2: by sender. What comes from the outside never takes a ring. */
  readonly #received: number[];
  #carried: { readonly src: TaskId; next: number; left: number; readonly place: number }[] = [];
  readonly #gate: number;
  /** Local messages of the poll under way: their records come behind the poll's (T3). */
  #inPoll: LocalDeterminant[] = [];
  /** T4: what the last report held. */
  readonly #reported = { arrivals: 0, determinants: 0, openPolls: 0 };

  constructor(task: TaskId, size: number, at: ReplayInTeam, start: EndpointStart, team: Team) {
    // T7: no limit applies to a local channel.
    const mates = new Set(localsOf(team.members));
    super(task, size, whole(at), { ...start, limits: start.limits.filter(([dst]) => !mates.has(dst)) });
    this.#position = at;
    this.carriedPlace = at.place;
    this.#mates = mates;
    this.#consumedThen = start.consumed;
    this.#gate = at.gate ?? 0;
    this.#received = new Array<number>(size).fill(this.#unknown);
    this.carries(team.carried ?? []);
    // What is carried over leaves no trace in a line: an image may lie at the start of all logs and not jump.
    if (!this.inPrologue) this.#restore();
  }

  override get local(): LocalEvents | undefined {
    return this;
  }

  override get prologueEvents(): PrologueEvents | undefined {
    return this.inPrologue ? this : undefined;
  }

  /** The route of a channel (T2): it is fixed for the life of this incarnation. */
  isLocal(dst: TaskId): boolean {
    return this.#mates.has(dst);
  }

  /** Messages of `src` that were consumed, as far as that is known. */
  received(src: TaskId): number {
    return Math.max(0, this.#received[src] ?? 0);
  }

  // ---- sends ----

  /** T6: 0 for a message to a teammate that was sent before the image too. */
  override beginSend(dst: TaskId): number {
    const n = super.beginSend(dst);
    return this.isLocal(dst) && this.isSilent() ? 0 : n;
  }

  protected isSilent(): boolean {
    return this.inPrologue;
  }

  /**
   * T4: to be written before what is published; undefined: the last one had it all. `count` moves the team's counter
   * and returns it.
   */
  report(count: () => number): Report | undefined {
    if (this.poll !== undefined) throw new Error('a report in the middle of a poll');
    const { arrivals, determinants, openPolls } = this;
    const last = this.#reported;
    if (determinants === last.determinants && arrivals === last.arrivals && openPolls === last.openPolls)
      return undefined;
    const entries = this.pendingEntries;
    const first = determinants - entries.length;
    this.pendingEntries = []; // those of the report stay as they are
    last.arrivals = arrivals;
    last.determinants = determinants;
    last.openPolls = openPolls;
    return { stamp: count(), block: { first, consumed: arrivals, openPolls, entries } };
  }

  // ---- what comes ----

  /**
   * What may be consumed now (T3, T9). A wait blocks for it; a live poll takes what is there. A poll consumes what is
   * due of what was carried over before anything else, and again after each message: its record does not count it. That
   * is behind the image; a prologue has what its teammates sent then.
   * @throws ReplayDiverged
   */
  choice(): Choice {
    const carried = this.inPrologue ? undefined : this.#due();
    if (carried !== undefined) return { from: 'carried', src: carried };
    if (this.poll === LIVE) return this.gated() ? LOG : ANY;
    const e = this.nextPast();
    if (e?.type === 'local') {
      if (this.arrivals > e.after) this.diverged(`consumes arrival ${this.arrivals} before a message of task ${e.src}`);
      if (this.arrivals === e.after) return { from: 'ring', src: e.src };
    }
    if (e !== undefined || this.poll !== undefined || this.inPrologue) return LOG;
    return this.behindEvidence() || this.gated() ? LOG : ANY;
  }

  /** T3: somebody may have seen the effect of arrivals that this incarnation has not consumed yet. */
  protected behindEvidence(): boolean {
    return this.arrivals < this.#consumedThen;
  }

  /** T9: a local message has to wait. */
  protected gated(): boolean {
    return this.arrivals < this.#gate;
  }

  /** The next message of a channel is `number` (T2): may it be consumed? */
  isNext(src: TaskId, number: number): boolean {
    return !this.gated() && this.follows(src, number);
  }

  protected follows(src: TaskId, number: number): boolean {
    const before = this.#received[src]!;
    return before < 0 || number === before + 1;
  }

  override consume(number: number, src: TaskId): void {
    super.consume(number, src);
    if (src < this.size && this.#received[src]! >= 0) this.#received[src]!++;
  }

  /** Consumes message `number` of a teammate (T2, T3). @throws ReplayDiverged */
  consumeLocal(src: TaskId, number: number): void {
    this.inOrder(src, number);
    this.took();
    this.#received[src] = number;
    const e = this.poll === LIVE ? undefined : this.nextPast();
    if (e === undefined) return this.choose(src);
    if (e.type !== 'local' || e.src !== src || e.after !== this.arrivals)
      this.diverged(`consumes a message of teammate ${src} where its log has ${JSON.stringify(e)}`);
    if (++this.repeated === e.count) this.passed();
  }

  /** T9: what the image with which it begins has of regroupings. */
  carries(carried: Carried): void {
    this.#carried = carried.map(([src, next, left, place]) => ({ src, next, left, place }));
  }

  /** Consumes message `number` of `src` that a regrouping carried over (T9). @throws ReplayDiverged */
  consumeCarried(src: TaskId, number: number): void {
    const c = this.#carried[0];
    if (c?.src !== src || c.next !== number) this.diverged(`message ${number} of task ${src} was not carried over`);
    this.inOrder(src, number);
    c.next++;
    if (--c.left === 0) this.#carried.shift();
    this.#received[src] = number;
  }

  /** T3: the choice is made, and recorded. */
  protected choose(src: TaskId): void {
    const run: LocalDeterminant = { type: 'local', src, count: 1, after: this.arrivals };
    if (this.poll === LIVE) return addTo(this.#inPoll, run);
    if (this.openPolls > 0) this.closePolls();
    this.recordLocal(run);
  }

  protected recordLocal(run: LocalDeterminant): void {
    const last = this.mayGrow;
    // E8: a run that a report has carried never grows.
    if (last?.type === 'local' && joins(last, run))
      this.pendingEntries[this.pendingEntries.length - 1] = { ...last, count: last.count + run.count };
    else this.record(run);
  }

  /** What is left of a regrouping: it goes into the next image. */
  carried(): Carried {
    return this.#carried.map(({ src, next, left, place }) => [src, next, left, place]);
  }

  // ---- polls ----

  /** The poll's record stands before those of its local messages (T3): it is passed at once. */
  override pollBegin(): number {
    const n = super.pollBegin();
    if (n > 0) this.passed();
    return n;
  }

  protected override repeatedPoll(): void {
    // Passed when it began.
  }

  override pollEnd(): void {
    super.pollEnd();
    const runs = this.#inPoll;
    if (runs.length === 0) return;
    this.#inPoll = [];
    for (const run of runs) this.recordLocal(run);
  }

  // ---- positions ----

  override position(held: readonly number[]): Position {
    const received: [TaskId, number][] = [];
    this.#received.forEach((n, i) => n > 0 && received.push([i as TaskId, n]));
    const [image, local] = this.#apart(this.line());
    const [prologue, opened] = this.#apart(this.prologue);
    const { gate } = this.#position;
    return positionInTeam({ replay: { prologue, image, held: [...held] }, local, received, opened, gate });
  }

  override jump(snapshot?: EndpointSnapshot, script = false): void {
    if (!this.inPrologue) return;
    super.jump(snapshot, script);
    this.#restore();
  }

  // ---- within ----

  /** Messages to teammates are in no log. */
  #apart(line: Line): [remote: Line, local: Line['sends']] {
    const remote = line.sends.filter(([dst]) => !this.isLocal(dst));
    return [{ ...line, sends: remote }, line.sends.filter(([dst]) => this.isLocal(dst))];
  }

  #restore(): void {
    this.#received.fill(this.#unknown);
    for (const [src, n] of this.#position.received) this.#received[src] = n;
  }

  /** After a regrouping: it may have consumed some before. */
  get #unknown(): number {
    return this.#position.gate === undefined ? 0 : -1;
  }

  #due(): TaskId | undefined {
    const next = this.#carried[0];
    return next && this.dueNow(next.place) ? next.src : undefined;
  }

  /** T9. */
  protected dueNow(place: number): boolean {
    return place <= this.arrivals;
  }

  protected inOrder(src: TaskId, number: number): void {
    if (!this.follows(src, number))
      this.diverged(`consumes message ${number} of teammate ${src} after ${this.received(src)}`);
  }
}

/** With the messages that it had sent to teammates. */
function whole({ replay, local, opened = [] }: ReplayInTeam): ReplayFrom {
  const { prologue, image } = replay;
  return {
    ...replay,
    prologue: { ...prologue, sends: [...prologue.sends, ...opened] },
    image: { ...image, sends: [...image.sends, ...local] },
  };
}

const joins = (last: LocalDeterminant, run: LocalDeterminant): boolean =>
  last.src === run.src && last.after === run.after && last.count + run.count <= MAX_RUN;

function addTo(runs: LocalDeterminant[], run: LocalDeterminant): void {
  const last = runs.at(-1);
  if (last && joins(last, run)) runs[runs.length - 1] = { ...last, count: last.count + 1 };
  else runs.push(run);
}
