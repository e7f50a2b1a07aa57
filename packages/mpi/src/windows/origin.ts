/**
 * The origin's side of one-sided communication (MPI 4.1 §12.3). A put or an accumulate is complete at the origin when
 * the call returns: its data is with the Channel Memory. What fetches has an answer, which goes into the origin's
 * memory when it comes.
 *
 * The sizes of all windows are known everywhere, so an access outside of one is refused here, at the call; only of
 * dynamic windows the target alone knows.
 */
import { taskId } from '@mayfly/wire';
import { Mode, PROC_NULL } from '../constants.ts';
import { elementType } from '../datatypes.ts';
import { ERR, fail } from '../errors.ts';
import { isContiguous, span, start, type Layout } from '../layout.ts';
import { unsuited, type BuiltinOp } from '../ops.ts';
import { emptyStatus } from '../p2p.ts';
import type { Layer } from '../layer.ts';
import { Act, Under, combineBits, described, epochBits, short } from './encoding.ts';
import { Lock, type Place, type WindowRecord } from './state.ts';
import { commOfWindow, operate } from './target.ts';

/** What an operation brings: a view where its elements are contiguous, else how to pack them. */
export interface Source {
  bytes: number;
  view: Uint8Array | undefined;
  pack(into: Uint8Array): void;
}
export const NOTHING: Source = { bytes: 0, view: new Uint8Array(0), pack: () => undefined };
export const sourceOf = (view: Uint8Array): Source => ({ bytes: view.length, view, pack: (into) => into.set(view) });

/** Elements in a target's window. */
export interface Target {
  rank: number;
  /** In units of the target's window; of dynamic windows the address. */
  disp: number;
  layout: Layout;
  count: number;
}

/** @throws MPIError ERR_WIN */
export function windowOf(layer: Layer, handle: number, call: string): WindowRecord {
  if (layer.inCallback)
    fail(ERR.OTHER, call, 'called inside the function of a reduction operation, which may not communicate');
  if (layer.state.finalized) fail(ERR.OTHER, call, 'called after MPI_Finalize');
  const w = layer.state.windows.table.rows.get(handle);
  return (
    w ?? fail(ERR.WIN, call, handle === 0 ? 'the window is MPI_WIN_NULL' : `${handle} is not a window, or it was freed`)
  );
}

export function checkRank(layer: Layer, w: WindowRecord, rank: number, call: string): void {
  const n = commOfWindow(layer, w).group.length;
  if (rank !== PROC_NULL && !(Number.isInteger(rank) && rank >= 0 && rank < n))
    fail(ERR.RANK, call, `target ${rank} is not a rank: the window has ranks 0 to ${n - 1} (or MPI_PROC_NULL)`, w.comm);
}

export const ended = (w: WindowRecord): string =>
  w.access === 'fence'
    ? 'a fence epoch'
    : w.access === 'start'
      ? 'an epoch of MPI_Win_start'
      : w.access === 'none'
        ? 'no epoch'
        : 'an epoch of MPI_Win_lock';

/** The bits that say under which epoch an operation goes. @throws MPIError ERR_RMA_SYNC without one */
function enter(layer: Layer, w: WindowRecord, rank: number, call: string, passive: boolean): number {
  if (passive && w.access !== 'lock' && w.access !== 'lockAll')
    fail(ERR.RMA_SYNC, call, `request-based operations are for passive target epochs, there is ${ended(w)}`, w.comm);
  switch (w.access) {
    case 'none':
      return fail(
        ERR.RMA_SYNC,
        call,
        'no epoch is open: MPI_Win_fence, MPI_Win_start or MPI_Win_lock comes first',
        w.comm,
      );
    case 'fence':
      if (rank !== PROC_NULL) w.issued[rank]!++;
      return epochBits(Under.FENCE, Lock.NONE, w.fences);
    case 'start':
      if (rank !== PROC_NULL && !w.started.includes(rank))
        fail(ERR.RMA_SYNC, call, `rank ${rank} is not in the group of MPI_Win_start`, w.comm);
      return epochBits(Under.START, Lock.NONE, 0);
    case 'lock':
    case 'lockAll': {
      const held = w.locks.get(rank);
      if (!held) return rank === PROC_NULL ? 0 : fail(ERR.RMA_SYNC, call, `rank ${rank} is not locked`, w.comm);
      return lockBits(held);
    }
  }
}

/** The first operation brings the request for the lock. */
export function lockBits(held: { type: number; told: boolean }): number {
  const first = held.type === Lock.UNCHECKED || !held.told;
  held.told = true;
  return epochBits(Under.LOCK, first ? held.type : Lock.NONE, 0);
}

/** Sends an operation, or applies it here. */
export function issue(layer: Layer, w: WindowRecord, rank: number, tag: number, word: number, body: Uint8Array): void {
  const comm = commOfWindow(layer, w);
  if (rank === comm.rank)
    return operate(layer, w, rank, {
      arrival: 0,
      src: layer.state.task,
      mode: Mode.RMA,
      tag,
      word,
      size: body.length,
      body,
    });
  layer.device.send(taskId(comm.group[rank]!), Mode.RMA, comm.context, tag, word, body);
}

/** A row for the answer that a target will give. */
export function expect(
  layer: Layer,
  w: WindowRecord,
  rank: number,
  call: string,
  into: Place | undefined,
  request = 0,
): number {
  const { replies } = layer.state.windows;
  const n = replies.next++;
  replies.rows.set(n, { window: w.handle, rank, into, request, call });
  w.owed.set(rank, (w.owed.get(rank) ?? 0) + 1);
  return n;
}

/** Byte offset in the target's window. */
function offset(w: WindowRecord, t: Target, call: string): number {
  const { from, to } = span(t.layout, t.count);
  if (w.flavor === 'dynamic') {
    const address = t.disp >>> 0;
    if (from !== to && address + from < 0) fail(ERR.RMA_RANGE, call, `target_disp ${t.disp} is not an address`, w.comm);
    return address;
  }
  if (t.disp < 0) fail(ERR.DISP, call, `target_disp ${t.disp} is negative`, w.comm);
  const at = t.disp * w.units[t.rank]!;
  if (from !== to && (at + from < 0 || at + to > w.sizes[t.rank]!))
    fail(
      ERR.RMA_RANGE,
      call,
      `the access is to bytes ${at + from} to ${at + to} of the window of rank ${t.rank}, which has ${w.sizes[t.rank]}`,
      w.comm,
    );
  return at;
}

const total = (t: Target): number => t.layout.size * t.count;

function checkSizes(w: WindowRecord, bytes: number, t: Target, call: string): void {
  if (bytes !== total(t))
    fail(ERR.TRUNCATE, call, `the origin's elements have ${bytes} bytes, the target's ${total(t)}`, w.comm);
}

/** How an operation travels: where, and with which body. */
function parcel(
  w: WindowRecord,
  t: Target,
  call: string,
  reply: number,
  brought: Source,
  answered: boolean,
): { bits: number; word: number; body: Uint8Array } {
  const at = offset(w, t, call);
  if (!isContiguous(t.layout, t.count)) {
    const { body, data } = described(reply, t.layout, t.count, brought.bytes);
    brought.pack(data);
    return { bits: 1 << 8, word: at, body };
  }
  const word = at + start(t.layout);
  if (answered) {
    const { body, data } = short(reply, total(t), brought.bytes);
    brought.pack(data);
    return { bits: 0, word, body };
  }
  if (brought.view) return { bits: 0, word, body: brought.view };
  const body = new Uint8Array(brought.bytes);
  brought.pack(body);
  return { bits: 0, word, body };
}

const unconfirmed = (w: WindowRecord, rank: number, bytes: number): void => {
  if (w.access === 'lock' || w.access === 'lockAll') w.unconfirmed.set(rank, (w.unconfirmed.get(rank) ?? 0) + bytes);
};

/**
 * Checks first, then the epoch is entered: an operation that fails leaves nothing behind. @returns false: nothing is to
 * be done
 */
function begins(layer: Layer, w: WindowRecord, t: Target, bytes: number, call: string): boolean {
  checkRank(layer, w, t.rank, call);
  if (t.rank === PROC_NULL) return false;
  checkSizes(w, bytes, t, call);
  offset(w, t, call);
  return true;
}

/** [MPI_Put, MPI_Rput] */
export function put(layer: Layer, win: number, from: Source, t: Target, call = 'MPI_Put', passive = false): void {
  const w = windowOf(layer, win, call);
  const on = begins(layer, w, t, from.bytes, call);
  const bits = enter(layer, w, t.rank, call, passive);
  if (!on) return;
  const p = parcel(w, t, call, 0, from, false);
  unconfirmed(w, t.rank, p.body.length);
  issue(layer, w, t.rank, bits | p.bits | Act.PUT, p.word, p.body);
}

/** An operation that is one basic element type wide. */
export interface Combining {
  op: BuiltinOp;
  element: number;
}

function checkOp(w: WindowRecord, c: Combining, call: string, fetches: boolean): void {
  if (c.op === 'MPI_REPLACE') return;
  if (c.op === 'MPI_NO_OP')
    return fetches ? undefined : fail(ERR.OP, call, 'MPI_NO_OP is for operations that fetch', w.comm);
  const type = elementType(c.element);
  const problem = unsuited(c.op, type, 2);
  if (problem) fail(ERR.OP, call, problem, w.comm);
}

/** [MPI_Accumulate, MPI_Raccumulate] */
export function accumulate(
  layer: Layer,
  win: number,
  from: Source,
  t: Target,
  c: Combining,
  call = 'MPI_Accumulate',
  passive = false,
): void {
  const w = windowOf(layer, win, call);
  checkOp(w, c, call, false);
  const on = begins(layer, w, t, from.bytes, call);
  const bits = enter(layer, w, t.rank, call, passive);
  if (!on) return;
  const p = parcel(w, t, call, 0, from, false);
  unconfirmed(w, t.rank, p.body.length);
  issue(layer, w, t.rank, bits | p.bits | combineBits(c.op, c.element) | Act.ACCUMULATE, p.word, p.body);
}

/** A request for the request-based forms; the target completes it. */
function newRequest(layer: Layer, w: WindowRecord, rank: number, call: string): number {
  const { requests } = layer.state;
  const handle = requests.next++;
  requests.rows.set(handle, {
    kind: 'send',
    handle,
    call,
    comm: w.comm,
    done: rank === PROC_NULL,
    freed: false,
    error: undefined,
    status: emptyStatus(),
    spaces: [],
    parent: 0,
    unpack: undefined,
    peer: rank === PROC_NULL ? PROC_NULL : commOfWindow(layer, w).group[rank]!,
    tag: -1,
    sync: 0,
  });
  return handle;
}

/** An operation that brings something back. @returns the request, 0 where none is wanted */
function fetching(
  layer: Layer,
  w: WindowRecord,
  act: number,
  from: Source,
  t: Target,
  into: Place,
  bits: number,
  call: string,
  wanted: boolean,
): number {
  const request = wanted ? newRequest(layer, w, t.rank, call) : 0;
  const reply = expect(layer, w, t.rank, call, into, request);
  const p = parcel(w, t, call, reply, from, true);
  issue(layer, w, t.rank, bits | p.bits | act, p.word, p.body);
  return request;
}

/** [MPI_Get, MPI_Rget] */
export function get(layer: Layer, win: number, into: Place, t: Target, call = 'MPI_Get', wanted = false): number {
  const w = windowOf(layer, win, call);
  const on = begins(layer, w, t, into.layout.size * into.count, call);
  const bits = enter(layer, w, t.rank, call, wanted);
  if (!on) return wanted ? newRequest(layer, w, t.rank, call) : 0;
  return fetching(layer, w, Act.GET, NOTHING, t, into, bits, call, wanted);
}

/** [MPI_Get_accumulate, MPI_Rget_accumulate, MPI_Fetch_and_op] */
export function getAccumulate(
  layer: Layer,
  win: number,
  from: Source,
  into: Place,
  t: Target,
  c: Combining,
  call = 'MPI_Get_accumulate',
  wanted = false,
): number {
  const w = windowOf(layer, win, call);
  checkOp(w, c, call, true);
  const on = begins(layer, w, t, into.layout.size * into.count, call);
  if (on && c.op !== 'MPI_NO_OP') checkSizes(w, from.bytes, t, call);
  const bits = enter(layer, w, t.rank, call, wanted);
  if (!on) return wanted ? newRequest(layer, w, t.rank, call) : 0;
  return fetching(
    layer,
    w,
    Act.GET_ACCUMULATE,
    c.op === 'MPI_NO_OP' ? NOTHING : from,
    t,
    into,
    bits | combineBits(c.op, c.element),
    call,
    wanted,
  );
}

/** [MPI_Compare_and_swap] One element. */
export function compareAndSwap(
  layer: Layer,
  win: number,
  origin: Uint8Array,
  compare: Uint8Array,
  into: Place,
  t: Target,
  call = 'MPI_Compare_and_swap',
): void {
  const w = windowOf(layer, win, call);
  const on = begins(layer, w, t, origin.length, call);
  const bits = enter(layer, w, t.rank, call, false);
  if (!on) return;
  const both = new Uint8Array(compare.length + origin.length);
  both.set(compare);
  both.set(origin, compare.length);
  fetching(layer, w, Act.COMPARE_AND_SWAP, sourceOf(both), t, into, bits, call, false);
}
