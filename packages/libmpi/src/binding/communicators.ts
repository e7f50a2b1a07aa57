/**
 * Groups and communicators (MPI 4.1 chapter 7). A communicator's making is a request of the layer; its copies of
 * attributes are made when it is there.
 */
import { ERR, UNDEFINED, comms, failures, groups, intercomms, requests, type Outcome } from '@mayfly/mpi';
import { constant } from '../abi/constants.ts';
import { copyAttributes, deleteAttributes } from './attributes.ts';
import { record, type Implementations, type Waiting } from './define.ts';
import { dupOrRecover } from './recovering.ts';
import { Kind, Null, Predefined, handleOf, numberOf } from './handles.ts';
import { newSlot } from './slots.ts';
import type { Core } from './core.ts';
import type { CallRecord } from './state.ts';

const COMPARISON = {
  IDENT: constant('MPI_IDENT'),
  CONGRUENT: constant('MPI_CONGRUENT'),
  SIMILAR: constant('MPI_SIMILAR'),
  UNEQUAL: constant('MPI_UNEQUAL'),
} as const;

const SPLIT_TYPES = new Map<number, comms.SplitType>([
  [constant('MPI_COMM_TYPE_SHARED'), 'shared'],
  [constant('MPI_COMM_TYPE_HW_GUIDED'), 'hwGuided'],
  [constant('MPI_COMM_TYPE_HW_UNGUIDED'), 'hwUnguided'],
  [constant('MPI_COMM_TYPE_RESOURCE_GUIDED'), 'resourceGuided'],
]);

/** An info object as it is now, for a communicator that is to come: the program may free its own. */
const keepInfo = (core: Core, info: number): number =>
  numberOf(Kind.INFO, core.newInfo(core.info(info) ?? new Map())) + 1;

/**
 * A new communicator has come to be: its handle goes to the program. @param parent dup: whose attributes it gets
 * @param info of {@link keepInfo}, or 0: "The hints provided by the argument info are associated with the output
 * communicator" (§7.4.2), and no others: "Info hints are not propagated by MPI from one communicator to another"
 * (§7.4.4; MPI 3.1 had it otherwise)
 */
export function madeComm(
  core: Core,
  number: number,
  at: number,
  parent = 0,
  info = 0,
  attributes?: ReadonlyMap<number, unknown>,
): void {
  const { layer, heap } = core;
  const made = layer.state.comms.rows.get(number);
  if (made) {
    made.attributes.clear();
    attributes?.forEach((value, key) => made.attributes.set(key, value));
    const from = parent === 0 || attributes ? undefined : layer.state.comms.rows.get(parent);
    if (parent !== 0) {
      try {
        if (from) copyAttributes(core, 'comm', core.commHandle(parent), from.attributes, made.attributes);
        const hints = info > 0 ? core.state.infos.get(info - 1) : undefined;
        if (info > 0) core.state.infos.delete(info - 1);
        if (hints && hints.size > 0) core.state.commInfo.set(number, new Map(hints));
      } catch (e) {
        // "If any copy callback returns other than MPI_SUCCESS, then the entire call … will fail" (§7.7.2).
        layer.state.comms.rows.delete(number);
        heap.setInt(at, Null.COMM, 'newcomm');
        throw e;
      }
    }
  }
  heap.setInt(at, core.commHandle(made ? number : 0), 'newcomm');
}

/**
 * A call that makes a communicator. `start` answers the layer's request; the last argument is where the handle goes.
 */
export function making(
  core: Core,
  call: string,
  start: (...args: number[]) => { request: number; parent?: number; info?: number; members?: boolean },
): Waiting {
  return {
    start: (...args) => {
      const at = core.heap.check(args[args.length - 1]!, 4, 'newcomm');
      // Programs that look after an error find no communicator.
      core.heap.setInt(at, Null.COMM, 'newcomm');
      const { request, parent = 0, info = 0, members = true } = start(...args);
      if (!members) {
        core.heap.setInt(at, Null.COMM, 'newcomm');
        return ERR.SUCCESS;
      }
      return record(call, request, [at, parent, info]);
    },
    finish: (r: CallRecord) => {
      const outcome: Outcome = requests.wait(core.layer, r.request, `MPI_${call}`);
      if (outcome.error) throw core.failed(outcome.error, outcome.comm);
      madeComm(core, outcome.result, r.at[0]!, r.at[1]!, r.at[2]);
      return ERR.SUCCESS;
    },
  };
}

/** A handle for a group. */
export function newGroup(core: Core, at: number, tasks: readonly number[]): void {
  core.heap.check(at, 4, 'newgroup');
  const { groups: table } = core.layer.state;
  if (tasks.length === 0) return core.heap.setInt(at, Predefined.GROUP_EMPTY, 'newgroup');
  const n = table.next++;
  table.rows.set(n, [...tasks]);
  core.heap.setInt(at, handleOf(Kind.GROUP, n), 'newgroup');
}

/**
 * [MPI_Comm_free] and the end of MPI_Comm_disconnect. Delete functions come first: "If … returns other than
 * MPI_SUCCESS" the communicator stays (§7.7.2).
 */
export function freeComm(core: Core, at: number): void {
  const c = core.comm(core.heap.int(at, 'comm'));
  comms.checkFree(c, core.call);
  deleteAttributes(core, 'comm', core.commHandle(c.handle), c.attributes);
  comms.free(core.layer, c.handle, core.call);
  core.state.names.delete(c.handle);
  core.state.commInfo.delete(c.handle);
  core.heap.setInt(at, Null.COMM, 'comm');
}

export function communicators(core: Core): Implementations {
  const { layer, heap } = core;
  const success = (f: () => void): number => (f(), ERR.SUCCESS);
  const make = (at: number, tasks: readonly number[]): number => success(() => newGroup(core, at, tasks));
  const ranges = (n: number, at: number): groups.Range[] => {
    const list = heap.ints(at, n * 3, 'ranges');
    return Array.from({ length: n }, (_, i) => [list[3 * i]!, list[3 * i + 1]!, list[3 * i + 2]!] as const);
  };
  const withInfo = (number: number, info: number): void => {
    const given = core.info(info);
    // "there will be no effect on previously set or defaulted hints that the info does not specify" (§7.4.4)
    if (given) core.state.commInfo.set(number, new Map([...(core.state.commInfo.get(number) ?? []), ...given]));
  };
  const dup = making(core, 'Comm_dup', (comm) => {
    failures.needWhole(layer, core.call);
    const c = core.comm(comm!).handle;
    return { request: comms.dup(layer, c, core.call), parent: c };
  });
  const dupWithInfo = making(core, 'Comm_dup_with_info', (comm, info) => {
    const c = core.comm(comm!).handle;
    const hints = keepInfo(core, info!);
    return { request: comms.dup(layer, c, core.call), parent: c, info: hints };
  });
  return {
    Comm_size: (comm: number, at: number) => success(() => heap.setInt(at, core.comm(comm).group.length, 'size')),
    Comm_rank: (comm: number, at: number) => success(() => heap.setInt(at, core.comm(comm).rank, 'rank')),
    Comm_test_inter: (comm: number, at: number) =>
      success(() => heap.setInt(at, core.comm(comm).remote ? 1 : 0, 'flag')),
    Comm_remote_size: (comm: number, at: number) => success(() => heap.setInt(at, remote(comm).length, 'size')),
    Comm_remote_group: (comm: number, at: number) => make(at, remote(comm)),
    Comm_compare: (a: number, b: number, at: number) =>
      success(() =>
        heap.setInt(at, COMPARISON[comms.compare(layer, core.commNumber(a), core.commNumber(b))], 'result'),
      ),
    Comm_group: (comm: number, at: number) => make(at, core.comm(comm).group),
    Comm_dup: dupOrRecover(core, dup),
    Comm_dup_with_info: dupWithInfo,
    Comm_idup: (comm: number, at: number, request: number) => idup(comm, at, request, () => 0),
    Comm_idup_with_info: (comm: number, info: number, at: number, request: number) =>
      idup(comm, at, request, () => keepInfo(core, info)),
    Comm_create: making(core, 'Comm_create', (comm, group) => ({
      request: comms.create(layer, core.comm(comm!).handle, core.group(group!), core.call),
    })),
    Comm_create_group: making(core, 'Comm_create_group', (comm, group, tag) => {
      const c = core.comm(comm!);
      const tasks = core.group(group!);
      if (tag! < 0) core.fail(ERR.TAG, `tag ${tag} is negative`, c.handle);
      if (!tasks.includes(layer.state.task)) return { request: 0, members: false };
      return { request: comms.createGroup(layer, c.handle, tasks, tag!, core.call) };
    }),
    Comm_split: making(core, 'Comm_split', (comm, color, key) => ({
      request: comms.split(layer, core.comm(comm!).handle, color!, key!, core.call),
    })),
    Comm_split_type: making(core, 'Comm_split_type', (comm, type, key, info) => {
      const c = core.comm(comm!);
      const named = SPLIT_TYPES.get(type!);
      if (type !== UNDEFINED && !named)
        core.fail(ERR.ARG, `split_type ${type} is none of MPI_COMM_TYPE_…, nor MPI_UNDEFINED`, c.handle);
      return { request: comms.splitType(layer, c.handle, named, key!, core.info(info!), core.call) };
    }),
    Intercomm_create: making(core, 'Intercomm_create', (local, localLeader, peer, remoteLeader, tag) => ({
      request: intercomms.create(
        layer,
        core.comm(local!).handle,
        localLeader!,
        () => core.commNumber(peer!),
        remoteLeader!,
        tag!,
        core.call,
      ),
    })),
    Intercomm_merge: making(core, 'Intercomm_merge', (comm, high) => ({
      request: intercomms.merge(layer, core.comm(comm!).handle, high !== 0, core.call),
    })),
    Comm_free: (at: number) => success(() => freeComm(core, at)),
    Comm_get_name: (comm: number, at: number, length: number) =>
      success(() => {
        // "MPI_COMM_NULL … the name … MPI_COMM_NULL" (§7.8)
        if (comm === Null.COMM)
          return heap.setInt(length, heap.setString(at, 'MPI_COMM_NULL', 128, 'comm_name'), 'resultlen');
        const c = core.comm(comm);
        const own = c.handle <= 2 ? c.name : '';
        heap.setInt(length, heap.setString(at, core.state.names.get(c.handle) ?? own, 128, 'comm_name'), 'resultlen');
      }),
    Comm_set_name: (comm: number, at: number) =>
      success(() => {
        const c = core.comm(comm);
        const name = heap.string(at, 'comm_name', 127);
        core.state.names.set(c.handle, name);
        if (name) c.name = name;
      }),
    Comm_set_info: (comm: number, info: number) => success(() => withInfo(core.comm(comm).handle, info)),
    Comm_get_info: (comm: number, at: number) =>
      success(() =>
        heap.setInt(
          at,
          core.newInfo(core.state.commInfo.get(core.comm(comm).handle) ?? new Map<string, string>()),
          'info_used',
        ),
      ),

    Group_size: (group: number, at: number) => success(() => heap.setInt(at, core.group(group).length, 'size')),
    Group_rank: (group: number, at: number) =>
      success(() => {
        const i = core.group(group).indexOf(layer.state.task);
        heap.setInt(at, i < 0 ? UNDEFINED : i, 'rank');
      }),
    Group_compare: (a: number, b: number, at: number) =>
      success(() => heap.setInt(at, COMPARISON[groups.compareGroups(core.group(a), core.group(b))], 'result')),
    Group_translate_ranks: (a: number, n: number, from: number, b: number, to: number) =>
      success(() =>
        heap.setInts(
          to,
          groups.translateRanks(core.group(a), heap.ints(from, core.count(n, 0, 'n'), 'ranks1'), core.group(b)),
          'ranks2',
        ),
      ),
    Group_union: (a: number, b: number, at: number) => make(at, groups.union(core.group(a), core.group(b))),
    Group_intersection: (a: number, b: number, at: number) =>
      make(at, groups.intersection(core.group(a), core.group(b))),
    Group_difference: (a: number, b: number, at: number) => make(at, groups.difference(core.group(a), core.group(b))),
    Group_incl: (group: number, n: number, ranks: number, at: number) =>
      make(at, groups.incl(core.group(group), heap.ints(ranks, core.count(n, 0, 'n'), 'ranks'), core.call)),
    Group_excl: (group: number, n: number, ranks: number, at: number) =>
      make(at, groups.excl(core.group(group), heap.ints(ranks, core.count(n, 0, 'n'), 'ranks'), core.call)),
    Group_range_incl: (group: number, n: number, list: number, at: number) => {
      const g = core.group(group);
      heap.check(at, 4, 'newgroup');
      return make(
        at,
        groups.incl(g, groups.expandRanges(g, ranges(core.count(n, 0, 'n'), list), core.call), core.call),
      );
    },
    Group_range_excl: (group: number, n: number, list: number, at: number) => {
      const g = core.group(group);
      heap.check(at, 4, 'newgroup');
      return make(
        at,
        groups.excl(g, groups.expandRanges(g, ranges(core.count(n, 0, 'n'), list), core.call), core.call),
      );
    },
    Group_free: (at: number) =>
      success(() => {
        const n = core.groupNumber(heap.int(at, 'group'));
        if (n > 1) layer.state.groups.rows.delete(n);
        heap.setInt(at, Null.GROUP, 'group');
      }),
  };

  function idup(comm: number, at: number, request: number, info: () => number): number {
    heap.check(request, 4, 'request');
    heap.check(at, 4, 'newcomm');
    const c = core.comm(comm);
    // "as if MPI_COMM_DUP was executed at the time that MPI_COMM_IDUP is called" (§7.4.2): attributes of now.
    const given = new Map<number, unknown>();
    copyAttributes(core, 'comm', comm, c.attributes, given);
    const hints = info();
    heap.setInt(
      request,
      newSlot(core, comms.dup(layer, c.handle, core.call), at, c.handle, { attributes: given, info: hints }),
      'request',
    );
    return ERR.SUCCESS;
  }

  function remote(comm: number): number[] {
    const c = core.comm(comm);
    return c.remote ?? core.fail(ERR.COMM, `${c.name} is an intracommunicator`, c.handle);
  }
}
