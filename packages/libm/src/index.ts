/**
 * Math that gives the same bits on every engine.
 *
 * Engines differ in the last bits of sin, cos, exp, log, pow and their kin (ECMAScript §21.3.2 leaves them
 * "implementation-approximated"), and a rank that leaves Chrome and is replayed in Firefox would then compute something
 * else. So those functions are wasi-libc's, compiled to WebAssembly: IEEE 754 `+ − × ÷ sqrt` and integer operations
 * only, which every engine rounds alike. What ECMAScript defines exactly (sqrt, floor, round, max, fround, clz32 …)
 * stays the engine's own.
 *
 * Owns: nothing but its instance. The libm has no state that a result depends on.
 * Guarantees:
 *   M1  the same arguments give the same bits on every engine (NaN's payload excepted);
 *   M2  the values that ECMAScript fixes (signs of zero, infinities, NaN) are those, also where C differs;
 *   M3  errors stay those of a good libm: below 1 ulp for sin cos tan exp log pow, a few ulp for the hyperbolic
 *       functions.
 */
import { libm } from '#object-code';

type Unary = (x: number) => number;
type Binary = (x: number, y: number) => number;

interface Libm {
  readonly sin: Unary;
  readonly cos: Unary;
  readonly tan: Unary;
  readonly asin: Unary;
  readonly acos: Unary;
  readonly atan: Unary;
  readonly atan2: Binary;
  readonly sinh: Unary;
  readonly cosh: Unary;
  readonly tanh: Unary;
  readonly asinh: Unary;
  readonly acosh: Unary;
  readonly atanh: Unary;
  readonly exp: Unary;
  readonly expm1: Unary;
  readonly log: Unary;
  readonly log1p: Unary;
  readonly log2: Unary;
  readonly log10: Unary;
  readonly pow: Binary;
  readonly cbrt: Unary;
  readonly hypot: Binary;
}

/** What is needed of the platform; neither DOM nor Node types are in scope here. */
interface Platform {
  atob(text: string): string;
  readonly WebAssembly: {
    readonly Module: new (bytes: Uint8Array) => object;
    readonly Instance: new (module: object) => { readonly exports: unknown };
  };
}

function instantiate(): Libm {
  const { atob, WebAssembly } = globalThis as unknown as Platform;
  const bytes = Uint8Array.from(atob(libm), (c) => c.charCodeAt(0));
  return new WebAssembly.Instance(new WebAssembly.Module(bytes)).exports as Libm;
}

const noRandom = (): number => {
  throw new Error('Math.random is not connected to the seeded generator of the job');
};

/**
 * A Math object for a program. Compiles about 30 KB of WebAssembly synchronously (a few ms): for workers and Node,
 * under a content security policy with 'wasm-unsafe-eval'.
 * @param random what Math.random returns, uniform in [0, 1); a rank host gives its seeded generator. Without it
 * Math.random throws.
 */
export function createMath(random: () => number = noRandom): Math {
  const c = instantiate();
  const native = globalThis.Math;

  const pow: Binary = (x, y) => {
    x = +x;
    y = +y;
    // Squares are most of what programs raise; the product is correctly rounded, and ten times faster.
    if (y === 2) return x * x;
    // C99 F.9.4.4 has pow(1, y) = 1 for any y, and pow(−1, ±∞) = 1; ECMAScript has NaN (Number::exponentiate, steps 1
    // and 6–7).
    if (y !== y || ((x === 1 || x === -1) && (y === Infinity || y === -Infinity))) return NaN;
    return c.pow(x, y);
  };

  // For large negative arguments musl's formula meets cancellation and returns a number.
  const acosh: Unary = (x) => ((x = +x) < 1 ? NaN : c.acosh(x));

  const hypot = (...values: number[]): number => {
    if (values.length === 2) return c.hypot(values[0]!, values[1]!);
    return hypotOfMany(values.map(Number));
  };

  const functions: Omit<Math, typeof Symbol.toStringTag | Constant> = {
    abs: native.abs,
    ceil: native.ceil,
    clz32: native.clz32,
    floor: native.floor,
    fround: native.fround,
    imul: native.imul,
    max: native.max,
    min: native.min,
    round: native.round,
    sign: native.sign,
    sqrt: native.sqrt,
    trunc: native.trunc,
    sin: c.sin,
    cos: c.cos,
    tan: c.tan,
    asin: c.asin,
    acos: c.acos,
    atan: c.atan,
    atan2: c.atan2,
    sinh: c.sinh,
    cosh: c.cosh,
    tanh: c.tanh,
    asinh: c.asinh,
    acosh,
    atanh: c.atanh,
    exp: c.exp,
    expm1: c.expm1,
    log: c.log,
    log1p: c.log1p,
    log2: c.log2,
    log10: c.log10,
    pow,
    cbrt: c.cbrt,
    hypot,
    random: () => random(),
  };

  const math = {} as Math;
  for (const [name, value] of Object.entries(functions)) {
    // Exports of WebAssembly are named by their index.
    if (value !== native[name as keyof Math]) Object.defineProperty(value, 'name', { value: name });
    Object.defineProperty(math, name, { value, writable: true, configurable: true });
  }
  for (const name of CONSTANTS) Object.defineProperty(math, name, { value: native[name] });
  Object.defineProperty(math, Symbol.toStringTag, { value: 'Math', configurable: true });
  return math;
}

const CONSTANTS = ['E', 'LN10', 'LN2', 'LOG10E', 'LOG2E', 'PI', 'SQRT1_2', 'SQRT2'] as const;
type Constant = (typeof CONSTANTS)[number];

/**
 * √Σx², scaled by the largest so that nothing overflows, with a compensated sum. ECMAScript §21.3.2.18: ∞ goes before
 * NaN.
 */
function hypotOfMany(values: number[]): number {
  let largest = 0;
  let nan = false;
  for (const v of values) {
    const a = v < 0 ? -v : v;
    if (a === Infinity) return Infinity;
    if (a !== a) nan = true;
    else if (a > largest) largest = a;
  }
  if (nan) return NaN;
  if (largest === 0) return 0;
  let sum = 0;
  let lost = 0;
  for (const v of values) {
    const r = v / largest;
    const term = r * r - lost;
    const next = sum + term;
    lost = next - sum - term;
    sum = next;
  }
  return globalThis.Math.sqrt(sum) * largest;
}
