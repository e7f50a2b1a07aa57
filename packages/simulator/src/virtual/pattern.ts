/** What one rank of a benchmark does in one step, as far as a network sees it. */

export interface Compute {
  readonly kind: 'compute';
  /** Floating-point operations, as the benchmark counts them. */
  readonly operations: number;
}
export interface Send {
  readonly kind: 'send';
  readonly to: number;
  readonly bytes: number;
}
/** Waits for the next message of this rank. */
export interface Receive {
  readonly kind: 'receive';
  readonly from: number;
}
export type Act = Compute | Send | Receive;

export interface Pattern {
  readonly name: string;
  readonly ranks: number;
  readonly steps: number;
  /** Of each rank; every step is the same. */
  readonly step: (rank: number) => readonly Act[];
}

export const DOUBLE = 8;
