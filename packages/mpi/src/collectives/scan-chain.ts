/**
 * Scan and exscan of long vectors along the chain of the ranks, piece by piece: while a rank works on one piece the
 * next one has the piece before. Always in rank order.
 * Cost: (p − 2 + k) (α + (n/k) (β + γ)) for k pieces; (p−1) n bytes move, where recursive doubling moves p ⌈log₂ p⌉ n.
 */
import { part, type Buf } from '../buffers.ts';
import type { Reduction, Schedule } from '../schedule.ts';

/** Bytes of a piece, and how many pieces there are at most. */
const PIECE = { bytes: 32 * 1024, most: 64 } as const;

/** @param exclusive exscan: rank 0's `recv` is left alone */
export function scanChain(s: Schedule, send: Buf, recv: Buf, r: Reduction, exclusive: boolean): void {
  const { rank, size } = s;
  const units = Math.ceil(Math.max(PIECE.bytes, send.bytes / PIECE.most) / r.unit);
  const piece = (b: Buf, at: number): Buf => part(b, at, Math.min(units * r.unit, b.bytes - at));
  // What goes on to the next rank: the reduction up to here.
  const upTo = exclusive ? s.scratch(send.bytes) : recv;
  s.copy(send, upTo);
  const incoming = s.scratch(Math.min(units * r.unit, send.bytes));
  for (let at = 0; at < send.bytes; at += units * r.unit) {
    const own = piece(upTo, at);
    const got = part(incoming, 0, own.bytes);
    if (rank > 0) {
      s.recv(rank - 1, got).next();
      if (exclusive) s.copy(got, piece(recv, at));
      if (!exclusive || rank < size - 1) s.reduce(r, got, own);
    }
    if (rank < size - 1) s.send(rank + 1, own);
  }
}
