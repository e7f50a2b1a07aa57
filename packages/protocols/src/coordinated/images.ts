/** Images of waves: each belongs to one, and goes with it. */
import { WORLD, type Cut, type ProtocolName } from '@mayfly/wire';
import { MalformedPosition } from '../contract/position.ts';
import type { ImagePolicy } from '../images/policy.ts';
import { inWaveOf } from './position.ts';

function refuses({ arrivals, sends, receives, held }: Cut, size: number): string | undefined {
  for (const counts of [sends, receives]) {
    const seen = new Set<number>();
    for (const [task] of counts) {
      if ((task >= size && task < WORLD - 1) || seen.has(task))
        return `The cut names task ${task}, which does not exist, or names it twice.`;
      seen.add(task);
    }
  }
  if (receives.reduce((sum, [, n]) => sum + n, 0) !== arrivals)
    return 'The messages of the senders do not add up to the arrivals.';
  return held.every((a, i) => a <= arrivals && a > (held[i - 1] ?? 0))
    ? undefined
    : 'The held arrivals are not in order, or lie behind the image.';
}

export const imagesOf = (protocol: ProtocolName): ImagePolicy => ({
  waveOf: (position) => inWaveOf(position, protocol).wave,
  refuses(position, { size }) {
    try {
      return refuses(inWaveOf(position, protocol).cut, size);
    } catch (error) {
      if (error instanceof MalformedPosition) return error.message;
      throw error;
    }
  },
  covers: () => true,
  trimTo: (kept) => kept[0]!,
});
