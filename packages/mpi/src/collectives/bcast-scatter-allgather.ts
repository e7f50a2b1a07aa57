/**
 * Broadcast of a long message: the root scatters it in p pieces down a binomial tree, then the pieces go round a ring
 * until everybody has all (van de Geijn). Each byte crosses each process about twice, instead of log₂ p times from the
 * root. Cost: (⌈log₂ p⌉ + p − 1) α + 2 (p−1)/p nβ.
 */
import { part, type Buf } from '../buffers.ts';
import type { Schedule } from '../schedule.ts';

export function bcastScatterAllgather(s: Schedule, buf: Buf, root: number): void {
  const p = s.size;
  const me = (s.rank - root + p) % p;
  const real = (r: number): number => (r + root) % p;
  const piece = Math.ceil(buf.bytes / p);
  /**
   * Pieces [from, to), by relative rank. The last ones may be short or empty: then nothing is sent, as both sides know.
   */
  const range = (from: number, to: number): Buf => {
    const start = Math.min(from * piece, buf.bytes);
    return part(buf, start, Math.min(to * piece, buf.bytes) - start);
  };

  let mask = 1;
  for (; mask < p; mask *= 2) {
    if (me & mask) {
      const mine = range(me, Math.min(me + mask, p));
      if (mine.bytes > 0) s.recv(real(me - mask), mine).next();
      break;
    }
  }
  for (mask >>= 1; mask > 0; mask >>= 1) {
    if (me + mask >= p) continue;
    const theirs = range(me + mask, Math.min(me + 2 * mask, p));
    if (theirs.bytes > 0) s.send(real(me + mask), theirs);
  }
  s.next();
  for (let k = 0; k < p - 1; k++) {
    const out = (me - k + p) % p;
    const into = (me - k - 1 + p) % p;
    const sent = range(out, out + 1);
    const got = range(into, into + 1);
    if (sent.bytes > 0) s.send(real((me + 1) % p), sent);
    if (got.bytes > 0) s.recv(real((me - 1 + p) % p), got);
    s.next();
  }
}
