/**
 * Point to point (MPI 4.1 chapter 3) over the device. Standard sends are buffered by the Channel Memory and complete at
 * once; a synchronous one completes when the receiver's acknowledgement has come back. Every other operation is a
 * request.
 */
import { taskId } from '@mayfly/wire';
import { ANY_SOURCE, ANY_TAG, Mode, PROC_NULL } from './constants.ts';
import { checkDest, checkRecvTag, checkSendTag, checkSource, orNull } from './checks.ts';
import { commOf, countSend, rankOfTask, type Layer } from './layer.ts';
import { ERR, MPIError, fail } from './errors.ts';
import { brokenFor, probesInVain, unreachable } from './failure/broken.ts';
import { accept, findUnexpected, post, takeUnexpected } from './matching.ts';
import { insert } from './handle-table.ts';
import { pollUntil, waitUntil } from './progress.ts';
import type { Buf } from './buffers.ts';
import type { Envelope } from './envelope.ts';
import type { CommRecord, ReceiveRequest, SendRequest, StatusRecord } from './state.ts';

export const emptyStatus = (): StatusRecord => ({
  source: ANY_SOURCE,
  tag: ANY_TAG,
  bytes: 0,
  cancelled: false,
  object: false,
});
const procNullStatus = (): StatusRecord => ({
  source: PROC_NULL,
  tag: ANY_TAG,
  bytes: 0,
  cancelled: false,
  object: false,
});

const peers = (comm: CommRecord): number[] => comm.remote ?? comm.group;

/** [MPI_Send] `body` is taken before the call returns. @param object the body is a structured value */
export function send(
  layer: Layer,
  commHandle: number,
  dest: number,
  tag: number,
  body: Uint8Array,
  call = 'MPI_Send',
  object = false,
): void {
  const comm = commOf(layer, commHandle, call);
  checkDest(comm, dest, call);
  checkSendTag(comm, tag, call);
  if (orNull(comm, dest) === PROC_NULL) return;
  const broken = unreachable(layer, comm, peers(comm)[dest]!, call);
  if (broken) throw new MPIError(broken.errorClass, call, broken.text, commHandle);
  countSend(layer, body.length, peers(comm)[dest]!);
  layer.device.send(taskId(peers(comm)[dest]!), Mode.STANDARD | (object ? Mode.OBJECT : 0), comm.context, tag, 0, body);
}

/** A started send as a request. @param sync synchronous mode [MPI_Issend] */
export function startSend(
  layer: Layer,
  commHandle: number,
  dest: number,
  tag: number,
  body: Uint8Array,
  sync: boolean,
  call: string,
  object = false,
): number {
  const comm = commOf(layer, commHandle, call);
  checkDest(comm, dest, call);
  checkSendTag(comm, tag, call);
  const { state } = layer;
  const handle = state.requests.next++;
  const null_ = orNull(comm, dest) === PROC_NULL;
  const peer = null_ ? PROC_NULL : peers(comm)[dest]!;
  const error = null_ ? undefined : unreachable(layer, comm, peer, call);
  const waits = sync && !null_ && !error;
  if (waits) state.lastSync = (state.lastSync + 1) >>> 0;
  const r: SendRequest = {
    kind: 'send',
    handle,
    call,
    comm: commHandle,
    done: !waits,
    freed: false,
    error,
    status: emptyStatus(),
    spaces: [],
    parent: 0,
    unpack: undefined,
    peer,
    tag,
    sync: waits ? state.lastSync : 0,
  };
  state.requests.rows.set(handle, r);
  if (waits) state.syncs.set(state.lastSync, handle);
  if (null_ || error) return handle;
  countSend(layer, body.length, peer);
  layer.device.send(
    taskId(peer),
    (waits ? Mode.SYNC : Mode.STANDARD) | (object ? Mode.OBJECT : 0),
    comm.context,
    tag,
    waits ? state.lastSync : 0,
    body,
  );
  return handle;
}

/**
 * [MPI_Irecv]
 * @param into undefined: a structured value; its bytes come to lie in the request's `body`
 * @param pinned the buffer's space belongs to this request and goes with it
 */
export function startReceive(
  layer: Layer,
  commHandle: number,
  from: number,
  tag: number,
  into: Buf | undefined,
  call: string,
  pinned = false,
  unit = 1,
): number {
  const comm = commOf(layer, commHandle, call);
  checkSource(comm, from, call);
  const source = orNull(comm, from);
  checkRecvTag(comm, tag, call);
  const { requests } = layer.state;
  const handle = requests.next++;
  const r: ReceiveRequest = {
    kind: 'recv',
    handle,
    call,
    comm: commHandle,
    done: false,
    freed: false,
    error: undefined,
    status: emptyStatus(),
    spaces: pinned && into ? [into.space] : [],
    parent: 0,
    unpack: undefined,
    context: comm.context,
    source: source >= 0 ? peers(comm)[source]! : source,
    tag,
    into,
    body: undefined,
    unit,
  };
  requests.rows.set(handle, r);
  if (source === PROC_NULL) {
    r.done = true;
    r.status = procNullStatus();
  } else if (comm.revoked) {
    r.done = true;
    r.error = brokenFor(layer, comm, call);
  } else post(layer, r);
  return handle;
}

const seen = (comm: CommRecord, e: Envelope): StatusRecord => ({
  source: rankOfTask(peers(comm), e.src),
  tag: e.tag,
  bytes: e.size,
  cancelled: false,
  object: (e.mode & Mode.OBJECT) !== 0,
});

/** [MPI_Probe] */
export function probe(layer: Layer, commHandle: number, source: number, tag: number, call = 'MPI_Probe'): StatusRecord {
  const comm = commOf(layer, commHandle, call);
  checkSource(comm, source, call);
  checkRecvTag(comm, tag, call);
  if (orNull(comm, source) === PROC_NULL) return procNullStatus();
  const from = source >= 0 ? peers(comm)[source]! : source;
  let found: Envelope | undefined;
  waitUntil(
    layer,
    () =>
      (found = findUnexpected(layer, comm.context, from, tag)) !== undefined ||
      probesInVain(layer, comm, from, call) !== undefined,
    () => ({ call, peer: from >= 0 ? taskId(from) : undefined, tag: tag >= 0 ? tag : undefined }),
  );
  if (!found) inVain(layer, comm, from, call);
  return seen(comm, found!);
}

/** @throws MPIError of a probe that nothing can end */
function inVain(layer: Layer, comm: CommRecord, from: number, call: string): void {
  const error = probesInVain(layer, comm, from, call);
  if (error) throw new MPIError(error.errorClass, call, error.text, comm.handle);
}

/** [MPI_Iprobe] */
export function iprobe(
  layer: Layer,
  commHandle: number,
  source: number,
  tag: number,
  call = 'MPI_Iprobe',
): StatusRecord | undefined {
  const comm = commOf(layer, commHandle, call);
  checkSource(comm, source, call);
  checkRecvTag(comm, tag, call);
  if (orNull(comm, source) === PROC_NULL) return procNullStatus();
  const from = source >= 0 ? peers(comm)[source]! : source;
  let found: Envelope | undefined;
  return pollUntil(layer, () => (found = findUnexpected(layer, comm.context, from, tag)) !== undefined)
    ? seen(comm, found!)
    : (inVain(layer, comm, from, call), undefined);
}

/** Arguments of a send and a receive in one call, checked before either starts. */
export function check(
  comm: CommRecord,
  a: { dest: number; sendTag: number; source: number; recvTag: number },
  call: string,
): void {
  checkDest(comm, a.dest, call);
  checkSendTag(comm, a.sendTag, call);
  checkSource(comm, a.source, call);
  checkRecvTag(comm, a.recvTag, call);
}

/** Handle of the message that a matched probe of MPI_PROC_NULL gets (MPI_MESSAGE_NO_PROC). */
export const NO_PROC = -1;

export interface Matched {
  /** Of the message; {@link NO_PROC}. */
  handle: number;
  status: StatusRecord;
}

function claim(layer: Layer, comm: CommRecord, e: Envelope): Matched {
  takeUnexpected(layer, comm.context, e);
  return { handle: insert(layer.state.messages, { comm: comm.handle, envelope: e }), status: seen(comm, e) };
}

/** [MPI_Mprobe] */
export function mprobe(layer: Layer, commHandle: number, source: number, tag: number): Matched {
  const status = probe(layer, commHandle, source, tag, 'MPI_Mprobe');
  const comm = commOf(layer, commHandle, 'MPI_Mprobe');
  if (orNull(comm, source) === PROC_NULL) return { handle: NO_PROC, status };
  return claim(layer, comm, findUnexpected(layer, comm.context, source >= 0 ? peers(comm)[source]! : source, tag)!);
}

/** [MPI_Improbe] */
export function improbe(layer: Layer, commHandle: number, source: number, tag: number): Matched | undefined {
  const status = iprobe(layer, commHandle, source, tag, 'MPI_Improbe');
  if (!status) return undefined;
  const comm = commOf(layer, commHandle, 'MPI_Improbe');
  if (orNull(comm, source) === PROC_NULL) return { handle: NO_PROC, status };
  return claim(layer, comm, findUnexpected(layer, comm.context, source >= 0 ? peers(comm)[source]! : source, tag)!);
}

/**
 * [MPI_Mrecv, MPI_Imrecv] Its request is complete at once. @param into undefined: a structured value @throws MPIError
 * ERR_REQUEST for a message that was received before
 */
export function startMatchedReceive(layer: Layer, message: number, into: Buf | undefined, call: string): number {
  const { state } = layer;
  const m = state.messages.rows.get(message);
  if (!m && message !== NO_PROC) fail(ERR.REQUEST, call, 'the message is MPI_MESSAGE_NULL, or it was received before');
  const comm = m ? state.comms.rows.get(m.comm) : undefined;
  const handle = state.requests.next++;
  const r: ReceiveRequest = {
    kind: 'recv',
    handle,
    call,
    comm: m?.comm ?? 0,
    done: !m,
    freed: false,
    error: undefined,
    status: m ? emptyStatus() : procNullStatus(),
    spaces: [],
    parent: 0,
    unpack: undefined,
    context: comm?.context ?? 0,
    source: m?.envelope.src ?? PROC_NULL,
    tag: m?.envelope.tag ?? ANY_TAG,
    into,
    body: undefined,
    unit: 1,
  };
  state.requests.rows.set(handle, r);
  if (m) {
    state.messages.rows.delete(message);
    accept(layer, r, m.envelope);
  }
  return handle;
}
