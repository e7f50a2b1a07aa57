/**
 * What fails because a process is lost or a communicator was revoked (ULFM; U1, U2 of docs/ulfm.md): questions over the
 * layer's state, without effects. While nothing has failed, each costs one comparison.
 */
import { ANY_SOURCE, COLLECTIVE, PARTIAL } from '../constants.ts';
import { ERR, type ErrorRecord } from '../errors.ts';
import { rankOfTask, type Layer } from '../layer.ts';
import type { CommRecord, ReceiveRequest, RequestRecord } from '../state.ts';

/** Lost members of a communicator, of both groups of an intercommunicator, in the order of the notices. */
export function lostOf(layer: Layer, comm: Pick<CommRecord, 'group' | 'remote'>): number[] {
  const { failures } = layer.state;
  if (!failures || failures.lost.length === 0) return [];
  return failures.lost.filter((t) => isMember(comm, t));
}

const isMember = ({ group, remote }: Pick<CommRecord, 'group' | 'remote'>, task: number): boolean =>
  rankOfTask(group, task) >= 0 || (remote !== undefined && rankOfTask(remote, task) >= 0);

const isLost = (layer: Layer, task: number): boolean => layer.state.failures?.lost.includes(task) === true;

/** Losses that the process has acknowledged on the communicator: the first of {@link lostOf}. */
export const acknowledgedOf = (layer: Layer, comm: CommRecord): number[] =>
  lostOf(layer, comm).slice(0, comm.acknowledged ?? 0);

const revoked = (call: string, comm: CommRecord): ErrorRecord => ({
  errorClass: ERR.REVOKED,
  call,
  text: `${comm.name} was revoked`,
});

function failed(call: string, comm: CommRecord | undefined, lost: readonly number[]): ErrorRecord {
  const names = lost.map((t) => {
    const rank = comm ? rankOfTask(comm.remote ?? comm.group, t) : -1;
    return rank >= 0 ? `rank ${rank}` : `task ${t}`;
  });
  return {
    errorClass: ERR.PROC_FAILED,
    call,
    text: `${names.join(', ')} ${lost.length === 1 ? 'has' : 'have'} failed`,
  };
}

/** Why a collective cannot be done (U2). */
export function brokenFor(layer: Layer, comm: CommRecord, call: string): ErrorRecord | undefined {
  if (!layer.state.failures) return undefined;
  if (comm.revoked) return revoked(call, comm);
  const lost = lostOf(layer, comm);
  return lost.length > 0 ? failed(call, comm, lost) : undefined;
}

/** Why a message cannot be sent to a task, or received from it (U1). */
export function unreachable(layer: Layer, comm: CommRecord, task: number, call: string): ErrorRecord | undefined {
  if (!layer.state.failures) return undefined;
  if (comm.revoked) return revoked(call, comm);
  return isLost(layer, task) ? failed(call, comm, [task]) : undefined;
}

/** The communicator has losses that the process has not acknowledged: a receive from any source may never end (U1). */
function anySource(layer: Layer, comm: CommRecord, call: string, errorClass: number): ErrorRecord | undefined {
  const lost = lostOf(layer, comm).slice(comm.acknowledged ?? 0);
  if (lost.length === 0) return undefined;
  return { ...failed(call, comm, lost), errorClass };
}

/** Calls that do not come back without a message: they fail. Others leave their request posted. */
const BLOCKS = /^MPI_(Recv|Sendrecv|Sendrecv_replace)(_c)?$/;

/** Why a receive that no message has met fails now. */
export function hopeless(layer: Layer, r: ReceiveRequest): ErrorRecord | undefined {
  const { failures, comms } = layer.state;
  if (!failures) return undefined;
  const comm = comms.rows.get(r.comm);
  if (r.source !== ANY_SOURCE) return isLost(layer, r.source) ? failed(r.call, comm, [r.source]) : undefined;
  return comm && !r.parent && BLOCKS.test(r.call) ? anySource(layer, comm, r.call, ERR.PROC_FAILED) : undefined;
}

/** Why a wait for this request ends although it is not complete: it stays posted (MPIX_ERR_PROC_FAILED_PENDING). */
export function pendingLoss(layer: Layer, r: RequestRecord | undefined): ErrorRecord | undefined {
  if (!layer.state.failures || r?.kind !== 'recv' || r.done || r.source !== ANY_SOURCE || r.parent) return undefined;
  const comm = layer.state.comms.rows.get(r.comm);
  return comm && anySource(layer, comm, r.call, ERR.PROC_FAILED_PENDING);
}

/** Why a probe that has found nothing finds nothing any more. `source`: task or ANY_SOURCE */
export function probesInVain(layer: Layer, comm: CommRecord, source: number, call: string): ErrorRecord | undefined {
  if (!layer.state.failures) return undefined;
  if (comm.revoked) return revoked(call, comm);
  return source === ANY_SOURCE
    ? anySource(layer, comm, call, ERR.PROC_FAILED_PENDING)
    : unreachable(layer, comm, source, call);
}

/** Why a wait for one task (windows, partitioned messages) never ends. */
export const lostPeer = (layer: Layer, task: number | undefined, call: string): ErrorRecord | undefined =>
  task !== undefined && isLost(layer, task) ? failed(call, undefined, [task]) : undefined;

/** F2, F3 (notice.ts): an arriving message of a communicator on which nothing can receive it any more. */
export function isVoid(layer: Layer, context: number, tag: number): boolean {
  const { failures, comms } = layer.state;
  if (!failures) return false;
  if (failures.revoked.includes(context & ~COLLECTIVE)) return true;
  // F6 (recovery.ts): its collectives are not moved.
  if ((context & COLLECTIVE) !== 0 && failures.moved?.has(context & ~COLLECTIVE)) return true;
  if ((context & COLLECTIVE) === 0 || tag >= PARTIAL || failures.lost.length === 0) return false;
  for (const comm of comms.rows.values())
    if (comm.context + COLLECTIVE === context)
      return tag < comm.collectives && lostOf(layer, comm).length > 0 && !isOpen(layer, context, tag);
  return false;
}

const isOpen = (layer: Layer, context: number, tag: number): boolean =>
  [...layer.state.requests.rows.values()].some(
    (r) => r.kind === 'coll' && !r.done && r.context === context && r.tag === tag,
  );
