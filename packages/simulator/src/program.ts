/**
 * The workload of a simulated job: per task a program as plain data, so that an image is a copy of it. Rounds of "send everything of
 * this round, then receive everything of this round", which no order of arrivals can deadlock; between them polls, clock readings,
 * output, checkpoints. Every choice is hashed from the program's own state, so one divergent bit changes all that follows.
 *
 * `ordered` programs name the source of each receive and neither poll nor read clocks into their state: every execution, disturbed or
 * not, ends with the same answer. The others are checked for being *one* legal execution (checkers.ts).
 */
export interface ProgramSpec {
  readonly seed: number;
  readonly size: number;
  readonly rounds: number;
  readonly ordered: boolean;
  /** Rounds before `checkpoint.open` (the prologue); undefined: the image is transparent, there is none. */
  readonly prologueRounds: number | undefined;
  /** Bodies up to this length, bytes; some cross several chunks. */
  readonly maxBody: number;
  /** Bytes of unmatched bodies that a rank keeps; beyond it they stay in the log. */
  readonly storeBytes: number;
}

export const ANY = -1;

/** Plain data: what an image of a simulated rank holds besides the endpoint's line. */
export interface ProgramState {
  round: number;
  stage: 'open' | 'send' | 'receive' | 'after' | 'exit' | 'over';
  /** Position within the stage. */
  at: number;
  /** Hash of everything that the program has seen. */
  acc: number;
  /** Messages still to be received in this round, by source. */
  left: number[];
  /** Arrivals consumed but not matched, in order; `body` undefined: left in the log. */
  queue: { src: number; tag: number; arrival: number; size: number; body: number[] | undefined }[];
  outputs: number;
}

export type Action =
  | { readonly type: 'open' }
  | { readonly type: 'send'; readonly dst: number; readonly tag: number; readonly body: Uint8Array }
  | { readonly type: 'receive'; readonly src: number; readonly tag: number }
  | { readonly type: 'poll'; readonly src: number; readonly tag: number }
  | { readonly type: 'clock' }
  | { readonly type: 'place' }
  | { readonly type: 'output'; readonly body: Uint8Array }
  | { readonly type: 'checkpoint' }
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

/** Messages that `src` sends to `dst` in a round: 0 to 3, the same for everybody. */
export function traffic(spec: ProgramSpec, round: number, src: number, dst: number): number {
  const h = mix(mix(spec.seed, round * 1009 + src), dst + 7);
  return src === dst ? (h % 5 === 0 ? 1 : 0) : h % 4;
}

function sendsOf(spec: ProgramSpec, round: number, src: number): number[] {
  const out: number[] = [];
  for (let dst = 0; dst < spec.size; dst++) for (let i = traffic(spec, round, src, dst); i > 0; i--) out.push(dst);
  return out;
}

export function initialState(spec: ProgramSpec, task: number): ProgramState {
  return {
    round: 0,
    stage: spec.prologueRounds === 0 ? 'open' : 'send',
    at: 0,
    acc: mix(spec.seed, task),
    left: Array.from({ length: spec.size }, (_, src) => traffic(spec, 0, src, task)),
    queue: [],
    outputs: 0,
  };
}

/** The next action of a program: a function of its state alone. undefined: it is over. */
export function nextAction(spec: ProgramSpec, task: number, s: ProgramState): Action | undefined {
  const h = mix(s.acc, s.at + 31 * s.round);
  switch (s.stage) {
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
      const size = h % 3 === 0 ? h % spec.maxBody : 4 + (h % 12);
      const body = new Uint8Array(size);
      for (let i = 0; i < size; i++) body[i] = mix(h, i) & 255;
      return { type: 'send', dst: dsts[s.at >> 1]!, tag: s.round, body };
    }
    case 'receive': {
      const total = s.left.reduce((a, b) => a + b, 0);
      if (total === 0) return undefined;
      if (!spec.ordered && h % 3 === 0) return { type: 'poll', src: ANY, tag: s.round };
      if (!spec.ordered && h % 3 === 1) return { type: 'receive', src: ANY, tag: s.round };
      const sources = s.left.flatMap((n, src) => (n > 0 ? [src] : []));
      return { type: 'receive', src: sources[h % sources.length]!, tag: s.round };
    }
    case 'after':
      if (s.at === 0) {
        const body = new Uint8Array(5 + (h % 9));
        for (let i = 0; i < body.length; i++) body[i] = mix(s.acc, i) & 255;
        return { type: 'output', body };
      }
      return s.at === 1 ? { type: 'checkpoint' } : undefined;
    case 'exit':
      return { type: 'exit' };
    case 'over':
      return undefined;
  }
}

/** Moves on when a stage has no action left. */
export function advance(spec: ProgramSpec, task: number, s: ProgramState): void {
  s.at = 0;
  if (s.stage === 'send') s.stage = 'receive';
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
