/**
 * Checks of arguments. Messages name the call, the argument and the allowed range; the communicator's error handler
 * gets them.
 */
import { HOLE } from '@mayfly/wire';
import { ANY_SOURCE, ANY_TAG, PROC_NULL, ROOT, TAG_UB } from './constants.ts';
import { ERR, fail } from './errors.ts';
import { DERIVED, elementType } from './datatypes.ts';
import { unsuited } from './ops.ts';
import { typeOf } from './types/index.ts';
import { commOf, type Layer } from './layer.ts';
import type { Reduction } from './schedule.ts';
import type { CommRecord } from './state.ts';

const ranks = (comm: CommRecord): string => `${comm.name} has ranks 0 to ${(comm.remote ?? comm.group).length - 1}`;

export function checkDest(comm: CommRecord, dest: number, call: string): void {
  if (dest === PROC_NULL) return;
  if (!Number.isInteger(dest) || dest < 0 || dest >= (comm.remote ?? comm.group).length)
    fail(ERR.RANK, call, `destination ${String(dest)} is not a rank: ${ranks(comm)} (or MPI_PROC_NULL)`, comm.handle);
}

export function checkSource(comm: CommRecord, source: number, call: string): void {
  if (source === ANY_SOURCE || source === PROC_NULL) return;
  if (!Number.isInteger(source) || source < 0 || source >= (comm.remote ?? comm.group).length)
    fail(
      ERR.RANK,
      call,
      `source ${String(source)} is not a rank: ${ranks(comm)} (or MPI_ANY_SOURCE, MPI_PROC_NULL)`,
      comm.handle,
    );
}

export function checkSendTag(comm: CommRecord, tag: number, call: string): void {
  if (!Number.isInteger(tag) || tag < 0 || tag > TAG_UB)
    fail(ERR.TAG, call, `tag ${String(tag)} is not in 0 to ${TAG_UB} (MPI_TAG_UB)`, comm.handle);
}

export function checkRecvTag(comm: CommRecord, tag: number, call: string): void {
  if (tag === ANY_TAG) return;
  if (!Number.isInteger(tag) || tag < 0 || tag > TAG_UB)
    fail(ERR.TAG, call, `tag ${String(tag)} is not in 0 to ${TAG_UB} (MPI_TAG_UB), nor MPI_ANY_TAG`, comm.handle);
}

export function checkRoot(comm: CommRecord, root: number, call: string): void {
  if (!Number.isInteger(root) || root < 0 || root >= comm.group.length)
    fail(ERR.ROOT, call, `root ${String(root)} is not a rank: ${ranks(comm)}`, comm.handle);
  if (comm.holes && comm.group[root] === HOLE) fail(ERR.ROOT, call, `rank ${root} is lost`, comm.handle);
}

/** A rank that was lost and stays empty is as MPI_PROC_NULL (FT-MPI's mode BLANK). */
export const orNull = (comm: CommRecord, rank: number): number =>
  comm.holes && rank >= 0 && comm.group[rank] === HOLE ? PROC_NULL : rank;

/** What a process of an intercommunicator is in a collective with this root (§6.2.3). */
export function partOf(comm: CommRecord, root: number, call: string): 'root' | 'bystander' | { root: number } {
  if (root === ROOT) return 'root';
  if (root === PROC_NULL) return 'bystander';
  if (!Number.isInteger(root) || root < 0 || root >= comm.remote!.length)
    fail(
      ERR.ROOT,
      call,
      `root ${String(root)} is not a rank: ${ranks(comm)} (or MPI_ROOT, MPI_PROC_NULL)`,
      comm.handle,
    );
  return { root };
}

/** Ranks that a collective gathers from or scatters to: of an intercommunicator the other group's. */
export const blocksOf = (comm: CommRecord): number => (comm.remote ?? comm.group).length;

/** Counts and displacements of a vector collective, as bytes; every block lies inside `bytes`. */
export function checkBlocks(
  comm: CommRecord,
  counts: ArrayLike<number>,
  displs: ArrayLike<number> | undefined,
  unit: number,
  bytes: number,
  call: string,
  what: string,
  n = blocksOf(comm),
): { offsets: number[]; lengths: number[] } {
  if (counts.length !== n)
    fail(ERR.COUNT, call, `${what} has ${counts.length} counts, one for each of ${n} ranks is needed`, comm.handle);
  if (displs && displs.length !== n)
    fail(
      ERR.ARG,
      call,
      `${what} has ${displs.length} displacements, one for each of ${n} ranks is needed`,
      comm.handle,
    );
  const offsets: number[] = [];
  const lengths: number[] = [];
  let at = 0;
  for (let i = 0; i < n; i++) {
    const count = counts[i]!;
    const from = displs ? displs[i]! : at;
    if (!Number.isInteger(count) || count < 0)
      fail(ERR.COUNT, call, `count ${String(count)} for rank ${i} in ${what} is not a whole number ≥ 0`, comm.handle);
    if (!Number.isInteger(from) || from < 0)
      fail(
        ERR.ARG,
        call,
        `displacement ${String(from)} for rank ${i} in ${what} is not a whole number ≥ 0`,
        comm.handle,
      );
    if ((from + count) * unit > bytes)
      fail(
        ERR.BUFFER,
        call,
        `the block of rank ${i} in ${what} ends at element ${from + count}, the buffer has ${Math.floor(bytes / unit)}`,
        comm.handle,
      );
    offsets.push(from * unit);
    lengths.push(count * unit);
    at += count;
  }
  return { offsets, lengths };
}

/** An operation on elements of a type. @throws MPIError ERR_OP */
export function reduction(
  layer: Layer,
  comm: number,
  op: number,
  type: number,
  bytes: number,
  call: string,
): Reduction {
  const record =
    layer.state.ops.rows.get(op) ??
    fail(ERR.OP, call, op === 0 ? 'the operation is MPI_OP_NULL' : 'the operation was freed', comm);
  if (type >= DERIVED) {
    if (record.builtin) fail(ERR.OP, call, `${record.name} is for predefined datatypes`, comm);
    return { op, type, commute: record.commute, unit: Math.max(typeOf(layer, type - DERIVED, call).layout.size, 1) };
  }
  const element = elementType(type);
  const problem = record.builtin && unsuited(record.builtin, element, bytes / element.bytes);
  if (problem) fail(ERR.OP, call, problem, comm);
  const pairs = element.kind !== 'pair' && (record.builtin === 'MPI_MINLOC' || record.builtin === 'MPI_MAXLOC');
  return { op, type, commute: record.commute, unit: pairs ? 2 * element.bytes : element.bytes };
}

/** An intracommunicator. */
export function intra(layer: Layer, handle: number, call: string): CommRecord {
  const comm = commOf(layer, handle, call);
  if (comm.remote) fail(ERR.COMM, call, `${comm.name} is an intercommunicator`, handle);
  return comm;
}
