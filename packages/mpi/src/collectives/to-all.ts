/** The collectives in which every rank hears from every other (MPI 4.1 §6.3, §6.7, §6.8). */
import { livingOf } from './living.ts';
import { part, type Buf } from '../buffers.ts';
import { blocksOf } from '../checks.ts';
import { ERR } from '../errors.ts';
import { Schedule, start } from '../schedule.ts';
import { allgatherBruck } from './allgather-bruck.ts';
import { allgatherRecursiveDoubling } from './allgather-recursive-doubling.ts';
import { allgatherRing } from './allgather-ring.ts';
import { alltoallBruck } from './alltoall-bruck.ts';
import { alltoallPairwise } from './alltoall-pairwise.ts';
import { alltoallSpread } from './alltoall-spread.ts';
import { blocks, divided, given, room, unfit, type VectorArgument } from './arguments.ts';
import { barrierCentral } from './barrier-central.ts';
import { barrierDissemination } from './barrier-dissemination.ts';
import { equalBlocks, type Blocks } from './blocks.ts';
import * as inter from './inter.ts';
import { allgatherOfTeams, alltoallOfTeams, barrierOfTeams, teamsOf } from './teams.ts';
import { CENTRAL, LONG, MANY, PACKED, SHARED } from './thresholds.ts';
import { commOf, type Layer } from '../layer.ts';

export function barrier(layer: Layer, c: number, call = 'MPI_Barrier'): number {
  const comm = commOf(layer, c, call);
  const s = new Schedule(layer, comm, call);
  const teams = teamsOf(s);
  const living = livingOf(s);
  if (living) barrierDissemination(living.s);
  else if (comm.remote) inter.barrier(s);
  else if (teams) barrierOfTeams(s, teams);
  else if (s.size >= MANY.ranks && s.size <= CENTRAL) barrierCentral(s);
  else barrierDissemination(s);
  return start(s);
}

export function allgather(layer: Layer, c: number, send: Buf | undefined, recv: Buf, call = 'MPI_Allgather'): number {
  const comm = commOf(layer, c, call);
  if (comm.remote) {
    const s = new Schedule(layer, comm, call);
    inter.allgather(s, given(comm, send, call, 'the send buffer'), recv);
    return start(s);
  }
  const n = comm.group.length;
  const bytes = send?.bytes ?? divided(comm, recv.bytes, call, 'the receive buffer');
  const into = room(layer, comm, recv, bytes * n, call, 'the receive buffer');
  const s = new Schedule(layer, comm, call);
  if (send) s.copy(send, part(into, comm.rank * bytes, bytes));
  const teams = teamsOf(s);
  const living = livingOf(s);
  if (living) allgatherRing(living.s, living.blocks(equalBlocks(into, n, bytes)));
  else if (teams) allgatherOfTeams(s, equalBlocks(into, n, bytes), teams);
  else if (bytes * n >= LONG.allgather) allgatherRing(s, equalBlocks(into, n, bytes));
  else if ((n & (n - 1)) === 0) allgatherRecursiveDoubling(s, into, bytes);
  else allgatherBruck(s, equalBlocks(into, n, bytes));
  return start(s);
}

export function allgatherv(
  layer: Layer,
  c: number,
  send: Buf | undefined,
  recv: VectorArgument,
  call = 'MPI_Allgatherv',
): number {
  const comm = commOf(layer, c, call);
  const into = blocks(comm, recv, call, 'the receive buffer');
  if (comm.remote) {
    const s = new Schedule(layer, comm, call);
    inter.allgatherv(s, given(comm, send, call, 'the send buffer'), into);
    return start(s);
  }
  const own = into.lengths[comm.rank]!;
  if (send && send.bytes !== own)
    unfit(
      layer,
      comm,
      ERR.COUNT,
      call,
      `the send buffer has ${send.bytes} bytes, the own block in the receive buffer ${own}`,
    );
  const s = new Schedule(layer, comm, call);
  if (send) s.copy(send, part(into.buf, into.offsets[comm.rank]!, own));
  const teams = teamsOf(s);
  const living = livingOf(s);
  if (living) allgatherRing(living.s, living.blocks(into));
  else if (teams) allgatherOfTeams(s, into, teams);
  else if (into.lengths.reduce((a, b) => a + b, 0) < LONG.allgather) allgatherBruck(s, into);
  else allgatherRing(s, into);
  return start(s);
}

export function alltoall(layer: Layer, c: number, send: Buf | undefined, recv: Buf, call = 'MPI_Alltoall'): number {
  const comm = commOf(layer, c, call);
  const n = blocksOf(comm);
  if (comm.remote) {
    const from = given(comm, send, call, 'the send buffer');
    const s = new Schedule(layer, comm, call);
    inter.alltoall(
      s,
      equalBlocks(from, n, divided(comm, from.bytes, call, 'the send buffer')),
      equalBlocks(recv, n, divided(comm, recv.bytes, call, 'the receive buffer')),
    );
    return start(s);
  }
  const bytes = divided(comm, (send ?? recv).bytes, call, send ? 'the send buffer' : 'the receive buffer');
  const into = room(layer, comm, recv, bytes * n, call, 'the receive buffer');
  const s = new Schedule(layer, comm, call);
  const from = send ?? s.scratch(bytes * n);
  if (!send) s.copy(into, from);
  const teams = teamsOf(s);
  const living = livingOf(s);
  if (living)
    alltoallSpread(living.s, living.blocks(equalBlocks(from, n, bytes)), living.blocks(equalBlocks(into, n, bytes)));
  else if (teams && bytes <= SHARED) alltoallOfTeams(s, from, into, bytes, teams);
  else if (bytes <= PACKED.bytes && n >= PACKED.ranks) alltoallBruck(s, from, into, bytes);
  else if (bytes < LONG.alltoall) alltoallSpread(s, equalBlocks(from, n, bytes), equalBlocks(into, n, bytes));
  else alltoallPairwise(s, equalBlocks(from, n, bytes), equalBlocks(into, n, bytes));
  return start(s);
}

export function alltoallv(
  layer: Layer,
  c: number,
  send: VectorArgument | undefined,
  recv: VectorArgument,
  call = 'MPI_Alltoallv',
): number {
  const comm = commOf(layer, c, call);
  const into = blocks(comm, recv, call, 'the receive buffer');
  const s = new Schedule(layer, comm, call);
  if (comm.remote) {
    inter.alltoall(s, blocks(comm, given(comm, send, call, 'the send buffer'), call, 'the send buffer'), into);
    return start(s);
  }
  let from: Blocks;
  if (send) from = blocks(comm, send, call, 'the send buffer');
  else {
    from = { ...into, buf: s.scratch(into.buf.bytes) };
    s.copy(into.buf, from.buf);
  }
  if (from.lengths[comm.rank] !== into.lengths[comm.rank])
    unfit(
      layer,
      comm,
      ERR.COUNT,
      call,
      `the block for the rank itself has ${from.lengths[comm.rank]} bytes to send and ` +
        `${into.lengths[comm.rank]} to receive`,
    );
  // Only this rank knows its lengths: no choice by size. Each pair has one message either way, so the order does not
  // matter.
  const living = livingOf(s);
  if (living) alltoallSpread(living.s, living.blocks(from), living.blocks(into));
  else alltoallSpread(s, from, into);
  return start(s);
}
