/** What every kernel of the erasure code must do; runs in Node and in a tab, so it asserts nothing itself. */
import { ErasureCode, kernel, portableKernel, type Kernel } from '../codes/index.ts';
import { hashBytes } from '../hash.ts';
import { noise } from './local-images.ts';

const [MEMBERS, CHECKSUMS] = [6, 4];
/** Around strips, words and steps of the kernels. */
export const CODE_LENGTHS = [20_001, 16_384, 16_385, 1, 33, 9_000];

export interface CodesSeen {
  /** The kernel that this engine chooses. */
  readonly kernel: Kernel['name'];
  /** BLAKE3 of each checksum, by kernel. */
  readonly checksums: Record<Kernel['name'], readonly string[]>;
  /** Of all sets of as many lost shares as there are checksums: those that came back with their bytes. */
  readonly recovered: Record<Kernel['name'], number>;
}

/** All sets of k numbers below n. */
export function subsets(n: number, k: number, from = 0): number[][] {
  if (k === 0) return [[]];
  const out: number[][] = [];
  for (let x = from; x <= n - k; x++) for (const rest of subsets(n, k - 1, x + 1)) out.push([x, ...rest]);
  return out;
}

function same(a: Uint8Array, b: Uint8Array): boolean {
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false;
  return a.length === b.length;
}

async function exerciseOne(by: Kernel): Promise<{ checksums: string[]; recovered: number }> {
  const code = new ErasureCode(MEMBERS, CHECKSUMS, by);
  const members = CODE_LENGTHS.map((n, i) => noise(n, 77 + i));
  const checksums = Array.from({ length: CHECKSUMS }, () => new Uint8Array(Math.max(...CODE_LENGTHS)));
  code.encode(members, checksums);
  const all = [...members, ...checksums];
  let recovered = 0;
  for (const lost of subsets(all.length, CHECKSUMS)) {
    const shares = new Map([...all.entries()].filter(([s]) => !lost.includes(s)));
    const out = lost.map((s) => new Uint8Array(all[s]!.length).fill(0xee));
    code.decode(code.recovery([...shares.keys()], lost), shares, out);
    if (out.every((bytes, i) => same(bytes, all[lost[i]!]!))) recovered++;
  }
  return { checksums: await Promise.all(checksums.map(hashBytes)), recovered };
}

export async function exerciseCodes(): Promise<CodesSeen> {
  const best = kernel();
  const [simd, portable] = [await exerciseOne(best), await exerciseOne(portableKernel)];
  return {
    kernel: best.name,
    checksums: { simd: simd.checksums, portable: portable.checksums },
    recovered: { simd: simd.recovered, portable: portable.recovered },
  };
}

/** BLAKE3 of the checksums as the test's own arithmetic makes them. */
const CHECKSUM_HASHES = [
  '468c80fa6eb0a221d96548854b54a0b89dac6a0482f9386499209ab9fe5a7ee6',
  'dcae94bd33f58b4243865201ed4b9a1a4e50c595dfbadf9d474e26925f179348',
  '501ad3b04461eccb1fbe9117cdb85ed29790e7441e8fc76261af9299cf0490e0',
  'aedf89f6d262445f029c928bf49988eec10ecb795fabe1ff2559dd2fb9680a38',
];

export const EXPECTED_CODES: CodesSeen = {
  kernel: 'simd',
  checksums: { simd: CHECKSUM_HASHES, portable: CHECKSUM_HASHES },
  recovered: { simd: 210, portable: 210 },
};
