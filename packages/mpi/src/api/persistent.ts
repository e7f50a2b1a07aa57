/** Persistent requests (MPI 4.1 §3.9, §6.13) and partitioned communication (chapter 4) of the API. */
import * as partitioned from '../partitioned.ts';
import { ERR, fail } from '../errors.ts';
import { isContiguous, start } from '../layout.ts';
import { pack } from '../packing.ts';
import { requestOf, scratch } from '../layer.ts';
import { LINEAR, part, type Buf } from '../buffers.ts';
import { PROC_NULL } from '../constants.ts';
import { inSeries, type Series } from '../schedule.ts';
import * as bundles from '../bundle.ts';
import { contextOf } from './held.ts';
import { describe, type Context } from './context.ts';
import { place, sentBytes } from './datatype.ts';
import { RequestObject } from './status.ts';
import type * as Mayfly from '../../types/mayfly.d.ts';

export class PersistentObject extends RequestObject implements Mayfly.PersistentRequest {
  private freed = false;

  /** @param begin starts it once @param series its place among the collectives of its communicator */
  constructor(
    context: Context,
    protected readonly call: string,
    readonly comm: number,
    private readonly begin: () => number,
    private readonly series?: Series,
  ) {
    super(context, 0);
    context.persistent.add(this);
  }
  /** For messages: what is there still. */
  get title(): string {
    return this.call;
  }
  protected alive(call: string): void {
    if (this.freed) fail(ERR.REQUEST, call, `the persistent request of ${this.call} was freed`, this.comm);
  }
  start(): void {
    contextOf(this).call(() => {
      this.alive('MPI_Start');
      if (!this.inactive)
        fail(ERR.REQUEST, 'MPI_Start', `the persistent request of ${this.call} is active already`, this.comm);
      this.handle = inSeries(contextOf(this).layer, this.series, this.begin);
    });
  }
  protected release(): void {
    if (!this.inactive) super.free();
  }
  override free(): void {
    contextOf(this).call(() => {
      this.alive('MPI_Request_free');
      this.release();
      this.freed = true;
      contextOf(this).persistent.delete(this);
    });
  }
}

/** [MPI_Startall] */
export function startall(context: Context, list: readonly Mayfly.PersistentRequest[]): void {
  context.call(() => {
    for (const [i, r] of list.entries())
      if (!(r instanceof PersistentObject))
        fail(ERR.REQUEST, 'MPI_Startall', `element ${i} is ${describe(r)}, not a persistent request`);
    for (const r of list) r.start();
  });
}

const shared = (partitions: number, count: number, call: string, comm: number): void => {
  if (!Number.isInteger(partitions) || partitions <= 0)
    fail(ERR.ARG, call, `${String(partitions)} partitions: a whole number from 1 on is needed`, comm);
  if (count % partitions !== 0)
    fail(ERR.COUNT, call, `${count} elements cannot be cut into ${partitions} equal partitions`, comm);
};

/** A partitioned operation lives in the layer's tables, under a number of its own. */
class PartitionedObject extends PersistentObject {
  constructor(
    context: Context,
    call: string,
    comm: number,
    begin: () => number,
    readonly number: number,
    private readonly sends: boolean,
    private readonly spaces: readonly number[],
  ) {
    super(context, call, comm, begin);
  }
  override cancel(): void {
    contextOf(this).call(() =>
      fail(
        ERR.REQUEST,
        'MPI_Cancel',
        'a partitioned operation cannot be cancelled: partitions may have left or come already',
        this.comm,
      ),
    );
  }
  protected override release(): void {
    partitioned.free(contextOf(this).layer, this.number, this.sends);
    super.release();
    // A round under way still writes into the array: it stays pinned then.
    if (this.inactive) for (const space of this.spaces) contextOf(this).layer.memory.unpin(space);
  }
}

export class PartitionedSendObject extends PartitionedObject implements Mayfly.PartitionedSend {
  private constructor(
    context: Context,
    comm: number,
    number: number,
    private readonly data: Mayfly.Data,
    readonly partitions: number,
  ) {
    super(context, 'MPI_Psend_init', comm, () => partitioned.startSend(context.layer, number), number, true, []);
  }
  static create(
    context: Context,
    comm: number,
    data: Mayfly.Data,
    partitions: number,
    dest: number,
    tag: number,
  ): PartitionedSendObject {
    const call = 'MPI_Psend_init';
    return context.call(() => {
      const bytes = sentBytes(context, data, call, comm);
      shared(partitions, 'datatype' in data ? data.count : data.length, call, comm);
      return new PartitionedSendObject(
        context,
        comm,
        partitioned.initSend(context.layer, comm, partitions, bytes.length / partitions, dest, tag),
        data,
        partitions,
      );
    });
  }
  /** Every partition is checked before the first one leaves. */
  private send(list: readonly number[], call: string): void {
    contextOf(this).call(() => {
      this.alive(call);
      const twice = list.find((x, i) => list.indexOf(x) !== i);
      if (twice !== undefined) fail(ERR.ARG, call, `partition ${twice} is in the list twice`, this.comm);
      const { layer } = contextOf(this);
      const sends = list.map((i) => partitioned.sendable(layer, this.number, i, call));
      const bytes = sentBytes(contextOf(this), this.data, call, this.comm);
      list.forEach((i, k) =>
        partitioned.ready(layer, sends[k]!, i, bytes.subarray(i * sends[k]!.bytes, (i + 1) * sends[k]!.bytes)),
      );
    });
  }
  ready(partition: number): void {
    this.send([partition], 'MPI_Pready');
  }
  readyRange(first: number, last: number): void {
    const call = 'MPI_Pready_range';
    contextOf(this).call(() => {
      if (!(first <= last))
        fail(ERR.ARG, call, `partitions ${first} to ${last}: the first lies behind the last`, this.comm);
      // The ends first: a wrong one must not make a list of two thousand million.
      for (const i of [first, last]) partitioned.sendable(contextOf(this).layer, this.number, i, call);
      this.send(
        Array.from({ length: last - first + 1 }, (_, i) => first + i),
        call,
      );
    });
  }
  readyList(partitions: readonly number[]): void {
    this.send(partitions, 'MPI_Pready_list');
  }
}

export class PartitionedReceiveObject extends PartitionedObject implements Mayfly.PartitionedReceive {
  private constructor(
    context: Context,
    comm: number,
    number: number,
    readonly partitions: number,
    spaces: readonly number[],
    private readonly places: readonly bundles.Place[],
  ) {
    super(context, 'MPI_Precv_init', comm, () => this.begin_(), number, false, spaces);
  }
  static create(
    context: Context,
    comm: number,
    data: Mayfly.Data,
    partitions: number,
    source: number,
    tag: number,
  ): PartitionedReceiveObject {
    const call = 'MPI_Precv_init';
    return context.call(() => {
      const { layer } = context;
      const b = bundles.bundle();
      const { place: p } = place(context, b, data, call, comm);
      const array = !('datatype' in data);
      try {
        shared(partitions, array ? data.length : p.count, call, comm);
        const bytes = (p.layout.size * p.count) / partitions;
        const packed = !isContiguous(p.layout, p.count);
        const into: Buf = packed
          ? scratch(layer, bytes * partitions)
          : { space: p.space, offset: p.address + start(p.layout), bytes: bytes * partitions };
        const number = partitioned.initReceive(layer, comm, partitions, bytes, into, source, tag);
        const each = p.count / partitions;
        const places = packed
          ? Array.from({ length: partitions }, (_, i): bundles.Place => ({
              ...p,
              address: p.address + i * each * p.layout.extent,
              count: each,
            }))
          : [];
        return new PartitionedReceiveObject(context, comm, number, partitions, b.spaces, places);
      } catch (e) {
        for (const space of b.spaces) layer.memory.unpin(space);
        throw e;
      }
    });
  }
  private begin_(): number {
    const { layer } = contextOf(this);
    const r = layer.state.partitioned.receives.rows.get(this.number)!;
    const request = () => requestOf(layer, handle, this.call);
    // Those that nothing comes for keep what is there.
    if (r.source !== PROC_NULL)
      this.places.forEach((p, i) =>
        pack(
          p.layout,
          p.count,
          layer.memory.space(p.space),
          p.address,
          layer.memory.view(part(r.into, i * r.bytes, r.bytes)),
        ),
      );
    const handle = partitioned.startReceive(layer, this.number);
    if (this.places.length > 0 && r.source !== PROC_NULL)
      request().unpack = this.places.map((p, i) => ({
        layout: p.layout,
        count: p.count,
        from: part(r.into, i * r.bytes, r.bytes),
        address: p.address,
        ...(p.space !== LINEAR && { space: p.space }),
      }));
    return handle;
  }
  arrived(partition: number): boolean {
    return contextOf(this).call(() => {
      this.alive('MPI_Parrived');
      const { layer } = contextOf(this);
      const there = partitioned.arrived(layer, this.number, partition);
      const p = this.places[partition];
      const r = layer.state.partitioned.receives.rows.get(this.number)!;
      if (there && p && !this.inactive)
        layer.memory.unpack(
          p.layout,
          p.count,
          layer.memory.view(part(r.into, partition * r.bytes, r.bytes)),
          p.space,
          p.address,
        );
      return there;
    });
  }
}
