/** All-to-all, three ways. */
import { part, type Buf } from '../buffers.ts';
import { block, type Schedule } from '../schedule.ts';
import { blockOf, type Blocks } from './linear.ts';

/**
 * Spread: everything is sent at once, staggered so that not everybody begins with rank 0; then everything is awaited. Sends are buffered
 * by the Channel Memory, so nothing waits in turn.
 * Cost: (p−1) α overlapped + nβ; the messages of all p−1 peers may be under way at once.
 */
export function alltoallSpread(s: Schedule, send: Blocks, recv: Blocks): void {
  const p = s.size;
  s.copy(blockOf(send, s.rank), blockOf(recv, s.rank));
  for (let k = 1; k < p; k++) s.recv((s.rank - k + p) % p, blockOf(recv, (s.rank - k + p) % p));
  for (let k = 1; k < p; k++) s.send((s.rank + k) % p, blockOf(send, (s.rank + k) % p));
}

/**
 * Pairwise: p−1 rounds, in round k to the rank k ahead and from the rank k behind: one long block at a time in flight per process.
 * Cost: (p−1) α + nβ.
 */
export function alltoallPairwise(s: Schedule, send: Blocks, recv: Blocks): void {
  const p = s.size;
  s.copy(blockOf(send, s.rank), blockOf(recv, s.rank));
  for (let k = 1; k < p; k++) {
    const to = (s.rank + k) % p;
    const from = (s.rank - k + p) % p;
    s.recv(from, blockOf(recv, from)).send(to, blockOf(send, to)).next();
  }
}

/**
 * Bruck, for short blocks: block i has i steps to go; round k moves all blocks whose distance has bit k set, packed into one message, 2^k
 * ahead. A logarithmic number of messages, each byte moves about log₂ p / 2 times.
 * Cost: ⌈log₂ p⌉ α + (log₂ p / 2) nβ.
 */
export function alltoallBruck(s: Schedule, send: Buf, recv: Buf, bytes: number): void {
  const p = s.size;
  const turned = s.scratch(p * bytes);
  const out = s.scratch(Math.ceil(p / 2) * bytes);
  const into = s.scratch(Math.ceil(p / 2) * bytes);
  // turned[i] = block for the rank i ahead.
  const ahead = (p - s.rank) * bytes;
  s.copy(part(send, s.rank * bytes, ahead), part(turned, 0, ahead));
  s.copy(part(send, 0, p * bytes - ahead), part(turned, ahead, p * bytes - ahead));
  for (let k = 1; k < p; k *= 2) {
    const moved: number[] = [];
    for (let i = k; i < p; i++) if (i & k) moved.push(i);
    moved.forEach((i, j) => s.copy(block(turned, i, bytes), block(out, j, bytes)));
    s.send((s.rank + k) % p, part(out, 0, moved.length * bytes))
      .recv((s.rank - k + p) % p, part(into, 0, moved.length * bytes))
      .next();
    moved.forEach((i, j) => s.copy(block(into, j, bytes), block(turned, i, bytes)));
  }
  // turned[i] has come from the rank i behind.
  for (let i = 0; i < p; i++) s.copy(block(turned, i, bytes), block(recv, (s.rank - i + p) % p, bytes));
}
