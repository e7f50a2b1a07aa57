/**
 * Status words of a rank: what it is doing, written by the rank into its rank memory without a message, read by the
 * comm worker for the heartbeat. Single writer; a version word (odd while it writes) makes a reading whole.
 */
import { SPENT, type CallTime, type PlaceTime, type RankActivity, type TaskId } from '@mayfly/wire';
import { CALLS_WORD, STATUS_WORD } from './ring/index.ts';
import { PlaceWriter, placeOfWait, readPlaces } from './status-places.ts';

export const RankState = {
  LOADING: 0,
  COMPUTING: 1,
  WAITING: 2,
  REPLAYING: 3,
  CHECKPOINTING: 4,
  ENDED: 5,
  RESTING: 6,
} as const;
const NAMES = ['loading', 'computing', 'waiting', 'replaying', 'checkpointing', 'ended', 'resting'] as const;
/** Place in SPENT of each state's time; what is in none is not counted. */
const SPENT_AT = NAMES.map((name) => SPENT.indexOf(name as never));
const SENDING = SPENT.indexOf('sending');
const WAITING = SPENT.indexOf('waiting');

/** Int32 indexes from STATUS_WORD. Counters are f64 (two words). */
const S = {
  version: 0,
  state: 1,
  flags: 2,
  peer: 3,
  tag: 4,
  callLength: 5,
  arrivals: 6,
  sends: 8,
  bytesIn: 10,
  bytesOut: 12,
  consumed: 14,
  envelopeOnly: 15,
  call: 16,
  spent: 28,
  resumed: 42,
  progress: 46,
  checkpointCalls: 48,
};
/**
 * spent, behind it the time since which the rank is in its state, with what counts of messages it has resumed, and one
 * more than the progress that the program states (0: none), and the calls of checkpoint.here.
 */
const WORDS = S.checkpointCalls + 2;
const CALL_BYTES = 48;
/**
 * How long it has waited in which call: a table of CALLS entries, the last for all calls that came too late for one of
 * their own. From CALLS_WORD: the entry in use; from CALLS_TABLE words on, per entry: ms and times (f64 each), length
 * of the name, the name.
 */
const CALLS = 16;
const CALLS_TABLE = 16;
const ENTRY_WORDS = 16;
const ENTRY_NAME = 5;
const OTHER_CALLS = 'other calls';
const HAS_PEER = 1;
const HAS_TAG = 2;
/** The program's first instruction has run. */
const STARTED = 4;
/** Replay is over: the incarnation took its first step beyond it. */
const RECOVERED = 8;
/** Images of this rank can be taken. */
const CAN_IMAGE = 16;
/** It stops behind the image that it hands over now. */
const PARKED = 32;
/** Its EXIT ends the job: MPI_Abort, an uncaught error. */
const FAILED = 64;

/** Of this incarnation. */
export interface Counters {
  messagesIn: number;
  bytesIn: number;
  messagesOut: number;
  bytesOut: number;
}

const text = new TextEncoder();
const asText = new TextDecoder();

/** The rank's end. */
export class StatusWriter {
  private readonly counters: Float64Array;
  private readonly bytes: Uint8Array;
  private readonly names = new Map<string, Uint8Array>();
  private lastCall: string | undefined;
  private readonly spent: Float64Array;
  private readonly calls: Float64Array;
  private readonly resumed: Float64Array;
  private readonly stated: Float64Array;
  private readonly here: Float64Array;
  private readonly entries = new Map<string, number>();
  private readonly places: PlaceWriter;
  /** Of the call that it waits in, or has waited in last. */
  private entry = 0;
  /** Since when it is in its state. */
  private since: number;

  /** `urgent`: the reader should look now; the rest is read at its leisure. */
  constructor(
    private readonly words: Int32Array,
    private readonly urgent: () => void = () => undefined,
    /** The engine's clock, ms: where the time goes is for people only. */
    private readonly now: () => number = () => 0,
  ) {
    const at = words.byteOffset + 4 * STATUS_WORD;
    this.spent = new Float64Array(words.buffer, at + 4 * S.spent, SPENT.length + 1);
    this.since = this.spent[SPENT.length] = now();
    this.resumed = new Float64Array(words.buffer, at + 4 * S.resumed, 2);
    this.stated = new Float64Array(words.buffer, at + 4 * S.progress, 1);
    this.here = new Float64Array(words.buffer, at + 4 * S.checkpointCalls, 1);
    this.calls = new Float64Array(
      words.buffer,
      words.byteOffset + 4 * (CALLS_WORD + CALLS_TABLE),
      (CALLS * ENTRY_WORDS) / 2,
    );
    this.counters = new Float64Array(words.buffer, at + 4 * S.arrivals, 4);
    this.bytes = new Uint8Array(words.buffer, at + 4 * S.call, CALL_BYTES);
    this.places = new PlaceWriter(words);
  }

  private begin(): void {
    Atomics.add(this.words, STATUS_WORD + S.version, 1);
  }

  state(state: number): void {
    this.passed();
    Atomics.store(this.words, STATUS_WORD + S.state, state);
  }

  /** The time since the last change goes to the state that ends (or, `sending`, to waiting for room). */
  private passed(sending = false): void {
    const now = this.now();
    const at = sending ? SENDING : SPENT_AT[this.words[STATUS_WORD + S.state]!]!;
    if (at >= 0 && now > this.since) {
      this.spent[at]! += now - this.since;
      if (at === WAITING) {
        this.calls[(this.entry * ENTRY_WORDS) / 2]! += now - this.since;
        this.places.waited(now - this.since);
      }
    }
    this.since = this.spent[SPENT.length] = now;
  }

  /** It blocks for room in its ring; `ends` when there is some. */
  sending(ends: boolean): void {
    this.passed(ends);
  }

  /** The rank is about to block in this call. */
  waiting(call: string, peer: number | undefined, tag: number | undefined): void {
    const w = this.words;
    this.passed();
    this.places.waits();
    this.begin();
    if (call !== this.lastCall) {
      let name = this.names.get(call);
      if (!name) this.names.set(call, (name = text.encode(call).subarray(0, CALL_BYTES)));
      this.bytes.set(name);
      w[STATUS_WORD + S.callLength] = name.length;
      this.lastCall = call;
      Atomics.store(w, CALLS_WORD, (this.entry = this.entryOf(call)));
    }
    this.calls[(this.entry * ENTRY_WORDS) / 2 + 1]!++;
    const kept = w[STATUS_WORD + S.flags]! & (STARTED | RECOVERED | CAN_IMAGE | PARKED | FAILED);
    w[STATUS_WORD + S.flags] = kept | (peer === undefined ? 0 : HAS_PEER) | (tag === undefined ? 0 : HAS_TAG);
    w[STATUS_WORD + S.peer] = peer ?? 0;
    w[STATUS_WORD + S.tag] = tag ?? 0;
    w[STATUS_WORD + S.state] = RankState.WAITING;
    this.begin();
  }

  /** It waits still, or has waited just now: is it worth a look from where? */
  get placeDue(): boolean {
    return this.places.due;
  }

  /** The place of the call that it waits in, or waited in last, is what `look` returns. */
  waitsAt(look: () => string | undefined): void {
    this.passed();
    this.places.spend(this.entry, look);
  }

  private entryOf(call: string): number {
    const known = this.entries.get(call);
    if (known !== undefined) return known;
    const entry = Math.min(this.entries.size, CALLS - 1);
    const at = callAt(entry);
    const name = text.encode(entry === CALLS - 1 ? OTHER_CALLS : call).subarray(0, 4 * (ENTRY_WORDS - ENTRY_NAME));
    new Uint8Array(this.words.buffer, this.words.byteOffset + 4 * (at + ENTRY_NAME), name.length).set(name);
    Atomics.store(this.words, at + ENTRY_NAME - 1, name.length);
    // Of more names than there are entries, none is remembered: programs make none up.
    if (this.entries.size < CALLS) this.entries.set(call, entry);
    return entry;
  }

  started(): void {
    Atomics.or(this.words, STATUS_WORD + S.flags, STARTED);
    this.urgent();
  }

  /** What it does from now on is new. */
  recovered(): void {
    if (this.words[STATUS_WORD + S.state] === RankState.REPLAYING) this.state(RankState.COMPUTING);
    Atomics.or(this.words, STATUS_WORD + S.flags, RECOVERED);
    this.urgent();
  }

  canImage(): void {
    Atomics.or(this.words, STATUS_WORD + S.flags, CAN_IMAGE);
  }

  parked(on = true): void {
    if (on) Atomics.or(this.words, STATUS_WORD + S.flags, PARKED);
    else Atomics.and(this.words, STATUS_WORD + S.flags, ~PARKED);
  }

  failed(): void {
    Atomics.or(this.words, STATUS_WORD + S.flags, FAILED);
  }

  /** Arrival number `arrival` was consumed. */
  received(arrival: number, bytes: number): void {
    Atomics.store(this.words, STATUS_WORD + S.consumed, arrival | 0);
    this.counters[0] = arrival;
    this.counters[2]! += bytes;
  }

  sent(bytes: number): void {
    this.counters[1]!++;
    this.counters[3]! += bytes;
  }

  /** The program states how far it is, 0 to 1. */
  progress(fraction: number): void {
    this.stated[0] = 1 + fraction;
  }

  /** A script has called checkpoint.here so often. */
  checkpointCalls(calls: number): void {
    this.here[0] = calls;
  }

  /** The store of unmatched bodies is full. */
  envelopeOnly(on: boolean): void {
    Atomics.store(this.words, STATUS_WORD + S.envelopeOnly, on ? 1 : 0);
  }

  /**
   * Cumulative counts since the start of the program, set at a restart from an image. What others did is not this
   * incarnation's.
   */
  resume(arrivals: number, sends: number): void {
    this.resumed.set([arrivals, sends]);
    Atomics.store(this.words, STATUS_WORD + S.consumed, arrivals | 0);
    this.counters[0] = arrivals;
    this.counters[1] = sends;
  }
}

export interface RankStatus {
  started: boolean;
  recovered: boolean;
  /** It is a program of which images can be taken: C and C++, or TypeScript behind checkpoint.open. */
  canImage: boolean;
  /** It stopped behind its last image. */
  parked: boolean;
  activity: RankActivity;
  counters: Counters;
  /** ms by SPENT. */
  spent: number[];
}

/**
 * How far the rank is in its arrival order (modulo 2³²: the reader knows the rest), and whether it takes envelopes
 * only. Cheap.
 */
export const consumedWord = (words: Int32Array): number => Atomics.load(words, STATUS_WORD + S.consumed) >>> 0;
/** The program has ended, and its EXIT is in the ring. */
export const ended = (words: Int32Array): boolean => Atomics.load(words, STATUS_WORD + S.state) === RankState.ENDED;
/** The EXIT that it has written ends the job. */
export const failed = (words: Int32Array): boolean => (Atomics.load(words, STATUS_WORD + S.flags) & FAILED) !== 0;
export const envelopeOnly = (words: Int32Array): boolean => Atomics.load(words, STATUS_WORD + S.envelopeOnly) === 1;

/** A clock that differs so much from the rank's is another one. */
const ABSURD_MS = 86_400_000;

/**
 * Reads the status of the rank whose rank memory this is. `now`, by the rank's clock: its time in its present state
 * counts up to then.
 */
export function readStatus(words: Int32Array, now = 0): RankStatus {
  const read = new Int32Array(WORDS);
  for (let attempt = 0; ; attempt++) {
    const before = Atomics.load(words, STATUS_WORD);
    read.set(words.subarray(STATUS_WORD, STATUS_WORD + WORDS));
    // A rank that was stopped in the middle of writing leaves the version odd for ever: after some attempts take what
    // is there.
    if ((before & 1) === 0 && Atomics.load(words, STATUS_WORD) === before) break;
    if (attempt > 100) break;
  }
  const f = new Float64Array(read.buffer, 4 * S.arrivals, 4);
  const count = (i: number): number => (Number.isSafeInteger(f[i]) && f[i]! >= 0 ? f[i]! : 0);
  const resumed = new Float64Array(read.buffer, 4 * S.resumed, 2);
  const own = (i: number): number => Math.max(0, count(i) - resumed[i]!);
  const state = NAMES[read[S.state]!] ?? 'computing';
  const flags = read[S.flags]!;
  const spent = Array.from(new Float64Array(read.buffer, 4 * S.spent, SPENT.length), (ms) =>
    Number.isFinite(ms) && ms >= 0 ? ms : 0,
  );
  const still = now - new Float64Array(read.buffer, 4 * (S.spent + 2 * SPENT.length), 1)[0]!;
  const at = SPENT_AT[read[S.state]!] ?? -1;
  if (at >= 0 && still > 0 && still < ABSURD_MS) spent[at]! += still;
  const activity: RankActivity = { state, arrivals: count(0), sends: count(1) };
  const [stated] = new Float64Array(read.buffer, 4 * S.progress, 1);
  if (stated! >= 1 && stated! <= 2) activity.progress = stated! - 1;
  const [here] = new Float64Array(read.buffer, 4 * S.checkpointCalls, 1);
  if (Number.isSafeInteger(here) && here! > 0) activity.checkpointCalls = here!;
  if (state === 'waiting') {
    const length = Math.min(Math.max(read[S.callLength]!, 0), CALL_BYTES);
    activity.call = asText.decode(new Uint8Array(read.buffer, 4 * S.call, CALL_BYTES).slice(0, length));
    if (flags & HAS_PEER) activity.peer = (read[S.peer]! >>> 0) as TaskId;
    if (flags & HAS_TAG) activity.tag = read[S.tag]!;
    const place = placeOfWait(words);
    if (place !== undefined) activity.place = place;
  }
  return {
    started: (flags & STARTED) !== 0,
    recovered: (flags & RECOVERED) !== 0,
    canImage: (flags & CAN_IMAGE) !== 0,
    parked: (flags & PARKED) !== 0,
    activity,
    spent,
    counters: { messagesIn: own(0), messagesOut: own(1), bytesIn: count(2), bytesOut: count(3) },
  };
}

/** How long, and how often, the rank has waited in which call. `now`: as for {@link readStatus}. */
export function readCalls(words: Int32Array, now = 0): CallTime[] {
  const out: CallTime[] = [];
  const since = new Float64Array(
    words.buffer,
    words.byteOffset + 4 * (STATUS_WORD + S.spent + 2 * SPENT.length),
    1,
  )[0]!;
  const still = SPENT_AT[Atomics.load(words, STATUS_WORD + S.state)] === WAITING ? now - since : 0;
  const present = Atomics.load(words, CALLS_WORD);
  for (let entry = 0; entry < CALLS; entry++) {
    const name = nameOfCall(words, entry);
    if (name === '') break;
    const [ms, times] = new Float64Array(words.buffer, words.byteOffset + 4 * callAt(entry), 2) as unknown as [
      number,
      number,
    ];
    const waited = ms + (entry === present && still > 0 && still < ABSURD_MS ? still : 0);
    if (Number.isFinite(waited) && waited >= 0 && Number.isSafeInteger(times))
      out.push([name, Math.round(waited), times]);
  }
  return out;
}

/** Of that time: from where in the program (status-places.ts). */
export const readPlaceTimes = (words: Int32Array): PlaceTime[] =>
  readPlaces(words).flatMap(({ call, place, ms }): PlaceTime[] =>
    call >= 0 && call < CALLS ? [[nameOfCall(words, call), place, Math.round(ms)]] : [],
  );

const callAt = (entry: number): number => CALLS_WORD + CALLS_TABLE + entry * ENTRY_WORDS;

function nameOfCall(words: Int32Array, entry: number): string {
  const at = callAt(entry);
  const length = Math.min(Math.max(Atomics.load(words, at + ENTRY_NAME - 1), 0), 4 * (ENTRY_WORDS - ENTRY_NAME));
  return asText.decode(new Uint8Array(words.buffer, words.byteOffset + 4 * (at + ENTRY_NAME), length).slice());
}
