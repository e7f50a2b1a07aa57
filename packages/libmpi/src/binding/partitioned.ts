/** Partitioned communication (MPI 4.1 chapter 4): persistent requests whose parts are declared ready one by one. */
import {
  ERR,
  LINEAR,
  PROC_NULL,
  isContiguous,
  linear,
  partitioned,
  requestOf,
  scratch,
  start,
  types,
  type Unpack,
} from '@mayfly/mpi';
import type { Implementations } from './define.ts';
import { Kind, Null, numberOf } from './handles.ts';
import { PARTITIONED_RECEIVE as RECEIVE, PARTITIONED_SEND as SEND, makePersistent, type Starters } from './requests.ts';
import type { Core } from './core.ts';

export function partitionedCommunication(core: Core, starters: Starters): Implementations {
  const { layer, heap } = core;

  starters[SEND] = (handle) => partitioned.startSend(layer, handle!);
  starters[RECEIVE] = (handle, buf, count, type) => {
    const r = layer.state.partitioned.receives.rows.get(handle!)!;
    // Those that nothing comes for keep what is there.
    if (r.into.space < 0 && r.source !== PROC_NULL)
      core.packInto(types.typeOf(layer, type!, core.call).layout, r.partitions * count!, buf! >>> 0, r.into);
    const request = partitioned.startReceive(layer, handle!);
    // Packed partitions are spread when they are seen: by MPI_Parrived, or at the end of the round.
    if (r.into.space < 0 && r.source !== PROC_NULL)
      requestOf(layer, request, core.call).unpack = Array.from({ length: r.partitions }, (_, i) =>
        packedPart(r, i, buf!, count!, type!),
      );
    return request;
  };

  function packedPart(r: partitioned.PartitionedReceive, i: number, buf: number, count: number, type: number): Unpack {
    const { layout } = types.typeOf(layer, type, core.call);
    return {
      layout,
      count,
      from: { space: r.into.space, offset: r.into.offset + i * r.bytes, bytes: r.bytes },
      address: (buf >>> 0) + i * count * layout.extent,
    };
  }

  const checked = (partitions: number, count: number, datatype: number, comm: number): types.TypeRecord => {
    core.count(partitions, comm, 'partitions');
    core.count(count, comm);
    return core.committed(datatype, comm);
  };

  function parts(request: number, starter: string): number[] {
    const slot = request === Null.REQUEST ? undefined : core.state.slots[numberOf(Kind.REQUEST, request)];
    if (slot?.persistent?.starter !== starter)
      core.fail(ERR.REQUEST, `the request is not that of a partitioned ${starter === SEND ? 'send' : 'receive'}`);
    return slot!.persistent!.args;
  }

  function send(args: readonly number[], i: number): void {
    const [handle, buf, count, type] = args as [number, number, number, number];
    const s = partitioned.sendable(layer, handle, i, core.call);
    const { layout } = types.typeOf(layer, type, core.call);
    const address = (buf >>> 0) + i * count * layout.extent;
    if (isContiguous(layout, count))
      return partitioned.ready(layer, s, i, layer.memory.view(linear(address + start(layout), s.bytes)));
    const packed = new Uint8Array(s.bytes);
    layer.memory.pack(layout, count, LINEAR, address, packed);
    partitioned.ready(layer, s, i, packed);
  }
  /** Every partition is checked before the first one leaves. */
  const sendAll = (request: number, list: readonly number[]): number => {
    const args = parts(request, SEND);
    for (const i of list) partitioned.sendable(layer, args[0]!, i, core.call);
    for (const i of list) send(args, i);
    return ERR.SUCCESS;
  };

  /** Programs that were linked when mpi.h had no large form hand over 64 bits here. */
  const counted = (n: number): number => Number(n);

  return {
    Psend_init: (
      buf: number,
      partitions: number,
      n: number,
      datatype: number,
      dest: number,
      tag: number,
      comm: number,
      info: number,
      at: number,
    ) => {
      heap.check(at, 4, 'request');
      core.info(info);
      const c = core.commNumber(comm);
      const count = counted(n);
      const t = checked(partitions, count, datatype, c);
      core.checkPlace(buf, partitions * count, t, c, 'buf');
      const handle = partitioned.initSend(layer, c, partitions, t.layout.size * count, dest, tag);
      return makePersistent(core, SEND, [handle, buf, count, t.handle], at);
    },
    Precv_init: (
      buf: number,
      partitions: number,
      n: number,
      datatype: number,
      source: number,
      tag: number,
      comm: number,
      info: number,
      at: number,
    ) => {
      heap.check(at, 4, 'request');
      core.info(info);
      const c = core.commNumber(comm);
      const count = counted(n);
      const t = checked(partitions, count, datatype, c);
      const address = core.checkPlace(buf, partitions * count, t, c, 'buf');
      const bytes = t.layout.size * count;
      const whole = isContiguous(t.layout, partitions * count);
      const into = whole ? linear(address + start(t.layout), bytes * partitions) : scratch(layer, bytes * partitions);
      const handle = partitioned.initReceive(layer, c, partitions, bytes, into, source, tag);
      return makePersistent(core, RECEIVE, [handle, buf, count, t.handle], at);
    },
    Pready: (partition: number, request: number) => sendAll(request, [partition]),
    Pready_range: (low: number, high: number, request: number) => {
      if (low > high) core.fail(ERR.ARG, `partitions ${low} to ${high}: the first lies behind the last`);
      const args = parts(request, SEND);
      // The ends first: a wrong one must not make a list of two thousand million.
      for (const i of [low, high]) partitioned.sendable(layer, args[0]!, i, core.call);
      return sendAll(
        request,
        Array.from({ length: high - low + 1 }, (_, i) => low + i),
      );
    },
    Pready_list: (length: number, list: number, request: number) => {
      const wanted = heap.ints(list, core.count(length, 0, 'length'), 'array_of_partitions');
      const twice = wanted.find((x, i) => wanted.indexOf(x) !== i);
      if (twice !== undefined) core.fail(ERR.ARG, `partition ${twice} is in the list twice`);
      return sendAll(request, wanted);
    },
    // "One is allowed to call MPI_PARRIVED with a null or inactive request argument. In either case, the operation
    // returns with flag = true" (§4.2.2).
    Parrived: (request: number, partition: number, flag: number) => {
      heap.check(flag, 4, 'flag');
      if (request === Null.REQUEST) return (heap.setInt(flag, 1, 'flag'), ERR.SUCCESS);
      const args = parts(request, RECEIVE);
      const there = partitioned.arrived(layer, args[0]!, partition);
      heap.setInt(flag, there ? 1 : 0, 'flag');
      const slot = core.state.slots[numberOf(Kind.REQUEST, request)]!;
      const r = there ? layer.state.requests.rows.get(slot.request) : undefined;
      const own = layer.state.partitioned.receives.rows.get(args[0]!)!;
      const at = own.into.offset + partition * own.bytes;
      const u = r?.unpack?.find((x) => x.from.offset === at);
      if (u) {
        layer.memory.unpack(u.layout, u.count, layer.memory.view(u.from), LINEAR, u.address);
        r!.unpack = r!.unpack!.filter((x) => x !== u);
      }
      return ERR.SUCCESS;
    },
  };
}
