/** Seeded chance for the moments of faults: a failing run prints its seed, MAYFLY_SEED repeats its choices. */
export const SEED = Number(process.env.MAYFLY_SEED ?? Date.now() % 1_000_000);

export function chance(name: string): () => number {
  let a = SEED ^ [...name].reduce((h, c) => Math.imul(h ^ c.charCodeAt(0), 0x01000193), 0x811c9dc5);
  return () => {
    a = (a + 0x6d2b79f5) | 0;
    let t = Math.imul(a ^ (a >>> 15), 1 | a);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}
