/** How far the program is, as it states: Mayfly's own call. Local, no event, no message. */
import { ERR, fail } from './errors.ts';
import type { Layer } from './layer.ts';

/** @throws MPIError ERR_ARG */
export function stateProgress({ device }: Layer, done: number, total: number, call: string): void {
  if (!(done >= 0 && total >= 0 && done < Infinity))
    fail(ERR.ARG, call, `progress ${done} of ${total}: expected numbers from 0`);
  // Nothing to do is all done; a loop that counts one too many has reached its end.
  device.progress?.(done >= total ? 1 : done / total);
}
