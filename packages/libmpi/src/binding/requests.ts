/**
 * Request handles (MPI 4.1 §3.7, §3.9, §13.2): the wait and test families, persistent and generalized requests.
 * A handle names a slot (slots.ts).
 */
import {
  ANY_SOURCE,
  ANY_TAG,
  ERR,
  MPIError,
  UNDEFINED,
  inSeries,
  partitioned,
  requests,
  type Outcome,
  type Series,
  type StatusRecord,
} from '@mayfly/mpi';
import { record, type Implementations } from './define.ts';
import { Null } from './handles.ts';
import { COMPLETE, COMPLETE_HANDLE, dropSlot, slotOf, takeSlot } from './slots.ts';
import type { Core } from './core.ts';
import type { CallRecord, Slot } from './state.ts';

/**
 * Starters of partitioned requests; their arguments: the layer's handle, then buffer, count per partition, datatype.
 */
export const PARTITIONED_SEND = 'Psend';
export const PARTITIONED_RECEIVE = 'Precv';

/** Operations by their name in the blocking form: they answer the layer's request. Persistent requests name them. */
export type Starters = Record<string, (...args: number[]) => number>;

const isPartitioned = (slot: Slot): boolean =>
  slot.persistent?.starter === PARTITIONED_SEND || slot.persistent?.starter === PARTITIONED_RECEIVE;

const EMPTY: StatusRecord = { source: ANY_SOURCE, tag: ANY_TAG, bytes: 0, cancelled: false, object: false };

export function completion(
  core: Core,
  starters: Starters,
  madeComm: (layerComm: number, at: number, parent: number, gets: Slot['gets']) => void,
): Implementations {
  const { layer, heap } = core;

  const handles = (count: number, at: number): number[] => heap.ints(at, core.count(count, 0), 'array_of_requests');
  /** The layer's requests; 0 (which the layer takes for inactive) for the null request and inactive persistent ones. */
  const layerRequests = (list: readonly number[]): number[] => {
    const out = new Array<number>(list.length);
    for (let i = 0; i < list.length; i++) out[i] = slotOf(core, list[i]!)?.request ?? 0;
    return out;
  };
  const isImmediate = (h: number): boolean => h === COMPLETE_HANDLE;

  /** A complete request leaves its handle. @returns the error that it ended with */
  function settle(handle: number, at: number, outcome: Outcome, status: number): MPIError | undefined {
    const slot = slotOf(core, handle);
    if (!slot) {
      core.setStatus(status, EMPTY);
      if (handle !== Null.REQUEST) heap.setInt(at, Null.REQUEST, 'request');
      return undefined;
    }
    let error = outcome.error && core.failed(outcome.error, outcome.comm);
    // "the operation … is still pending" (ULFM): the handle stays.
    if (outcome.stays) return error;
    if (slot.general) error = endGeneral(slot, status) ?? error;
    else core.setStatus(status, slot.request !== 0 ? outcome.status : EMPTY);
    if (slot.persistent) slot.request = 0;
    else {
      if (slot.flag && outcome.agreed) heap.setInt(slot.flag, outcome.agreed.flag, 'flag');
      if (slot.newComm !== 0 && !error) madeComm(outcome.result, slot.newComm, slot.parent, slot.gets);
      dropSlot(core, handle);
      heap.setInt(at, Null.REQUEST, 'request');
    }
    return error;
  }

  function endGeneral(slot: Slot, status: number): MPIError | undefined {
    const g = slot.general!;
    return core.lend(32, (own) => {
      const to = status === 0 ? own : status;
      core.setStatus(to, EMPTY);
      const attempt = (what: string, index: number, ...args: number[]): MPIError | undefined => {
        try {
          core.callbackCode(what, 0, index, ...args);
          return undefined;
        } catch (e) {
          if (e instanceof MPIError) return e;
          throw e;
        }
      };
      const error = attempt('query function', g.query, g.extra, to);
      return attempt('free function', g.free, g.extra) ?? error;
    });
  }

  /** The end of a call for one request. */
  const one = (handle: number, at: number, outcome: Outcome, status: number): number => {
    const error = settle(handle, at, outcome, status);
    if (error) throw error;
    return ERR.SUCCESS;
  };
  const { idle } = requests;

  /**
   * Ends of a call for several requests: all statuses are written, then the error (§3.7.5: "MPI_ERR_IN_STATUS").
   * @param which places of the requests that have ended, which go to the program at `indices`; absent: all have
   */
  function several(
    list: readonly number[],
    at: number,
    outcomes: readonly Outcome[],
    statuses: number,
    which?: readonly number[],
    indices = 0,
  ): number {
    let codes: number[] | undefined;
    let failed: MPIError | undefined;
    for (let k = 0; k < outcomes.length; k++) {
      const i = which ? which[k]! : k;
      const error = settle(list[i]!, at + 4 * i, outcomes[k]!, statuses === 0 ? 0 : statuses + 32 * k);
      if (error) {
        failed ??= error;
        codes ??= new Array<number>(outcomes.length).fill(ERR.SUCCESS);
        codes[k] = error.errorClass;
      }
      if (indices !== 0) heap.setInt(indices + 4 * k, i, 'array_of_indices');
    }
    if (!failed) return ERR.SUCCESS;
    if (statuses !== 0) codes!.forEach((code, k) => core.setStatusError(statuses + 32 * k, code));
    throw new MPIError(ERR.IN_STATUS, core.call, failed.message, failed.comm);
  }
  const someOf = (
    list: readonly number[],
    at: number,
    ended: readonly { index: number; outcome: Outcome }[],
    statuses: number,
    indices: number,
  ): number =>
    several(
      list,
      at,
      ended.map((e) => e.outcome),
      statuses,
      ended.map((e) => e.index),
      indices,
    );
  /** What Waitall has looked up at its start, for its end; after an image it looks again. */
  let looked: { r: CallRecord; list: number[]; wanted: number[] } | undefined;

  const checkStatuses = (count: number, statuses: number): void =>
    void (statuses !== 0 && count > 0 && heap.check(statuses, 32 * count, 'array_of_statuses'));

  /** Index of the first request that is complete without waiting. */
  const immediate = (list: readonly number[]): number => list.findIndex(isImmediate);
  /** Those that are complete, sends at once among them; undefined when none is. */
  function some(list: readonly number[], wanted: readonly number[]): { index: number; outcome: Outcome }[] {
    const done = requests.completed(layer, wanted);
    list.forEach((h, index) => void (isImmediate(h) && done.push({ index, outcome: idle() })));
    return done.sort((a, b) => a.index - b.index);
  }
  const anyActive = (list: readonly number[], wanted: readonly number[]): boolean =>
    list.some((h, i) => isImmediate(h) || wanted[i] !== 0);

  const start = (handle: number): void => {
    const slot = slotOf(core, handle);
    if (!slot?.persistent) core.fail(ERR.REQUEST, 'the request is not persistent');
    if (slot!.request !== 0 && layer.state.requests.rows.has(slot!.request))
      core.fail(ERR.REQUEST, 'the persistent request is active already');
    const { starter, args, large, call, series } = slot!.persistent!;
    const before = [heap.large, heap.call] as const;
    heap.large = large;
    heap.call = call;
    try {
      slot!.request = inSeries(layer, series, () => starters[starter]!(...args));
      // Complete at once, and yet active: a request of the layer which is complete.
      if (slot!.request === COMPLETE) {
        slot!.request = requests.startGeneral(layer);
        requests.completeGeneral(layer, slot!.request);
      }
    } finally {
      [heap.large, heap.call] = before;
    }
  };

  const status = (handle: number): Outcome | undefined =>
    isImmediate(handle) || handle === Null.REQUEST ? idle() : requests.getStatus(layer, slotOf(core, handle)!.request);
  /**
   * What Request_get_status* answer of a request that is complete: of a generalized one what its query function says.
   */
  const show = (handle: number, o: Outcome, at: number): void => {
    const slot = slotOf(core, handle);
    if (!slot?.general) return core.setStatus(at, slot && slot.request !== 0 ? o.status : EMPTY);
    core.lend(32, (own) => {
      const to = at === 0 ? own : at;
      core.setStatus(to, EMPTY);
      core.callbackCode('query function', 0, slot.general!.query, slot.general!.extra, to);
    });
  };
  const inactive = (handle: number): boolean =>
    handle === Null.REQUEST || (!isImmediate(handle) && slotOf(core, handle)!.request === 0);
  const getStatusOne = (handle: number, flag: number, at: number): number => {
    heap.check(flag, 4, 'flag');
    const outcome = status(handle);
    heap.setInt(flag, outcome ? 1 : 0, 'flag');
    if (outcome) show(handle, outcome, at);
    return ERR.SUCCESS;
  };

  const out: Implementations = {
    Wait: {
      start: (at, to) => {
        const handle = heap.int(at!, 'request');
        if (to !== 0) heap.check(to!, 32, 'status');
        const slot = slotOf(core, handle);
        if (!slot) return one(handle, at!, idle(), to!);
        return record('Wait', slot.request, [at!, to!, handle]);
      },
      finish: (r) => one(r.at[2]!, r.at[0]!, requests.wait(layer, r.request), r.at[1]!),
    },
    Waitall: {
      start: (count, at, statuses) => {
        const list = handles(count!, at!);
        const wanted = layerRequests(list);
        checkStatuses(count!, statuses!);
        const r = record('Waitall', 0, [count!, at!, statuses!]);
        looked = { r, list, wanted };
        return r;
      },
      finish: (r) => {
        const [count, at, statuses] = r.at as [number, number, number];
        const list = looked?.r === r ? looked.list : handles(count, at);
        const wanted = looked?.r === r ? looked.wanted : layerRequests(list);
        return several(list, at, requests.waitAll(layer, wanted), statuses);
      },
    },
    Waitany: {
      start: (count, at, index, to) => {
        heap.check(index!, 4, 'index');
        layerRequests(handles(count!, at!));
        return record('Waitany', 0, [count!, at!, index!, to!]);
      },
      finish: (r) => {
        const [count, at, index, to] = r.at as [number, number, number, number];
        const list = handles(count, at);
        const now = immediate(list);
        const ended = now >= 0 ? { index: now, outcome: idle() } : requests.waitAny(layer, layerRequests(list));
        return any(list, at, ended, index, to);
      },
    },
    Waitsome: {
      start: (count, at, outcount, indices, statuses) => {
        heap.check(outcount!, 4, 'outcount');
        layerRequests(handles(count!, at!));
        checkStatuses(count!, statuses!);
        return record('Waitsome', 0, [count!, at!, outcount!, indices!, statuses!]);
      },
      finish: (r) => {
        const [count, at, outcount, indices, statuses] = r.at as [number, number, number, number, number];
        const list = handles(count, at);
        const wanted = layerRequests(list);
        if (!anyActive(list, wanted)) return (heap.setInt(outcount, UNDEFINED, 'outcount'), ERR.SUCCESS);
        const ended = immediate(list) >= 0 ? some(list, wanted) : requests.waitSome(layer, wanted);
        heap.setInt(outcount, ended.length, 'outcount');
        return someOf(list, at, ended, statuses, indices);
      },
    },
    Test: (at: number, flag: number, to: number) => {
      const handle = heap.int(at, 'request');
      heap.check(flag, 4, 'flag');
      if (to !== 0) heap.check(to, 32, 'status');
      const slot = slotOf(core, handle);
      const outcome = slot ? requests.test(layer, slot.request) : idle();
      heap.setInt(flag, outcome ? 1 : 0, 'flag');
      return outcome ? one(handle, at, outcome, to) : ERR.SUCCESS;
    },
    Testall: (count: number, at: number, flag: number, statuses: number) => {
      const list = handles(count, at);
      heap.check(flag, 4, 'flag');
      checkStatuses(count, statuses);
      const outcomes = requests.testAll(layer, layerRequests(list));
      heap.setInt(flag, outcomes ? 1 : 0, 'flag');
      return outcomes ? several(list, at, outcomes, statuses) : ERR.SUCCESS;
    },
    Testany: (count: number, at: number, index: number, flag: number, to: number) => {
      const list = handles(count, at);
      heap.check(flag, 4, 'flag');
      heap.check(index, 4, 'index');
      const now = immediate(list);
      const ended = now >= 0 ? { index: now, outcome: idle() } : requests.testAny(layer, layerRequests(list));
      heap.setInt(flag, ended ? 1 : 0, 'flag');
      if (!ended) return (heap.setInt(index, UNDEFINED, 'index'), ERR.SUCCESS);
      return any(list, at, ended === 'none' ? undefined : ended, index, to);
    },
    Testsome: (count: number, at: number, outcount: number, indices: number, statuses: number) => {
      const list = handles(count, at);
      heap.check(outcount, 4, 'outcount');
      checkStatuses(count, statuses);
      const wanted = layerRequests(list);
      if (!anyActive(list, wanted)) return (heap.setInt(outcount, UNDEFINED, 'outcount'), ERR.SUCCESS);
      const ended = immediate(list) >= 0 ? some(list, wanted) : requests.testSome(layer, wanted);
      heap.setInt(outcount, ended.length, 'outcount');
      return someOf(list, at, ended, statuses, indices);
    },
    Request_get_status: getStatusOne,
    Request_get_status_all: (count: number, at: number, flag: number, statuses: number) => {
      const list = handles(count, at);
      checkStatuses(count, statuses);
      const outcomes = list.map(status);
      const done = outcomes.every((o) => o !== undefined);
      heap.setInt(flag, done ? 1 : 0, 'flag');
      if (done) list.forEach((h, i) => show(h, outcomes[i]!, statuses === 0 ? 0 : statuses + 32 * i));
      return ERR.SUCCESS;
    },
    Request_get_status_any: (count: number, at: number, index: number, flag: number, to: number) => {
      const list = handles(count, at);
      heap.check(flag, 4, 'flag');
      const idleAll = list.every(inactive);
      const i = list.findIndex((h) => !inactive(h) && status(h) !== undefined);
      heap.setInt(flag, i >= 0 || idleAll ? 1 : 0, 'flag');
      heap.setInt(index, i >= 0 ? i : UNDEFINED, 'index');
      if (i >= 0) show(list[i]!, status(list[i]!)!, to);
      else if (idleAll) core.setStatus(to, EMPTY);
      return ERR.SUCCESS;
    },
    Request_get_status_some: (count: number, at: number, outcount: number, indices: number, statuses: number) => {
      const list = handles(count, at);
      heap.check(outcount, 4, 'outcount');
      if (list.every(inactive)) return (heap.setInt(outcount, UNDEFINED, 'outcount'), ERR.SUCCESS);
      let n = 0;
      list.forEach((h, i) => {
        const o = inactive(h) ? undefined : status(h);
        if (!o) return;
        heap.setInt(indices + 4 * n, i, 'array_of_indices');
        show(h, o, statuses === 0 ? 0 : statuses + 32 * n);
        n++;
      });
      heap.setInt(outcount, n, 'outcount');
      return ERR.SUCCESS;
    },
    Request_free: (at: number) => {
      const handle = heap.int(at, 'request');
      if (handle === Null.REQUEST) core.fail(ERR.REQUEST, 'the request is MPI_REQUEST_NULL');
      const slot = slotOf(core, handle);
      if (slot) {
        if (isPartitioned(slot))
          partitioned.free(layer, slot.persistent!.args[0]!, slot.persistent!.starter === PARTITIONED_SEND);
        // "The actual freeing code is executed as soon as both calls (MPI_REQUEST_FREE and MPI_GREQUEST_COMPLETE) have
        // occurred" (§13.2).
        if (slot.general && !requests.isComplete(layer, slot.request)) slot.general.freed = true;
        else {
          if (slot.general) core.callbackCode('free function', 0, slot.general.free, slot.general.extra);
          if (layer.state.requests.rows.has(slot.request)) requests.free(layer, slot.request);
          dropSlot(core, handle);
        }
      }
      heap.setInt(at, Null.REQUEST, 'request');
      return ERR.SUCCESS;
    },
    Cancel: (at: number) => {
      const handle = heap.int(at, 'request');
      if (handle === Null.REQUEST) core.fail(ERR.REQUEST, 'the request is MPI_REQUEST_NULL');
      const slot = slotOf(core, handle);
      if (slot?.general)
        core.callbackCode(
          'cancel function',
          0,
          slot.general.cancel,
          slot.general.extra,
          requests.isComplete(layer, slot.request) ? 1 : 0,
        );
      else if (slot && isPartitioned(slot))
        core.fail(ERR.REQUEST, 'a partitioned operation cannot be cancelled: partitions may have left or come already');
      else if (slot) requests.cancel(layer, slot.request);
      return ERR.SUCCESS;
    },
    Start: (at: number) => (start(heap.int(at, 'request')), ERR.SUCCESS),
    Startall: (count: number, at: number) => (handles(count, at).forEach(start), ERR.SUCCESS),
    Grequest_start: (query: number, free: number, cancel: number, extra: number, at: number) => {
      heap.check(at, 4, 'request');
      heap.setInt(
        at,
        takeSlot(core, {
          request: requests.startGeneral(layer),
          newComm: 0,
          parent: 0,
          persistent: undefined,
          general: { query, free, cancel, extra },
          gets: undefined,
          flag: 0,
        }),
        'request',
      );
      return ERR.SUCCESS;
    },
    Grequest_complete: (handle: number) => {
      const slot = slotOf(core, handle);
      if (!slot?.general) core.fail(ERR.REQUEST, 'the request is not a generalized one');
      requests.completeGeneral(layer, slot!.request);
      if (slot!.general!.freed) {
        requests.free(layer, slot!.request);
        dropSlot(core, handle);
        core.callbackCode('free function', 0, slot!.general!.free, slot!.general!.extra);
      }
      return ERR.SUCCESS;
    },
  };

  function any(
    list: readonly number[],
    at: number,
    ended: { index: number; outcome: Outcome } | undefined,
    index: number,
    to: number,
  ): number {
    heap.setInt(index, ended ? ended.index : UNDEFINED, 'index');
    if (!ended) {
      core.setStatus(to, EMPTY);
      return ERR.SUCCESS;
    }
    return one(list[ended.index]!, at + 4 * ended.index, ended.outcome, to);
  }

  // Persistent forms take the arguments of the blocking one, and the handle behind them.
  for (const name of ['Send', 'Bsend', 'Rsend', 'Ssend', 'Recv'])
    out[`${name}_init`] = (...args: number[]) => makePersistent(core, name, args.slice(0, -1), args[args.length - 1]!);
  return out;
}

/** A request that MPI_Start starts, each time with these arguments. */
export function makePersistent(core: Core, starter: string, args: number[], at: number, series?: Series): number {
  core.heap.check(at, 4, 'request');
  const persistent = { starter, args, large: core.heap.large, call: core.call, ...(series && { series }) };
  core.heap.setInt(
    at,
    takeSlot(core, { request: 0, newComm: 0, parent: 0, persistent, general: undefined, gets: undefined, flag: 0 }),
    'request',
  );
  return ERR.SUCCESS;
}
