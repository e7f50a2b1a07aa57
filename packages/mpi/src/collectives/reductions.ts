/** The collectives that combine what the ranks have by an operation (MPI 4.1 §6.9 to §6.11). */
import { livingOf } from './living.ts';
import { checkBlocks, checkRoot, intra, partOf, reduction } from '../checks.ts';
import { ERR, fail } from '../errors.ts';
import { Schedule, start, type Reduction } from '../schedule.ts';
import { allreduceRabenseifner } from './allreduce-rabenseifner.ts';
import { allreduceRecursiveDoubling } from './allreduce-recursive-doubling.ts';
import { divided, given, room } from './arguments.ts';
import * as inter from './inter.ts';
import { reduceBinomial } from './reduce-binomial.ts';
import { reduceRabenseifner } from './reduce-rabenseifner.ts';
import { reduceScatterSpread } from './reduce-scatter-spread.ts';
import { reduceScatterTree } from './reduce-scatter-tree.ts';
import { scanChain } from './scan-chain.ts';
import { scanRecursiveDoubling } from './scan-recursive-doubling.ts';
import { allreduceKeeps, allreduceOfTeams, anyOrder, reduceOfTeams, teamsOf } from './teams.ts';
import { LONG, MANY } from './thresholds.ts';
import type { Buf } from '../buffers.ts';
import type { Blocks } from './blocks.ts';
import { commOf, type Layer } from '../layer.ts';

/** `send` undefined: in place (at the root). */
export function reduce(
  layer: Layer,
  c: number,
  send: Buf | undefined,
  recv: Buf | undefined,
  type: number,
  op: number,
  root: number,
  call = 'MPI_Reduce',
): number {
  const comm = commOf(layer, c, call);
  if (comm.remote) {
    const p = partOf(comm, root, call);
    const buf =
      p === 'bystander'
        ? undefined
        : given(comm, p === 'root' ? recv : send, call, p === 'root' ? 'the receive buffer' : 'the send buffer');
    const r = p === 'bystander' ? undefined : reduction(layer, c, op, type, buf!.bytes, call);
    const s = new Schedule(layer, comm, call);
    inter.reduce(s, buf, r, p);
    return start(s);
  }
  checkRoot(comm, root, call);
  if (!send && comm.rank !== root) fail(ERR.BUFFER, call, `MPI_IN_PLACE is for the root (${root}) only`, c);
  const bytes = send?.bytes ?? recv?.bytes ?? 0;
  const r = reduction(layer, c, op, type, bytes, call);
  const into = comm.rank === root ? room(layer, comm, recv, bytes, call, 'the receive buffer') : undefined;
  const operand = send ?? into!;
  const s = new Schedule(layer, comm, call);
  const copied = (): Buf => {
    const acc = s.scratch(bytes);
    s.copy(operand, acc);
    return acc;
  };
  const teams = teamsOf(s);
  const living = livingOf(s);
  if (living) reduceBinomial(living.s, operand, into, r, living.rank(root));
  else if (teams && anyOrder(s, r)) {
    const acc = into ?? copied();
    s.copy(operand, acc);
    reduceOfTeams(s, acc, r, root, teams);
  } else if (long(s, r, bytes)) reduceRabenseifner(s, copied(), into, r, root);
  else reduceBinomial(s, operand, into, r, root);
  return start(s);
}

const long = (s: Schedule, r: Reduction, bytes: number): boolean => r.commute && bytes >= LONG.reduce && s.size >= 4;

export function allreduce(
  layer: Layer,
  c: number,
  send: Buf | undefined,
  recv: Buf,
  type: number,
  op: number,
  call = 'MPI_Allreduce',
): number {
  const comm = commOf(layer, c, call);
  if (comm.remote) given(comm, send, call, 'the send buffer');
  const bytes = send?.bytes ?? recv.bytes;
  const r = reduction(layer, c, op, type, bytes, call);
  const acc = room(layer, comm, recv, bytes, call, 'the receive buffer');
  const s = new Schedule(layer, comm, call);
  if (comm.remote) {
    inter.allreduce(s, send!, acc, r);
    return start(s);
  }
  if (send) s.copy(send, acc);
  const teams = teamsOf(s);
  const pieces = long(s, r, bytes);
  const living = livingOf(s);
  if (living) allreduceRecursiveDoubling(living.s, acc, r);
  else if (teams && allreduceKeeps(s, r, pieces, teams)) allreduceOfTeams(s, acc, r, pieces, teams);
  else if (pieces) allreduceRabenseifner(s, acc, r);
  else allreduceRecursiveDoubling(s, acc, r);
  return start(s);
}

export function scan(
  layer: Layer,
  c: number,
  send: Buf | undefined,
  recv: Buf,
  type: number,
  op: number,
  exclusive: boolean,
  call = exclusive ? 'MPI_Exscan' : 'MPI_Scan',
): number {
  const comm = intra(layer, c, call);
  const bytes = send?.bytes ?? recv.bytes;
  const r = reduction(layer, c, op, type, bytes, call);
  const into = room(layer, comm, recv, bytes, call, 'the receive buffer');
  const s = new Schedule(layer, comm, call);
  const living = livingOf(s);
  if (living) scanRecursiveDoubling(living.s, send ?? into, into, r, exclusive);
  else if (bytes >= LONG.scan && s.size >= 4) scanChain(s, send ?? into, into, r, exclusive);
  else scanRecursiveDoubling(s, send ?? into, into, r, exclusive);
  return start(s);
}

export function reduceScatter(
  layer: Layer,
  c: number,
  send: Buf | undefined,
  recv: Buf,
  counts: ArrayLike<number>,
  type: number,
  unit: number,
  op: number,
  call = 'MPI_Reduce_scatter',
): number {
  const comm = commOf(layer, c, call);
  if (comm.remote) given(comm, send, call, 'the send buffer');
  const operand = send ?? recv;
  const r = reduction(layer, c, op, type, operand.bytes, call);
  const from: Blocks = {
    buf: operand,
    ...checkBlocks(comm, counts, undefined, unit, operand.bytes, call, 'the send buffer', comm.group.length),
  };
  const own = from.lengths[comm.rank]!;
  if (own % r.unit !== 0) fail(ERR.OP, call, 'a block cuts a pair of value and index in two', c);
  const s = new Schedule(layer, comm, call);
  if (comm.remote) {
    inter.reduceScatter(s, operand, room(layer, comm, recv, own, call, 'the receive buffer'), from.lengths, r);
    return start(s);
  }
  const into = room(layer, comm, recv, own, call, 'the receive buffer');
  const living = livingOf(s);
  if (living) reduceScatterSpread(living.s, living.blocks(from), into, r);
  else if (s.size >= MANY.ranks && from.lengths.reduce((a, b) => a + b, 0) <= MANY.bytes)
    reduceScatterTree(s, from, into, r);
  else reduceScatterSpread(s, from, into, r);
  return start(s);
}

export function reduceScatterBlock(
  layer: Layer,
  c: number,
  send: Buf | undefined,
  recv: Buf,
  type: number,
  unit: number,
  op: number,
  call = 'MPI_Reduce_scatter_block',
): number {
  const comm = commOf(layer, c, call);
  const bytes = divided(
    comm,
    (send ?? recv).bytes,
    call,
    send ? 'the send buffer' : 'the receive buffer',
    comm.group.length,
  );
  return reduceScatter(
    layer,
    c,
    send,
    recv,
    new Array<number>(comm.group.length).fill(bytes / unit),
    type,
    unit,
    op,
    call,
  );
}

/** The check of an operation for a type alone, for MPI_Reduce_local. @throws MPIError ERR_OP */
export const checkReduction = (layer: Layer, op: number, type: number, bytes: number, call: string): void =>
  void reduction(layer, 0, op, type, bytes, call);
