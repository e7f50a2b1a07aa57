/**
 * Synchronisation of windows (MPI 4.1 §12.5). Every call is in two halves: the first tells others, the second waits and
 * may be begun again.
 *
 * What travels:
 *  fence             each process learns how many operations of this epoch come to it (a reduce-scatter of counts) and
 *                    waits for these; nothing else. The reduce-scatter is the barrier. After MPI_MODE_NOPRECEDE nothing
 *                    at all.
 *  post, start       nothing: what comes before its post is held at the target
 *  complete, wait    one message per target, behind the operations on the same channel
 *  lock              nothing: the request travels with the first operation; only the own window's lock is waited for
 *  flush, unlock     to a target that was only asked for values: nothing but its answers; else one message and its
 *                    answer. An unlock of a target that never got an operation sends nothing.
 */
import { taskId } from '@mayfly/wire';
import { reduceScatterSpread } from '../collectives/reduce-scatter-spread.ts';
import { PROC_NULL } from '../constants.ts';
import { UINT32 } from '../datatypes.ts';
import { ERR, MPIError, fail } from '../errors.ts';
import { opHandle } from '../ops.ts';
import { pollUntil, settle, waitUntil } from '../progress.ts';
import { wait } from '../requests.ts';
import { Schedule, start as startSchedule } from '../schedule.ts';
import { rankOfTask, releaseSpace, scratch, type Layer } from '../layer.ts';
import { Act, Under, epochBits, short } from './encoding.ts';
import { checkRank, ended, expect, issue, lockBits, windowOf } from './origin.ts';
import { Lock, type WindowRecord } from './state.ts';
import { askLock, commOfWindow, drain, drainAll, release } from './target.ts';
import type { WaitReason } from '../device.ts';

export const Assert = { NOCHECK: 1024, NOPRECEDE: 2048, NOPUT: 4096, NOSTORE: 8192, NOSUCCEED: 16384 } as const;
const ALL = Object.values(Assert).reduce((a, b) => a | b, 0);
const EMPTY = new Uint8Array(0);

function checkAssert(w: WindowRecord, assertion: number, call: string): void {
  if ((assertion & ~ALL) !== 0)
    fail(
      ERR.ASSERT,
      call,
      `assertion ${assertion} has bits other than those of MPI_MODE_NOCHECK, NOSTORE, NOPUT, NOPRECEDE and NOSUCCEED`,
      w.comm,
    );
}
const misplaced = (w: WindowRecord, call: string, why: string): never => fail(ERR.RMA_SYNC, call, why, w.comm);

/** A fence epoch in which this process has done nothing is none (§12.5.1). */
const unused = (w: WindowRecord): boolean =>
  w.access === 'none' || (w.access === 'fence' && !w.issued.some((n) => n > 0));

/** The first failed operation, once. */
function report(w: WindowRecord, call: string): void {
  const { failed } = w;
  if (!failed) return;
  w.failed = undefined;
  throw new MPIError(failed.errorClass, failed.call || call, failed.text, w.comm);
}

const reason = (layer: Layer, w: WindowRecord, call: string, ranks: readonly number[]) => (): WaitReason => {
  const open = ranks.filter((r) => w.owed.has(r));
  return { call, peer: open.length === 1 ? taskId(commOfWindow(layer, w).group[open[0]!]!) : undefined };
};
const settled = (w: WindowRecord, ranks: readonly number[]): boolean =>
  w.owed.size === 0 || !ranks.some((r) => w.owed.has(r));
const everyone = (w: WindowRecord): number[] => [...w.owed.keys()];

// ── fence

/** [MPI_Win_fence] */
export function startFence(layer: Layer, win: number, assertion: number, call = 'MPI_Win_fence'): void {
  const w = windowOf(layer, win, call);
  checkAssert(w, assertion, call);
  if (w.access !== 'none' && w.access !== 'fence') misplaced(w, call, `there is ${ended(w)}`);
  if (w.exposed) misplaced(w, call, 'there is an exposure epoch of MPI_Win_post');
  if ((assertion & Assert.NOPRECEDE) !== 0) {
    if (!unused(w)) misplaced(w, call, 'MPI_MODE_NOPRECEDE, and yet operations have been started in the epoch before');
    return next(layer, w, assertion);
  }
  const comm = commOfWindow(layer, w);
  const n = comm.group.length;
  const result = scratch(layer, 4);
  const s = new Schedule(layer, comm, call);
  const counts = s.scratch(4 * n);
  layer.memory.view(counts).set(new Uint8Array(Uint32Array.from(w.issued).buffer));
  const every4 = Array.from({ length: n }, (_, i) => 4 * i);
  reduceScatterSpread(s, { buf: counts, offsets: every4, lengths: every4.map(() => 4) }, result, {
    op: opHandle('MPI_SUM'),
    type: UINT32,
    commute: true,
    unit: 4,
  });
  w.schedule = { request: startSchedule(s), result };
}

export function finishFence(layer: Layer, win: number, assertion: number, call = 'MPI_Win_fence'): void {
  const w = windowOf(layer, win, call);
  if (w.schedule) {
    const { request, result } = w.schedule;
    const { error } = wait(layer, request, call);
    w.expected = new Uint32Array(layer.memory.view(result).slice().buffer)[0]!;
    w.schedule = undefined;
    releaseSpace(layer, result.space);
    if (error) throw new MPIError(error.errorClass, error.call, error.text, w.comm);
  }
  if (w.expected < 0) return;
  waitUntil(layer, () => w.came >= w.expected && w.owed.size === 0, reason(layer, w, call, everyone(w)));
  w.expected = -1;
  next(layer, w, assertion);
  report(w, call);
}

/** The next fence epoch begins: what has come for it already is applied. */
function next(layer: Layer, w: WindowRecord, assertion: number): void {
  w.came = 0;
  w.issued.fill(0);
  w.fences++;
  w.access = (assertion & Assert.NOSUCCEED) !== 0 ? 'none' : 'fence';
  drainAll(layer, w);
  settle(layer);
}

// ── post, start, complete, wait

function ranksOf(layer: Layer, w: WindowRecord, group: readonly number[], call: string): number[] {
  const all = commOfWindow(layer, w).group;
  return group.map((task) => {
    const rank = rankOfTask(all, task);
    return rank >= 0 ? rank : fail(ERR.GROUP, call, `task ${task} of the group is not in the window's group`, w.comm);
  });
}

/** [MPI_Win_post] @param group tasks */
export function post(
  layer: Layer,
  win: number,
  group: readonly number[],
  assertion: number,
  call = 'MPI_Win_post',
): void {
  const w = windowOf(layer, win, call);
  checkAssert(w, assertion, call);
  if (w.exposed) misplaced(w, call, 'there is an exposure epoch already: MPI_Win_wait ends it');
  if (!unused(w) && w.access !== 'start') misplaced(w, call, `there is ${ended(w)}`);
  w.exposed = new Map(ranksOf(layer, w, group, call).map((r) => [r, false]));
  for (const rank of [...w.exposed.keys()]) drain(layer, w, rank);
  settle(layer);
}

/** [MPI_Win_start] @param group tasks */
export function startAccess(
  layer: Layer,
  win: number,
  group: readonly number[],
  assertion: number,
  call = 'MPI_Win_start',
): void {
  const w = windowOf(layer, win, call);
  checkAssert(w, assertion, call);
  if (!unused(w)) misplaced(w, call, `there is ${ended(w)} already`);
  w.started = ranksOf(layer, w, group, call);
  w.access = 'start';
}

/** [MPI_Win_complete] */
export function startComplete(layer: Layer, win: number, call = 'MPI_Win_complete'): void {
  const w = windowOf(layer, win, call);
  if (w.access !== 'start') misplaced(w, call, 'MPI_Win_start comes first');
  for (const rank of w.started) issue(layer, w, rank, epochBits(Under.START, Lock.NONE, 0) | Act.COMPLETE, 0, EMPTY);
  w.access = 'none';
  w.started = [];
  settle(layer);
}

export function finishComplete(layer: Layer, win: number, call = 'MPI_Win_complete'): void {
  const w = windowOf(layer, win, call);
  waitUntil(layer, () => w.owed.size === 0, reason(layer, w, call, everyone(w)));
  report(w, call);
}

const allComplete = (w: WindowRecord): boolean => ![...w.exposed!.values()].includes(false);

function exposure(layer: Layer, win: number, call: string): WindowRecord {
  const w = windowOf(layer, win, call);
  return w.exposed ? w : misplaced(w, call, 'MPI_Win_post comes first');
}

export const checkExposed = (layer: Layer, win: number, call = 'MPI_Win_wait'): void => void exposure(layer, win, call);

/** [MPI_Win_wait] */
export function waitExposure(layer: Layer, win: number, call = 'MPI_Win_wait'): void {
  const w = exposure(layer, win, call);
  waitUntil(
    layer,
    () => allComplete(w),
    () => {
      const open = [...w.exposed!].filter(([, done]) => !done);
      return { call, peer: open.length === 1 ? taskId(commOfWindow(layer, w).group[open[0]![0]]!) : undefined };
    },
  );
  w.exposed = undefined;
  report(w, call);
}

/** [MPI_Win_test] */
export function testExposure(layer: Layer, win: number, call = 'MPI_Win_test'): boolean {
  const w = exposure(layer, win, call);
  if (!pollUntil(layer, () => allComplete(w))) return false;
  w.exposed = undefined;
  report(w, call);
  return true;
}

// ── locks

/** [MPI_Win_lock] @param type Lock.SHARED or Lock.EXCLUSIVE */
export function startLock(
  layer: Layer,
  win: number,
  type: number,
  rank: number,
  assertion: number,
  call = 'MPI_Win_lock',
): void {
  const w = windowOf(layer, win, call);
  checkAssert(w, assertion, call);
  checkRank(layer, w, rank, call);
  if (w.access === 'lock' ? w.locks.has(rank) : !unused(w))
    misplaced(w, call, w.access === 'lock' ? `rank ${rank} is locked already` : `there is ${ended(w)} already`);
  w.access = 'lock';
  hold(layer, w, rank, type, assertion);
}

/** [MPI_Win_lock_all] */
export function startLockAll(layer: Layer, win: number, assertion: number, call = 'MPI_Win_lock_all'): void {
  const w = windowOf(layer, win, call);
  checkAssert(w, assertion, call);
  if (!unused(w)) misplaced(w, call, `there is ${ended(w)} already`);
  w.access = 'lockAll';
  commOfWindow(layer, w).group.forEach((_, rank) => hold(layer, w, rank, Lock.SHARED, assertion));
}

function hold(layer: Layer, w: WindowRecord, rank: number, type: number, assertion: number): void {
  const own = rank === commOfWindow(layer, w).rank;
  const unchecked = (assertion & Assert.NOCHECK) !== 0 || rank === PROC_NULL;
  w.locks.set(rank, { type: unchecked ? Lock.UNCHECKED : type, told: own });
  if (own && !unchecked) askLock(w, rank, type);
}

/**
 * The second half of both: the own memory may be read and written only under its lock, others are told with the first
 * operation.
 */
export function finishLock(layer: Layer, win: number, call: string): void {
  const w = windowOf(layer, win, call);
  const { rank } = commOfWindow(layer, w);
  const held = w.locks.get(rank);
  if (!held || held.type === Lock.UNCHECKED || w.holders.has(rank)) return;
  waitUntil(
    layer,
    () => w.holders.has(rank),
    () => {
      const [holder] = w.holders.keys();
      return { call, peer: holder === undefined ? undefined : taskId(commOfWindow(layer, w).group[holder]!) };
    },
  );
}

/** Asks a target to say when it has applied all so far, where it would not say so anyway. */
function confirm(layer: Layer, w: WindowRecord, rank: number, call: string, act: number): void {
  const held = w.locks.get(rank)!;
  const open = w.unconfirmed.delete(rank);
  const unlocks = act === Act.UNLOCK && held.type !== Lock.UNCHECKED;
  const own = rank === commOfWindow(layer, w).rank;
  if (own && unlocks) return release(layer, w, rank);
  if (own || !held.told || (!open && !unlocks)) return;
  const body = open ? short(expect(layer, w, rank, call, undefined), 0, 0).body : EMPTY;
  issue(layer, w, rank, lockBits(held) | (unlocks ? Act.UNLOCK : Act.FLUSH), 0, body);
}

function passive(layer: Layer, win: number, rank: number, call: string): WindowRecord {
  const w = windowOf(layer, win, call);
  checkRank(layer, w, rank, call);
  if (w.access !== 'lock' && w.access !== 'lockAll')
    misplaced(w, call, `there is ${ended(w)}: MPI_Win_lock comes first`);
  if (!w.locks.has(rank) && !(rank === PROC_NULL && w.access === 'lockAll'))
    misplaced(w, call, `rank ${rank} is not locked`);
  return w;
}
function passiveAll(layer: Layer, win: number, call: string): WindowRecord {
  const w = windowOf(layer, win, call);
  return w.access === 'lock' || w.access === 'lockAll'
    ? w
    : misplaced(w, call, `there is ${ended(w)}: MPI_Win_lock comes first`);
}

/** [MPI_Win_unlock] */
export function startUnlock(layer: Layer, win: number, rank: number, call = 'MPI_Win_unlock'): void {
  const w = windowOf(layer, win, call);
  checkRank(layer, w, rank, call);
  if (w.access !== 'lock' || !w.locks.has(rank))
    misplaced(
      w,
      call,
      w.access === 'lockAll' ? 'all ranks were locked: MPI_Win_unlock_all ends that' : `rank ${rank} is not locked`,
    );
  leave(layer, w, rank, call);
  if (w.locks.size === 0) w.access = 'none';
  settle(layer);
}

/** [MPI_Win_unlock_all] */
export function startUnlockAll(layer: Layer, win: number, call = 'MPI_Win_unlock_all'): void {
  const w = windowOf(layer, win, call);
  if (w.access !== 'lockAll') misplaced(w, call, 'MPI_Win_lock_all comes first');
  for (const rank of [...w.locks.keys()]) leave(layer, w, rank, call);
  w.access = 'none';
  settle(layer);
}

function leave(layer: Layer, w: WindowRecord, rank: number, call: string): void {
  if (rank !== PROC_NULL) confirm(layer, w, rank, call, Act.UNLOCK);
  w.locks.delete(rank);
}

/** [MPI_Win_flush] */
export function startFlush(layer: Layer, win: number, rank: number, call = 'MPI_Win_flush'): void {
  const w = passive(layer, win, rank, call);
  if (rank !== PROC_NULL) confirm(layer, w, rank, call, Act.FLUSH);
}

/** [MPI_Win_flush_all] */
export function startFlushAll(layer: Layer, win: number, call = 'MPI_Win_flush_all'): void {
  const w = passiveAll(layer, win, call);
  for (const rank of [...w.unconfirmed.keys()]) confirm(layer, w, rank, call, Act.FLUSH);
}

/**
 * An origin that only flushes locally is let run ahead of its target by so much: what is under way lies in the target's
 * log.
 */
const AHEAD = 4 << 20;

/**
 * [MPI_Win_flush_local, MPI_Win_flush_local_all] Puts are complete here when they return: only answers are waited for,
 * and a target that is far behind.
 */
export function startFlushLocal(layer: Layer, win: number, rank: number | undefined, call: string): void {
  const w = rank === undefined ? passiveAll(layer, win, call) : passive(layer, win, rank, call);
  for (const [target, bytes] of [...w.unconfirmed])
    if (bytes > AHEAD && (rank === undefined || target === rank)) confirm(layer, w, target, call, Act.FLUSH);
}

/**
 * The second half of unlock and flush. One that has nothing to wait for looks at what has arrived: programs that look
 * at their own memory again and again, between lock and unlock or after a flush, would else never see what others do to
 * it. @param rank undefined: all targets
 */
export function finishPassive(layer: Layer, win: number, rank: number | undefined, call: string): void {
  const w = windowOf(layer, win, call);
  const ranks = rank === undefined ? everyone(w) : [rank];
  if (settled(w, ranks)) pollUntil(layer, () => false);
  else waitUntil(layer, () => settled(w, ranks), reason(layer, w, call, ranks));
  report(w, call);
}

/**
 * [MPI_Win_sync] There is one copy of the memory. Programs call it in loops that wait for others: it looks at what has
 * arrived.
 */
export function sync(layer: Layer, win: number, call = 'MPI_Win_sync'): void {
  windowOf(layer, win, call);
  pollUntil(layer, () => false);
}
