/**
 * What the comm worker does for a team whose protocol has a log: it reads what the members report, and orders the
 * images of the team. All protocol decisions are the core's (comm/events.ts).
 *
 * Owns: the reading end of the members' reports, what is due. Does not own: the wave under way (the core).
 *
 * Invariants
 *  T5 The counter is read before the reports, and both after the frames with which they leave.
 *  Q1 A wave that is due is asked for again and again until the core begins one: it refuses while one is under way, or
 *     while a member replays.
 *  Q2 When the node leaves, or the server asks for last images, only a wave that begins afterwards has them. Members
 *     that have stopped behind theirs go on when that wave is dropped.
 *  Q3 Scripts take the images of a wave at a call of checkpoint.here that none of them has reached when the wave begins
 *     (rounds.ts), or at which those that have reached it wait. No wave begins before one has called it. The server may
 *     name the call of last images: ranks of other nodes stop there, too.
 *  Q4 Scripts whose wave was dropped are asked again after the same time, and then after twice, four times … as long,
 *     because each costs time and the next may fail for the same reason.
 *  Q5 A script that waits at a call gets an answer at once: a wave, or its refusal.
 *  Q6 A team whose members all wait, with no message since the last wave, has the images that it needs.
 */
import { nextRound, offeredRound, roundOfCall, type Caller, type Report, type Reports } from '@mayfly/protocols';
import type { TaskId } from '@mayfly/wire';
import { readReport } from '../local-frames.ts';
import type { RingReader } from '../ring/rings.ts';
import type { TeamMemory } from '../ring/team-memory.ts';

/** After this time a wave that a member has declined is tried again, ms. */
const AGAIN_MS = 1000;
/** Shortest time from the beginning of a wave to that of the next, ms. */
const LEAST_MS = 100;
/** Q4: so often. */
const MOST_DOUBLED = 5;

export class LoggedTeam {
  private readonly readers: readonly RingReader[];
  /** The counter as it was read last; it does not wrap around. */
  private upTo = 0;
  /** Somebody has asked for an image. */
  private ordered = false;
  private leaving = false;
  private atCall: number | undefined;
  /** …and that was the reason for the wave under way. */
  private asked = false;
  /** A script wants an image soon. */
  private wished = false;
  /** Calls of the quickest script (32 bits), when they were looked at last, and how many it made in a millisecond. */
  private calls = 0;
  private looked = 0;
  private perMs = 0;
  private called = false;
  /** Q6: what the members had done when a wave was due last, and when the last one began. */
  private work: number | undefined;
  private worked: number | undefined;
  /** The last wave that began. */
  wave = 0;
  /** The last wave that was dropped. */
  private lost = 0;
  /** How many of scripts were dropped in a row. */
  skipped = 0;
  /** When the last wave began, or an earlier time. */
  private last: number | undefined;

  constructor(
    readonly members: readonly TaskId[],
    private readonly memory: TeamMemory,
    private readonly scripts = false,
  ) {
    this.readers = members.map((_, place) => memory.reportReader(place));
  }

  /** Reports that were not read before. @throws Error when a member wrote what is none */
  reports(): Reports {
    this.upTo = this.whole(this.memory.counted);
    const of: [TaskId, Report[]][] = [];
    for (let place = 0; place < this.readers.length; place++) {
      const reports = this.read(this.readers[place]!);
      if (reports.length > 0) of.push([this.members[place]!, reports]);
    }
    return { upTo: this.upTo, of };
  }

  private read(reader: RingReader): Report[] {
    const reports: Report[] = [];
    for (let at = reader.peek(); at >= 0; at = reader.peek()) {
      const { stamp, block } = readReport(reader.view, at, reader.length);
      reports.push({ stamp: this.whole(stamp), block });
      reader.take();
    }
    if (reports.length > 0) reader.release();
    return reports;
  }

  /** A number of reports, of which the memory has the last 32 bits. */
  private whole(bits: number): number {
    return this.upTo + ((bits - this.upTo) | 0);
  }

  /** A member may wait for room for its reports. */
  readonly crowded = (): boolean => this.readers.some((reader) => reader.crowded);

  // ── images ─────────────────────────────────────────────────────────────────────────────────────────────────────────

  /** `leave`: the last ones. `atCall`: at this call of the whole program, if no script is past it. */
  order(leave: boolean, atCall?: number): void {
    this.ordered = true;
    if (!leave) return;
    this.leaving = true;
    this.atCall = atCall;
  }

  /** Last images are not wanted any more. Returns their wave, which is to be dropped; 0: none is under way. */
  stays(): number {
    const { last, complete } = this.memory;
    this.ordered = this.leaving = false;
    if (last <= complete) return 0;
    this.memory.last = 0;
    return last;
  }

  wish(): void {
    this.wished = true;
  }

  /**
   * Q1, Q3. `interval`: from the beginning of one wave to that of the next, ms. `work`: what the members have done, or
   * undefined while one of them computes (Q6).
   */
  due(now: number, interval: number, work: () => number | undefined): boolean {
    this.last ??= now;
    this.work = undefined;
    if (this.scripts && !this.look(now)) return false;
    const since = now - this.last;
    // Q4
    if (this.ordered) return this.leaving || this.skipped === 0 || since >= AGAIN_MS;
    const least = Math.max(LEAST_MS, this.wished ? 0 : interval);
    if (since < least * 2 ** Math.min(MOST_DOUBLED, Math.max(0, this.skipped - 1))) return false;
    this.work = work();
    return this.work === undefined || this.work !== this.worked;
  }

  /** Messages within the team, sent and consumed. */
  get messages(): number {
    const places = [...this.members.keys()];
    const channels = places.flatMap((from) => places.map((to) => this.memory.channel(from, to)));
    return channels.reduce((n, { sent, consumed }) => n + sent + consumed, 0);
  }

  /** True: a script has called checkpoint.here. */
  private look(now: number): boolean {
    const more = Math.max(...this.since(this.members.keys()).map((m) => m.calls));
    this.called ||= more > 0;
    if (now > this.looked) {
      this.perMs = more / (now - this.looked);
      this.looked = now;
      this.calls = (this.calls + more) | 0;
    }
    return this.called;
  }

  /** The calls of members after the first {@link calls}. */
  private since(places: Iterable<number>): Caller[] {
    // In this order: who waits says so before it counts the call.
    return [...places].map((place) => {
      const calls = (this.memory.calls(place) - this.calls) | 0;
      return { calls, waits: this.memory.offers(place) };
    });
  }

  /** Q5: a wave could begin at the last call of checkpoint.here that anybody has made. */
  get offered(): boolean {
    const here = [...this.members.keys()].filter((place) => !this.memory.done(place));
    return offeredRound(this.since(here)) !== undefined;
  }

  /** Q5. */
  refuse(task: TaskId, call: number): void {
    this.memory.refuse(this.members.indexOf(task), call);
  }

  /** The core has begun a wave; `of` these members. The others have ended (T12). */
  begins(wave: number, of: ReadonlySet<TaskId>, now: number): void {
    this.wave = wave;
    this.worked = this.work;
    this.asked = this.ordered;
    this.ordered = this.wished = false;
    this.last = now;
    if (this.leaving) this.memory.last = wave;
    this.without(of);
    const places = [...of].map((task) => this.members.indexOf(task));
    if (this.scripts) this.memory.round = this.round(places);
    for (const place of places) this.memory.want(place, wave);
  }

  /** Q3: 32 bits. */
  private round(places: readonly number[]): number {
    const next = nextRound(this.since(places), this.perMs);
    const before = places.map((place) => this.memory.callsBefore(place));
    const named = this.leaving && this.atCall !== undefined ? roundOfCall(this.atCall | 0, before) : undefined;
    return (this.calls + Math.max(next, named === undefined ? 0 : (named - this.calls) | 0)) | 0;
  }

  /** Members that are not among these have ended: nothing comes of them, and nobody waits for room at them (T12). */
  without(of: ReadonlySet<TaskId>): void {
    this.members.forEach((task, place) => {
      if (!of.has(task) && !this.memory.done(place)) this.memory.leave(place);
    });
  }

  /** The wave is dropped: what members record for it is of no use. @returns how many of scripts were in a row */
  dropped(wave: number, now: number, interval: number): number {
    this.memory.dropped = Math.max(this.memory.dropped, wave);
    for (let place = 0; place < this.members.length; place++) this.memory.bell(place).ring();
    if (wave <= this.lost) return 0;
    this.lost = wave;
    this.worked = undefined;
    if (this.scripts) this.skipped++;
    else this.last = now - Math.max(LEAST_MS, interval) + AGAIN_MS;
    if (this.leaving || (this.scripts && this.asked && this.skipped <= MOST_DOUBLED)) this.ordered = true;
    return this.skipped;
  }

  /** The images of the wave are a set, as far as is known here. */
  complete(wave: number): void {
    this.skipped = 0;
    this.memory.complete = wave;
  }
}
