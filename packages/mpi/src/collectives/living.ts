/**
 * Collectives of a communicator with holes (FT-MPI's mode BLANK): they run among the ranks that are left, and the
 * blocks of holes stay as they are.
 */
import { HOLE } from '@mayfly/wire';
import type { Schedule } from '../schedule.ts';
import type { Blocks } from './blocks.ts';

export interface Living {
  /** The schedule, numbered among those that are left. */
  readonly s: Schedule;
  rank(rank: number): number;
  blocks(all: Blocks): Blocks;
}

/** Undefined: there are no holes. */
export function livingOf(s: Schedule): Living | undefined {
  if (!s.comm.holes) return undefined;
  const ranks = s.comm.group.flatMap((task, rank) => (task === HOLE ? [] : [rank]));
  return {
    s: s.among(ranks),
    rank: (rank) => ranks.indexOf(rank),
    blocks: ({ buf, offsets, lengths }) => ({
      buf,
      offsets: ranks.map((r) => offsets[r]!),
      lengths: ranks.map((r) => lengths[r]!),
    }),
  };
}
