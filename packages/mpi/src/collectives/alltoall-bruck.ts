/**
 * All-to-all after Bruck, for short blocks: block i has i steps to go; round k moves all blocks whose distance has bit
 * k set, packed into one message, 2^k ahead. A logarithmic number of messages, each byte moves about log₂ p / 2 times.
 * Cost: ⌈log₂ p⌉ α + (log₂ p / 2) nβ.
 */
import { part, type Buf } from '../buffers.ts';
import { block, type Schedule } from '../schedule.ts';

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
