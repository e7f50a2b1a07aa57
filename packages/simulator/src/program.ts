/**
 * The workload of a simulated job: per task a program as plain data, so that an image is a copy of it. Rounds of "send
 * everything of this round, then receive everything of this round", which no order of arrivals can deadlock; between
 * them polls, clock readings, standard input, output, checkpoints. Every choice is hashed from the program's own state,
 * so one divergent bit changes all that follows. Named scenarios give a script instead: the same few steps in every
 * run.
 *
 * `ordered` programs name the source of each receive and neither poll nor read clocks into their state: every
 * execution, disturbed or not, ends with the same answer. The others are checked for being *one* legal execution
 * (legal-execution.ts).
 */
import { FILES, FileOp, WORLD, WorldMode, encodeFileRequest, fileValue } from '@mayfly/wire';

export interface ProgramSpec {
  readonly seed: number;
  readonly size: number;
  readonly rounds: number;
  readonly ordered: boolean;
  /**
   * Rounds before `checkpoint.open` (the prologue); undefined: the image is transparent (a wasm rank's), there is none.
   */
  readonly prologueRounds: number | undefined;
  /** Bodies up to this length, bytes; some cross several chunks. */
  readonly maxBody: number;
  /** Bytes of unmatched bodies that a rank keeps; beyond it they stay in the log. */
  readonly storeBytes: number;
  /** Messages of standard input, which task 0 reads in its first rounds. */
  readonly stdin: number;
  /**
   * One request to the file service in each round: to one file of all, or, of ordered programs, to one of each task.
   */
  readonly files?: boolean;
  /** Most messages of a task go to its next neighbour. */
  readonly sparse?: boolean;
  /**
   * Tasks from `first` on are no tasks of the start: task 0 asks for them behind round `round` − 1, and they begin with
   * round `round`. Needs `files`.
   */
  readonly spawn?: { readonly first: number; readonly round: number };
  /** Steps per task instead of rounds. */
  readonly script?: readonly (readonly ScriptStep[])[];
}

/**
 * A step of a scenario. A body of `bytes` is made of the program's state, so that it shows what the sender had seen.
 */
export type ScriptStep =
  | { readonly type: 'send'; readonly dst: number; readonly tag: number; readonly bytes: number }
  | { readonly type: 'output'; readonly bytes: number }
  | { readonly type: 'receive' | 'poll'; readonly src: number; readonly tag: number }
  | { readonly type: 'checkpoint'; readonly force?: boolean }
  | { readonly type: 'clock' | 'place' | 'open' | 'read' };

export const ANY = -1;

/** Plain data: what an image of a simulated rank holds besides the endpoint's line. */
export interface ProgramState {
  round: number;
  stage: 'open' | 'send' | 'receive' | 'after' | 'script' | 'exit' | 'over';
  /** Position within the stage. */
  at: number;
  /** Hash of everything that the program has seen. */
  acc: number;
  /** Messages still to be received in this round, by source. */
  left: number[];
  /** Messages consumed but not matched, in order; `body` undefined: left in the log. `arrival` 0: a teammate's. */
  queue: { src: number; channel?: number; tag: number; arrival: number; size: number; body: number[] | undefined }[];
  outputs: number;
  /**
   * The open file, 0: none; a place of it that was reserved with the shared pointer; the operation whose answer comes
   * next.
   */
  file?: { session: number; place: number | undefined; asked: number };
  /** Messages of teammates consumed; absent: 0. */
  locals?: number;
  /** Polls, clock readings and local values so far: they number the outcomes that the checkers get. */
  events: number;
}

export const copyOf = <T>(state: T): T => JSON.parse(JSON.stringify(state)) as T;

export type Action =
  | { readonly type: 'open' }
  | { readonly type: 'send'; readonly dst: number; readonly tag: number; readonly body: Uint8Array }
  | { readonly type: 'receive'; readonly src: number; readonly tag: number }
  | { readonly type: 'poll'; readonly src: number; readonly tag: number }
  | { readonly type: 'clock' }
  | { readonly type: 'place' }
  /** Waits for a message of standard input. */
  | { readonly type: 'read' }
  | { readonly type: 'output'; readonly body: Uint8Array }
  /** To the file service… */
  | { readonly type: 'request'; readonly op: number; readonly body: Uint8Array }
  /** …whose answer it waits for. */
  | { readonly type: 'answer' }
  /** `force`: a script of a team waits there for an image, if it can have one (`checkpoint.here(true)`). */
  | { readonly type: 'checkpoint'; readonly force?: boolean }
  | { readonly type: 'exit' };

export const mix = (a: number, b: number): number => {
  let h = Math.imul(a ^ b ^ 0x9e3779b9, 0x85ebca6b);
  h ^= h >>> 13;
  h = Math.imul(h, 0xc2b2ae35);
  return (h ^ (h >>> 16)) >>> 0;
};

export function mixBytes(a: number, bytes: ArrayLike<number>): number {
  let h = mix(a, bytes.length);
  for (let i = 0; i < bytes.length; i++) h = Math.imul(h ^ bytes[i]!, 0x01000193) >>> 0;
  return h;
}

const bodyOf = (seed: number, size: number): Uint8Array => {
  const body = new Uint8Array(size);
  for (let i = 0; i < size; i++) body[i] = mix(seed, i) & 255;
  return body;
};

/** The first round of a task. */
const born = ({ spawn }: ProgramSpec, task: number): number => (spawn && task >= spawn.first ? spawn.round : 0);

/** Messages that `src` sends to `dst` in a round: 0 to 3, the same for everybody. */
export function traffic(spec: ProgramSpec, round: number, src: number, dst: number): number {
  if (round < Math.max(born(spec, src), born(spec, dst))) return 0;
  const h = mix(mix(spec.seed, round * 1009 + src), dst + 7);
  if (spec.sparse && dst !== (src + 1) % spec.size) return h % 8 === 0 ? 1 : 0;
  return src === dst ? (h % 5 === 0 ? 1 : 0) : h % 4;
}

/** All messages of the channel src → dst in a whole run. */
export function due(spec: ProgramSpec, src: number, dst: number): number {
  if (spec.script) return spec.script[src]!.filter((s) => s.type === 'send' && s.dst === dst).length;
  let n = spec.spawn && src === 0 && dst > 0 && dst < spec.spawn.first ? 1 : 0;
  for (let round = 0; round < spec.rounds; round++) n += traffic(spec, round, src, dst);
  return n;
}

/** All messages of a task to the world, its exit included. */
export function outputsDue(spec: ProgramSpec, task: number): number {
  if (spec.script) return 1 + spec.script[task]!.filter((s) => s.type === 'output').length;
  return 1 + (spec.spawn && task === 0 ? 1 : 0) + (spec.rounds - born(spec, task)) * (spec.files ? 2 : 1);
}

/** The n-th message of standard input, from 1. */
export const stdinMessage = (spec: ProgramSpec, n: number): Uint8Array =>
  bodyOf(mix(spec.seed, 77_000 + n), 3 + (mix(spec.seed, n) % 150));

/** All tasks ask for an image in the same rounds, and now and then one of them alone does. */
const forces = ({ seed }: ProgramSpec, task: number, round: number): boolean =>
  mix(seed, 50_021 + round) % 4 === 0 || mix(mix(seed, 50_051 + round), task) % 12 === 0;

function sendsOf(spec: ProgramSpec, round: number, src: number): number[] {
  const out: number[] = [];
  for (let dst = 0; dst < spec.size; dst++) for (let i = traffic(spec, round, src, dst); i > 0; i--) out.push(dst);
  return out;
}

export function initialState(spec: ProgramSpec, task: number): ProgramState {
  const round = born(spec, task);
  return {
    round,
    stage: spec.script ? 'script' : round >= (spec.prologueRounds ?? Infinity) ? 'open' : 'send',
    at: 0,
    acc: mix(spec.seed, task),
    left: spec.script ? [] : Array.from({ length: spec.size }, (_, src) => traffic(spec, round, src, task)),
    queue: [],
    outputs: 0,
    events: 0,
  };
}

function scripted(s: ProgramState, step: ScriptStep): Action {
  if (step.type === 'send')
    return { type: 'send', dst: step.dst, tag: step.tag, body: bodyOf(mix(s.acc, s.at), step.bytes) };
  return step.type === 'output' ? { type: 'output', body: bodyOf(mix(s.acc, s.at), step.bytes) } : step;
}

/** The next action of a program: a function of its state alone. undefined: this stage is over. */
export function nextAction(spec: ProgramSpec, task: number, s: ProgramState): Action | undefined {
  const h = mix(s.acc, s.at + 31 * s.round);
  switch (s.stage) {
    case 'script': {
      const step = spec.script![task]![s.at];
      return step && scripted(s, step);
    }
    case 'open':
      return { type: 'open' };
    case 'send': {
      const dsts = sendsOf(spec, s.round, task);
      if (s.at >= 2 * dsts.length) return undefined;
      if (s.at % 2 === 0) {
        // between two sends, now and then an event that the next message depends on
        if (!spec.ordered && h % 4 === 0) return { type: 'clock' };
        if (!spec.ordered && h % 4 === 1) return { type: 'poll', src: ANY, tag: s.round };
        if (!spec.ordered && h % 16 === 2) return { type: 'place' };
      }
      const large = h % (spec.maxBody > 1000 ? 11 : 3) === 0;
      return {
        type: 'send',
        dst: dsts[s.at >> 1]!,
        tag: s.round,
        body: bodyOf(h, large ? (h >>> 5) % spec.maxBody : 4 + (h % 12)),
      };
    }
    case 'receive': {
      const total = s.left.reduce((a, b) => a + b, 0);
      if (total === 0) return undefined;
      if (!spec.ordered && h % 3 === 0) return { type: 'poll', src: ANY, tag: s.round };
      if (!spec.ordered && h % 3 === 1) return { type: 'receive', src: ANY, tag: s.round };
      const sources = s.left.flatMap((n, src) => (n > 0 ? [src] : []));
      return { type: 'receive', src: sources[h % sources.length]!, tag: s.round };
    }
    case 'after': {
      const reads = task === 0 && s.round < spec.stdin;
      let at = reads ? s.at - 1 : s.at;
      if (at < 0) return { type: 'read' };
      if (spec.files) {
        if (at === 0) return fileRequest(spec, task, s, h);
        if (at === 1) return { type: 'answer' };
        at -= 2;
      }
      if (at === 0) return { type: 'output', body: bodyOf(s.acc, 5 + (h % 9)) };
      return at === 1 ? { type: 'checkpoint', force: forces(spec, task, s.round) } : spawning(spec, task, s, at - 2);
    }
    case 'exit':
      return { type: 'exit' };
    case 'over':
      return undefined;
  }
}

/** Moves on when a stage has no action left. */
export function advance(spec: ProgramSpec, task: number, s: ProgramState): void {
  if (s.stage === 'script' && s.at < spec.script![task]!.length) {
    s.at++; // `open`
    return;
  }
  s.at = 0;
  if (s.stage === 'script') s.stage = 'exit';
  else if (s.stage === 'send') s.stage = 'receive';
  else if (s.stage === 'receive') s.stage = 'after';
  else if (s.stage === 'after') {
    s.round++;
    if (s.round >= spec.rounds) s.stage = 'exit';
    else {
      s.left = Array.from({ length: spec.size }, (_, src) => traffic(spec, s.round, src, task));
      s.stage = s.round === spec.prologueRounds ? 'open' : 'send';
    }
  } else if (s.stage === 'open') s.stage = 'send';
  else s.stage = 'over';
}

/** After the send of the present action. */
export function sent(s: ProgramState): void {
  s.at += s.stage === 'send' && s.at % 2 === 0 ? 2 : 1;
}

/** Place in the queue of what a receive of (src, tag) matches, or −1. ANY names ranks, not the world. */
export function matching(s: ProgramState, src: number, tag: number): number {
  return s.queue.findIndex((q) => q.tag === tag && (src === ANY ? q.src !== WORLD && q.src !== FILES : q.src === src));
}

/** Takes entry i, with this body, into the state. */
export function matched(s: ProgramState, i: number, body: ArrayLike<number>): void {
  const [q] = s.queue.splice(i, 1);
  s.acc = mixBytes(mix(s.acc, q!.src), body);
  if (s.stage === 'receive') s.left[q!.src] = s.left[q!.src]! - 1;
  else s.at++;
}

/** Tag of the word that there are more tasks. */
const GO = 1 << 20;

/**
 * Task 0 asks for the other tasks, and notifies those of the start when they are there; no task sends to them before.
 */
function spawning({ spawn, size }: ProgramSpec, task: number, s: ProgramState, at: number): Action | undefined {
  if (!spawn || s.round !== spawn.round - 1 || task >= spawn.first) return undefined;
  if (task > 0) return at === 0 ? { type: 'receive', src: 0, tag: GO } : undefined;
  if (at === 0)
    return request(
      FileOp.SPAWN,
      { session: 0 },
      new TextEncoder().encode(JSON.stringify([{ args: [], count: size - spawn.first }])),
    );
  if (at === 1) return { type: 'answer' };
  return at - 1 < spawn.first ? { type: 'send', dst: at - 1, tag: GO, body: bodyOf(s.acc, 4) } : undefined;
}

function request(op: FileOp, r: Parameters<typeof encodeFileRequest>[1], data?: Uint8Array): Action {
  const e = encodeFileRequest(op, { ...r, bytes: data?.length ?? 0 });
  if (data) e.data.set(data);
  return { type: 'request', op, body: e.body };
}

const RESERVED = 4096;
/** MPI_MODE_CREATE, of the service. */
const CREATE = 2;

/** What a task asks of its file: everywhere in the one of all, or in one of its own. */
function fileRequest(spec: ProgramSpec, task: number, s: ProgramState, h: number): Action {
  const { session, place } = s.file ?? { session: 0, place: undefined };
  const ask = (op: FileOp, r: Parameters<typeof encodeFileRequest>[1], data?: Uint8Array): Action =>
    request(op, { session, ...r }, data);
  if (session === 0) return ask(FileOp.OPEN, { name: spec.ordered ? `of-${task}` : 'of-all', value: CREATE });
  const bytes = 1 + (h % 40);
  const write = (offset: number, n: number): Action => ask(FileOp.WRITE, { segments: [offset, n, 1, 0] }, bodyOf(h, n));
  if (place !== undefined) return write(RESERVED + place, 16);
  switch ((h >>> 7) % 8) {
    case 0:
    case 1:
    case 2:
      return write((h >>> 9) % 300, bytes);
    case 3:
    case 4:
      return ask(FileOp.READ, { segments: [(h >>> 9) % 300, 2 * bytes, 1, 0] });
    case 5:
      return ask(FileOp.ADVANCE, { value: 16 });
    case 6:
      return ask(FileOp.SIZE, {});
    default:
      return ask(FileOp.CLOSE, {});
  }
}

export function requested(s: ProgramState, op: number): void {
  s.file = { session: 0, place: undefined, ...s.file, asked: op };
  if (op === FileOp.WRITE) s.file.place = undefined;
  s.at++;
}

/**
 * Takes the answer, entry i, into the state. The number of the opened file is the service's, and no part of what the
 * program computes with.
 */
export function answered(s: ProgramState, i: number, body: Uint8Array): void {
  const file = s.file!;
  const { asked } = file;
  if (asked === FileOp.OPEN) file.session = fileValue(body, 0);
  if (asked === FileOp.CLOSE) file.session = 0;
  if (asked === FileOp.ADVANCE) file.place = fileValue(body, 0);
  matched(s, i, asked === FileOp.OPEN ? body.subarray(8) : body);
}

/** Digest of a message, as the checkers have it: of a request without the number of the open file. */
export function digestOf(tag: number, mode: number, body: ArrayLike<number>): number {
  if (mode !== WorldMode.REQUEST) return mixBytes(tag + mode * 1000, body);
  const masked = Uint8Array.from(body);
  masked.fill(0, 8, 16);
  return mixBytes(tag + mode * 1000, masked);
}

/** The outcome of an event: a poll's hit, a reading, a value. */
export function happened(s: ProgramState, value: number | string): void {
  s.acc =
    typeof value === 'number'
      ? mix(s.acc, Math.floor(value))
      : mixBytes(
          s.acc,
          [...value].map((c) => c.charCodeAt(0)),
        );
  s.at++;
  s.events++;
}
