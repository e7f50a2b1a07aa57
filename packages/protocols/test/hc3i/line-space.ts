/**
 * Small federations, whole: every state that three clusters can reach with up to four CLCs each, every failure. A dumb
 * oracle tries all choices of CLCs; wrong lines stand beside it, because both the space and random runs must find them.
 */
import type { Checkpoint, Line, Stored } from '../../src/hc3i/recovery-line.ts';
import { recoveryLine } from '../../src/hc3i/recovery-line.ts';

export type LineFunction = (stored: Stored, start: Line) => Line;

const K = 3;

/** Every reachable list of CLCs, once. A message matters only where it forces a CLC. */
export function* states(most: readonly number[]): Generator<Checkpoint[][]> {
  const start: Checkpoint[][] = most.map((_, i) => [{ sn: 1, ddv: most.map((_, j) => (i === j ? 1 : 0)) }]);
  const keyOf = (s: readonly (readonly Checkpoint[])[]): string =>
    s.map((c) => c.map(({ ddv }) => ddv.join('')).join(',')).join(';');
  const seen = new Set([keyOf(start)]);
  const open = [start];
  for (let state = open.pop(); state; state = open.pop()) {
    yield state;
    for (let j = 0; j < K; j++) {
      if (state[j]!.length >= most[j]!) continue;
      const { sn, ddv } = state[j]!.at(-1)!;
      for (let i = 0; i < K; i++) {
        const interval = state[i]!.at(-1)!.sn;
        if (i !== j && interval <= ddv[i]!) continue;
        const next = { sn: sn + 1, ddv: ddv.map((x, k) => (k === j ? sn + 1 : k === i ? interval : x)) };
        const successor = state.map((own, k) => (k === j ? [...own, next] : own));
        const key = keyOf(successor);
        if (seen.has(key)) continue;
        seen.add(key);
        open.push(successor);
      }
    }
  }
}

/**
 * The greatest consistent choice, by trying all. A state at CLC k has received what CLC k − 1 names; the state now what
 * the newest names. Consistent: nobody has received of an interval that is undone.
 * @returns by cluster: index of its CLC; its number of CLCs if it stays
 */
export function greatest(stored: Stored, start: Line): number[] {
  const choices = stored.map((own, j) => Array.from({ length: (start.get(j) ?? own.length) + 1 }, (_, k) => k));
  const received = (j: number, k: number, i: number): number => (k === 0 ? 0 : stored[j]![k - 1]!.ddv[i]!);
  const undone = (i: number, k: number): number => stored[i]![k]?.sn ?? Infinity;
  let best: number[] | undefined;
  for (const a of choices[0]!)
    for (const b of choices[1]!)
      for (const c of choices[2]!) {
        const at = [a, b, c];
        const consistent = at.every((k, j) => at.every((l, i) => i === j || received(j, k, i) < undone(i, l)));
        if (consistent) best = best ? best.map((x, i) => Math.max(x, at[i]!)) : at;
      }
  return best!;
}

/** Failures of every set of clusters, each with its newest CLC usable or not. */
export function failures(stored: Stored): Line[] {
  const starts: Line[] = [];
  for (let code = 1; code < 3 ** K; code++) {
    const start = new Map<number, number>();
    for (let i = 0, rest = code; i < K; i++, rest = Math.floor(rest / 3))
      if (rest % 3 > 0) start.set(i, Math.max(0, stored[i]!.length - (rest % 3)));
    starts.push(start);
  }
  return starts;
}

// ---- wrong ones ----

/** 36: back to the last CLC that depends on what is undone, in place of the first. */
export function toTheLast(stored: Stored, start: Line): Line {
  const line = new Map(start);
  const work = [...start.keys()];
  for (let i = work.pop(); i !== undefined; i = work.pop()) {
    const { sn } = stored[i]![line.get(i)!]!;
    stored.forEach((own, j) => {
      const last = j === i ? -1 : own.findLastIndex(({ ddv }) => ddv[i!]! >= sn);
      if (last < 0 || last >= (line.get(j) ?? Infinity)) return;
      line.set(j, last);
      work.push(j);
    });
  }
  return line;
}

/** 37: only the failed clusters send alerts. */
export function withoutCascade(stored: Stored, start: Line): Line {
  const line = new Map(start);
  for (const [i, index] of start)
    stored.forEach((own, j) => {
      const first = j === i ? -1 : own.findIndex(({ ddv }) => ddv[i]! >= stored[i]![index]!.sn);
      if (first >= 0 && first < (line.get(j) ?? Infinity)) line.set(j, first);
    });
  return line;
}

/** 38: only the first failed cluster counts. */
export const firstOnly: LineFunction = (stored, start) => recoveryLine(stored, new Map([...start].slice(0, 1)));
