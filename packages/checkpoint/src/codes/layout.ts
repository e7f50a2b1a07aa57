/**
 * The schemes of Chen et al. 2005, section 3, in one layout: groups, each with members and with the holders of its
 * checksums. A copy is a checksum of one member. Processes have numbers: those that compute first, then those that only
 * hold checksums.
 *
 * A group survives if as many of its holders are left as members are lost, because each minor of the code's matrix is
 * non-singular. A process stands for a unit of failure (a node): {@link sharedNodes} finds groups that break that.
 */

export type Scheme =
  /** A copy of each of n members at a process of its own (3.1.1). */
  | { readonly name: 'mirror'; readonly members: number }
  /** A copy of each member at the next one (3.1.2). */
  | { readonly name: 'ring'; readonly members: number }
  /** Two members hold copies of each other; n is even (3.1.3). */
  | { readonly name: 'pair'; readonly members: number }
  /** One checksum of all members (3.2.1). */
  | { readonly name: 'checksum'; readonly members: number }
  /** Groups of `members`, each with a checksum (3.2.2). */
  | { readonly name: 'checksum-1d'; readonly members: number; readonly groups: number }
  /** Checksums of all members with different weights (3.3.1). */
  | { readonly name: 'weighted'; readonly members: number; readonly checksums: number }
  /** Groups of `members`, each with that many checksums (3.3.2). */
  | { readonly name: 'weighted-1d'; readonly members: number; readonly groups: number; readonly checksums: number };

export interface Group {
  /** Process numbers; the place in the list is the member's column of the code's matrix. */
  readonly members: readonly number[];
  /** Process numbers; holder i keeps checksum i. */
  readonly holders: readonly number[];
}

export interface Layout {
  readonly processes: number;
  readonly groups: readonly Group[];
}

const range = (n: number, from = 0): number[] => Array.from({ length: n }, (_, i) => from + i);

function grouped(members: number, checksums: number, groups: number): Layout {
  const computing = members * groups;
  return {
    processes: computing + checksums * groups,
    groups: range(groups).map((g) => ({
      members: range(members, g * members),
      holders: range(checksums, computing + g * checksums),
    })),
  };
}

/** Groups of one member, whose only holder is another member. */
const copies = (n: number, holder: (member: number) => number): Layout => ({
  processes: n,
  groups: range(n).map((i) => ({ members: [i], holders: [holder(i)] })),
});

/** @throws RangeError for numbers that the scheme has no layout for */
export function layoutOf(s: Scheme): Layout {
  const numbers = [s.members, 'groups' in s ? s.groups : 1, 'checksums' in s ? s.checksums : 1];
  if (!numbers.every((x) => Number.isSafeInteger(x) && x >= 1))
    throw new RangeError(`scheme ${s.name}: expected whole numbers above 0`);
  switch (s.name) {
    case 'mirror':
      return { ...copies(s.members, (i) => s.members + i), processes: 2 * s.members };
    case 'ring':
      if (s.members < 2) throw new RangeError('a ring needs two members');
      return copies(s.members, (i) => (i + 1) % s.members);
    case 'pair':
      if (s.members % 2 !== 0) throw new RangeError('pairs need an even number of members');
      return copies(s.members, (i) => i ^ 1);
    case 'checksum':
      return grouped(s.members, 1, 1);
    case 'checksum-1d':
      return grouped(s.members, 1, s.groups);
    case 'weighted':
      return grouped(s.members, s.checksums, 1);
    case 'weighted-1d':
      return grouped(s.members, s.checksums, s.groups);
  }
}

/** Whether every member's checkpoint can still be made. */
export const survives = (layout: Layout, lost: ReadonlySet<number>): boolean =>
  layout.groups.every((g) => {
    const members = g.members.filter((p) => lost.has(p)).length;
    return members === 0 || members <= g.holders.filter((p) => !lost.has(p)).length;
  });

/** Groups of which two processes are on one node: the loss of the node would be two losses (Z1). */
export const sharedNodes = <Node>(layout: Layout, nodeOf: (process: number) => Node): Group[] =>
  layout.groups.filter((g) => {
    const processes = [...g.members, ...g.holders];
    return new Set(processes.map(nodeOf)).size < processes.length;
  });
