/**
 * Scatter down a binomial tree: each process gets the blocks of its whole subtree, keeps the first and passes the
 * others on. Cost: ⌈log₂ p⌉ α + (p−1)/p nβ.
 */
import { part, type Buf } from '../buffers.ts';
import { subtree } from './gather-binomial.ts';
import type { Schedule } from '../schedule.ts';

/** @param send at the root: p blocks @param mine undefined at the root: its block stays where it is */
export function scatterBinomial(
  s: Schedule,
  send: Buf | undefined,
  mine: Buf | undefined,
  bytes: number,
  root: number,
): void {
  const p = s.size;
  const me = (s.rank - root + p) % p;
  const real = (r: number): number => (r + root) % p;
  const width = subtree(me, p);
  let own: Buf;
  if (me === 0) {
    if (root === 0) own = send!;
    else {
      own = s.scratch(p * bytes);
      s.copy(part(send!, root * bytes, (p - root) * bytes), part(own, 0, (p - root) * bytes));
      s.copy(part(send!, 0, root * bytes), part(own, (p - root) * bytes, root * bytes));
    }
  } else {
    own = width === 1 ? mine! : s.scratch(width * bytes);
    s.recv(real(me - (me & -me)), part(own, 0, width * bytes)).next();
  }
  let mask = 1;
  while (mask < width) mask *= 2;
  for (mask >>= 1; mask > 0; mask >>= 1)
    if (mask < width) s.send(real(me + mask), part(own, mask * bytes, subtree(me + mask, p) * bytes));
  if (mine) s.copy(part(own, 0, bytes), mine);
}
