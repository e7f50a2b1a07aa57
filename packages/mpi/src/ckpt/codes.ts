/**
 * Checksums of checkpoints: several processes, a *group*, share them, so that lost data can be made again from the
 * others' data and the checksums (docs/codes.md). The arithmetic comes with the device; here is what travels, and a
 * checksum as its holder makes it.
 *
 * A member's data are a *head*, which its holders keep as it is, and a *body*, which is added up. Under `exact` the
 * head is the length alone. Under `real` the body is an array of doubles, and the head has all that is no number.
 */
import { pad8 } from '@mayfly/wire';

/** GF(2⁸), whose recovery is exact, or weighted sums of floating-point numbers. */
export type Code = 'exact' | 'real';

/** Shares of a group are its members by their place, then its checksums. */
export interface GroupSize {
  readonly members: number;
  readonly checksums: number;
}

/** Adds up shares that come one by one. */
export interface Sum {
  add(share: number, bytes: Uint8Array): void;
  /** When all have come. Undefined: a number is not finite. */
  result(): Uint8Array | undefined;
}

/** The arithmetic, and the forming of groups. */
export interface Codes {
  /**
   * Ranks in groups of at most `most`, and for each group the nodes of its checksums. No two of a group are on one
   * node.
   */
  groups(
    nodes: readonly string[],
    checksums: number,
    most: number,
  ): { members: readonly number[]; holders: readonly string[] }[];
  /** A checksum of all members. */
  checksum(code: Code, of: GroupSize, index: number): Sum;
  /** Of the shares that are left, those that a lost member is made of; undefined: too few are left. */
  needed(code: Code, of: GroupSize, left: readonly number[]): number[] | undefined;
  /** A lost member, from the shares that are needed. */
  recovered(code: Code, of: GroupSize, from: readonly number[], lost: number): Sum;
}

/** Which checksum of which ranks. */
export interface SumName extends GroupSize {
  readonly code: Code;
  readonly ranks: readonly number[];
  readonly index: number;
}
/** How a lost rank gets its data: shares of its group, each from a rank that has it. */
export interface Recovery {
  readonly of: number;
  readonly name: SumName;
  readonly from: readonly (readonly [share: number, rank: number])[];
}
export const keyOf = (n: SumName): string => `${n.code} ${n.index}/${n.checksums} of ${n.ranks.join()}`;

/** How the data of a process become a head and a body, and come back. */
export interface Format {
  /** `finite`: no number of the body is NaN or an infinity. */
  split(own: Uint8Array): { head: Uint8Array; body: Uint8Array; finite: boolean };
  join(head: Uint8Array, body: Uint8Array): Uint8Array;
}

export const exactFormat: Format = {
  split(own) {
    const head = new Uint8Array(8);
    new DataView(head.buffer).setFloat64(0, own.length, true);
    return { head, body: own, finite: true };
  },
  join(head, body) {
    const own = new Uint8Array(new DataView(head.buffer, head.byteOffset, 8).getFloat64(0, true));
    own.set(body.subarray(0, own.length));
    return own;
  },
};

const HEAD = 8;

/** A message: the head's length, the head, the body from a multiple of eight bytes on. */
export function sealed(head: Uint8Array, body: Uint8Array): Uint8Array {
  const at = HEAD + pad8(head.length);
  const out = new Uint8Array(at + body.length);
  new DataView(out.buffer).setUint32(0, head.length, true);
  out.set(head, HEAD);
  out.set(body, at);
  return out;
}
export function unsealed(bytes: Uint8Array): { head: Uint8Array; body: Uint8Array } {
  const length = new DataView(bytes.buffer, bytes.byteOffset, HEAD).getUint32(0, true);
  return { head: bytes.subarray(HEAD, HEAD + length), body: bytes.subarray(HEAD + pad8(length)) };
}

/** A checksum that is whole: the heads of its members by rank, and the sum of their bodies. */
export interface Checksum {
  readonly name: SumName;
  readonly heads: ReadonlyMap<number, Uint8Array>;
  readonly body: Uint8Array;
}
export const sizeOf = (c: Checksum): number => [...c.heads.values()].reduce((n, h) => n + h.length, c.body.length);

/** A checksum as its members' data come. */
export class Gathering {
  readonly missing: Set<number>;
  /** A number was not finite: the checksum is of no use. */
  broken = false;
  #heads = new Map<number, Uint8Array>();
  #sum: Sum;
  #whole: Checksum | undefined;

  constructor(
    readonly name: SumName,
    codes: Codes,
  ) {
    this.missing = new Set(name.ranks);
    this.#sum = codes.checksum(name.code, name, name.index);
  }

  /** @returns whether it was missing */
  add(rank: number, term: Uint8Array): boolean {
    if (!this.missing.delete(rank)) return false;
    const { head, body } = unsealed(term);
    this.#heads.set(rank, head.slice());
    this.#sum.add(this.name.ranks.indexOf(rank), body);
    if (this.missing.size > 0) return true;
    const whole = this.#sum.result();
    if (whole) this.#whole = { name: this.name, heads: this.#heads, body: whole };
    else this.broken = true;
    return true;
  }

  get whole(): Checksum | undefined {
    return this.#whole;
  }
}

/** The data of a lost process as they come back. */
export class Recovered {
  readonly missing: Set<number>;
  /** When everything has come. */
  data: Uint8Array | undefined;
  /** Everything has come, and there is a number that is not finite. */
  broken = false;
  #head: Uint8Array | undefined;
  readonly #sum: Sum;

  constructor(
    { name, from, of }: Recovery,
    codes: Codes,
    private readonly format: Format,
  ) {
    this.missing = new Set(from.map(([share]) => share));
    this.#sum = codes.recovered(name.code, name, [...this.missing], name.ranks.indexOf(of));
  }

  add(share: number, bytes: Uint8Array): void {
    if (!this.missing.delete(share)) return;
    const { head, body } = unsealed(bytes);
    if (head.length > 0) this.#head ??= head.slice();
    this.#sum.add(share, body);
    if (this.missing.size > 0) return;
    const result = this.#sum.result();
    if (result && this.#head) this.data = this.format.join(this.#head, result);
    else this.broken = true;
  }
}
