/**
 * Scan and exscan by recursive doubling: partners exchange the reduction over their whole groups; who has the higher
 * rank also takes the other's into its prefix. Always in rank order.
 * Cost: ⌈log₂ p⌉ (α + nβ + 2nγ).
 */
import type { Buf } from '../buffers.ts';
import type { Reduction, Schedule } from '../schedule.ts';

/** @param exclusive exscan: rank 0's `recv` is left alone */
export function scanRecursiveDoubling(s: Schedule, send: Buf, recv: Buf, r: Reduction, exclusive: boolean): void {
  const whole = s.scratch(send.bytes);
  const incoming = s.scratch(send.bytes);
  s.copy(send, whole);
  if (!exclusive) s.copy(send, recv);
  let empty = exclusive;
  for (let mask = 1; mask < s.size; mask *= 2) {
    const peer = s.rank ^ mask;
    if (peer >= s.size) continue;
    s.send(peer, whole).recv(peer, incoming).next();
    if (peer > s.rank) {
      s.reduceRight(r, incoming, whole);
      continue;
    }
    if (empty) s.copy(incoming, recv);
    else s.reduce(r, incoming, recv);
    empty = false;
    s.reduce(r, incoming, whole);
  }
}
