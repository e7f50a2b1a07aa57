/**
 * Collectives that combine what the ranks have by an operation (MPI 4.1 §6.9 to §6.11): each is one starter, which its
 * three forms share (collective-forms.ts).
 */
import { ERR, collectives as coll, combine, type Buf, type CommRecord } from '@mayfly/mpi';
import { collectiveBuffers, hasOwn, inPlace, isRoot, own, sum } from './collective-buffers.ts';
import { addForms } from './collective-forms.ts';
import type { Bundle, Core } from './core.ts';
import type { Implementations } from './define.ts';
import type { Starters } from './requests.ts';

export function reductions(core: Core, starters: Starters): Implementations {
  const { layer } = core;
  const { apart, all } = collectiveBuffers(core);

  /** Operand and result of a reduction that all ranks get. */
  const reduction = (
    send: number,
    recv: number,
    count: number,
    datatype: number,
    op: number,
    comm: number,
    f: (c: CommRecord, from: Buf | undefined, into: Buf, type: number, op: number) => number,
  ): number => {
    const c = core.comm(comm);
    const t = core.committed(datatype, c.handle);
    const o = core.op(op);
    apart(send, recv, core.count(count, c.handle), c.handle);
    return core.begin((b) => {
      const from = inPlace(send) ? undefined : core.outgoing(b, send, count, t, c.handle);
      const into = from ? core.incoming(b, recv, count, t, c.handle) : core.both(b, recv, count, t, c.handle);
      return f(c, from, into, core.reductionType(t, o), o);
    });
  };

  function reduceScatter(
    c: CommRecord,
    send: number,
    recv: number,
    counts: number[],
    datatype: number,
    op: number,
  ): number {
    const t = core.committed(datatype, c.handle);
    const o = core.op(op);
    const total = sum(counts);
    apart(send, recv, total, c.handle);
    if (c.remote && inPlace(send)) core.fail(ERR.BUFFER, 'MPI_IN_PLACE is not for intercommunicators', c.handle);
    return core.begin((b) => {
      const mine = counts[c.rank]!;
      if (!inPlace(send)) {
        const from = core.outgoing(b, send, total, t, c.handle);
        return coll.reduceScatter(
          layer,
          c.handle,
          from,
          core.incoming(b, recv, mine, t, c.handle),
          counts,
          core.reductionType(t, o),
          t.layout.size,
          o,
          core.call,
        );
      }
      // In place the operand is the receive buffer, whole; the result goes to its beginning.
      const from = core.outgoing(b, recv, total, t, c.handle, 'recvbuf');
      return coll.reduceScatter(
        layer,
        c.handle,
        from,
        core.incoming(b, recv, mine, t, c.handle),
        counts,
        core.reductionType(t, o),
        t.layout.size,
        o,
        core.call,
      );
    });
  }

  Object.assign(starters, {
    Reduce: (send, recv, count, datatype, op, root, comm) => {
      const c = core.comm(comm!);
      const root_ = isRoot(c, root!);
      if (!root_ && !hasOwn(c, root!))
        return coll.reduce(layer, c.handle, undefined, undefined, 0, 0, root!, core.call);
      const t = core.committed(datatype!, c.handle);
      const o = core.op(op!);
      core.count(count!, c.handle);
      if (root_ && !c.remote) apart(send!, recv!, count!, c.handle);
      return core.begin((b) => {
        const from = own(c, root!, send!) ? core.outgoing(b, send!, count!, t, c.handle) : undefined;
        const into = root_
          ? (from || c.remote ? core.incoming : core.both).call(core, b, recv!, count!, t, c.handle)
          : undefined;
        return coll.reduce(layer, c.handle, from, into, core.reductionType(t, o), o, root!, core.call);
      });
    },
    Allreduce: (send, recv, count, datatype, op, comm) =>
      reduction(send!, recv!, count!, datatype!, op!, comm!, (c, from, into, type, o) =>
        coll.allreduce(layer, c.handle, from, into, type, o, core.call),
      ),
    Scan: (send, recv, count, datatype, op, comm) =>
      reduction(send!, recv!, count!, datatype!, op!, comm!, (c, from, into, type, o) =>
        coll.scan(layer, c.handle, from, into, type, o, false, core.call),
      ),
    Exscan: (send, recv, count, datatype, op, comm) =>
      // "The value in recvbuf on the process with rank 0 is undefined" (§6.11.2): it stays what it was, so what is
      // there is packed first.
      reduction(send!, recv!, count!, datatype!, op!, comm!, (c, from, into, type, o) => {
        if (from && into.space < 0) core.packInto(core.type(datatype!).layout, count!, recv! >>> 0, into);
        return coll.scan(layer, c.handle, from, into, type, o, true, core.call);
      }),
    Reduce_scatter: (send, recv, counts, datatype, op, comm) => {
      const c = core.comm(comm!);
      return reduceScatter(c, send!, recv!, all(counts!, c.group.length, c), datatype!, op!);
    },
    Reduce_scatter_block: (send, recv, count, datatype, op, comm) => {
      const c = core.comm(comm!);
      return reduceScatter(
        c,
        send!,
        recv!,
        new Array<number>(c.group.length).fill(core.count(count!, c.handle)),
        datatype!,
        op!,
      );
    },
  } satisfies Starters);

  const out: Implementations = {
    Reduce_local: (input: number, inout: number, count: number, datatype: number, op: number) => {
      const t = core.committed(datatype, 0);
      const o = core.op(op);
      apart(input, inout, core.count(count, 0), 0);
      const bundle: Bundle = { spaces: [], unpack: [] };
      try {
        const from = core.outgoing(bundle, input, count, t, 0, 'inbuf');
        const into = core.both(bundle, inout, count, t, 0, 'inoutbuf');
        coll.checkReduction(layer, o, core.reductionType(t, o), into.bytes, core.call);
        combine(layer, o, core.reductionType(t, o), from, into);
        core.unpackNow(bundle);
      } finally {
        for (const space of bundle.spaces) layer.state.scratch.delete(space);
      }
      return ERR.SUCCESS;
    },
  };
  for (const name of ['Reduce', 'Allreduce', 'Scan', 'Exscan', 'Reduce_scatter', 'Reduce_scatter_block'])
    addForms(core, out, starters, name);
  return out;
}
