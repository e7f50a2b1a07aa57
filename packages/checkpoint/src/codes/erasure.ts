/**
 * The erasure code over GF(2⁸): n members and c checksums are n + c *shares*, of which any c may be lost. The lost ones
 * come back bit by bit. Share s is member s for s < n, else checksum s − n.
 *
 * Shares may differ in length: a member counts as zero beyond its end, so a checksum is as long as the longest member.
 */
import { cauchy } from './cauchy.ts';
import { invert, multiply, type Matrix } from './field.ts';
import { kernel, type Kernel } from './kernel.ts';

/** What a recovery reads, and the matrix that makes the lost shares of it: a row for each lost share. */
export interface Recovery {
  readonly from: readonly number[];
  readonly rows: Matrix;
}

export class TooManyLost extends Error {
  override readonly name = 'TooManyLost';
}

export class ErasureCode {
  /** c × n. */
  readonly matrix: Matrix;

  /** @throws RangeError unless members ≥ 1, checksums ≥ 0 and both together ≤ 256 */
  constructor(
    readonly members: number,
    readonly checksums: number,
    private readonly by: Kernel = kernel(),
  ) {
    this.matrix = cauchy(checksums, members);
  }

  /** Writes all c checksums. @param checksums each as long as the longest member */
  encode(members: readonly Uint8Array[], checksums: readonly Uint8Array[]): void {
    this.by.combine(this.matrix, members, checksums);
  }

  /**
   * What checksum number `checksum` changes by when a member's bytes change by `difference` (old ⊕ new): the holder
   * adds it. Writes into `out`.
   */
  delta(checksum: number, member: number, difference: Uint8Array, out: Uint8Array): void {
    this.by.combine([[this.coefficient(checksum, member)]], [difference], [out]);
  }

  coefficient(checksum: number, member: number): number {
    const c = this.matrix[checksum]?.[member];
    if (c === undefined) throw new RangeError(`no coefficient of checksum ${checksum} and member ${member}`);
    return c;
  }

  /**
   * How to make lost shares from others. Reads all available members and as many checksums as members are not
   * available.
   * @param available shares that can be read @param lost shares to make
   * @throws TooManyLost if fewer than n shares are available; RangeError for a share that does not exist
   */
  recovery(available: readonly number[], lost: readonly number[]): Recovery {
    const n = this.members;
    for (const s of [...available, ...lost])
      if (!Number.isInteger(s) || s < 0 || s >= n + this.checksums) throw new RangeError(`no share ${s}`);
    const have = [...new Set(available)].sort((a, b) => a - b);
    if (have.length < n)
      throw new TooManyLost(`${have.length} shares of ${n + this.checksums} are left, and ${n} are needed`);
    const from = have.slice(0, n);
    const row = (share: number): readonly number[] =>
      share < n ? Array.from({ length: n }, (_, j) => (j === share ? 1 : 0)) : this.matrix[share - n]!;
    // Every choice of n rows of [identity; Cauchy] is non-singular, because every minor of Cauchy's is.
    const members = invert(from.map(row));
    if (!members) throw new Error('a minor of the matrix of the code is singular');
    const rows = lost.map((s) => {
      const weights = row(s);
      return from.map((_, k) => weights.reduce((sum, w, j) => sum ^ multiply(w, members[j]![k]!), 0));
    });
    return { from, rows };
  }

  /**
   * Makes lost shares.
   * @param shares by number; only those that {@link recovery} names are read
   * @param out one for each lost share, in the order of `recovery.rows`; its length says how much of it is made
   */
  decode(recovery: Recovery, shares: ReadonlyMap<number, Uint8Array>, out: readonly Uint8Array[]): void {
    const inputs = recovery.from.map((s) => {
      const share = shares.get(s);
      if (!share) throw new RangeError(`share ${s} is missing`);
      return share;
    });
    this.by.combine(recovery.rows, inputs, out);
  }
}
