/**
 * Broadcast down a binomial tree: who has the message passes it on to the one that is half of the remaining distance
 * away. Ranks are taken relative to the root. Best for short messages.
 * Cost: ⌈log₂ p⌉ (α + nβ).
 */
import type { Buf } from '../buffers.ts';
import type { Schedule } from '../schedule.ts';

export function bcastBinomial(s: Schedule, buf: Buf, root: number): void {
  const me = (s.rank - root + s.size) % s.size;
  const real = (r: number): number => (r + root) % s.size;
  let mask = 1;
  for (; mask < s.size; mask *= 2) {
    if (me & mask) {
      s.recv(real(me - mask), buf).next();
      break;
    }
  }
  for (mask >>= 1; mask > 0; mask >>= 1) if (me + mask < s.size) s.send(real(me + mask), buf);
}
