/**
 * The recovery line of a federation of clusters: which cluster goes back to which of its checkpoints after a failure
 * (hc3i, section 3.4). A cluster level checkpoint is a CLC; interval c of a cluster follows its CLC c.
 *
 * The failed clusters go back to the CLC that `start` names. When cluster i goes back to CLC s, what it did in
 * intervals from s on is undone. Cluster j depends on that from its first CLC whose DDV has an entry for i of at least
 * s: that CLC was committed before j received the first such message. So j goes back there, and this repeats for j.
 *
 * Targets only move towards the past, so the order of the work does not matter, and the line of several failures is the
 * minimum of their lines. There is no domino effect: each target lies causally after the last CLC of a failed cluster.
 * Cost: O(K² · CLCs) for K clusters.
 */

import type { Checkpoint } from '../contract/clusters.ts';

export type { Checkpoint };

/** By cluster: its stored CLCs, the oldest first. */
export type Stored = readonly (readonly Checkpoint[])[];

/** Clusters that go back, with the index of their CLC in {@link Stored}. */
export type Line = ReadonlyMap<number, number>;

/** @param start the failed clusters */
export function recoveryLine(stored: Stored, start: Line): Map<number, number> {
  const line = new Map(start);
  const work = [...start.keys()];
  for (let i = work.pop(); i !== undefined; i = work.pop()) {
    const { sn } = stored[i]![line.get(i)!]!;
    for (let j = 0; j < stored.length; j++) {
      if (j === i) continue;
      const first = stored[j]!.findIndex(({ ddv }) => ddv[i]! >= sn);
      if (first < 0 || first >= (line.get(j) ?? Infinity)) continue;
      line.set(j, first);
      work.push(j);
    }
  }
  return line;
}
