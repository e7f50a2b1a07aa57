/**
 * The random source of a program: xoshiro128** (Blackman, Vigna 2018), seeded from the job's seed and the task by
 * SplitMix64-like mixing. A function of the call order alone, hence no determinants; its state is part of an image.
 */
export type RandomState = [number, number, number, number];

const rotl = (x: number, k: number): number => (x << k) | (x >>> (32 - k));

/** 32-bit finaliser of MurmurHash3: every input bit reaches every output bit. */
function mix(h: number): number {
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return (h ^ (h >>> 16)) >>> 0;
}

export class Random {
  private s: RandomState;

  constructor(seed: number, task: number) {
    let x = mix(seed >>> 0) ^ mix(Math.floor(seed / 4294967296) + 0x9e3779b9) ^ mix(Math.imul(task + 1, 0x9e3779b1));
    const next = (): number => mix((x = (x + 0x9e3779b9) | 0));
    this.s = [next(), next(), next(), next() | 1];
  }

  /** 32 random bits. */
  bits(): number {
    const s = this.s;
    const result = Math.imul(rotl(Math.imul(s[1], 5), 7), 9) >>> 0;
    const t = s[1] << 9;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = rotl(s[3], 11);
    return result;
  }

  /** Uniform in [0, 1), 53 bits. */
  draw(): number {
    return ((this.bits() >>> 5) * 67108864 + (this.bits() >>> 6)) / 9007199254740992;
  }

  fill(bytes: Uint8Array): void {
    for (let i = 0; i < bytes.length; i += 4) {
      const r = this.bits();
      for (let k = 0; k < 4 && i + k < bytes.length; k++) bytes[i + k] = r >>> (8 * k);
    }
  }

  state(): RandomState {
    return [...this.s];
  }

  restore(state: RandomState): void {
    this.s = [...state];
  }
}
