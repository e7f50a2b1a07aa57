/**
 * How a layout is moved: its segments (packages/mpi/src/layout.ts) as the kernel wants them, found once per layout.
 *
 * A layout that repeats a few segments (an array of structures, which a datatype flattens to one long list) is taken
 * for elements of a smaller one: the list that the kernel reads is then short. Numbers that the kernel's 32 bits do not
 * hold have no plan; they are JavaScript's.
 */
import type { Layout } from '@mayfly/mpi';

export interface Plan {
  /** offset, bytes, count, stride of each segment. */
  readonly segments: Int32Array;
  /** Packed bytes of one element. */
  readonly size: number;
  /** Blocks of one element. */
  readonly blocks: number;
  /** All blocks are single and of one length: their offsets. */
  readonly list: { readonly at: Int32Array; readonly bytes: number } | undefined;
  /** One element is so many elements of another layout, and perhaps something before and behind them. */
  readonly of:
    | {
        readonly head: Plan | undefined;
        readonly plan: Plan;
        readonly repeats: number;
        readonly step: number;
        readonly tail: Plan | undefined;
      }
    | undefined;
}

export const WORDS = 4;
/** A period of more segments is no gain. */
const LONGEST_PERIOD = 32;
/** Fewer segments are a short list already. */
const WORTH_A_PERIOD = 64;

const plans = new WeakMap<Layout, Plan | 'none'>();

export function planOf(l: Layout): Plan | undefined {
  let p = plans.get(l);
  if (p === undefined) plans.set(l, (p = fits(l) ? make(Int32Array.from(l.segments)) : 'none'));
  return p === 'none' ? undefined : p;
}

const MOST = 0x7fff_ffff;
const fits = (l: Layout): boolean =>
  l.narrow === undefined && l.size <= MOST && l.segments.every((x) => Math.abs(x) <= MOST);

function make(segments: Int32Array): Plan {
  const n = segments.length / WORDS;
  let size = 0;
  let blocks = 0;
  let alike = true;
  for (let k = 0; k < segments.length; k += WORDS) {
    size += segments[k + 1]! * segments[k + 2]!;
    blocks += segments[k + 2]!;
    alike &&= segments[k + 2] === 1 && segments[k + 1] === segments[1];
  }
  const list =
    alike && n > 1
      ? { at: Int32Array.from({ length: n }, (_, i) => segments[i * WORDS]!), bytes: segments[1]! }
      : undefined;
  return { segments, size, blocks, list, of: n >= WORTH_A_PERIOD ? periodic(segments, n) : undefined };
}

/**
 * The last member of a structure and the first of the next one may have become one block: then the first and the last
 * segment of all differ.
 */
function periodic(s: Int32Array, n: number): Plan['of'] {
  for (let p = 1; p <= LONGEST_PERIOD; p++)
    for (const head of [0, 1]) {
      const [from, period] = [head * WORDS, p * WORDS];
      const step = s[from + period]! - s[from]!;
      let k = from + period;
      while (
        k < s.length &&
        s[k] === s[k - period]! + step &&
        s[k + 1] === s[k + 1 - period] &&
        s[k + 2] === s[k + 2 - period] &&
        s[k + 3] === s[k + 3 - period]
      )
        k += WORDS;
      const repeats = Math.floor((k - from) / period);
      const end = from + repeats * period;
      if (s.length - end > period || repeats < n / (2 * p)) continue;
      const part = (a: number, b: number): Plan | undefined => (b > a ? make(s.slice(a, b)) : undefined);
      return {
        head: part(0, from),
        plan: make(s.slice(from, from + period)),
        repeats,
        step,
        tail: part(end, s.length),
      };
    }
  return undefined;
}

const cuts = new WeakMap<Plan, { readonly most: number; readonly pieces: readonly Plan[] }>();

/** One element in pieces of at most `most` packed bytes and `entries` segments each, in order. */
export function pieces(plan: Plan, most: number, entries: number): readonly Plan[] {
  const known = cuts.get(plan);
  if (known?.most === most) return known.pieces;
  const out: Plan[] = [];
  let piece: number[] = [];
  let room = most;
  const close = (): void => {
    if (piece.length > 0) out.push(make(Int32Array.from(piece)));
    piece = [];
    room = most;
  };
  const s = plan.segments;
  for (let k = 0; k < s.length; k += WORDS) {
    const [at, bytes, count, stride] = [s[k]!, s[k + 1]!, s[k + 2]!, s[k + 3]!];
    for (let i = 0; i < count;) {
      if (room < bytes && piece.length > 0) close();
      const whole = Math.min(count - i, Math.floor(room / bytes));
      if (whole > 0) {
        piece.push(at + i * stride, bytes, whole, whole === 1 ? 0 : stride);
        room -= whole * bytes;
        i += whole;
      } else {
        // A block of more than a piece.
        for (let from = 0; from < bytes; from += most)
          out.push(make(Int32Array.of(at + i * stride + from, Math.min(most, bytes - from), 1, 0)));
        i++;
      }
      if (piece.length >= entries * WORDS) close();
    }
  }
  close();
  cuts.set(plan, { most, pieces: out });
  return out;
}
