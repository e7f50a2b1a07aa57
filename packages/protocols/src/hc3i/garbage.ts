/**
 * The garbage line: what no failure can go back behind. "It simulates a failure in each cluster and keeps the smallest
 * SN to which the clusters of the federation might rollback" (hc3i, section 3.5).
 *
 * The newest CLC of a cluster may be unusable, because its images are damaged. So the simulated failure starts at the
 * one before. The text of the paper does without this and keeps one CLC; its Table 2 shows two.
 *
 * A simulated failure of one cluster at a time suffices: the line of several is the minimum of their lines.
 */
import { recoveryLine, type Stored } from './recovery-line.ts';

/** CLCs of a cluster that may have to be tried: its newest, and one before. */
export const DEPTH = 2;

/** @returns by cluster: the index of the oldest CLC that is still needed */
export function garbageLine(stored: Stored, depth = DEPTH, line = recoveryLine): number[] {
  const oldest = stored.map((checkpoints) => checkpoints.length - 1);
  stored.forEach((checkpoints, failed) => {
    const start = new Map([[failed, Math.max(0, checkpoints.length - depth)]]);
    for (const [cluster, index] of line(stored, start)) oldest[cluster] = Math.min(oldest[cluster]!, index);
  });
  return oldest;
}
