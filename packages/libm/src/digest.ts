/**
 * One number for all the bits that a Math object produces on a fixed sweep of arguments, to compare engines (and
 * builds) with. Used by this package's tests in Node and by the browser tests.
 */
const UNARY = [
  'sin',
  'cos',
  'tan',
  'asin',
  'acos',
  'atan',
  'sinh',
  'cosh',
  'tanh',
  'asinh',
  'acosh',
  'atanh',
  'exp',
  'expm1',
  'log',
  'log1p',
  'log2',
  'log10',
  'cbrt',
  'sqrt',
  'round',
  'fround',
] as const;
const BINARY = ['pow', 'atan2', 'hypot'] as const;

/**
 * The digest per function (FNV-1a, 32 bits, hexadecimal) over `samples` arguments each; every NaN counts as the same.
 */
export function digest(math: Math, samples = 20_000): Record<string, string> {
  const out: Record<string, string> = {};
  for (const name of UNARY) out[name] = sweep(samples, (next) => math[name](next()));
  for (const name of BINARY) out[name] = sweep(samples, (next) => math[name](next(), next()));
  return out;
}

function sweep(samples: number, evaluate: (next: () => number) => number): string {
  const f64 = new Float64Array(1);
  const u32 = new Uint32Array(f64.buffer);
  let state = 0x9e3779b9;
  const random32 = (): number => {
    // xorshift32: integers only, so that the arguments are the same everywhere.
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return state >>> 0;
  };
  let kind = 0;
  // Small angles, the unit interval, large arguments, and any bit pattern at all.
  const next = (): number => {
    const u = random32() / 4294967296;
    switch (kind++ & 3) {
      case 0:
        return (u - 0.5) * 20;
      case 1:
        return u * 2 - 1;
      case 2:
        return (u - 0.5) * 1e6;
      default:
        u32[0] = random32();
        u32[1] = random32();
        return f64[0]!;
    }
  };
  let hash = 0x811c9dc5;
  for (let i = 0; i < samples; i++) {
    const value = evaluate(next);
    f64[0] = value === value ? value : NaN;
    const [low, high] = value === value ? [u32[0]!, u32[1]!] : [0, 0x7ff80000];
    hash = Math.imul(hash ^ low, 0x01000193);
    hash = Math.imul(hash ^ high, 0x01000193);
  }
  return (hash >>> 0).toString(16).padStart(8, '0');
}
