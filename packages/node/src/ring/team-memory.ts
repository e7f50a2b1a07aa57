/**
 * Team memory: shared by the ranks of one team and their comm worker (docs/teams.md). A doorbell per member, which its
 * comm worker and its teammates ring, and for each ordered pair of members a ring with the counts of its channel. Where
 * the team has a log: the counter of its reports (T4), a ring per member with its reports, which the comm worker reads,
 * and the words by which the comm worker orders waves of images (T6). The pages of rings that nobody uses are never
 * touched, so they take no memory.
 */
import { Doorbell } from './memory.ts';
import { RingReader, RingWriter } from './rings.ts';

const MAGIC = 0x4d61_7465;
/** Int32 indexes. What different threads write stands on different cache lines. */
const HEAD = {
  magic: 0,
  size: 1,
  ringBytes: 2,
  spin: 3,
  reports: 32,
  dropped: 64,
  last: 65,
  round: 66,
  complete: 67,
  words: 96,
} as const;
const MEMBER = {
  bell: 0,
  asleep: 32,
  done: 64,
  reportsHead: 65,
  calls: 66,
  offers: 67,
  reportsTail: 96,
  wave: 97,
  refused: 98,
  callsBefore: 99,
  words: 128,
} as const;
/** `sent`, `bytes` (by the writer) and `consumed` (by the reader) are f64. */
const PAIR = { head: 0, sent: 2, bytes: 4, tail: 32, consumed: 34, words: 64 } as const;
/** All rings of a team. */
const MOST_BYTES = 32 * 1024 * 1024;
const RING_BYTES = [1024, 256, 64].map((kb) => kb * 1024);
/** Reports of one member that the comm worker has not read. */
export const REPORT_BYTES = 256 * 1024;

/** What a channel between two teammates (or of a rank to itself) has carried. */
export interface LocalChannel {
  sent: number;
  bytes: number;
  consumed: number;
}

const pairs = (size: number): number => HEAD.words + size * MEMBER.words;
const rings = (size: number): number => 4 * (pairs(size) + size * size * PAIR.words);

/** `spin`: how often a member looks before it sleeps, at most. `logged`: its members report what they do. */
export function createTeamMemory(size: number, spin: number, logged = false): SharedArrayBuffer {
  const ringBytes = RING_BYTES.find((n) => size * (size - 1) * n <= MOST_BYTES) ?? RING_BYTES.at(-1)!;
  const reports = logged ? size * REPORT_BYTES : 0;
  const memory = new SharedArrayBuffer(rings(size) + size * (size - 1) * ringBytes + reports);
  new Int32Array(memory, 0, 4).set([MAGIC, size, ringBytes, spin]);
  return memory;
}

/** Members are named by their place in the team. */
export class TeamMemory {
  readonly size: number;
  readonly ringBytes: number;
  readonly spin: number;
  private readonly words: Int32Array;

  constructor(private readonly memory: SharedArrayBuffer) {
    const [magic, size, ringBytes, spin] = new Int32Array(memory, 0, 4) as unknown as [number, number, number, number];
    if (magic !== MAGIC) throw new Error('not a team memory');
    this.size = size;
    this.ringBytes = ringBytes;
    this.spin = spin;
    this.words = new Int32Array(memory, 0, rings(size) / 4);
  }

  private member(at: number): number {
    return HEAD.words + at * MEMBER.words;
  }

  private pair(from: number, to: number): number {
    return pairs(this.size) + (from * this.size + to) * PAIR.words;
  }

  bell(at: number): Doorbell {
    return new Doorbell(this.words, this.member(at) + MEMBER.bell, this.member(at) + MEMBER.asleep);
  }

  /** The member sends and receives nothing more. */
  done(at: number): boolean {
    return Atomics.load(this.words, this.member(at) + MEMBER.done) === 1;
  }

  /** This member is done: nobody waits for room in its rings any more. */
  leave(at: number): void {
    Atomics.store(this.words, this.member(at) + MEMBER.done, 1);
    for (let other = 0; other < this.size; other++) if (other !== at) this.bell(other).ring();
  }

  private base(from: number, to: number): number {
    return rings(this.size) + (from * (this.size - 1) + (to > from ? to - 1 : to)) * this.ringBytes;
  }

  // ── reports and waves ──────────────────────────────────────────────────────────────────────────────────────────────

  /** Where a member writes its reports. `comm`: where its comm worker sleeps. */
  reportWriter(at: number, comm: Doorbell): RingWriter {
    const [head, tail] = this.reportWords(at);
    return new RingWriter(this.words, this.reports(at), REPORT_BYTES, head, tail, comm);
  }

  reportReader(at: number): RingReader {
    const [head, tail] = this.reportWords(at);
    return new RingReader(this.words, this.reports(at), REPORT_BYTES, head, tail, this.bell(at));
  }

  private reportWords(at: number): [head: number, tail: number] {
    const m = this.member(at);
    return [m + MEMBER.reportsHead, m + MEMBER.reportsTail];
  }

  private reports(at: number): number {
    return rings(this.size) + this.size * (this.size - 1) * this.ringBytes + at * REPORT_BYTES;
  }

  /** T4: the number of the next report of the team, modulo 2³². */
  readonly count = (): number => (Atomics.add(this.words, HEAD.reports, 1) + 1) >>> 0;

  /** T5: reports of the team so far, modulo 2³². */
  get counted(): number {
    return Atomics.load(this.words, HEAD.reports) >>> 0;
  }

  /** The last wave of which an image of this member is wanted (T6). The comm worker sets it, and rings. */
  wave(at: number): number {
    return Atomics.load(this.words, this.member(at) + MEMBER.wave);
  }

  want(at: number, wave: number): void {
    Atomics.store(this.words, this.member(at) + MEMBER.wave, wave);
    this.bell(at).ring();
  }

  /** Of a script: its calls of checkpoint.here since it began, the last 32 bits. */
  calls(at: number): number {
    return Atomics.load(this.words, this.member(at) + MEMBER.calls);
  }

  /** …one more. @returns how many, the last 32 bits */
  call(at: number): number {
    return (Atomics.add(this.words, this.member(at) + MEMBER.calls, 1) + 1) | 0;
  }

  /** …and those before the image with which it began. */
  callsBefore(at: number): number {
    return Atomics.load(this.words, this.member(at) + MEMBER.callsBefore);
  }

  began(at: number, calls: number): void {
    Atomics.store(this.words, this.member(at) + MEMBER.callsBefore, calls | 0);
  }

  /** This member waits for an image at its last call of checkpoint.here, or at the next. */
  offers(at: number): boolean {
    return Atomics.load(this.words, this.member(at) + MEMBER.offers) === 1;
  }

  /** Before the call is counted: who has made a call and does not wait there is past it. */
  offer(at: number, waits: boolean): void {
    Atomics.store(this.words, this.member(at) + MEMBER.offers, waits ? 1 : 0);
  }

  /** The last call of checkpoint.here at which this member waited in vain. */
  refused(at: number): number {
    return Atomics.load(this.words, this.member(at) + MEMBER.refused);
  }

  refuse(at: number, call: number): void {
    Atomics.store(this.words, this.member(at) + MEMBER.refused, call);
    this.bell(at).ring();
  }

  /** Of scripts: the call of checkpoint.here at which the images of the last wave are taken. */
  get round(): number {
    return Atomics.load(this.words, HEAD.round);
  }

  set round(call: number) {
    Atomics.store(this.words, HEAD.round, call);
  }

  /** The last wave that was dropped: what a member records for it is of no use. */
  get dropped(): number {
    return Atomics.load(this.words, HEAD.dropped);
  }

  set dropped(wave: number) {
    Atomics.store(this.words, HEAD.dropped, wave);
  }

  /** The last wave whose images are a set. */
  get complete(): number {
    return Atomics.load(this.words, HEAD.complete);
  }

  set complete(wave: number) {
    Atomics.store(this.words, HEAD.complete, wave);
  }

  /** The wave behind whose image the members do nothing more, as their node leaves; 0: none. */
  get last(): number {
    return Atomics.load(this.words, HEAD.last);
  }

  set last(wave: number) {
    Atomics.store(this.words, HEAD.last, wave);
  }

  // ── messages ───────────────────────────────────────────────────────────────────────────────────────────────────────

  writer(from: number, to: number): RingWriter {
    const p = this.pair(from, to);
    return new RingWriter(this.words, this.base(from, to), this.ringBytes, p + PAIR.head, p + PAIR.tail, this.bell(to));
  }

  reader(from: number, to: number): RingReader {
    const p = this.pair(from, to);
    return new RingReader(
      this.words,
      this.base(from, to),
      this.ringBytes,
      p + PAIR.head,
      p + PAIR.tail,
      this.bell(from),
    );
  }

  /** Counts of the channel, to be written by its sender ([0] messages, [1] bytes). */
  sent(from: number, to: number): Float64Array {
    return new Float64Array(this.memory, 4 * (this.pair(from, to) + PAIR.sent), 2);
  }

  /** …and by its receiver ([0] messages). */
  consumed(from: number, to: number): Float64Array {
    return new Float64Array(this.memory, 4 * (this.pair(from, to) + PAIR.consumed), 1);
  }

  /** A member may have written anything: a count is a whole number, or 0. */
  channel(from: number, to: number): LocalChannel {
    const whole = (n: number): number => (Number.isSafeInteger(n) && n >= 0 ? n : 0);
    const [sent, bytes] = this.sent(from, to) as unknown as [number, number];
    return { sent: whole(sent), bytes: whole(bytes), consumed: whole(this.consumed(from, to)[0]!) };
  }
}
