/**
 * The probability that a scheme survives k losses, each set of k processes being as likely as another (Chen et al.
 * 2005, section 3). Counts are exact; the paper has no formula for `ring` and `weighted-1d`.
 */
import { layoutOf, type Scheme } from './layout.ts';

export function binomial(n: number, k: number): bigint {
  if (k < 0 || k > n) return 0n;
  let out = 1n;
  for (let i = 1; i <= k; i++) out = (out * BigInt(n - k + i)) / BigInt(i);
  return out;
}

/** The number of sets of k processes that a scheme survives the loss of. */
export function survivingSets(s: Scheme, k: number): bigint {
  if (!Number.isSafeInteger(k) || k < 0) throw new RangeError(`${k} losses: expected a whole number`);
  const n = s.members;
  switch (s.name) {
    case 'mirror':
      return binomial(n, k) << BigInt(k);
    case 'ring':
      // No two neighbours of a ring: n / (n − k) · C(n − k, k).
      return 2 * k > n ? 0n : (BigInt(n) * binomial(n - k, k)) / BigInt(n - k);
    case 'pair':
      return binomial(n / 2, k) << BigInt(k);
    case 'checksum':
      return k <= 1 ? binomial(n + 1, k) : 0n;
    case 'checksum-1d':
      return binomial(s.groups, k) * BigInt(n + 1) ** BigInt(k);
    case 'weighted':
      return k <= s.checksums ? binomial(n + s.checksums, k) : 0n;
    case 'weighted-1d': {
      // The coefficient of xᵏ in (Σ_{j ≤ c} C(n + c, j) xʲ)^groups.
      const one = Array.from({ length: s.checksums + 1 }, (_, j) => binomial(n + s.checksums, j));
      let all = [1n];
      for (let g = 0; g < s.groups; g++) {
        const next = Array<bigint>(Math.min(k + 1, all.length + s.checksums)).fill(0n);
        for (const [i, a] of all.entries())
          for (const [j, b] of one.entries()) if (i + j < next.length) next[i + j]! += a * b;
        all = next;
      }
      return all[k] ?? 0n;
    }
  }
}

/** @returns between 0 and 1; NaN for more losses than processes */
export function survival(s: Scheme, k: number): number {
  const all = binomial(layoutOf(s).processes, k);
  if (all === 0n) return Number.NaN;
  // 60 bits of the quotient: the counts themselves may exceed what a number holds.
  return Number((survivingSets(s, k) << 60n) / all) / 2 ** 60;
}
