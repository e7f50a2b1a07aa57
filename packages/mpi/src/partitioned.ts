/**
 * Partitioned communication (MPI 4.1 chapter 4): a persistent send whose parts leave one by one as the program declares
 * them ready.
 *
 * A sender gives each of its partitioned sends to a task the next channel number and announces it when it is made;
 * announcements match partitioned receives in the order of both (§4.2.3: by communicator, rank and tag, no wildcards).
 * After that, partition i of every round is one message which carries the channel's number, i, and how many there are.
 * Partitions have one length per side; the two sides may cut the same bytes differently.
 *
 * Owns: `state.partitioned`. Invariants
 *  Q1  A channel's `queue` holds, in arrival order, partitions that no active round of its receive has taken.
 *  Q2  A round takes as many bytes as the sender's partitions have; the receive may be longer. The next round's
 *      partitions stay in the queue: a sender may be one round ahead.
 *  Q3  `came` says per block of the sender's length what has arrived in the round; `left` is the number of bytes that
 *      have not.
 */
import { taskId } from '@mayfly/wire';
import { Mode, PROC_NULL } from './constants.ts';
import { checkDest, checkSendTag, checkSource } from './checks.ts';
import { ERR, fail } from './errors.ts';
import { commOf, type Layer } from './layer.ts';
import { complete } from './matching.ts';
import { emptyStatus } from './p2p.ts';
import { pollUntil } from './progress.ts';
import { channelOf, forget, join, meets, over, takeQueued } from './partitioned-arrivals.ts';
import { insert } from './handle-table.ts';
import type { Buf } from './buffers.ts';
import type { PartitionedReceive, PartitionedSend } from './partitioned-state.ts';
import type { SendRequest } from './state.ts';

export type { PartitionedReceive };

const EMPTY = new Uint8Array(0);

/** A request of the layer which completes when all partitions are ready, or have come. */
function round(layer: Layer, comm: number, call: string, peer: number, tag: number): SendRequest {
  const { requests } = layer.state;
  const handle = requests.next++;
  const r: SendRequest = {
    kind: 'send',
    handle,
    call,
    comm,
    done: false,
    freed: false,
    error: undefined,
    status: emptyStatus(),
    spaces: [],
    parent: 0,
    unpack: undefined,
    peer,
    tag,
    sync: 0,
  };
  requests.rows.set(handle, r);
  return r;
}

/** [MPI_Psend_init] @param bytes of one partition, packed */
export function initSend(
  layer: Layer,
  commHandle: number,
  partitions: number,
  bytes: number,
  dest: number,
  tag: number,
): number {
  const call = 'MPI_Psend_init';
  const comm = commOf(layer, commHandle, call);
  checkDest(comm, dest, call);
  checkSendTag(comm, tag, call);
  const s = layer.state.partitioned;
  const peer = dest === PROC_NULL ? PROC_NULL : (comm.remote ?? comm.group)[dest]!;
  const channel = ++s.lastChannel;
  if (peer !== PROC_NULL) layer.device.send(taskId(peer), Mode.ANNOUNCE, comm.context, tag, channel, EMPTY);
  const handle = insert(s.sends, {
    handle: 0,
    comm: commHandle,
    peer,
    context: comm.context,
    channel,
    partitions,
    bytes,
    request: 0,
    ready: new Uint8Array(partitions),
    missing: 0,
  });
  s.sends.rows.get(handle)!.handle = handle;
  return handle;
}

/** [MPI_Precv_init] @param into all partitions, packed */
export function initReceive(
  layer: Layer,
  commHandle: number,
  partitions: number,
  bytes: number,
  into: Buf,
  source: number,
  tag: number,
): number {
  const call = 'MPI_Precv_init';
  const comm = commOf(layer, commHandle, call);
  if (source !== PROC_NULL && source < 0)
    fail(ERR.RANK, call, `source ${source}: a partitioned receive names its sender`, commHandle);
  checkSource(comm, source, call);
  checkSendTag(comm, tag, call);
  const s = layer.state.partitioned;
  const task = source === PROC_NULL ? PROC_NULL : (comm.remote ?? comm.group)[source]!;
  const handle = insert(s.receives, {
    handle: 0,
    comm: commHandle,
    source: task,
    context: comm.context,
    tag,
    partitions,
    bytes,
    into,
    channel: 0,
    request: 0,
    block: 0,
    came: EMPTY,
    left: 0,
    freed: false,
  });
  const r = s.receives.rows.get(handle)!;
  r.handle = handle;
  if (task === PROC_NULL) return handle;
  const c = s.channels.find((x) => x.receive === 0 && meets(r, x));
  if (c) join(r, c);
  else s.waiting.push(handle);
  return handle;
}

/** Starts a round of a send. @returns the layer's request */
export function startSend(layer: Layer, handle: number): number {
  const s = layer.state.partitioned.sends.rows.get(handle)!;
  const r = round(layer, s.comm, 'MPI_Psend_init', s.peer, 0);
  s.request = r.handle;
  s.ready.fill(0);
  s.missing = s.partitions;
  return r.handle;
}

/** The send of a handle while a round is active, and partition i is not ready yet. @throws MPIError */
export function sendable(layer: Layer, handle: number, i: number, call: string): PartitionedSend {
  const s = layer.state.partitioned.sends.rows.get(handle)!;
  if (s.request === 0 || layer.state.requests.rows.get(s.request)?.done !== false)
    fail(ERR.REQUEST, call, 'the partitioned send is not active: MPI_Start comes first', s.comm);
  if (i < 0 || i >= s.partitions) fail(ERR.ARG, call, `partition ${i} is not in 0 to ${s.partitions - 1}`, s.comm);
  if (s.ready[i]) fail(ERR.ARG, call, `partition ${i} is ready already in this round`, s.comm);
  return s;
}

/**
 * [MPI_Pready] The partition leaves at once. Without bytes there is one message for all, so that the receiver hears of
 * the round's end.
 */
export function ready(layer: Layer, s: PartitionedSend, i: number, body: Uint8Array): void {
  s.ready[i] = 1;
  s.missing--;
  if (s.peer !== PROC_NULL && (s.bytes > 0 || s.missing === 0))
    layer.device.send(taskId(s.peer), Mode.PARTITION, s.partitions, s.channel, s.bytes > 0 ? i : 0, body);
  if (s.missing > 0) return;
  const r = layer.state.requests.rows.get(s.request);
  s.request = 0;
  if (r) complete(layer, r);
}

/** Starts a round of a receive, with what has come before it. @returns the layer's request */
export function startReceive(layer: Layer, handle: number): number {
  const r = layer.state.partitioned.receives.rows.get(handle)!;
  const request = round(layer, r.comm, 'MPI_Precv_init', r.source, r.tag);
  r.request = request.handle;
  r.block = 0;
  r.came = EMPTY;
  r.left = r.bytes * r.partitions;
  if (r.source === PROC_NULL) {
    r.left = 0;
    request.status = { ...emptyStatus(), source: PROC_NULL };
    over(layer, r);
    return request.handle;
  }
  const c = r.channel ? channelOf(layer, r.source, r.channel) : undefined;
  if (c) takeQueued(layer, r, c);
  return request.handle;
}

/** All bytes of partition i of the receive are there. */
function here(r: PartitionedReceive, i: number): boolean {
  if (r.request === 0) return true;
  if (r.bytes === 0) return false;
  if (r.block === 0) return false;
  for (let b = Math.floor((i * r.bytes) / r.block); b * r.block < (i + 1) * r.bytes; b++) if (!r.came[b]) return false;
  return true;
}

/** [MPI_Parrived] A poll. True also when no round is active. */
export function arrived(layer: Layer, handle: number, i: number): boolean {
  const r = layer.state.partitioned.receives.rows.get(handle)!;
  if (i < 0 || i >= r.partitions)
    fail(ERR.ARG, 'MPI_Parrived', `partition ${i} is not in 0 to ${r.partitions - 1}`, r.comm);
  return pollUntil(layer, () => here(r, i));
}

/**
 * [MPI_Request_free] A round under way goes on to its end; a send's could not without its handle while partitions are
 * missing. @throws MPIError ERR_REQUEST
 */
export function free(layer: Layer, handle: number, sending: boolean): void {
  const s = layer.state.partitioned;
  if (sending) {
    const send = s.sends.rows.get(handle)!;
    if (send.request !== 0)
      fail(
        ERR.REQUEST,
        'MPI_Request_free',
        `the partitioned send is active, and ${send.missing} of its ${send.partitions} partitions are not ` +
          'ready: nobody could make them so any more',
        send.comm,
      );
    s.sends.rows.delete(handle);
    return;
  }
  const r = s.receives.rows.get(handle)!;
  if (r.request === 0) forget(layer, r);
  else r.freed = true;
}
