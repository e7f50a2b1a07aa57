/**
 * Where one algorithm of a collective ends and another begins. All ranks must choose alike, so choices depend only on
 * what is the same everywhere: the communicator's size, the length and the operation. Incarnations must choose as those
 * before them: whoever changes a choice after 0.2.0 gives jobs a generation of the library (DESIGN.md).
 */

/**
 * Bytes from which the algorithms for long messages win: there the transfer outweighs the latency of a hop (about 0.5
 * ms between tabs).
 */
export const LONG = {
  bcast: 128 * 1024,
  reduce: 64 * 1024,
  allgather: 64 * 1024,
  alltoall: 32 * 1024,
  scan: 64 * 1024,
} as const;
/**
 * Blocks from which gather and scatter go straight: every level of a tree would carry them through the server once
 * more.
 */
export const STRAIGHT = 4096;
/**
 * Ranks from which the number of messages decides: a server takes some 7 µs for each (docs/benchmarks.md), and
 * everybody to everybody are p (p−1).
 */
export const MANY = { ranks: 9, bytes: 16 * 1024 } as const;
/** Ranks up to which one of them hears from all in less than the rounds of a tree take. */
export const CENTRAL = 64;
/** Blocks up to this are worth packing (Bruck's all-to-all), from this many ranks on. */
export const PACKED = { bytes: 256, ranks: 8 } as const;
/** Blocks up to which those of a whole team go in one message: its first rank copies each of them twice. */
export const SHARED = 4096;
