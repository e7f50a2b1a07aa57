/**
 * Barrier by dissemination: in round k everybody tells the rank 2^k further on that it is here, and hears from the one
 * 2^k behind; after ⌈log₂ p⌉ rounds everybody has heard, directly or through others, from all.
 * Cost: ⌈log₂ p⌉ α.
 */
import { NO_BYTES } from '../buffers.ts';
import type { Schedule } from '../schedule.ts';

export function barrierDissemination(s: Schedule): void {
  for (let k = 1; k < s.size; k *= 2) {
    s.send((s.rank + k) % s.size, NO_BYTES)
      .recv((s.rank - k + s.size) % s.size, NO_BYTES)
      .next();
  }
}
