/** The collectives in which one rank has what all get, or gets what all have (MPI 4.1 §6.4 to §6.6). */
import { livingOf } from './living.ts';
import { part, type Buf } from '../buffers.ts';
import { checkRoot, partOf } from '../checks.ts';
import { ERR, fail } from '../errors.ts';
import { Schedule, start } from '../schedule.ts';
import { blocks, divided, given, room, unfit, type VectorArgument } from './arguments.ts';
import { bcastBinomial } from './bcast-binomial.ts';
import { bcastScatterAllgather } from './bcast-scatter-allgather.ts';
import { equalBlocks } from './blocks.ts';
import { gatherBinomial } from './gather-binomial.ts';
import { gathervLinear } from './gatherv-linear.ts';
import * as inter from './inter.ts';
import { scatterBinomial } from './scatter-binomial.ts';
import { scattervLinear } from './scatterv-linear.ts';
import { bcastOfTeams, teamsOf } from './teams.ts';
import { LONG, STRAIGHT } from './thresholds.ts';
import { commOf, type Layer } from '../layer.ts';

export function bcast(layer: Layer, c: number, buf: Buf, root: number, call = 'MPI_Bcast'): number {
  const comm = commOf(layer, c, call);
  const s = new Schedule(layer, comm, call);
  if (comm.remote) {
    inter.bcast(s, buf, partOf(comm, root, call));
    return start(s);
  }
  checkRoot(comm, root, call);
  const teams = teamsOf(s);
  const living = livingOf(s);
  if (living) bcastBinomial(living.s, buf, living.rank(root));
  else if (teams) bcastOfTeams(s, buf, root, teams);
  else if (buf.bytes >= LONG.bcast && s.size >= 4) bcastScatterAllgather(s, buf, root);
  else bcastBinomial(s, buf, root);
  return start(s);
}

export function gather(
  layer: Layer,
  c: number,
  send: Buf | undefined,
  recv: Buf | undefined,
  root: number,
  call = 'MPI_Gather',
): number {
  const comm = commOf(layer, c, call);
  if (comm.remote) {
    const p = partOf(comm, root, call);
    const s = new Schedule(layer, comm, call);
    inter.gather(
      s,
      p === 'bystander'
        ? undefined
        : given(comm, p === 'root' ? recv : send, call, p === 'root' ? 'the receive buffer' : 'the send buffer'),
      p,
    );
    return start(s);
  }
  checkRoot(comm, root, call);
  if (!send && comm.rank !== root) fail(ERR.BUFFER, call, `MPI_IN_PLACE is for the root (${root}) only`, c);
  const bytes = send?.bytes ?? divided(comm, recv?.bytes ?? 0, call, 'the receive buffer');
  const into =
    comm.rank === root ? room(layer, comm, recv, bytes * comm.group.length, call, 'the receive buffer') : undefined;
  const s = new Schedule(layer, comm, call);
  const living = livingOf(s);
  if (living) gathervLinear(living.s, send, into && living.blocks(equalBlocks(into, s.size, bytes)), living.rank(root));
  else if (bytes >= STRAIGHT) gathervLinear(s, send, into && equalBlocks(into, s.size, bytes), root);
  else gatherBinomial(s, send ?? part(into!, root * bytes, bytes), into, root);
  return start(s);
}

export function gatherv(
  layer: Layer,
  c: number,
  send: Buf | undefined,
  recv: VectorArgument | undefined,
  root: number,
  call = 'MPI_Gatherv',
): number {
  const comm = commOf(layer, c, call);
  if (comm.remote) {
    const p = partOf(comm, root, call);
    const s = new Schedule(layer, comm, call);
    if (p === 'root')
      inter.gatherv(
        s,
        undefined,
        blocks(comm, given(comm, recv, call, 'the receive buffer'), call, 'the receive buffer'),
        p,
      );
    else if (p !== 'bystander') inter.gatherv(s, given(comm, send, call, 'the send buffer'), undefined, p);
    return start(s);
  }
  checkRoot(comm, root, call);
  if (!send && comm.rank !== root) fail(ERR.BUFFER, call, `MPI_IN_PLACE is for the root (${root}) only`, c);
  if (!recv && comm.rank === root) fail(ERR.BUFFER, call, 'the root needs a receive buffer', c);
  const into = comm.rank === root ? blocks(comm, recv!, call, 'the receive buffer') : undefined;
  if (send && into && send.bytes !== into.lengths[root])
    unfit(
      layer,
      comm,
      ERR.COUNT,
      call,
      `the root sends ${send.bytes} bytes to itself, its block has ${into.lengths[root]}`,
    );
  const s = new Schedule(layer, comm, call);
  // The root alone knows the lengths: a tree would have to tell them first, and has as many messages.
  const living = livingOf(s);
  if (living) gathervLinear(living.s, send, into && living.blocks(into), living.rank(root));
  else gathervLinear(s, send, into, root);
  return start(s);
}

export function scatter(
  layer: Layer,
  c: number,
  send: Buf | undefined,
  recv: Buf | undefined,
  root: number,
  call = 'MPI_Scatter',
): number {
  const comm = commOf(layer, c, call);
  if (comm.remote) {
    const p = partOf(comm, root, call);
    const s = new Schedule(layer, comm, call);
    inter.scatter(
      s,
      p === 'bystander'
        ? undefined
        : given(comm, p === 'root' ? send : recv, call, p === 'root' ? 'the send buffer' : 'the receive buffer'),
      p,
    );
    return start(s);
  }
  checkRoot(comm, root, call);
  if (!recv && comm.rank !== root) fail(ERR.BUFFER, call, `MPI_IN_PLACE is for the root (${root}) only`, c);
  const bytes = recv?.bytes ?? divided(comm, send?.bytes ?? 0, call, 'the send buffer');
  const from =
    comm.rank === root ? room(layer, comm, send, bytes * comm.group.length, call, 'the send buffer') : undefined;
  const s = new Schedule(layer, comm, call);
  const living = livingOf(s);
  if (living)
    scattervLinear(living.s, from && living.blocks(equalBlocks(from, s.size, bytes)), recv, living.rank(root));
  else if (bytes >= STRAIGHT) scattervLinear(s, from && equalBlocks(from, s.size, bytes), recv, root);
  else scatterBinomial(s, from, recv, bytes, root);
  return start(s);
}

export function scatterv(
  layer: Layer,
  c: number,
  send: VectorArgument | undefined,
  recv: Buf | undefined,
  root: number,
  call = 'MPI_Scatterv',
): number {
  const comm = commOf(layer, c, call);
  if (comm.remote) {
    const p = partOf(comm, root, call);
    const s = new Schedule(layer, comm, call);
    if (p === 'root')
      inter.scatterv(
        s,
        blocks(comm, given(comm, send, call, 'the send buffer'), call, 'the send buffer'),
        undefined,
        p,
      );
    else if (p !== 'bystander') inter.scatterv(s, undefined, given(comm, recv, call, 'the receive buffer'), p);
    return start(s);
  }
  checkRoot(comm, root, call);
  if (!recv && comm.rank !== root) fail(ERR.BUFFER, call, `MPI_IN_PLACE is for the root (${root}) only`, c);
  if (!send && comm.rank === root) fail(ERR.BUFFER, call, 'the root needs a send buffer', c);
  const from = comm.rank === root ? blocks(comm, send!, call, 'the send buffer') : undefined;
  if (recv && from && recv.bytes !== from.lengths[root])
    unfit(
      layer,
      comm,
      ERR.COUNT,
      call,
      `the root receives ${recv.bytes} bytes from itself, its block has ${from.lengths[root]}`,
    );
  const s = new Schedule(layer, comm, call);
  const living = livingOf(s);
  if (living) scattervLinear(living.s, from && living.blocks(from), recv, living.rank(root));
  else scattervLinear(s, from, recv, root);
  return start(s);
}
