/**
 * How fast erasure codes encode, in GB/s per coefficient: bytes of members times checksums, over the time. Runs in Node
 * and, bundled, in a tab.
 */
import { ErasureCode, portableKernel, simdKernel, type Kernel } from '@mayfly/checkpoint/codes';

export const CHECKSUMS = [1, 2, 3, 4, 5] as const;
const MEMBERS = 8;
/** Of a member; all together do not fit into a processor's inner caches. */
const BYTES = 1 << 20;
const ROUNDS = 7;
/** A round lasts as long, at least. */
const ROUND_MS = 40;

export interface Speeds {
  /** One copy of the members, GB/s. */
  readonly copy: number;
  /** The exclusive or of the members in JavaScript, a word of 32 bits at a time. */
  readonly xor: number;
  /** By kernel; for 1 … 5 checksums. An engine without WebAssembly SIMD has no `simd`. */
  readonly kernels: Partial<Record<Kernel['name'], readonly number[]>>;
}

/** All in turn, `ROUNDS` times; the median of each. */
export function measure(): Speeds {
  const members = Array.from({ length: MEMBERS }, (_, s) =>
    Uint8Array.from({ length: BYTES }, (__, i) => Math.imul(i + s, 2_654_435_761) >>> 24),
  );
  const sums = CHECKSUMS.map(() => new Uint8Array(BYTES));
  const words = members.map((m) => new Int32Array(m.buffer));
  const sum = new Int32Array(sums[0]!.buffer);
  const xor = (): void => {
    sum.fill(0);
    for (const from of words) for (let i = 0; i < sum.length; i++) sum[i] = sum[i]! ^ from[i]!;
  };
  const runs: [name: string, coefficients: number, run: () => void][] = [
    ['copy', 1, () => members.forEach((m) => sums[0]!.set(m))],
    ['xor', 1, xor],
  ];
  const kernels = [simdKernel(), portableKernel].filter((k): k is Kernel => k !== undefined);
  for (const k of kernels)
    for (const c of CHECKSUMS) {
      const code = new ErasureCode(MEMBERS, c, k);
      const out = sums.slice(0, c);
      runs.push([`${k.name} ${c}`, c, () => code.encode(members, out)]);
    }
  const seen = new Map<string, number[]>(runs.map(([name]) => [name, []]));
  for (let round = 0; round <= ROUNDS; round++)
    for (const [name, coefficients, run] of runs) {
      const began = performance.now();
      let n = 0;
      let took = 0;
      for (; took < ROUND_MS; took = performance.now() - began) {
        run();
        n++;
      }
      // The first round warms up.
      if (round > 0) seen.get(name)!.push((n * MEMBERS * BYTES * coefficients) / took / 1e6);
    }
  const middle = (name: string): number => seen.get(name)!.sort((a, b) => a - b)[ROUNDS >> 1]!;
  return {
    copy: middle('copy'),
    xor: middle('xor'),
    kernels: Object.fromEntries(kernels.map((k) => [k.name, CHECKSUMS.map((c) => middle(`${k.name} ${c}`))])),
  };
}
