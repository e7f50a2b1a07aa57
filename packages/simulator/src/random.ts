/** Seeded chance (mulberry32): the only source of randomness of a simulated run, so that a seed replays byte for byte. */
export class Random {
  private state: number;

  constructor(seed: number) {
    this.state = (seed ^ 0x9e3779b9) | 0;
    for (let i = 0; i < 8; i++) this.next();
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

  /** An independent generator, so that a new draw in one place does not shift the others. */
  fork(name: number): Random {
    return new Random((Math.imul(this.state ^ name, 0x85ebca6b) ^ name) | 0);
  }
}
