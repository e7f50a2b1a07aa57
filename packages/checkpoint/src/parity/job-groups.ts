/**
 * The parity groups of one job, at the server: who is in which, whether a message between two nodes belongs to a group,
 * and how many nodes may be lost. Pure.
 *
 * A group lives as long as the connections of all its nodes (`Node` is a connection). After a loss it is of use for
 * recoveries only; once all ranks have a place again, it ends, and new groups begin with empty checksums, to which the
 * members send their images whole.
 *
 *  P1 Z1 holds when a group begins, and a rank that moves takes its group's end with it.
 *  P2 A group that was frozen for a recovery relays nothing any more: what its holders have stays as it is while it is
 *     read (Z4).
 *  P3 A member counts as protected when all holders have reported, on this connection, that they applied an image (Z6,
 *     Z7, Z8): a group that has just begun protects nobody.
 */
import { formGroups } from './groups.ts';

export interface PlacedTask<Node> {
  readonly task: number;
  readonly incarnation: number;
  /** Where it runs, or has run to its end; undefined: nowhere now. */
  readonly node: Node | undefined;
  /** It may have to restart. */
  readonly active: boolean;
  /** Its image counts, also when it has ended; absent: as `active`. */
  readonly needed?: boolean;
}

export type GroupOrder<Node> =
  | {
      readonly kind: 'member';
      readonly node: Node;
      readonly group: string;
      readonly task: number;
      readonly incarnation: number;
      readonly member: number;
      readonly members: number;
    }
  | {
      readonly kind: 'holder';
      readonly node: Node;
      readonly group: string;
      readonly holder: number;
      readonly members: number;
    }
  | { readonly kind: 'end'; readonly node: Node; readonly group: string };

/** What passes between a member and a holder, as far as it matters here. */
export interface GroupMessage {
  readonly group: string;
  readonly member: number;
  readonly holder: number;
  readonly kind: 'page' | 'change' | 'apply' | 'drop' | 'prepared' | 'applied';
  readonly version: number;
}

export interface JobGroup<Node> {
  readonly id: string;
  readonly members: readonly { readonly task: number; readonly incarnation: number; readonly node: Node }[];
  readonly holders: readonly Node[];
}

interface Living<Node> extends JobGroup<Node> {
  frozen: boolean;
  /** By holder and member: the newest image that the holder has applied. */
  readonly applied: (number | undefined)[][];
}

const FROM_MEMBER: readonly GroupMessage['kind'][] = ['page', 'change', 'apply', 'drop'];

export class JobGroups<Node> {
  #groups: Living<Node>[] = [];
  #number = 0;
  #tasks: readonly PlacedTask<Node>[] = [];
  #living: ReadonlySet<Node> = new Set();

  /** `name`: of this job and this start of the server; names of groups begin with it. */
  constructor(
    private readonly name: string,
    private readonly checksums: number,
    private readonly members: number,
  ) {}

  get groups(): readonly JobGroup<Node>[] {
    return this.#groups;
  }

  /** How the job is placed now, and which nodes may hold checksums, best first. */
  observe(tasks: readonly PlacedTask<Node>[], nodes: readonly Node[]): GroupOrder<Node>[] {
    this.#tasks = tasks;
    const living = new Set(nodes);
    this.#living = living;
    // A recovery may be under way, and needs the groups as they are.
    if (tasks.some((t) => t.active && t.node === undefined)) return [];
    const stale = this.#groups.filter((g) => !this.#holds(g, living));
    const out = this.#end(stale, living);
    const grouped = new Set(this.#groups.flatMap((g) => g.members.map((m) => m.task)));
    const free = tasks.flatMap(({ active, task, node }) =>
      active && !grouped.has(task) && living.has(node!) ? [{ task, node: node! }] : [],
    );
    const wishes = { members: this.members, checksums: this.checksums };
    for (const { members, holders } of formGroups(free, nodes, wishes)) {
      const group: Living<Node> = {
        id: `${this.name}-${++this.#number}`,
        members: members.map((m) => ({ ...m, incarnation: tasks.find((t) => t.task === m.task)!.incarnation })),
        holders,
        frozen: false,
        applied: holders.map(() => members.map(() => undefined)),
      };
      this.#groups.push(group);
      // Holders first: the members begin to send at once.
      const of = { group: group.id, members: members.length };
      for (const [holder, node] of holders.entries()) out.push({ kind: 'holder', node, holder, ...of });
      for (const [member, m] of group.members.entries()) out.push({ kind: 'member', member, ...m, ...of });
    }
    return out;
  }

  /** P1. */
  #holds(g: Living<Node>, living: ReadonlySet<Node>): boolean {
    if (g.frozen || !g.holders.every((n) => living.has(n))) return false;
    return g.members.every((m) => {
      const t = this.#tasks.find((x) => x.task === m.task);
      if (!living.has(m.node)) return false;
      // One that has ended leaves its images where they are.
      return t?.active ? t.node === m.node && t.incarnation === m.incarnation : true;
    });
  }

  #end(groups: readonly Living<Node>[], living: ReadonlySet<Node>): GroupOrder<Node>[] {
    this.#groups = this.#groups.filter((g) => !groups.includes(g));
    return groups.flatMap((g) =>
      [...g.members.map((m) => m.node), ...g.holders]
        .filter((node) => living.has(node))
        .map((node): GroupOrder<Node> => ({ kind: 'end', node, group: g.id })),
    );
  }

  /** The job is over. */
  end(nodes: readonly Node[]): GroupOrder<Node>[] {
    return this.#end(this.#groups, new Set(nodes));
  }

  /** The node that a message of this one is for; undefined: it is not relayed. */
  relay(from: Node, m: GroupMessage): Node | undefined {
    const g = this.#groups.find((x) => x.id === m.group);
    const member = g?.members[m.member];
    const holder = g?.holders[m.holder];
    if (!g || g.frozen || !member || holder === undefined) return undefined;
    if (FROM_MEMBER.includes(m.kind)) return from === member.node ? holder : undefined;
    if (from !== holder) return undefined;
    if (m.kind === 'applied') g.applied[m.holder]![m.member] = m.version;
    return member.node;
  }

  /** P2. The group of this task, for a recovery. */
  freeze(task: number): JobGroup<Node> | undefined {
    const g = this.#groups.find((x) => x.members.some((m) => m.task === task));
    if (g) g.frozen = true;
    return g;
  }

  /** P3. Of the tasks that run or may go back: how many are protected; how many nodes may close, whichever they are. */
  protection(): { spare: number; protectedRanks: number; ranks: number } {
    const active = this.#tasks.filter((t) => t.needed ?? t.active).map((t) => t.task);
    const safe = new Set(
      this.#groups.flatMap((g) =>
        this.#holds(g, this.#living)
          ? g.members.filter((_, j) => g.applied.every((h) => (h[j] ?? 0) > 0)).map((m) => m.task)
          : [],
      ),
    );
    const protectedRanks = active.filter((t) => safe.has(t)).length;
    const whole = active.length > 0 && protectedRanks === active.length;
    return { spare: whole ? this.checksums : 0, protectedRanks, ranks: active.length };
  }
}
