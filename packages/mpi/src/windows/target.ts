/**
 * The target's side of one-sided communication: operations that have come are applied to the window's memory, in
 * arrival order, when the process consumes arrivals, that is inside any of its MPI calls. One operation is applied
 * whole before the next, which makes accumulates atomic.
 *
 * An operation may come before its time: in a fence epoch that this process has not begun, before the post that answers
 * its start, before its lock is granted. Such operations are held, per origin, and applied when the epoch opens: no
 * origin ever waits only to be let in.
 *
 * Keeps W2 and W3. Sends answers and pulls bodies, so never inside a poll: {@link arrive} puts what needs that on the
 * layer's deferred work.
 */
import { taskId } from '@mayfly/wire';
import { Mode } from '../constants.ts';
import { ERR } from '../errors.ts';
import { rankOfTask, releaseSpace, type Layer } from '../layer.ts';
import { isContiguous, span, start, contiguousLayout, type Layout } from '../layout.ts';
import { copyBytes } from '../copy-bytes.ts';
import { complete, keepBody, pull, stored } from '../matching.ts';
import { accumulate } from './accumulate.ts';
import {
  Act,
  FENCES,
  Under,
  actOf,
  elementOf,
  fenceOf,
  isDescribed,
  lockOf,
  opOf,
  readDescribed,
  readShort,
  underOf,
} from './encoding.ts';
import { Lock, type Place, type WindowRecord } from './state.ts';
import type { Arrival } from '../device.ts';
import type { Envelope } from '../envelope.ts';
import type { CommRecord } from '../state.ts';

const EMPTY = new Uint8Array(0);

export const isOneSided = (mode: number): boolean =>
  (mode & Mode.KIND) === Mode.RMA || (mode & Mode.KIND) === Mode.RMA_ANSWER;

export const commOfWindow = (layer: Layer, w: WindowRecord): CommRecord => layer.state.comms.rows.get(w.comm)!;

/**
 * An operation or an answer has arrived. May be called inside a poll, which has to stop after it: what it changes is
 * then done before the next arrival.
 */
export function arrive(layer: Layer, a: Arrival): void {
  const { windows } = layer.state;
  const w = windows.table.rows.get(windows.byContext.get(a.context) ?? 0);
  const body = a.size === 0 ? EMPTY : a.body;
  if (!w) {
    // A window whose making is not complete here yet, or one that was freed: only unlocks without an answer can come
    // then.
    if (windows.making === 0) return;
    const list = windows.early.get(a.context);
    const e = envelope(layer, a);
    if (list) list.push(e);
    else windows.early.set(a.context, [e]);
    return;
  }
  const answer = (a.mode & Mode.KIND) === Mode.RMA_ANSWER;
  if (body && answer) return settleReply(layer, w, a, body);
  // What needs no answer is applied at once. One that does not fit into the window has an answer: a refusal.
  if (body && !answer && actOf(a.tag) <= Act.ACCUMULATE && actOf(a.tag) !== Act.GET) {
    const rank = rankOf(layer, w, a.src);
    if (!w.held.has(rank) && isOpen(w, rank, a.tag) && described(w, a, body).place)
      return apply(layer, w, rank, a, body);
  }
  layer.deferred.push({
    do: 'window',
    window: w.handle,
    envelope: {
      arrival: a.number,
      src: a.src,
      mode: a.mode,
      tag: a.tag,
      word: a.word,
      size: a.size,
      body: body?.slice(),
    },
  });
}

const rankOf = (layer: Layer, w: WindowRecord, task: number): number => rankOfTask(commOfWindow(layer, w).group, task);

function envelope(layer: Layer, a: Arrival): Envelope {
  return {
    arrival: a.number,
    src: a.src,
    mode: a.mode,
    tag: a.tag,
    word: a.word,
    size: a.size,
    body: keepBody(layer, a),
  };
}

/** What {@link arrive} has left to do, outside of polls. */
export function perform(layer: Layer, window: number, e: Envelope): void {
  const w = layer.state.windows.table.rows.get(window);
  if (!w) return;
  if ((e.mode & Mode.KIND) === Mode.RMA_ANSWER) return settleReply(layer, w, e, bodyOf(layer, e));
  operate(layer, w, rankOf(layer, w, e.src), e);
}

/** An operation of an origin, in its order: applied when it may be, else held. */
export function operate(layer: Layer, w: WindowRecord, rank: number, e: Envelope): void {
  const queue = w.held.get(rank);
  if (!queue && isOpen(w, rank, e.tag)) return take(layer, w, rank, e);
  const kept: Envelope = { ...e };
  if (e.size > 0 && e.body) {
    // The operation of this very process has no copy in a log.
    const room = layer.state.unexpectedBytes + e.size <= layer.device.unexpectedBytes || e.arrival === 0;
    kept.body = room ? e.body.slice() : undefined;
    if (room) stored(layer, e.size);
  }
  if (queue) queue.push(kept);
  else w.held.set(rank, [kept]);
  if (!queue && underOf(e.tag) === Under.LOCK) askLock(w, rank, lockOf(e.tag));
}

/** Applies what an origin has held as far as its epochs are open. */
export function drain(layer: Layer, w: WindowRecord, rank: number): void {
  const queue = w.held.get(rank);
  if (!queue) return;
  while (queue.length > 0) {
    const e = queue[0]!;
    if (!isOpen(w, rank, e.tag)) {
      if (underOf(e.tag) === Under.LOCK) askLock(w, rank, lockOf(e.tag));
      return;
    }
    queue.shift();
    if (queue.length === 0) w.held.delete(rank);
    if (e.body && e.size > 0) stored(layer, -e.size);
    take(layer, w, rank, e);
    if (w.held.get(rank) !== queue) return;
  }
}

export function drainAll(layer: Layer, w: WindowRecord): void {
  for (const rank of [...w.held.keys()].sort((a, b) => a - b)) drain(layer, w, rank);
}

/** The first operations of a window that is made now. */
export function drainEarly(layer: Layer, w: WindowRecord): void {
  const { windows } = layer.state;
  const context = commOfWindow(layer, w).context;
  const list = windows.early.get(context) ?? [];
  windows.early.delete(context);
  for (const e of list) {
    if (e.body && e.size > 0) stored(layer, -e.size);
    perform(layer, w.handle, e);
  }
  if (windows.making > 0) return;
  for (const rest of windows.early.values()) for (const e of rest) if (e.body && e.size > 0) stored(layer, -e.size);
  windows.early.clear();
}

// ── when an operation may be applied

/** Grants a lock that is free: the operation that asks for it is applied next. */
function isOpen(w: WindowRecord, rank: number, tag: number): boolean {
  switch (underOf(tag)) {
    case Under.FENCE: {
      const ahead = (fenceOf(tag) - w.fences) & (FENCES - 1);
      return ahead === 0 || ahead >= FENCES / 2;
    }
    case Under.START:
      return w.exposed?.get(rank) === false;
    default: {
      const lock = lockOf(tag);
      if (lock === Lock.UNCHECKED || w.holders.has(rank)) return true;
      return lock !== Lock.NONE && w.waiting.length === 0 && grantable(w, lock) && (w.holders.set(rank, lock), true);
    }
  }
}

const grantable = (w: WindowRecord, type: number): boolean =>
  w.holders.size === 0 || (type === Lock.SHARED && ![...w.holders.values()].includes(Lock.EXCLUSIVE));

/**
 * Grants a lock or puts its request in the queue. Requests are served in the order of their coming, so that none
 * starves.
 */
export function askLock(w: WindowRecord, rank: number, type: number): void {
  if (type === Lock.NONE || type === Lock.UNCHECKED || w.holders.has(rank) || w.waiting.some((l) => l.rank === rank))
    return;
  if (w.waiting.length === 0 && grantable(w, type)) w.holders.set(rank, type);
  else w.waiting.push({ rank, type });
}

/** A lock goes; those who waited for it get it. */
export function release(layer: Layer, w: WindowRecord, rank: number): void {
  w.holders.delete(rank);
  for (let next = w.waiting[0]; next && grantable(w, next.type); next = w.waiting[0]) {
    w.waiting.shift();
    w.holders.set(next.rank, next.type);
    drain(layer, w, next.rank);
  }
}

// ── applying

/** The body of an operation, out of the log if need be. */
function bodyOf(layer: Layer, e: { arrival: number; size: number; body: Uint8Array | undefined }): Uint8Array {
  if (e.size === 0) return EMPTY;
  if (e.body) return e.body;
  const whole = new Uint8Array(e.size);
  pull(layer, e.arrival, e.size, whole);
  return whole;
}

function take(layer: Layer, w: WindowRecord, rank: number, e: Envelope): void {
  // A put whose data is in the log goes from there into the window.
  if (!e.body && e.size > 0 && actOf(e.tag) === Act.PUT && !isDescribed(e.tag)) {
    const place = locate(w, e.word, contiguousLayout(e.size), 1);
    if (place) {
      counted(w, e.tag);
      return pull(layer, e.arrival, e.size, viewOf(layer, place));
    }
  }
  apply(layer, w, rank, e, bodyOf(layer, e));
}

const counted = (w: WindowRecord, tag: number): void => {
  if (underOf(tag) === Under.FENCE && actOf(tag) <= Act.COMPARE_AND_SWAP) w.came++;
};

function apply(layer: Layer, w: WindowRecord, rank: number, e: { tag: number; word: number }, body: Uint8Array): void {
  const { tag } = e;
  counted(w, tag);
  switch (actOf(tag)) {
    case Act.COMPLETE:
      return void w.exposed?.set(rank, true);
    case Act.UNLOCK:
    case Act.FLUSH: {
      const { reply } = readShort(body);
      if (reply !== 0) answer(layer, w, rank, reply, EMPTY);
      if (actOf(tag) === Act.UNLOCK && lockOf(tag) !== Lock.UNCHECKED) release(layer, w, rank);
      return;
    }
    default:
      return access(layer, w, rank, e, body);
  }
}

interface Described {
  reply: number;
  data: Uint8Array;
  layout: Layout;
  count: number;
  /** Undefined: outside of the window. */
  place: Place | undefined;
}

/** What an operation says of itself, and where that lies in the window. */
function described(w: WindowRecord, e: { tag: number; word: number }, body: Uint8Array): Described {
  const act = actOf(e.tag);
  let reply = 0;
  let data = body;
  let layout: Layout;
  let count = 1;
  if (isDescribed(e.tag)) ({ reply, layout, count, data } = readDescribed(body));
  else if (act === Act.PUT || act === Act.ACCUMULATE) layout = contiguousLayout(body.length);
  else {
    const head = readShort(body);
    ({ reply, data } = head);
    layout = contiguousLayout(head.wanted);
  }
  return { reply, data, layout, count, place: locate(w, e.word, layout, count) };
}

function access(layer: Layer, w: WindowRecord, rank: number, e: { tag: number; word: number }, body: Uint8Array): void {
  const { tag } = e;
  const { reply, data, layout, count, place } = described(w, e, body);
  if (!place) {
    const { from, to } = span(layout, count);
    const where =
      w.flavor === 'dynamic'
        ? `addresses ${e.word + from} to ${e.word + to} are not attached there`
        : `bytes ${e.word + from} to ${e.word + to} are outside of the window, which has ${w.base.bytes} there`;
    return refuse(layer, w, rank, reply, where, tag);
  }
  const bytes = layout.size * count;
  switch (actOf(tag)) {
    case Act.PUT:
      return write(layer, place, data);
    case Act.ACCUMULATE:
      return accumulate(layer, place, opOf(tag), elementOf(tag), data);
    case Act.GET:
      return answer(layer, w, rank, reply, read(layer, place));
    case Act.GET_ACCUMULATE: {
      const old = read(layer, place).slice();
      accumulate(layer, place, opOf(tag), elementOf(tag), data);
      return answer(layer, w, rank, reply, old);
    }
    case Act.COMPARE_AND_SWAP: {
      const old = read(layer, place).slice();
      const compare = data.subarray(0, bytes);
      if (old.every((b, i) => b === compare[i])) write(layer, place, data.subarray(bytes));
      return answer(layer, w, rank, reply, old);
    }
  }
}

/** Elements at an offset of the window, or nowhere: outside of it. */
function locate(w: WindowRecord, word: number, layout: Layout, count: number): Place | undefined {
  const { from, to } = span(layout, count);
  if (w.flavor === 'dynamic') {
    return from === to || isAttached(w, word + from, word + to)
      ? { space: 0, address: word, layout, count }
      : undefined;
  }
  const inside = from === to || (word + from >= 0 && word + to <= w.base.bytes);
  return inside ? { space: w.base.space, address: w.base.offset + word, layout, count } : undefined;
}

/** Regions that touch are as one. */
function isAttached(w: WindowRecord, from: number, to: number): boolean {
  for (let at = from; at < to;) {
    const r = w.regions.find((x) => x.address <= at && at < x.address + x.bytes);
    if (!r) return false;
    at = r.address + r.bytes;
  }
  return true;
}

/** Of contiguous elements. */
const viewOf = (layer: Layer, p: Place): Uint8Array => {
  const at = p.address + start(p.layout);
  return layer.memory.space(p.space).subarray(at, at + p.layout.size * p.count);
};

/** The elements packed; a view where they are contiguous. */
function read(layer: Layer, p: Place): Uint8Array {
  if (isContiguous(p.layout, p.count)) return viewOf(layer, p);
  const out = new Uint8Array(p.layout.size * p.count);
  layer.memory.pack(p.layout, p.count, p.space, p.address, out);
  return out;
}

export function write(layer: Layer, p: Place, data: Uint8Array): void {
  if (!isContiguous(p.layout, p.count)) return layer.memory.unpack(p.layout, p.count, data, p.space, p.address);
  const view = viewOf(layer, p);
  copyBytes(view, 0, data.length > view.length ? data.subarray(0, view.length) : data);
}

// ── answers

function send(layer: Layer, w: WindowRecord, rank: number, errorClass: number, reply: number, body: Uint8Array): void {
  const comm = commOfWindow(layer, w);
  if (rank === comm.rank) return settleReply(layer, w, { src: layer.state.task, tag: errorClass, word: reply }, body);
  layer.device.send(taskId(comm.group[rank]!), Mode.RMA_ANSWER, comm.context, errorClass, reply, body);
}

const answer = (layer: Layer, w: WindowRecord, rank: number, reply: number, body: Uint8Array): void =>
  send(layer, w, rank, ERR.SUCCESS, reply, body);

/**
 * An operation that cannot be applied: its origin hears of it, and in active target synchronisation this process does
 * too.
 */
function refuse(layer: Layer, w: WindowRecord, rank: number, reply: number, text: string, tag: number): void {
  if (underOf(tag) !== Under.LOCK)
    w.failed ??= { errorClass: ERR.RMA_RANGE, call: '', text: `an operation of rank ${rank}: ${text}` };
  send(layer, w, rank, ERR.RMA_RANGE, reply, new TextEncoder().encode(text));
}

function settleReply(
  layer: Layer,
  w: WindowRecord,
  a: { src: number; tag: number; word: number },
  body: Uint8Array,
): void {
  const { windows, requests } = layer.state;
  const reply = windows.replies.rows.get(a.word);
  const r = reply && requests.rows.get(reply.request);
  if (a.tag !== ERR.SUCCESS) {
    const error = {
      errorClass: a.tag,
      call: reply?.call ?? '',
      text: `at rank ${rankOf(layer, w, a.src)}: ${new TextDecoder().decode(body)}`,
    };
    if (r) r.error = error;
    else w.failed ??= error;
  } else if (reply?.into) write(layer, reply.into, body);
  if (!reply) return;
  windows.replies.rows.delete(a.word);
  const left = (w.owed.get(reply.rank) ?? 1) - 1;
  if (left > 0) w.owed.set(reply.rank, left);
  else w.owed.delete(reply.rank);
  if (reply.into && reply.into.space !== 0) releaseSpace(layer, reply.into.space);
  if (r) complete(layer, r);
}
