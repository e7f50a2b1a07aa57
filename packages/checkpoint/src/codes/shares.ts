/**
 * Codes over shares that come one by one, as programs that ask for checkpoints use them (packages/mpi/src/ckpt/codes.ts
 * has the interface, and does not know of this package). A sum of GF(2⁸) takes in each share as it comes. Sums of
 * numbers are made in the order of the members, so that two runs agree in every bit: what comes early waits.
 */
import { formGroups } from '../parity/groups.ts';
import { ErasureCode } from './erasure.ts';
import { kernel, type Kernel } from './kernel.ts';
import { RealCode, gaussian, type Weights } from './real.ts';

type Code = 'exact' | 'real';
interface GroupSize {
  readonly members: number;
  readonly checksums: number;
}
interface Sum {
  add(share: number, bytes: Uint8Array): void;
  /** Undefined: a number is not finite. */
  result(): Uint8Array | undefined;
}

/** Bytes that are worked on at a time. */
const PIECE = 1 << 20;
/** Of the weights: all processes need the same ones. */
const SEED = 2005;

/** Σ weight(share) · share over GF(2⁸), as long as the longest share. */
class ExactSum implements Sum {
  #sum = new Uint8Array(0);

  constructor(
    private readonly by: Kernel,
    private readonly weight: (share: number) => number,
  ) {}

  add(share: number, bytes: Uint8Array): void {
    if (bytes.length > this.#sum.length) {
      const longer = new Uint8Array(bytes.length);
      longer.set(this.#sum);
      this.#sum = longer;
    }
    const piece = new Uint8Array(Math.min(PIECE, bytes.length));
    for (let at = 0; at < bytes.length; at += PIECE) {
      const out = piece.subarray(0, Math.min(PIECE, bytes.length - at));
      const end = at + out.length;
      this.by.combine([[1, this.weight(share)]], [this.#sum.subarray(at, end), bytes.subarray(at, end)], [out]);
      this.#sum.set(out, at);
    }
  }
  result(): Uint8Array {
    return this.#sum;
  }
}

/** The paper's basic checksum where there is one; else Gaussian weights. */
const weightsOf = ({ members, checksums }: GroupSize): Weights =>
  checksums === 1 ? [Array<number>(members).fill(1)] : gaussian(checksums, members, SEED);

const numbersOf = (bytes: Uint8Array, length = bytes.length >> 3): Float64Array => {
  const out = new Float64Array(length);
  new Uint8Array(out.buffer).set(bytes.subarray(0, 8 * length));
  return out;
};
const bytesOf = (x: Float64Array): Uint8Array => new Uint8Array(x.buffer, x.byteOffset, x.byteLength);

/** A checksum of numbers: member by member, in their order. */
class RealSum implements Sum {
  #sum = new Float64Array(0);
  #next = 0;
  readonly #waiting = new Map<number, Float64Array>();

  constructor(private readonly weights: readonly number[]) {}

  add(member: number, bytes: Uint8Array): void {
    this.#waiting.set(member, numbersOf(bytes));
    for (;;) {
      const x = this.#waiting.get(this.#next);
      if (!x) return;
      this.#waiting.delete(this.#next);
      if (x.length > this.#sum.length) {
        const longer = new Float64Array(x.length);
        longer.set(this.#sum);
        this.#sum = longer;
      }
      const weight = this.weights[this.#next++]!;
      for (let k = 0; k < x.length; k++) this.#sum[k]! += weight * x[k]!;
    }
  }
  result(): Uint8Array | undefined {
    return this.#sum.every((x) => Number.isFinite(x)) ? bytesOf(this.#sum) : undefined;
  }
}

/** A lost member of numbers: least squares over everything that is left. */
class RealRecovery implements Sum {
  readonly #shares = new Map<number, Uint8Array>();

  constructor(
    private readonly of: GroupSize,
    private readonly lost: number,
  ) {}

  add(share: number, bytes: Uint8Array): void {
    this.#shares.set(share, bytes.slice());
  }
  result(): Uint8Array | undefined {
    const length = Math.max(...[...this.#shares.values()].map((b) => b.length)) >> 3;
    const members = new Map<number, Float64Array>();
    const checksums = new Map<number, Float64Array>();
    for (const [share, bytes] of this.#shares)
      if (share < this.of.members) members.set(share, numbersOf(bytes, length));
      else checksums.set(share - this.of.members, numbersOf(bytes, length));
    const out = new RealCode(weightsOf(this.of)).decode(members, checksums).get(this.lost);
    return out?.every((x) => Number.isFinite(x)) ? bytesOf(out) : undefined;
  }
}

/** Call it before a program runs, which may have no WebAssembly: the kernel and the weights need it. */
export function sharedCodes(by: Kernel = kernel()): {
  groups(
    nodes: readonly string[],
    checksums: number,
    most: number,
  ): { members: readonly number[]; holders: readonly string[] }[];
  checksum(code: Code, of: GroupSize, index: number): Sum;
  needed(code: Code, of: GroupSize, left: readonly number[]): number[] | undefined;
  recovered(code: Code, of: GroupSize, from: readonly number[], lost: number): Sum;
} {
  gaussian(1, 1, SEED);
  return {
    groups: (nodes, checksums, most) =>
      formGroups(
        nodes.map((node, task) => ({ task, node })),
        nodes,
        { members: most, checksums },
      ).map((g) => ({ members: g.members.map((m) => m.task), holders: g.holders })),
    checksum(code, of, index) {
      if (code === 'real') return new RealSum(weightsOf(of)[index]!);
      const exact = new ErasureCode(of.members, of.checksums, by);
      return new ExactSum(by, (member) => exact.coefficient(index, member));
    },
    needed(code, of, left) {
      const shares = [...left].sort((a, b) => a - b);
      if (shares.length < of.members) return undefined;
      // What is beyond that improves a sum of numbers.
      return code === 'real' ? shares : shares.slice(0, of.members);
    },
    recovered(code, of, from, lost) {
      if (code === 'real') return new RealRecovery(of, lost);
      const { from: used, rows } = new ErasureCode(of.members, of.checksums, by).recovery(from, [lost]);
      return new ExactSum(by, (share) => rows[0]![used.indexOf(share)]!);
    },
  };
}
