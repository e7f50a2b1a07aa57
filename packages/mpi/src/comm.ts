/**
 * Making, comparing and freeing communicators (MPI 4.1 chapter 7). A making is a schedule whose last step writes the
 * record (comm-make.ts): the request's `result` is the new handle, NULL where this process is not in it. Of an
 * intercommunicator the leaders (rank 0 of each group) exchange what their groups have agreed on. How
 * intercommunicators come to be: intercomm.ts.
 */
import { allgatherBruck } from './collectives/allgather-bruck.ts';
import { equalBlocks } from './collectives/blocks.ts';
import { livingOf } from './collectives/living.ts';
import { allgatherRecursiveDoubling } from './collectives/allgather-recursive-doubling.ts';
import { exchange } from './collectives/inter.ts';
import { part, type Buf } from './buffers.ts';
import { cardBytes, writeCard } from './cards.ts';
import { intra } from './checks.ts';
import { SPLIT_BYTES } from './comm-make.ts';
import { COMM_SELF, COMM_WORLD, FROM_GROUPS_CONTEXT, PARTIAL, UNDEFINED } from './constants.ts';
import { agreeOnContext, takeContext } from './contexts.ts';
import { ERR, fail } from './errors.ts';
import { compareGroups, type Comparison } from './groups.ts';
import { waitUntil } from './progress.ts';
import { Schedule, start } from './schedule.ts';
import { commOf, type Layer } from './layer.ts';
import type { CommRecord, Topology } from './state.ts';

/** [MPI_Comm_dup, MPI_Comm_idup] Topology and attributes come along. */
export function dup(layer: Layer, handle: number, call = 'MPI_Comm_dup'): number {
  const comm = commOf(layer, handle, call);
  const s = new Schedule(layer, comm, call);
  const contexts = s.scratch(8);
  agreeOnContext(s, part(contexts, 0, 4));
  if (comm.remote) exchange(s, part(contexts, 0, 4), part(contexts, 4, 4));
  const { group, remote, topology, errhandler, attributes } = comm;
  s.makeComm(
    {
      how: 'dup',
      comm: handle,
      name: `dup of ${comm.name}`,
      of: { group, remote, topology, errhandler, attributes: new Map(attributes) },
    },
    contexts,
  );
  return start(s);
}

function checkMembers(comm: CommRecord, group: readonly number[], call: string): void {
  for (const task of group)
    if (!comm.group.includes(task))
      fail(ERR.GROUP, call, `task ${task} of the group is not in ${comm.name}`, comm.handle);
}

/**
 * [MPI_Comm_create] @param group tasks by rank of the new communicator (of its local group), the same at all of them
 */
export function create(
  layer: Layer,
  handle: number,
  group: readonly number[],
  call = 'MPI_Comm_create',
  topology?: Topology,
): number {
  const comm = commOf(layer, handle, call);
  checkMembers(comm, group, call);
  const s = new Schedule(layer, comm, call);
  let gathered: Buf;
  if (comm.remote) {
    const bytes = cardBytes(layer);
    gathered = s.scratch(2 * bytes);
    writeCard(layer, part(gathered, 0, bytes), group);
    agreeOnContext(s, part(gathered, 0, 4));
    exchange(s, part(gathered, 0, bytes), part(gathered, bytes, bytes));
  } else gathered = agreeOnContext(s);
  s.makeComm({ how: 'create', comm: handle, group: [...group], name: '', topology }, gathered);
  return start(s);
}

/**
 * [MPI_Comm_create_group] Only the processes of the group take part; `tag` tells makings that go on side by side apart.
 */
export function createGroup(
  layer: Layer,
  handle: number,
  group: readonly number[],
  tag: number,
  call = 'MPI_Comm_create_group',
): number {
  const comm = intra(layer, handle, call);
  checkMembers(comm, group, call);
  return among(
    layer,
    { ...comm, group: [...group], rank: group.indexOf(layer.state.task), collectives: PARTIAL + (tag & (PARTIAL - 1)) },
    handle,
    call,
  );
}

/** The members of a record that is in no table make a communicator. */
function among(layer: Layer, comm: CommRecord, parent: number, call: string): number {
  const s = new Schedule(layer, comm, call);
  s.makeComm({ how: 'create', comm: parent, group: comm.group, name: '' }, agreeOnContext(s));
  return start(s);
}

/** A group that has no communicator, but a string that its processes agree on (§7.4.2, §7.6.2). */
export function groupAlone(layer: Layer, group: readonly number[], stringTag: string, call: string): CommRecord {
  const rank = group.indexOf(layer.state.task);
  if (rank < 0) fail(ERR.GROUP, call, 'this process is not in the group');
  return {
    handle: 0,
    name: 'the group',
    context: FROM_GROUPS_CONTEXT,
    group: [...group],
    rank,
    errhandler: 1,
    collectives: hash(stringTag),
    attributes: new Map(),
  };
}

/** FNV-1a, 31 bits: a tag of a text. */
function hash(text: string): number {
  let h = 0x811c9dc5;
  for (const byte of new TextEncoder().encode(text)) h = Math.imul(h ^ byte, 0x01000193);
  return h & 0x7fff_ffff;
}

/** [MPI_Comm_create_from_group] */
export const createFromGroup = (
  layer: Layer,
  group: readonly number[],
  stringTag: string,
  call = 'MPI_Comm_create_from_group',
): number => among(layer, groupAlone(layer, group, stringTag, call), 0, call);

/** [MPI_Comm_split] */
export function split(
  layer: Layer,
  handle: number,
  color: number,
  key: number,
  call = 'MPI_Comm_split',
  name = '',
  topology?: Topology,
): number {
  const comm = commOf(layer, handle, call);
  if (!(Number.isInteger(color) && ((color >= 0 && color <= 0x7fff_ffff) || color === UNDEFINED)))
    fail(ERR.ARG, call, `color ${String(color)} is not a whole number from 0 to 2147483647, nor MPI_UNDEFINED`, handle);
  if ((key | 0) !== key) fail(ERR.ARG, call, `key ${String(key)} is not a 32-bit whole number`, handle);
  const s = new Schedule(layer, comm, call);
  const gathered = s.scratch(SPLIT_BYTES * (s.size + (comm.remote?.length ?? 0)));
  const all = part(gathered, 0, SPLIT_BYTES * s.size);
  const bytes = layer.memory.view(part(all, comm.rank * SPLIT_BYTES, SPLIT_BYTES));
  const mine = new DataView(bytes.buffer, bytes.byteOffset, SPLIT_BYTES);
  mine.setInt32(0, color, true);
  mine.setInt32(4, key, true);
  mine.setUint32(8, takeContext(layer, call), true);
  const living = livingOf(s);
  if (living) allgatherBruck(living.s, living.blocks(equalBlocks(all, s.size, SPLIT_BYTES)));
  else if ((s.size & (s.size - 1)) === 0) allgatherRecursiveDoubling(s, all, SPLIT_BYTES);
  else allgatherBruck(s, equalBlocks(all, s.size, SPLIT_BYTES));
  s.next();
  if (comm.remote) exchange(s, all, part(gathered, all.bytes, SPLIT_BYTES * comm.remote.length));
  s.makeComm({ how: 'split', comm: handle, name, topology }, gathered);
  return start(s);
}

/** MPI_COMM_TYPE_… */
export type SplitType = 'shared' | 'hwGuided' | 'hwUnguided' | 'resourceGuided';

/**
 * [MPI_Comm_split_type] @param type undefined: MPI_UNDEFINED
 * One rank is one sandbox with a memory of its own: what shares memory with a rank is the rank itself. "MPI_COMM_NULL"
 * where nothing is known of the resource that is asked for (§7.4.2); the groups of an intercommunicator share none.
 */
export function splitType(
  layer: Layer,
  handle: number,
  type: SplitType | undefined,
  key: number,
  hints: ReadonlyMap<string, string> | undefined,
  call = 'MPI_Comm_split_type',
): number {
  const comm = commOf(layer, handle, call);
  const guided = type === 'resourceGuided';
  const hardware = guided || type === 'hwGuided' ? hints?.get('mpi_hw_resource_type') : undefined;
  const set = guided ? hints?.get('mpi_pset_name') : undefined;
  const alone = type === 'shared' || hardware === 'mpi_shared_memory' || set === SELF_SET;
  return split(layer, handle, set === WORLD_SET ? 0 : alone && !comm.remote ? comm.rank : UNDEFINED, key, call);
}

/** Process sets (§11.3.2): a session's groups are made of them. */
export const WORLD_SET = 'mpi://WORLD';
export const SELF_SET = 'mpi://SELF';
export const processSets = (layer: Layer): Map<string, number[]> =>
  new Map([
    [WORLD_SET, [...layer.state.comms.rows.get(COMM_WORLD)!.group]],
    [SELF_SET, [layer.state.task]],
  ]);
/** Tasks of a set. "A URI": its scheme and the names that the standard gives are the same in any case. */
export const processSet = (layer: Layer, name: string): number[] | undefined =>
  [...processSets(layer)].find(([known]) => known.toLowerCase() === name.toLowerCase())?.[1];

const ORDER: readonly Comparison[] = ['IDENT', 'CONGRUENT', 'SIMILAR', 'UNEQUAL'];

/** [MPI_Comm_compare] Of intercommunicators both groups count. */
export function compare(layer: Layer, a: number, b: number): Comparison {
  const x = commOf(layer, a, 'MPI_Comm_compare');
  const y = commOf(layer, b, 'MPI_Comm_compare');
  if (a === b) return 'IDENT';
  if ((x.remote === undefined) !== (y.remote === undefined)) return 'UNEQUAL';
  const sides = [compareGroups(x.group, y.group), ...(x.remote ? [compareGroups(x.remote, y.remote!)] : [])];
  const worst = ORDER[Math.max(...sides.map((s) => ORDER.indexOf(s)))]!;
  return worst === 'IDENT' ? 'CONGRUENT' : worst;
}

/** @throws MPIError ERR_COMM */
export function checkFree(comm: CommRecord, call: string): void {
  if (comm.handle === COMM_WORLD || comm.handle === COMM_SELF)
    fail(ERR.COMM, call, `${comm.name} cannot be freed`, comm.handle);
}

/**
 * [MPI_Comm_free] The handle goes at once; operations under way on it complete, and need the record for their statuses
 * until then.
 */
export function free(layer: Layer, handle: number, call = 'MPI_Comm_free'): void {
  const comm = commOf(layer, handle, call);
  checkFree(comm, call);
  comm.freed = true;
  const { comms, requests } = layer.state;
  const used = new Set([...requests.rows.values()].map((r) => r.comm));
  for (const c of comms.rows.values()) if (c.freed && !used.has(c.handle)) comms.rows.delete(c.handle);
}

/** [MPI_Comm_disconnect, first half] Waits until all communication on it is complete. */
export function quiesce(layer: Layer, handle: number): void {
  const call = 'MPI_Comm_disconnect';
  checkFree(commOf(layer, handle, call), call);
  waitUntil(
    layer,
    () => ![...layer.state.requests.rows.values()].some((r) => r.comm === handle && !r.done),
    () => ({ call }),
  );
}
