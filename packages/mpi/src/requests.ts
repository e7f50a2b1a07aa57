/**
 * Completion of requests (MPI 4.1 §3.7): the wait and test families, cancel and free. Handles of inactive requests are
 * 0 (MPI_REQUEST_NULL) or of requests that are no longer in the table; both count as inactive.
 */
import { WORLD, taskId, type TaskId } from '@mayfly/wire';
import { ERR, MPIError, fail } from './errors.ts';
import { waitForAnswer } from './connect-timeout.ts';
import { requestOf, type Layer } from './layer.ts';
import { retire, spread, unpost } from './matching.ts';
import { pollUntil, waitUntil } from './progress.ts';
import { emptyStatus } from './p2p.ts';
import { pendingLoss } from './failure/broken.ts';
import type { Agreed } from './failure/state.ts';
import type { WaitReason } from './device.ts';
import type { ErrorRecord } from './errors.ts';
import type { CollectiveRequest, RequestRecord, StatusRecord } from './state.ts';

/** What a completed request leaves. */
export interface Outcome {
  status: StatusRecord;
  error: ErrorRecord | undefined;
  /** Bytes of a received structured value. */
  body: Uint8Array | undefined;
  /** Handle of the communicator that a collective has made, or 0. */
  result: number;
  comm: number;
  /** The request is not complete, and stays: a sender that it may wait for has failed. */
  stays: boolean;
  /** ULFM: what was agreed. */
  agreed: Agreed | undefined;
}

/** Of a request that is not active. */
export const idle = (): Outcome => ({
  status: emptyStatus(),
  error: undefined,
  body: undefined,
  result: 0,
  comm: 0,
  stays: false,
  agreed: undefined,
});

const active = (layer: Layer, handle: number): RequestRecord | undefined => layer.state.requests.rows.get(handle);
const isDone = (layer: Layer, handle: number): boolean => active(layer, handle)?.done ?? true;
/** A wait ends here: it is complete, or cannot promise to be (ULFM, U1). */
const ends = (layer: Layer, handle: number): boolean =>
  isDone(layer, handle) || pendingLoss(layer, active(layer, handle)) !== undefined;

function outcome(layer: Layer, r: RequestRecord): Outcome {
  return {
    status: r.status,
    error: r.error,
    body: r.kind === 'recv' ? r.body : undefined,
    result: r.kind === 'coll' ? r.result : 0,
    comm: r.comm,
    stays: false,
    agreed: r.kind === 'coll' ? agreedIn(layer, r) : undefined,
  };
}

/** Of an agreement among all that was a reduction: its result. */
function agreedIn(layer: Layer, r: CollectiveRequest): Agreed | undefined {
  if (!r.flagAt || r.error) return r.agreed;
  const bytes = layer.memory.view(r.flagAt);
  return { flag: new DataView(bytes.buffer, bytes.byteOffset).getInt32(0, true), lost: [] };
}

/** Takes what a completed request leaves; the request is gone then. Of one that is not complete: why not. */
function take(layer: Layer, handle: number): Outcome {
  const r = active(layer, handle);
  if (!r) return idle();
  if (!r.done) return { ...outcome(layer, r), error: pendingLoss(layer, r), stays: true };
  spread(layer, r);
  const o = outcome(layer, r);
  retire(layer, r);
  return o;
}

/** Whom a collective waits for, if it is one task alone. */
function peerOfSteps(layer: Layer, handle: number): TaskId | undefined {
  let receives = 0;
  let source = -1;
  for (const r of layer.state.requests.rows.values())
    if (r.parent === handle && r.kind === 'recv') {
      receives++;
      source = r.source;
    }
  if (receives === 1) return source >= 0 ? taskId(source) : undefined;
  if (receives === 0) for (const c of layer.state.files.calls.values()) if (c.request === handle) return WORLD;
  return undefined;
}

function reasonFor(layer: Layer, handles: readonly number[], call: string | undefined): WaitReason {
  let first: RequestRecord | undefined;
  let open = 0;
  for (let i = 0; i < handles.length && open < 2; i++) {
    const r = active(layer, handles[i]!);
    if (!r || r.done) continue;
    first ??= r;
    open++;
  }
  if (open !== 1 || !first) return { call: call ?? first?.call ?? 'MPI_Wait', peer: undefined, tag: undefined };
  if (first.kind === 'coll')
    return { call: call ?? first.call, peer: peerOfSteps(layer, first.handle), tag: undefined };
  const peer = first.kind === 'recv' ? first.source : first.peer;
  return {
    call: call ?? first.call,
    peer: peer >= 0 ? taskId(peer) : undefined,
    tag: first.tag >= 0 ? first.tag : undefined,
  };
}

/** [MPI_Wait] @param call the blocking call that this is the second half of; absent: the request's own */
export function wait(layer: Layer, handle: number, call?: string): Outcome {
  if (!ends(layer, handle)) {
    const reason = (): WaitReason => reasonFor(layer, [handle], call);
    const r = active(layer, handle);
    if (r?.kind === 'coll' && r.timeout) waitForAnswer(layer, r, reason);
    waitUntil(layer, () => ends(layer, handle), reason);
  }
  return take(layer, handle);
}

/** Waits for a request of the layer's own. @throws MPIError that with which it ends */
export function settled(layer: Layer, handle: number): Outcome {
  const outcome = wait(layer, handle);
  const { error } = outcome;
  if (error) throw new MPIError(error.errorClass, error.call, error.text);
  return outcome;
}

/** [MPI_Waitall] */
export function waitAll(layer: Layer, handles: readonly number[]): Outcome[] {
  let from = 0;
  const all = (): boolean => {
    while (from < handles.length && ends(layer, handles[from]!)) from++;
    return from === handles.length;
  };
  waitUntil(layer, all, () => reasonFor(layer, handles, 'MPI_Waitall'));
  const out = new Array<Outcome>(handles.length);
  for (let i = 0; i < handles.length; i++) out[i] = take(layer, handles[i]!);
  return out;
}

function firstDone(layer: Layer, handles: readonly number[]): number {
  const done = handles.findIndex((h) => active(layer, h)?.done === true);
  if (done >= 0 || !layer.state.failures) return done;
  return handles.findIndex((h) => pendingLoss(layer, active(layer, h)) !== undefined);
}
const noneActive = (layer: Layer, handles: readonly number[]): boolean => !handles.some((h) => active(layer, h));

/** [MPI_Waitany] undefined: no active request is among them. */
export function waitAny(layer: Layer, handles: readonly number[]): { index: number; outcome: Outcome } | undefined {
  if (noneActive(layer, handles)) return undefined;
  waitUntil(
    layer,
    () => firstDone(layer, handles) >= 0,
    () => reasonFor(layer, handles, 'MPI_Waitany'),
  );
  const index = firstDone(layer, handles);
  return { index, outcome: take(layer, handles[index]!) };
}

function takeDone(layer: Layer, handles: readonly number[]): { index: number; outcome: Outcome }[] {
  const out: { index: number; outcome: Outcome }[] = [];
  handles.forEach((h, index) => {
    const r = active(layer, h);
    if (r?.done || pendingLoss(layer, r)) out.push({ index, outcome: take(layer, h) });
  });
  return out;
}

/** [MPI_Waitsome] */
export function waitSome(layer: Layer, handles: readonly number[]): { index: number; outcome: Outcome }[] {
  if (noneActive(layer, handles)) return [];
  waitUntil(
    layer,
    () => firstDone(layer, handles) >= 0,
    () => reasonFor(layer, handles, 'MPI_Waitsome'),
  );
  return takeDone(layer, handles);
}

/** [MPI_Test] */
export function test(layer: Layer, handle: number): Outcome | undefined {
  return pollUntil(layer, () => ends(layer, handle)) ? take(layer, handle) : undefined;
}

/** [MPI_Request_get_status] The request stays. */
export function getStatus(layer: Layer, handle: number): Outcome | undefined {
  if (!pollUntil(layer, () => isDone(layer, handle))) return undefined;
  const r = active(layer, handle);
  if (r) spread(layer, r);
  return r ? outcome(layer, r) : idle();
}

/** [MPI_Testall] */
export function testAll(layer: Layer, handles: readonly number[]): Outcome[] | undefined {
  return pollUntil(layer, () => handles.every((h) => ends(layer, h))) ? handles.map((h) => take(layer, h)) : undefined;
}

/** [MPI_Testany] 'none': no active request is among them. */
export function testAny(
  layer: Layer,
  handles: readonly number[],
): { index: number; outcome: Outcome } | 'none' | undefined {
  if (noneActive(layer, handles)) return 'none';
  if (!pollUntil(layer, () => firstDone(layer, handles) >= 0)) return undefined;
  const index = firstDone(layer, handles);
  return { index, outcome: take(layer, handles[index]!) };
}

/** Takes the requests that are complete, without looking at what has arrived. */
export const completed = (layer: Layer, handles: readonly number[]): { index: number; outcome: Outcome }[] =>
  takeDone(layer, handles);

/** True when the request is complete and not yet taken. */
export const isComplete = (layer: Layer, handle: number): boolean => active(layer, handle)?.done === true;

/** [MPI_Grequest_start] A request that the program completes: it waits for no message. */
export function startGeneral(layer: Layer): number {
  const { requests } = layer.state;
  const handle = requests.next++;
  requests.rows.set(handle, {
    kind: 'send',
    handle,
    call: 'MPI_Grequest_start',
    comm: 0,
    done: false,
    freed: false,
    error: undefined,
    status: emptyStatus(),
    spaces: [],
    parent: 0,
    unpack: undefined,
    peer: -1,
    tag: 0,
    sync: 0,
  });
  return handle;
}

/** A send that was not started for a loss or a revocation: "nonblocking" calls say so at their completion (ULFM). */
export function failedSend(layer: Layer, error: MPIError): number {
  const handle = startGeneral(layer);
  const r = requestOf(layer, handle, error.call);
  Object.assign(r, { call: error.call, comm: error.comm, done: true });
  r.error = { errorClass: error.errorClass, call: error.call, text: error.text };
  return handle;
}

/** [MPI_Grequest_complete] */
export function completeGeneral(layer: Layer, handle: number): void {
  const r = requestOf(layer, handle, 'MPI_Grequest_complete');
  r.done = true;
  if (r.freed) retire(layer, r);
}

/** [MPI_Testsome] */
export function testSome(layer: Layer, handles: readonly number[]): { index: number; outcome: Outcome }[] {
  if (!noneActive(layer, handles)) pollUntil(layer, () => firstDone(layer, handles) >= 0);
  return takeDone(layer, handles);
}

/**
 * [MPI_Cancel] A receive that has not matched is taken back. Sends are beyond recall (§3.8.4 allows that), collectives
 * must not be cancelled (§6.12).
 */
export function cancel(layer: Layer, handle: number): void {
  const r = requestOf(layer, handle, 'MPI_Cancel');
  if (r.kind === 'coll') fail(ERR.REQUEST, 'MPI_Cancel', `a ${r.call} cannot be cancelled`, r.comm);
  if (r.kind !== 'recv' || r.done) return;
  unpost(layer, r);
  r.status = { ...emptyStatus(), cancelled: true };
  r.done = true;
}

/** [MPI_Request_free] */
export function free(layer: Layer, handle: number): void {
  const r = requestOf(layer, handle, 'MPI_Request_free');
  if (r.done) {
    spread(layer, r);
    retire(layer, r);
  } else r.freed = true;
}
