/**
 * The calls of ULFM (docs/ulfm.md). Agreements are decided by the membership service of the job (U4, U5): a member
 * sends its contribution, and a notice brings what all have agreed on.
 */
import { HOLE, WORLD, WorldMode, encodeMember, type MemberRequest } from '@mayfly/wire';
import { intra } from '../checks.ts';
import { allreduceRecursiveDoubling } from '../collectives/allreduce-recursive-doubling.ts';
import { dup } from '../comm.ts';
import { ANY_SOURCE } from '../constants.ts';
import { takeContext } from '../contexts.ts';
import { UINT32 } from '../datatypes.ts';
import { ERR, fail } from '../errors.ts';
import { commOf, type Layer } from '../layer.ts';
import { opHandle } from '../ops.ts';
import { pollUntil } from '../progress.ts';
import { Schedule, start } from '../schedule.ts';
import { acknowledgedOf, lostOf } from './broken.ts';
import { revoke as revokeHere } from './notice.ts';
import { noFailures } from './state.ts';
import type { CollectiveRequest, CommRecord } from '../state.ts';

/** @throws MPIError ERR_UNSUPPORTED_OPERATION in a job whose losses are not told */
function ask(layer: Layer, call: string, comm: CommRecord, request: MemberRequest): void {
  if (!layer.device.tellsLosses)
    fail(
      ERR.UNSUPPORTED_OPERATION,
      call,
      'only in a job under the protocol "app": elsewhere a lost process is started again, or ends the job',
      comm.handle,
    );
  layer.device.send(WORLD, WorldMode.MEMBER, 0, 0, 0, encodeMember(request));
}

/** Ascending: the name of the communicator at the service, with its context. */
const membersOf = (comm: CommRecord): number[] =>
  [...comm.group, ...(comm.remote ?? [])].filter((t) => t !== HOLE).sort((a, b) => a - b);

/** What has arrived is heard: these calls are local, and may be all that a program calls for a while. */
const listen = (layer: Layer): void => void pollUntil(layer, () => false);

/** [MPIX_Comm_revoke] */
export function revoke(layer: Layer, handle: number, call = 'MPIX_Comm_revoke'): void {
  const comm = commOf(layer, handle, call);
  if (comm.revoked) return;
  ask(layer, call, comm, { op: 'revoke', context: comm.context, members: membersOf(comm) });
  revokeHere(layer, comm.context);
}

/** [MPIX_Comm_is_revoked] */
export function isRevoked(layer: Layer, handle: number, call = 'MPIX_Comm_is_revoked'): boolean {
  const comm = commOf(layer, handle, call);
  listen(layer);
  return comm.revoked === true;
}

/** [MPIX_Comm_agree, MPIX_Comm_iagree] The request's `agreed` has the flag. */
export const agree = (layer: Layer, handle: number, flag: number, call = 'MPIX_Comm_agree'): number =>
  startAgreement(layer, handle, 'agree', flag, call);

/** [MPIX_Comm_shrink, MPIX_Comm_ishrink] The request's result is the new communicator. @param flag is agreed on, too */
export const shrink = (layer: Layer, handle: number, call = 'MPIX_Comm_shrink', flag = -1): number =>
  startAgreement(layer, handle, 'shrink', flag, call);

function startAgreement(layer: Layer, handle: number, op: 'agree' | 'shrink', flag: number, call: string): number {
  const { state } = layer;
  const comm = commOf(layer, handle, call);
  if (!layer.device.tellsLosses)
    return op === 'agree' ? agreeAmongAll(layer, comm, flag, call) : dup(layer, handle, call);
  const number = comm.agreements ?? 0;
  ask(layer, call, comm, {
    op,
    context: comm.context,
    members: membersOf(comm),
    number,
    flag: flag | 0,
    offer: op === 'shrink' ? takeContext(layer, call) : 0,
    acknowledged: acknowledgedOf(layer, comm),
  });
  comm.agreements = number + 1;
  const request = state.requests.next++;
  (state.failures ??= noFailures()).agreements.set(`${comm.context}/${number}`, request);
  state.requests.rows.set(request, {
    kind: 'coll',
    handle: request,
    call,
    comm: handle,
    done: false,
    freed: false,
    error: undefined,
    status: { source: ANY_SOURCE, tag: -1, bytes: 0, cancelled: false, object: false },
    spaces: [],
    parent: 0,
    unpack: undefined,
    context: comm.context,
    tag: 0,
    rounds: [],
    round: 0,
    // The notice.
    outstanding: 1,
    running: false,
    result: 0,
    agreement: op,
  });
  return request;
}

/** Where no loss is told: a reduction. @throws MPIError ERR_UNSUPPORTED_OPERATION on an intercommunicator */
function agreeAmongAll(layer: Layer, comm: CommRecord, flag: number, call: string): number {
  const s = new Schedule(layer, intra(layer, comm.handle, call), call);
  const cell = s.scratch(4);
  const bytes = layer.memory.view(cell);
  new DataView(bytes.buffer, bytes.byteOffset).setInt32(0, flag | 0, true);
  allreduceRecursiveDoubling(s, cell, { op: opHandle('MPI_BAND'), type: UINT32, commute: true, unit: 4 });
  const request = start(s);
  (layer.state.requests.rows.get(request) as CollectiveRequest).flagAt = cell;
  return request;
}

/** [MPIX_Comm_get_failed] Tasks, in an order that is the same at all members. */
export function getFailed(layer: Layer, handle: number, call = 'MPIX_Comm_get_failed'): number[] {
  const comm = commOf(layer, handle, call);
  listen(layer);
  return lostOf(layer, comm);
}

/** [MPIX_Comm_ack_failed] @returns how many are acknowledged now */
export function ackFailed(layer: Layer, handle: number, most: number, call = 'MPIX_Comm_ack_failed'): number {
  const comm = commOf(layer, handle, call);
  if (most < 0) fail(ERR.ARG, call, `num_to_ack ${most} is negative`, comm.handle);
  const known = lostOf(layer, comm).length;
  return (comm.acknowledged = Math.max(comm.acknowledged ?? 0, Math.min(most, known)));
}

/** [MPIX_Comm_failure_ack] */
export function failureAck(layer: Layer, handle: number, call = 'MPIX_Comm_failure_ack'): void {
  ackFailed(layer, handle, getFailed(layer, handle, call).length, call);
}

/** [MPIX_Comm_failure_get_acked] Tasks. */
export const getAcked = (layer: Layer, handle: number, call = 'MPIX_Comm_failure_get_acked'): number[] =>
  acknowledgedOf(layer, commOf(layer, handle, call));
