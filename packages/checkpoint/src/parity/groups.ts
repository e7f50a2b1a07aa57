/**
 * Which nodes form a parity group, and what the loss of some may cost it. Pure functions.
 *
 * Z1: no two members or holders of a group are on one node, since a node is lost as a whole.
 */

/** A group: members by their column of the code's matrix, holders by their checksum. */
export interface ParityGroup<Node> {
  readonly members: readonly { readonly task: number; readonly node: Node }[];
  readonly holders: readonly Node[];
}

export interface GroupWishes {
  /** Most members of a group. */
  readonly members: number;
  readonly checksums: number;
}

/**
 * Deals tasks into groups and finds holders for each (Z1). Tasks of a node go to different groups; holders of a group
 * are the nodes outside of it that hold least so far.
 * @param nodes all nodes that may hold, in the order of preference
 * @returns groups; tasks for which there are not enough nodes are in none
 */
export function formGroups<Node>(
  tasks: readonly { readonly task: number; readonly node: Node }[],
  nodes: readonly Node[],
  { members, checksums }: GroupWishes,
): ParityGroup<Node>[] {
  // A group needs as many other nodes as checksums.
  const size = Math.min(members, new Set(nodes).size - checksums);
  if (size < 1) return [];
  const open: { task: number; node: Node }[][] = [];
  for (const t of tasks) {
    const group = open.find((g) => g.length < size && g.every((m) => m.node !== t.node));
    if (group) group.push(t);
    else open.push([t]);
  }
  const load = new Map<Node, number>([...new Set(nodes)].map((n) => [n, 0]));
  return open.flatMap((group) => {
    const free = [...load.keys()].filter((n) => group.every((m) => m.node !== n));
    const holders = free.sort((a, b) => load.get(a)! - load.get(b)!).slice(0, checksums);
    if (holders.length < checksums) return [];
    for (const h of holders) load.set(h, load.get(h)! + 1);
    return [{ members: group, holders }];
  });
}

/** Z1. */
export function separate<Node>(group: ParityGroup<Node>): boolean {
  const nodes = [...group.members.map((m) => m.node), ...group.holders];
  return new Set(nodes).size === nodes.length;
}
