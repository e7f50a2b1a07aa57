/**
 * Barrier at rank 0: everybody tells it, and when it has heard from all it tells everybody. A message costs its sender
 * nothing but the hand-over, so two hops are fewer than the rounds of a dissemination, and the messages are fewer by
 * far. Cost: 2 α + 2 (p−1) o at rank 0 (o: one message sent or consumed); 2 (p−1) messages.
 */
import { NO_BYTES } from '../buffers.ts';
import type { Schedule } from '../schedule.ts';

export function barrierCentral(s: Schedule): void {
  if (s.rank !== 0) {
    s.send(0, NO_BYTES).recv(0, NO_BYTES);
    return;
  }
  for (let i = 1; i < s.size; i++) s.recv(i, NO_BYTES);
  s.next();
  for (let i = 1; i < s.size; i++) s.send(i, NO_BYTES);
}
