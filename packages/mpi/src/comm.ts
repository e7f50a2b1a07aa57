/**
 * Making, comparing and freeing communicators (MPI 4.1 chapter 7). A making is a schedule whose last step writes the record
 * (comm-make.ts): the request's `result` is the new handle, NULL where this process is not in it.
 */
import { allgatherBruck, allgatherRecursiveDoubling } from './collectives/allgather.ts';
import { allreduceRecursiveDoubling } from './collectives/allreduce-recursive-doubling.ts';
import { part, type Buf } from './buffers.ts';
import { intra } from './checks.ts';
import { SPLIT_BYTES } from './comm-make.ts';
import { COMM_SELF, COMM_WORLD, UNDEFINED } from './constants.ts';
import { UINT32 } from './datatypes.ts';
import { ERR, fail } from './errors.ts';
import { compareGroups, type Comparison } from './groups.ts';
import { opHandle } from './ops.ts';
import { Schedule, start } from './schedule.ts';
import { commOf, type Layer } from './layer.ts';
import type { Topology } from './state.ts';

/** All processes agree on the next free context: a maximum. */
function agreeOnContext(s: Schedule): Buf {
  const context = s.scratch(4);
  const view = s.layer.memory.view(context);
  new DataView(view.buffer, view.byteOffset).setUint32(0, s.layer.state.nextContext, true);
  allreduceRecursiveDoubling(s, context, { op: opHandle('MPI_MAX'), type: UINT32, commute: true, unit: 4 });
  s.next();
  return context;
}

/** [MPI_Comm_dup, MPI_Comm_idup] Topology and attributes come along. */
export function dup(layer: Layer, handle: number, call = 'MPI_Comm_dup'): number {
  const comm = intra(layer, handle, call);
  const s = new Schedule(layer, comm, call);
  const context = agreeOnContext(s);
  s.makeComm({ how: 'dup', comm: handle, name: `dup of ${comm.name}` }, context);
  return start(s);
}

/** [MPI_Comm_create] @param group tasks by rank of the new communicator, the same at all processes */
export function create(layer: Layer, handle: number, group: readonly number[], call = 'MPI_Comm_create', topology?: Topology): number {
  const comm = intra(layer, handle, call);
  for (const task of group) if (!comm.group.includes(task)) fail(ERR.GROUP, call, `task ${task} of the group is not in ${comm.name}`, handle);
  const s = new Schedule(layer, comm, call);
  const context = agreeOnContext(s);
  s.makeComm({ how: 'create', comm: handle, group: [...group], name: '', topology }, context);
  return start(s);
}

/** Tags of schedules that only a part of a communicator's processes runs; the others number theirs from 0. */
const PARTIAL = 0x4000_0000;

/** [MPI_Comm_create_group] Only the processes of the group take part; `tag` tells makings that go on side by side apart. */
export function createGroup(layer: Layer, handle: number, group: readonly number[], tag: number, call = 'MPI_Comm_create_group'): number {
  const comm = intra(layer, handle, call);
  for (const task of group) if (!comm.group.includes(task)) fail(ERR.GROUP, call, `task ${task} of the group is not in ${comm.name}`, handle);
  const s = new Schedule(layer, { ...comm, group: [...group], rank: group.indexOf(layer.state.task), collectives: PARTIAL + (tag & (PARTIAL - 1)) }, call);
  const context = agreeOnContext(s);
  s.makeComm({ how: 'create', comm: handle, group: [...group], name: '' }, context);
  return start(s);
}

/** [MPI_Comm_split] */
export function split(layer: Layer, handle: number, color: number, key: number, call = 'MPI_Comm_split', name = '', topology?: Topology): number {
  const comm = intra(layer, handle, call);
  if (!(Number.isInteger(color) && ((color >= 0 && color <= 0x7fff_ffff) || color === UNDEFINED))) fail(ERR.ARG, call, `color ${String(color)} is not a whole number from 0 to 2147483647, nor MPI_UNDEFINED`, handle);
  if ((key | 0) !== key) fail(ERR.ARG, call, `key ${String(key)} is not a 32-bit whole number`, handle);
  const s = new Schedule(layer, comm, call);
  const all = s.scratch(SPLIT_BYTES * s.size);
  const bytes = layer.memory.view(part(all, comm.rank * SPLIT_BYTES, SPLIT_BYTES));
  const mine = new DataView(bytes.buffer, bytes.byteOffset, SPLIT_BYTES);
  mine.setInt32(0, color, true);
  mine.setInt32(4, key, true);
  mine.setUint32(8, layer.state.nextContext, true);
  if ((s.size & (s.size - 1)) === 0) allgatherRecursiveDoubling(s, all, SPLIT_BYTES);
  else allgatherBruck(s, all, SPLIT_BYTES);
  s.next();
  s.makeComm({ how: 'split', comm: handle, name, topology }, all);
  return start(s);
}

/** [MPI_Comm_compare] */
export function compare(layer: Layer, a: number, b: number): Comparison {
  const x = commOf(layer, a, 'MPI_Comm_compare');
  const y = commOf(layer, b, 'MPI_Comm_compare');
  if (x.context === y.context && a === b) return 'IDENT';
  const groups = compareGroups(x.group, y.group);
  return groups === 'IDENT' ? 'CONGRUENT' : groups;
}

/** [MPI_Comm_free] The handle goes at once; operations under way on it complete. */
export function free(layer: Layer, handle: number): void {
  const comm = commOf(layer, handle, 'MPI_Comm_free');
  if (handle === COMM_WORLD || handle === COMM_SELF) fail(ERR.COMM, 'MPI_Comm_free', `${comm.name} cannot be freed`, handle);
  layer.state.comms.rows.delete(handle);
}
