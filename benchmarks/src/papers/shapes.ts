/** Whether what was measured has the shape that a paper describes: a sentence, our numbers, and a verdict. */

export interface Verdict {
  /** What must come out. */
  readonly shape: string;
  /** Our numbers. */
  readonly ours: string;
  readonly holds: boolean;
  /** The exit code does not depend on it: why, in a few words. */
  readonly beside?: string;
}

export type Point = readonly [x: number, y: number];

/** Least squares. */
export function line(points: readonly Point[]): { slope: number; r2: number; at0: number } {
  const n = points.length;
  const mean = (of: 0 | 1): number => points.reduce((sum, p) => sum + p[of], 0) / n;
  const [mx, my] = [mean(0), mean(1)];
  let [xx, xy, yy] = [0, 0, 0];
  for (const [x, y] of points) {
    xx += (x - mx) ** 2;
    xy += (x - mx) * (y - my);
    yy += (y - my) ** 2;
  }
  const slope = xx === 0 ? 0 : xy / xx;
  return { slope, r2: xx === 0 || yy === 0 ? 0 : xy ** 2 / (xx * yy), at0: my - slope * mx };
}

/** How far the numbers are from their mean at most, as a part of it. */
export function around(numbers: readonly number[]): number {
  const mean = numbers.reduce((a, b) => a + b, 0) / numbers.length;
  return Math.max(...numbers.map((x) => Math.abs(x - mean))) / Math.abs(mean);
}

export const falls = (numbers: readonly number[]): boolean => numbers.every((x, i) => i === 0 || x < numbers[i - 1]!);
export const neverFalls = (numbers: readonly number[]): boolean =>
  numbers.every((x, i) => i === 0 || x >= numbers[i - 1]!);

/**
 * Where one curve crosses another, by linear interpolation between places that both have; undefined: nowhere.
 */
export function crossing(a: readonly Point[], b: readonly Point[]): number | undefined {
  for (let i = 1; i < a.length; i++) {
    const [before, after] = [a[i - 1]![1] - b[i - 1]![1], a[i]![1] - b[i]![1]];
    if (before * after > 0) continue;
    const part = before === after ? 0 : before / (before - after);
    return a[i - 1]![0] + part * (a[i]![0] - a[i - 1]![0]);
  }
  return undefined;
}
