/**
 * Matching (MPI 4.1 §3.5): which message meets which receive.
 *
 * "Messages are non-overtaking": per context, posted receives are searched in the order of their calls and unexpected
 * messages in arrival order; the first that fits is taken. Envelopes are always stored; a body is stored as long as the
 * device grants room, else it stays in the log and is pulled when matched.
 *
 * Keeps invariants S2 and S3 of state.ts. Calls the device in {@link post} only, never in {@link deliver} (device.ts,
 * poll).
 */
import { LINEAR } from './buffers.ts';
import { copyBytes } from './copy-bytes.ts';
import { taskId, WORLD } from '@mayfly/wire';
import { ANSWERS, ANY_SOURCE, ANY_TAG, CARDS, FAILED, FAILED_BY_LOSS, LEFT, Mode, WITHDRAWN } from './constants.ts';
import { className, ERR, MPIError, type ErrorRecord } from './errors.ts';
import { releaseSpace, rankOfTask, type Layer } from './layer.ts';
import { hopeless, isVoid } from './failure/broken.ts';
import { fromExternal } from './external32.ts';
import { refusal } from './cards.ts';
import type { TypeRecord } from './types/index.ts';
import type { Arrival } from './device.ts';
import type { Envelope } from './envelope.ts';
import type { CollectiveRequest, ReceiveRequest, RequestRecord } from './state.ts';

const EMPTY = new Uint8Array(0);

const fits = (source: number, tag: number, src: number, messageTag: number): boolean =>
  (source === ANY_SOURCE || source === src) && (tag === ANY_TAG || tag === messageTag);

/**
 * The first unexpected message that a receive with this source (task or ANY_SOURCE) and tag would get. Probes use it as
 * it is.
 */
export function findUnexpected(layer: Layer, context: number, source: number, tag: number): Envelope | undefined {
  const queue = layer.state.unexpected.get(context);
  return queue?.find((e) => fits(source, tag, e.src, e.tag));
}

/**
 * One arrival enters the layer: an acknowledgement, standard input, the body of a posted receive, or an unexpected
 * message.
 */
export function deliver(layer: Layer, arrival: Arrival): void {
  let a = arrival;
  if (a.src === WORLD) return storeStdin(layer, a);
  if ((a.mode & Mode.KIND) === Mode.ACK) return acknowledge(layer, a.word);
  if (layer.state.failures) {
    if (isVoid(layer, a.context, a.tag)) return;
    const moved = layer.state.failures.moved?.get(a.context);
    if (moved !== undefined) a = { ...a, context: moved };
  }
  const { traffic } = layer.state;
  traffic.received++;
  traffic.receivedBytes += a.size;
  if (a.context === CARDS && a.word === WITHDRAWN) return cardWithdrawn(layer, a.src, a.tag);
  const posted = layer.state.posted.get(a.context);
  if (posted) {
    const requests = layer.state.requests.rows;
    for (let i = 0; i < posted.length; i++) {
      const r = requests.get(posted[i]!) as ReceiveRequest;
      if (!fits(r.source, r.tag, a.src, a.tag)) continue;
      posted.splice(i, 1);
      if (posted.length === 0) layer.state.posted.delete(a.context);
      if ((a.mode & Mode.KIND) === Mode.SYNC) layer.deferred.push({ do: 'ack', dst: a.src, word: a.word });
      const target = receiveBuffer(layer, r, a);
      const body = a.size === 0 ? EMPTY : a.body;
      if (body) {
        copyBytes(target, 0, body.length > target.length ? body.subarray(0, target.length) : body);
        layer.counters.matchedBytes += target.length;
      } else layer.deferred.push({ do: 'pull', arrival: a.number, size: a.size, into: target });
      complete(layer, r);
      return;
    }
  }
  if (a.context === CARDS && a.tag > 0 && !layer.state.ports.open.includes(a.tag))
    return void layer.deferred.push({ do: 'refuse', dst: a.src, port: a.tag });
  if (a.context === ANSWERS && a.tag === LEFT) return portsClosed(layer, a.src, a.word);
  let queue = layer.state.unexpected.get(a.context);
  if (!queue) layer.state.unexpected.set(a.context, (queue = []));
  queue.push({
    arrival: a.number,
    src: a.src,
    mode: a.mode,
    tag: a.tag,
    word: a.word,
    size: a.size,
    body: keepBody(layer, a),
  });
}

/** T1 of connect-timeout.ts: a card that still waits is refused; any other has its answer. */
function cardWithdrawn(layer: Layer, task: number, port: number): void {
  const card = findUnexpected(layer, CARDS, task, port);
  if (!card) return;
  takeUnexpected(layer, CARDS, card);
  if (card.body) stored(layer, -card.size);
  layer.deferred.push({ do: 'refuse', dst: task, port });
}

/**
 * A task closes its ports below a number for good: a connect that waits for one is refused, as is each later one
 * (ports.ts).
 */
function portsClosed(layer: Layer, task: number, below: number): void {
  layer.state.ports.left.set(task, below);
  const requests = layer.state.requests.rows;
  for (const handle of layer.state.posted.get(ANSWERS)?.slice() ?? []) {
    const r = requests.get(handle) as ReceiveRequest;
    if (r.source !== task || r.tag >= below) continue;
    unpost(layer, r);
    refuseWaiting(layer, r);
  }
}

function refuseWaiting(layer: Layer, r: ReceiveRequest): void {
  layer.memory.view(r.into!).set(refusal(layer, ERR.PORT));
  complete(layer, r);
}

/** Takes a posted receive out of its queue. */
export function unpost(layer: Layer, r: ReceiveRequest): void {
  const queue = layer.state.posted.get(r.context)!;
  queue.splice(queue.indexOf(r.handle), 1);
  if (queue.length === 0) layer.state.posted.delete(r.context);
}

/** Forgets messages that nothing is to receive. */
export function drop(layer: Layer, context: number, which: (e: Envelope) => boolean): void {
  const { unexpected } = layer.state;
  const queue = unexpected.get(context);
  if (!queue) return;
  const left = queue.filter((e) => !which(e));
  for (const e of queue) if (which(e) && e.body) stored(layer, -e.size);
  if (left.length > 0) unexpected.set(context, left);
  else unexpected.delete(context);
}

/** Copies a body into the store when it is there and there is room. */
export function keepBody(layer: Layer, a: Arrival): Uint8Array | undefined {
  if (a.size === 0) return EMPTY;
  if (!a.body || layer.state.unexpectedBytes + a.size > layer.device.unexpectedBytes) return undefined;
  stored(layer, a.size);
  layer.counters.storedBytes += a.size;
  return a.body.slice();
}

/** Keeps S3; the device hears of it when the deferred work is done (progress.ts). */
export function stored(layer: Layer, bytes: number): void {
  layer.state.unexpectedBytes += bytes;
}

/** Messages that no receive has taken. */
export function waiting(layer: Layer): number {
  let n = 0;
  for (const queue of layer.state.unexpected.values()) n += queue.length;
  return n;
}

/** For the device: what is stored, and of how many messages. */
export const tellStored = (layer: Layer): void => layer.device.unexpected(layer.state.unexpectedBytes, waiting(layer));

function storeStdin(layer: Layer, a: Arrival): void {
  const stdin = layer.state.stdin;
  if (a.size === 0) stdin.ended = true;
  else stdin.chunks.push({ arrival: a.number, size: a.size, body: keepBody(layer, a) });
}

function acknowledge(layer: Layer, word: number): void {
  const handle = layer.state.syncs.get(word);
  if (handle === undefined) return;
  layer.state.syncs.delete(word);
  const r = layer.state.requests.rows.get(handle);
  if (r) complete(layer, r);
}

/**
 * Posts a receive: it takes the first unexpected message that fits, else it joins the queue. May call the device
 * (acknowledge, pull), so never inside a poll.
 */
export function post(layer: Layer, r: ReceiveRequest): void {
  const queue = layer.state.unexpected.get(r.context);
  const i = queue ? queue.findIndex((e) => fits(r.source, r.tag, e.src, e.tag)) : -1;
  if (i < 0) {
    if (r.context === ANSWERS && r.tag < (layer.state.ports.left.get(r.source) ?? 0)) return refuseWaiting(layer, r);
    const error = layer.state.failures && hopeless(layer, r);
    if (error) {
      r.error = error;
      return complete(layer, r);
    }
    const posted = layer.state.posted.get(r.context);
    if (posted) posted.push(r.handle);
    else layer.state.posted.set(r.context, [r.handle]);
    return;
  }
  const e = queue![i]!;
  removeAt(layer, r.context, i);
  accept(layer, r, e);
}

function removeAt(layer: Layer, context: number, i: number): void {
  const queue = layer.state.unexpected.get(context)!;
  if (i === 0) queue.shift();
  else queue.splice(i, 1);
  if (queue.length === 0) layer.state.unexpected.delete(context);
}

/** [MPI_Mprobe] Takes an unexpected message out of its queue: no other receive can match it. */
export function takeUnexpected(layer: Layer, context: number, e: Envelope): void {
  removeAt(layer, context, layer.state.unexpected.get(context)!.indexOf(e));
}

/** A receive gets a message that has come before it. May call the device. */
export function accept(layer: Layer, r: ReceiveRequest, e: Envelope): void {
  if ((e.mode & Mode.KIND) === Mode.SYNC) sendAck(layer, e.src, e.word);
  const target = receiveBuffer(layer, r, e);
  if (e.body) {
    target.set(e.body.length > target.length ? e.body.subarray(0, target.length) : e.body);
    layer.counters.unstoredBytes += target.length;
    if (e.size > 0) stored(layer, -e.size);
    tellStored(layer);
  } else pull(layer, e.arrival, e.size, target);
  complete(layer, r);
}

/** Fetches a body from the log; `into` may be shorter than it. */
export function pull(layer: Layer, arrival: number, size: number, into: Uint8Array): void {
  layer.counters.pulls++;
  if (into.length >= size) return layer.device.pull(arrival, into.subarray(0, size));
  const whole = new Uint8Array(size);
  layer.device.pull(arrival, whole);
  into.set(whole.subarray(0, into.length));
}

export function sendAck(layer: Layer, dst: number, word: number): void {
  layer.device.send(taskId(dst), Mode.ACK, 0, 0, word, EMPTY);
}

/** Fills in the status of a matched receive, notes what is wrong with the message, and says where its body goes. */
function receiveBuffer(
  layer: Layer,
  r: ReceiveRequest,
  { src, tag, mode, word, size }: Pick<Envelope, 'src' | 'tag' | 'mode' | 'word' | 'size'>,
): Uint8Array {
  const object = (mode & Mode.OBJECT) !== 0;
  if (!r.parent || (word !== FAILED && word !== FAILED_BY_LOSS)) layer.ckpt?.countReceived(src);
  const comm = layer.state.comms.rows.get(r.comm);
  const rank = comm ? rankOfTask(comm.remote ?? comm.group, src) : src;
  r.status = { source: rank, tag, bytes: size, cancelled: false, object };
  if (!r.into) {
    if (!object)
      r.error = wrong(
        r,
        ERR.TYPE,
        `rank ${rank} sent (tag ${tag}) ${size} bytes of a plain buffer, not a structured value: receive it with recv`,
      );
    return (r.body = new Uint8Array(size));
  }
  const room = r.into.bytes;
  if (object && !r.parent)
    r.error = wrong(r, ERR.TYPE, `rank ${rank} sent (tag ${tag}) a structured value: receive it with recvObject`);
  else if (r.parent && word === FAILED)
    r.error = wrong(r, ERR.OTHER, `rank ${rank} left the collective: the call failed there`);
  else if (r.parent && word === FAILED_BY_LOSS)
    r.error = wrong(r, ERR.PROC_FAILED, `rank ${rank} left the collective: it needs a process that has failed`);
  else if (size > room || (r.parent !== 0 && size !== room))
    r.error = r.parent
      ? wrong(
          r,
          ERR.TRUNCATE,
          `rank ${rank} takes part with ${size} bytes where ${room} are expected here: the counts of the ` +
            'ranks differ, or they call different collectives',
        )
      : wrong(
          r,
          ERR.TRUNCATE,
          `the message of rank ${rank} with tag ${tag} has ${size} bytes, the buffer holds ${room}`,
        );
  else if (r.unit && size < room && size % r.unit !== 0)
    r.error = wrong(
      r,
      ERR.TYPE,
      `the message of rank ${rank} with tag ${tag} has ${size} bytes: it ends within an element of ${r.unit}`,
    );
  return layer.memory.view(size < room ? { ...r.into, bytes: size } : r.into);
}

const wrong = (r: ReceiveRequest, errorClass: number, text: string): ErrorRecord => ({
  errorClass,
  call: r.call,
  text,
});

/**
 * A request is complete: steps of collectives vanish into their parent, freed requests vanish, others wait to be seen.
 */
export function complete(layer: Layer, r: RequestRecord): void {
  r.done = true;
  if (r.parent) {
    layer.state.requests.rows.delete(r.handle);
    const parent = layer.state.requests.rows.get(r.parent);
    if (parent?.kind !== 'coll' || parent.done || parent.error) return;
    parent.outstanding--;
    if (r.error) return endCollective(layer, parent, r.error);
    if (parent.outstanding === 0 && !parent.running) layer.deferred.push({ do: 'advance', request: parent.handle });
  } else if (r.freed) layer.deferred.push({ do: 'retire', request: r.handle });
}

/**
 * A step went wrong: receives that the collective still has posted are taken back; it is over when its peers have been
 * told (schedule.ts).
 */
export function endCollective(layer: Layer, coll: CollectiveRequest, error: ErrorRecord): void {
  const { requests, posted } = layer.state;
  const { handle } = coll;
  for (const [context, queue] of posted) {
    const left = queue.filter((h) => requests.rows.get(h)!.parent !== handle);
    for (const h of queue) if (requests.rows.get(h)!.parent === handle) requests.rows.delete(h);
    if (left.length) posted.set(context, left);
    else posted.delete(context);
  }
  coll.error = { ...error, call: coll.call };
  coll.outstanding = 0;
  if (!coll.running) layer.deferred.push({ do: 'advance', request: handle });
}

/** Spreads what came packed over its places, once: when the owner sees that the request is complete, or nobody will. */
export function spread(layer: Layer, r: RequestRecord): void {
  if (!r.unpack || r.status.cancelled) return;
  for (const u of r.unpack) {
    const bytes =
      r.kind === 'recv' || (r.kind === 'coll' && r.reads) ? Math.min(u.from.bytes, r.status.bytes) : u.from.bytes;
    const packed = layer.memory.view({ ...u.from, bytes });
    if (u.external && u.datarep !== undefined) {
      const count = Math.floor(bytes / u.layout.size);
      const code = layer.conversions.get(u.datarep)?.(u.external, Math.min(count, u.count), packed, u.address) ?? 0;
      if (code !== ERR.SUCCESS)
        r.error ??= {
          errorClass: ERR.CONVERSION,
          call: r.call,
          text: `the function that converts what was read answered ${code}`,
        };
      continue;
    }
    try {
      layer.memory.unpack(
        u.layout,
        u.count,
        u.external ? nativeOf(u.external, packed) : packed,
        u.space ?? LINEAR,
        u.address,
      );
    } catch (e) {
      if (!(e instanceof MPIError)) throw e;
      r.error ??= { errorClass: e.errorClass, call: r.call, text: e.text };
    }
  }
  r.unpack = undefined;
}

/** Elements in external32, whole ones. Types whose length differs there do not come here (files/access.ts). */
function nativeOf(type: TypeRecord, packed: Uint8Array): Uint8Array {
  const count = Math.floor(packed.length / type.layout.size);
  const out = new Uint8Array(count * type.layout.size);
  fromExternal(type, count, packed, out);
  return out;
}

/** Removes a request and what it holds. */
export function retire(layer: Layer, r: RequestRecord): void {
  layer.state.requests.rows.delete(r.handle);
  for (const space of r.spaces) releaseSpace(layer, space);
}

export const describeError = (e: ErrorRecord): string => `${e.call}: ${e.text} [${className(e.errorClass)}]`;
