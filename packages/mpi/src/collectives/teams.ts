/**
 * Collectives in two levels, where ranks of a communicator exchange messages in memory (docs/teams.md): each team
 * combines at its first rank, the first ranks exchange among each other, and pass on what they got. A message between
 * teams takes the server's time, one within a team next to nothing.
 *
 * Which ranks form a team is fixed for the life of the job and the same at all tasks, so all choose alike, and a replay
 * chooses as before (TEAMS rule T10).
 *
 * **A result never depends on the placement of ranks.** What combines floating-point numbers keeps the order of the
 * algorithm in one level: two levels are taken only where they combine in that very order ({@link sameOrder}), or where
 * any order gives the same bits ({@link anyOrder}).
 */
import { NO_BYTES, part, type Buf } from '../buffers.ts';
import { elementType } from '../datatypes.ts';
import { allgatherBruck } from './allgather-bruck.ts';
import { allgatherRing } from './allgather-ring.ts';
import { allreduceRabenseifner } from './allreduce-rabenseifner.ts';
import { allreduceRecursiveDoubling } from './allreduce-recursive-doubling.ts';
import { alltoallSpread } from './alltoall-spread.ts';
import { barrierCentral } from './barrier-central.ts';
import { barrierDissemination } from './barrier-dissemination.ts';
import { bcastBinomial } from './bcast-binomial.ts';
import { bcastScatterAllgather } from './bcast-scatter-allgather.ts';
import { blockOf, type Blocks } from './blocks.ts';
import { reduceBinomial } from './reduce-binomial.ts';
import { LONG, MANY } from './thresholds.ts';
import type { Reduction, Schedule } from '../schedule.ts';

/** Ranks of a communicator by team, each group ascending, in the order of their first ranks. */
export interface Teams {
  readonly groups: readonly (readonly number[])[];
  /** The first rank of each. */
  readonly leaders: readonly number[];
  /** The group of the rank itself. */
  readonly mine: readonly number[];
}

/** Undefined: one level is all there is, as nobody has a teammate, or everybody is one. */
export function teamsOf(s: Schedule): Teams | undefined {
  const { teams } = s.layer.device;
  if (!teams) return undefined;
  const teamOf = new Map<number, number>();
  teams.forEach((tasks, team) => tasks.forEach((task) => teamOf.set(task, team)));
  const groups: number[][] = [];
  const known = new Map<number, number[]>();
  s.comm.group.forEach((task, rank) => {
    const team = teamOf.get(task);
    let group = team === undefined ? undefined : known.get(team);
    if (!group) {
      groups.push((group = []));
      if (team !== undefined) known.set(team, group);
    }
    group.push(rank);
  });
  if (groups.length === 1 || groups.length === s.size) return undefined;
  const mine = groups.find((g) => g.includes(s.rank))!;
  return { groups, leaders: groups.map((g) => g[0]!), mine };
}

/** Teams are blocks of 2^k neighbours: binary trees over all ranks combine each block before anything else. */
function sameOrder({ groups }: Teams): boolean {
  const length = groups[0]!.length;
  return (
    (length & (length - 1)) === 0 &&
    groups.every((g, i) => g.length === length && g[0] === i * length && g[length - 1] === (i + 1) * length - 1)
  );
}

/** The operation gives the same bits in any order. */
export function anyOrder(s: Schedule, r: Reduction): boolean {
  const builtin = s.layer.state.ops.rows.get(r.op)?.builtin;
  if (!builtin || !r.commute) return false;
  // Integers wrap around.
  const { kind } = elementType(r.type);
  return kind === 'integer' || kind === 'bigint' || kind === 'logical';
}

export function barrierOfTeams(s: Schedule, t: Teams): void {
  const [leader, ...others] = t.mine as [number, ...number[]];
  if (leader !== s.rank) {
    s.send(leader, NO_BYTES).recv(leader, NO_BYTES);
    return;
  }
  for (const rank of others) s.recv(rank, NO_BYTES);
  s.next();
  if (t.leaders.length < MANY.ranks) barrierDissemination(s.among(t.leaders));
  else barrierCentral(s.among(t.leaders));
  s.next();
  for (const rank of others) s.send(rank, NO_BYTES);
}

/** Two levels give the bits that one gives. `long`: one level would cut the vectors in pieces. */
export const allreduceKeeps = (s: Schedule, r: Reduction, long: boolean, t: Teams): boolean =>
  anyOrder(s, r) || (!long && sameOrder(t));

/** `acc` holds this rank's operand, and then the result. */
export function allreduceOfTeams(s: Schedule, acc: Buf, r: Reduction, long: boolean, t: Teams): void {
  const within = s.among(t.mine);
  reduceBinomial(within, acc, acc, r, 0);
  if (within.rank === 0) {
    s.next();
    if (long && t.leaders.length >= 4) allreduceRabenseifner(s.among(t.leaders), acc, r);
    else allreduceRecursiveDoubling(s.among(t.leaders), acc, r);
    s.next();
  }
  bcastBinomial(within, acc, 0);
}

/** The rank that speaks for each team: the root for its own. */
const speakers = (t: Teams, root: number): number[] => t.groups.map((g) => (g.includes(root) ? root : g[0]!));

/** `acc` holds this rank's operand; at the root it holds the result then. */
export function reduceOfTeams(s: Schedule, acc: Buf, r: Reduction, root: number, t: Teams): void {
  const speak = speakers(t, root);
  const within = s.among(t.mine);
  reduceBinomial(
    within,
    acc,
    acc,
    r,
    t.mine.findIndex((rank) => speak.includes(rank)),
  );
  if (!speak.includes(s.rank)) return;
  s.next();
  reduceBinomial(s.among(speak), acc, acc, r, speak.indexOf(root));
}

export function bcastOfTeams(s: Schedule, buf: Buf, root: number, t: Teams): void {
  const speak = speakers(t, root);
  if (speak.includes(s.rank)) {
    const between = s.among(speak);
    if (buf.bytes >= LONG.bcast && speak.length >= 4) bcastScatterAllgather(between, buf, speak.indexOf(root));
    else bcastBinomial(between, buf, speak.indexOf(root));
    s.next();
  }
  bcastBinomial(
    s.among(t.mine),
    buf,
    t.mine.findIndex((rank) => speak.includes(rank)),
  );
}

/** The own block lies at its place. All ranks know all lengths. */
export function allgatherOfTeams(s: Schedule, recv: Blocks, t: Teams): void {
  // Blocks in the order of the teams: those of one lie one behind the other.
  const order = t.groups.flat();
  const at = new Map<number, number>();
  let bytes = 0;
  for (const rank of order) {
    at.set(rank, bytes);
    bytes += recv.lengths[rank]!;
  }
  const all = s.scratch(bytes);
  const packed = (rank: number): Buf => part(all, at.get(rank)!, recv.lengths[rank]!);
  const [leader, ...others] = t.mine as [number, ...number[]];
  if (leader !== s.rank) s.send(leader, blockOf(recv, s.rank));
  else {
    s.copy(blockOf(recv, s.rank), packed(s.rank));
    for (const rank of others) s.recv(rank, packed(rank));
    s.next();
    const ofTeams: Blocks = {
      buf: all,
      offsets: t.groups.map((g) => at.get(g[0]!)!),
      lengths: t.groups.map((g) => g.reduce((sum, rank) => sum + recv.lengths[rank]!, 0)),
    };
    if (bytes >= LONG.allgather) allgatherRing(s.among(t.leaders), ofTeams);
    else allgatherBruck(s.among(t.leaders), ofTeams);
    s.next();
  }
  bcastBinomial(s.among(t.mine), all, 0);
  s.next();
  for (const rank of order) if (rank !== s.rank) s.copy(packed(rank), blockOf(recv, rank));
}

/**
 * Short blocks, which go in one message from team to team: a first rank has the blocks of its whole team.
 * @param bytes of a block
 */
export function alltoallOfTeams(s: Schedule, from: Buf, into: Buf, bytes: number, t: Teams): void {
  const { mine, groups, leaders } = t;
  const row = s.size * bytes;
  const leader = mine[0]!;
  if (leader !== s.rank) {
    s.send(leader, from).recv(leader, into);
    return;
  }
  // Row i: what the i-th rank of the team sends, and then what it gets.
  const rows = s.scratch(mine.length * row);
  const rowOf = (i: number): Buf => part(rows, i * row, row);
  s.copy(from, rowOf(0));
  mine.forEach((rank, i) => i > 0 && s.recv(rank, rowOf(i)));
  s.next();
  const lengths = groups.map((g) => g.length * mine.length * bytes);
  const blocks = (): Blocks => ({
    buf: s.scratch(mine.length * row),
    offsets: lengths.map((_, j) => lengths.slice(0, j).reduce((a, b) => a + b, 0)),
    lengths,
  });
  const [out, got] = [blocks(), blocks()];
  // To a team: sender by sender, receiver by receiver.
  groups.forEach((group, j) =>
    mine.forEach((_, i) =>
      group.forEach((rank, k) =>
        s.copy(part(rowOf(i), rank * bytes, bytes), part(blockOf(out, j), (i * group.length + k) * bytes, bytes)),
      ),
    ),
  );
  alltoallSpread(s.among(leaders), out, got);
  s.next();
  groups.forEach((group, j) =>
    group.forEach((rank, k) =>
      mine.forEach((_, i) =>
        s.copy(part(blockOf(got, j), (k * mine.length + i) * bytes, bytes), part(rowOf(i), rank * bytes, bytes)),
      ),
    ),
  );
  mine.forEach((rank, i) => (i > 0 ? s.send(rank, rowOf(i)) : s.copy(rowOf(0), into)));
}
