/** Seeded chance for faults: a failing run prints its seed, which repeats its choices. */
export type Chance = () => number;

/** A stream of numbers in [0, 1) for each name, whatever other streams were asked for. */
export function chance(seed: number, name: string): Chance {
  let a = seed ^ [...name].reduce((h, c) => Math.imul(h ^ c.charCodeAt(0), 0x01000193), 0x811c9dc5);
  return () => {
    a = (a + 0x6d2b79f5) | 0;
    let t = Math.imul(a ^ (a >>> 15), 1 | a);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

export const below = (draw: Chance, n: number): number => Math.floor(draw() * n);

export function shuffled<T>(items: readonly T[], draw: Chance): T[] {
  const all = [...items];
  for (let i = all.length - 1; i > 0; i--) {
    const j = below(draw, i + 1);
    [all[i], all[j]] = [all[j]!, all[i]!];
  }
  return all;
}
