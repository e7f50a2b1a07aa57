/**
 * Seeded chance (mulberry32): the only source of randomness of a simulated run, so that a seed replays byte for byte.
 */
export class Random {
  private state: number;

  constructor(seed: number) {
    this.state = (seed ^ 0x9e3779b9) | 0;
    for (let i = 0; i < 8; i++) this.next();
  }

  /**
   * The generator of one part of a run: what other parts draw does not shift it, so that a run with a fault less stays
   * alike.
   */
  static named(seed: number, name: string): Random {
    let h = seed | 0;
    for (let i = 0; i < name.length; i++) h = Math.imul(h ^ name.charCodeAt(i), 0x01000193);
    return new Random(Math.imul(h ^ (h >>> 15), 0x85ebca6b) | 0);
  }

  /** In [0, 1). */
  next(): number {
    this.state = (this.state + 0x6d2b79f5) | 0;
    let t = Math.imul(this.state ^ (this.state >>> 15), 1 | this.state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  }

  /** Integer in [low, high]. */
  between(low: number, high: number): number {
    return low + Math.floor(this.next() * (high - low + 1));
  }

  chance(probability: number): boolean {
    return this.next() < probability;
  }

  pick<T>(from: readonly T[]): T {
    return from[Math.floor(this.next() * from.length)] as T;
  }
}
