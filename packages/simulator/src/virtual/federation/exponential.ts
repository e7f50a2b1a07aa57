/**
 * Exponentially distributed times from comparisons of uniform numbers alone (J. von Neumann, Various techniques used in
 * connection with random digits, 1951): logarithms differ between engines in their last bits.
 */
import type { Random } from '../../random.ts';

/** @returns a time with this mean */
export function exponential(random: Random, mean: number): number {
  for (let whole = 0; ; whole++) {
    const first = random.next();
    let [length, last] = [1, first];
    for (let next = random.next(); next < last; next = random.next()) {
      last = next;
      length++;
    }
    // A falling run of odd length has probability e^(−first).
    if (length % 2 === 1) return mean * (whole + first);
  }
}
