/**
 * Rank memory: the shared memory between one rank and its comm worker: two single-producer single-consumer byte rings,
 * a bell for each side, and the status words which the comm worker reads.
 *
 * Owns: the layout of the SharedArrayBuffer (memory.ts) and the protocol of sleeping and waking (rank-side.ts,
 * comm-side.ts). Does not own: what the records mean. A record is a frame as on the wire (64-byte header, determinants,
 * body, padded to 8), never split at the end of a ring: where it does not fit a filler goes first. So both sides read
 * and write frames in place (rings.ts).
 *
 * Invariants
 *  I1 `head` and `tail` run freely modulo 2³²; head − tail ≤ capacity; bytes [tail, head) are whole records, written
 *  before `head`.
 *  I2 Only the writer stores `head`, only the reader stores `tail`.
 *  I3 No lost wake-up: a sleeper loads its bell, stores its `asleep` mask, looks once more, and then waits for the bell
 *     to change; the other side stores its position, then takes the mask by exchange and rings. All of it is
 *     sequentially consistent, so either the sleeper sees the new position or the other side sees the mask. (Lost ones
 *     were seen in engines: both sides look again after {@link SAFETY_MS} and count what they find.)
 *  I4 One notify per batch: positions are published by `publish`/`release`, and the exchange in I3 lets only the first
 *  one ring.
 *  I5 A comm side that lingers has LINGER alone in its mask and blocks on a bell of its own; the side that takes the
 *     mask rings that one. It rings too when the rank blocks. Before it stops lingering it stores the mask it had and
 *     looks once more (as in I3).
 */
export { CommSide, waitAsync, type WaitAsync } from './comm-side.ts';
export {
  Ask,
  CALLS_WORD,
  DEFAULT_RING_BYTES,
  MEMORY_WORD,
  PLACES_WORD,
  SAFETY_MS,
  STATUS_WORD,
  createRankMemory,
  type Doorbell,
} from './memory.ts';
export { RankSide } from './rank-side.ts';
export { RingReader, RingWriter } from './rings.ts';
