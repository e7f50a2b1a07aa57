/**
 * Context ids: what keeps the messages of communicators apart (MPI 4.1 §7.2).
 *
 * Every process of a making brings an id of its own, and the greatest of them is taken. An id that a process brings is
 * made of a counter and its task number and brought once only, so two makings never agree on the same one, also when
 * several go on at once and in another order at every process (MPI_Comm_idup). Members of disjoint groups that are made
 * together (a split) share an id; no process is in two of them.
 */
import { allreduceRecursiveDoubling } from './collectives/allreduce-recursive-doubling.ts';
import { livingOf } from './collectives/living.ts';
import { part, type Buf } from './buffers.ts';
import { UINT32 } from './datatypes.ts';
import { ERR, fail } from './errors.ts';
import { opHandle } from './ops.ts';
import { CONTEXTS_END } from './constants.ts';
import { capacityOf, type Layer } from './layer.ts';
import type { Schedule } from './schedule.ts';

/** Ids of one communicator: point to point, collectives. */
const WIDTH = 2;

/** An id that no other making is offered. */
export function takeContext(layer: Layer, call: string): number {
  const { state } = layer;
  const id = (state.nextContext * capacityOf(layer) + state.task) * WIDTH;
  if (id >= CONTEXTS_END)
    fail(
      ERR.INTERN,
      call,
      `this process has taken part in the making of ${state.nextContext} communicators: there are no more context ids`,
    );
  state.nextContext++;
  return id;
}

/** The group of a schedule agrees on an id: afterwards `into` (4 bytes) holds it, as u32. */
export function agreeOnContext(s: Schedule, into: Buf = s.scratch(4)): Buf {
  const cell = part(into, 0, 4);
  const bytes = s.layer.memory.view(cell);
  new DataView(bytes.buffer, bytes.byteOffset).setUint32(0, takeContext(s.layer, s.call), true);
  allreduceRecursiveDoubling(livingOf(s)?.s ?? s, cell, {
    op: opHandle('MPI_MAX'),
    type: UINT32,
    commute: true,
    unit: 4,
  });
  s.next();
  return into;
}
