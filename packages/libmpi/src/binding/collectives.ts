/**
 * Collectives (MPI 4.1 chapter 6): each is one starter, which the blocking, the non-blocking and the persistent form
 * share.
 *
 * The layer moves contiguous bytes. Elements that lie otherwise are packed before and spread when the request is
 * complete.
 */
import type { types } from '@mayfly/mpi';
import {
  ERR,
  NO_BYTES,
  ROOT,
  bundles,
  collectives as coll,
  combine,
  linear,
  newSeries,
  part,
  requests,
  type Buf,
  type CommRecord,
} from '@mayfly/mpi';
import { record, type Implementations } from './define.ts';
import { IN_PLACE, type Bundle, type Core } from './core.ts';
import { makePersistent, newSlot, type Starters } from './requests.ts';

type TypeRecord = types.TypeRecord;
/** Contiguous wherever several of them lie. */
const plain = (t: TypeRecord): boolean => {
  const s = t.layout.segments;
  return s.length === 0 || (s.length === 4 && s[2] === 1 && s[0] === 0 && t.layout.extent === t.layout.size);
};

const sum = (counts: readonly number[]): number => counts.reduce((a, b) => a + b, 0);

export function collectives(core: Core, starters: Starters): Implementations {
  const { layer, heap } = core;
  const inPlace = (address: number): boolean => address >>> 0 === IN_PLACE;
  /**
   * "An argument of type OUT or type INOUT cannot be aliased with any other argument" (§2.3). Null is an address too:
   * of MPI_BOTTOM.
   */
  const apart = (send: number, recv: number, count: number, comm: number): void => {
    if (count > 0 && send >>> 0 > IN_PLACE && send >>> 0 === recv >>> 0)
      core.fail(
        ERR.BUFFER,
        'data would be sent from and received at the same address: MPI_IN_PLACE says so where it is allowed',
        comm,
      );
  };
  /** Has the blocks of all in a rooted collective. */
  const isRoot = (c: CommRecord, root: number): boolean => (c.remote ? root === ROOT : c.rank === root);
  /**
   * Has a block of its own: of an intercommunicator only the other group than the root's. All other arguments of a
   * process that has neither are ignored.
   */
  const hasOwn = (c: CommRecord, root: number): boolean => !c.remote || root >= 0;
  /** Ranks that blocks are for or of: of an intercommunicator the other group's. */
  const size = (c: CommRecord): number => (c.remote ?? c.group).length;

  /** A list of blocks at a rank that has them all: where each lies. */
  function vector(
    bundle: Bundle,
    address: number,
    counts: readonly number[],
    displs: readonly number[],
    t: TypeRecord,
    c: CommRecord,
    what: string,
    receives: boolean,
  ): coll.VectorArgument {
    counts.forEach((n) => core.count(n, c.handle, 'a count'));
    const { layout } = t;
    const total = sum(counts);
    const least = counts.reduce((low, n, i) => (n > 0 ? Math.min(low, displs[i]!) : low), Infinity);
    if (total === 0) return { buf: linear(0, 0), unit: 1, counts: counts.map(() => 0), displs: undefined };
    if (plain(t)) {
      // Displacements may be negative: the buffer begins at the lowest block.
      const end = counts.reduce((high, n, i) => (n > 0 ? Math.max(high, displs[i]! + n) : high), -Infinity);
      const buf = core.outgoing(bundle, (address >>> 0) + least * layout.extent, end - least, t, c.handle, what);
      return { buf, unit: layout.size, counts, displs: displs.map((d, i) => (counts[i]! > 0 ? d - least : 0)) };
    }
    const whole = core.room(bundle, total * layout.size);
    let at = 0;
    counts.forEach((n, i) => {
      const block = (address >>> 0) + displs[i]! * layout.extent;
      const room = part(whole, at, n * layout.size);
      at += n * layout.size;
      core.checkPlace(block, n, t, c.handle, what);
      // Also what is received: in place it holds what is sent.
      core.packInto(layout, n, block, room);
      if (receives) bundle.unpack.push({ layout, count: n, from: room, address: block });
    });
    return { buf: whole, unit: layout.size, counts, displs: undefined };
  }
  const all = (address: number, n: number, c: CommRecord): number[] =>
    heap.counts(address, n, 'counts').map((x) => core.count(x, c.handle, 'a count'));
  const displsOf = (address: number, n: number): number[] => heap.ints(address, n, 'displs');

  /** As {@link apart}, for the own block of a list. */
  const ownApart = (
    c: CommRecord,
    own: number,
    list: number,
    counts: number,
    displs: number,
    datatype: number,
  ): void => {
    const n = size(c);
    apart(
      own,
      list + displsOf(displs, n)[c.rank]! * core.type(datatype).layout.extent,
      all(counts, n, c)[c.rank]!,
      c.handle,
    );
  };

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

  /** The own block is where its argument says. */
  const own = (c: CommRecord, root: number, address: number): boolean => hasOwn(c, root) && !inPlace(address);

  Object.assign(starters, {
    Barrier: (comm) => coll.barrier(layer, core.comm(comm!).handle, core.call),
    Bcast: (buf, count, datatype, root, comm) => {
      const c = core.comm(comm!);
      if (!isRoot(c, root!) && !hasOwn(c, root!)) return coll.bcast(layer, c.handle, NO_BYTES, root!, core.call);
      const t = core.committed(datatype!, c.handle);
      core.count(count!, c.handle);
      return core.begin((b) =>
        coll.bcast(
          layer,
          c.handle,
          isRoot(c, root!)
            ? core.outgoing(b, buf!, count!, t, c.handle, 'buffer')
            : core.incoming(b, buf!, count!, t, c.handle, 'buffer'),
          root!,
          core.call,
        ),
      );
    },
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
    Gather: (send, scount, stype, recv, rcount, rtype, root, comm) => {
      const c = core.comm(comm!);
      if (isRoot(c, root!) && !c.remote)
        apart(send!, recv! + c.rank * rcount! * core.type(rtype!).layout.extent, rcount!, c.handle);
      return core.begin((b) => {
        const from = own(c, root!, send!)
          ? core.outgoing(b, send!, core.count(scount!, c.handle), core.committed(stype!, c.handle), c.handle)
          : undefined;
        const into = isRoot(c, root!)
          ? several(b, recv!, core.count(rcount!, c.handle), rtype!, c, 'recvbuf', from === undefined && !c.remote)
          : undefined;
        return coll.gather(layer, c.handle, from, into, root!, core.call);
      });
    },
    Gatherv: (send, scount, stype, recv, rcounts, displs, rtype, root, comm) => {
      const c = core.comm(comm!);
      if (isRoot(c, root!) && !c.remote) ownApart(c, send!, recv!, rcounts!, displs!, rtype!);
      return core.begin((b) => {
        const from = own(c, root!, send!)
          ? core.outgoing(b, send!, core.count(scount!, c.handle), core.committed(stype!, c.handle), c.handle)
          : undefined;
        const into = isRoot(c, root!)
          ? vector(
              b,
              recv!,
              all(rcounts!, size(c), c),
              displsOf(displs!, size(c)),
              core.committed(rtype!, c.handle),
              c,
              'recvbuf',
              true,
            )
          : undefined;
        return coll.gatherv(layer, c.handle, from, into, root!, core.call);
      });
    },
    Scatter: (send, scount, stype, recv, rcount, rtype, root, comm) => {
      const c = core.comm(comm!);
      if (isRoot(c, root!) && !c.remote && !inPlace(recv!))
        apart(recv!, send! + c.rank * scount! * core.type(stype!).layout.extent, scount!, c.handle);
      return core.begin((b) => {
        const from = isRoot(c, root!) ? sent(b, send!, core.count(scount!, c.handle) * size(c), stype!, c) : undefined;
        const into = own(c, root!, recv!)
          ? core.incoming(b, recv!, core.count(rcount!, c.handle), core.committed(rtype!, c.handle), c.handle)
          : undefined;
        return coll.scatter(layer, c.handle, from, into, root!, core.call);
      });
    },
    Scatterv: (send, scounts, displs, stype, recv, rcount, rtype, root, comm) => {
      const c = core.comm(comm!);
      if (isRoot(c, root!) && !c.remote && !inPlace(recv!)) ownApart(c, recv!, send!, scounts!, displs!, stype!);
      return core.begin((b) => {
        const from = isRoot(c, root!)
          ? vector(
              b,
              send!,
              all(scounts!, size(c), c),
              displsOf(displs!, size(c)),
              core.committed(stype!, c.handle),
              c,
              'sendbuf',
              false,
            )
          : undefined;
        const into = own(c, root!, recv!)
          ? core.incoming(b, recv!, core.count(rcount!, c.handle), core.committed(rtype!, c.handle), c.handle)
          : undefined;
        return coll.scatterv(layer, c.handle, from, into, root!, core.call);
      });
    },
    Allgather: (send, scount, stype, recv, rcount, rtype, comm) => {
      const c = core.comm(comm!);
      if (!c.remote) apart(send!, recv! + c.rank * rcount! * core.type(rtype!).layout.extent, rcount!, c.handle);
      return core.begin((b) => {
        const from = inPlace(send!)
          ? undefined
          : core.outgoing(b, send!, core.count(scount!, c.handle), core.committed(stype!, c.handle), c.handle);
        return coll.allgather(
          layer,
          c.handle,
          from,
          several(b, recv!, core.count(rcount!, c.handle), rtype!, c, 'recvbuf', from === undefined),
          core.call,
        );
      });
    },
    Allgatherv: (send, scount, stype, recv, rcounts, displs, rtype, comm) => {
      const c = core.comm(comm!);
      if (!c.remote) ownApart(c, send!, recv!, rcounts!, displs!, rtype!);
      return core.begin((b) => {
        const from = inPlace(send!)
          ? undefined
          : core.outgoing(b, send!, core.count(scount!, c.handle), core.committed(stype!, c.handle), c.handle);
        const into = vector(
          b,
          recv!,
          all(rcounts!, size(c), c),
          displsOf(displs!, size(c)),
          core.committed(rtype!, c.handle),
          c,
          'recvbuf',
          true,
        );
        return coll.allgatherv(layer, c.handle, from, into, core.call);
      });
    },
    Alltoall: (send, scount, stype, recv, rcount, rtype, comm) => {
      const c = core.comm(comm!);
      apart(send!, recv!, rcount!, c.handle);
      return core.begin((b) => {
        const from = inPlace(send!) ? undefined : sent(b, send!, core.count(scount!, c.handle) * size(c), stype!, c);
        return coll.alltoall(
          layer,
          c.handle,
          from,
          several(b, recv!, core.count(rcount!, c.handle), rtype!, c, 'recvbuf', from === undefined),
          core.call,
        );
      });
    },
    Alltoallv: (send, scounts, sdispls, stype, recv, rcounts, rdispls, rtype, comm) => {
      const c = core.comm(comm!);
      const n = size(c);
      apart(send!, recv!, sum(all(rcounts!, n, c)), c.handle);
      return core.begin((b) => {
        const from = inPlace(send!)
          ? undefined
          : vector(
              b,
              send!,
              all(scounts!, n, c),
              displsOf(sdispls!, n),
              core.committed(stype!, c.handle),
              c,
              'sendbuf',
              false,
            );
        const into = vector(
          b,
          recv!,
          all(rcounts!, n, c),
          displsOf(rdispls!, n),
          core.committed(rtype!, c.handle),
          c,
          'recvbuf',
          true,
        );
        return coll.alltoallv(layer, c.handle, from, into, core.call);
      });
    },
    Alltoallw: (send, scounts, sdispls, stypes, recv, rcounts, rdispls, rtypes, comm) => {
      const c = core.comm(comm!);
      const n = size(c);
      /** Every block packed behind the others: types differ from rank to rank. */
      const blocks = (
        b: Bundle,
        address: number,
        counts: number[],
        displs: number[],
        list: number[],
        receives: boolean,
      ): coll.VectorArgument => {
        const places = list.map((h, i) => {
          const t = counts[i]! > 0 ? core.committed(h, c.handle) : undefined;
          return (
            t && core.place((address >>> 0) + displs[i]!, counts[i]!, t, c.handle, receives ? 'recvbuf' : 'sendbuf')
          );
        });
        const { buf, lengths } = bundles.behindOneAnother(layer, b, places, receives);
        return { buf, unit: 1, counts: lengths, displs: undefined };
      };
      apart(send!, recv!, sum(all(rcounts!, n, c)), c.handle);
      return core.begin((b) => {
        const from = inPlace(send!)
          ? undefined
          : blocks(b, send!, all(scounts!, n, c), displsOf(sdispls!, n), heap.ints(stypes!, n, 'sendtypes'), false);
        return coll.alltoallv(
          layer,
          c.handle,
          from,
          blocks(b, recv!, all(rcounts!, n, c), displsOf(rdispls!, n), heap.ints(rtypes!, n, 'recvtypes'), true),
          core.call,
        );
      });
    },
  } satisfies Starters);

  /** One block per rank, equally long, behind one another at the type's extent. */
  function several(
    b: Bundle,
    address: number,
    count: number,
    datatype: number,
    c: CommRecord,
    what: string,
    holds: boolean,
  ): Buf {
    const t = core.committed(datatype, c.handle);
    const n = count * size(c);
    return holds ? core.both(b, address, n, t, c.handle, what) : core.incoming(b, address, n, t, c.handle, what);
  }
  function sent(b: Bundle, address: number, count: number, datatype: number, c: CommRecord): Buf {
    return core.outgoing(b, address, count, core.committed(datatype, c.handle), c.handle);
  }
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
  const NAMES = [
    'Barrier',
    'Bcast',
    'Reduce',
    'Allreduce',
    'Scan',
    'Exscan',
    'Reduce_scatter',
    'Reduce_scatter_block',
    'Gather',
    'Gatherv',
    'Scatter',
    'Scatterv',
    'Allgather',
    'Allgatherv',
    'Alltoall',
    'Alltoallv',
    'Alltoallw',
  ];
  for (const name of NAMES) addForms(core, out, starters, name);
  return out;
}

/** The three forms of a collective: blocking, non-blocking, persistent. */
export function addForms(core: Core, out: Implementations, starters: Starters, name: string): void {
  const starter = starters[name]!;
  out[name] = {
    start: (...args) => record(name, starter(...args)),
    finish: (r) => {
      const outcome = requests.wait(core.layer, r.request, `MPI_${name}`);
      if (outcome.error) throw core.failed(outcome.error, outcome.comm);
      return ERR.SUCCESS;
    },
  };
  out[`I${name[0]!.toLowerCase()}${name.slice(1)}`] = (...args: number[]) => {
    const at = args[args.length - 1]!;
    core.heap.check(at, 4, 'request');
    core.heap.setInt(at, newSlot(core, starter(...args)), 'request');
    return ERR.SUCCESS;
  };
  out[`${name}_init`] = (...args: number[]) => {
    const comm = core.comm(args[args.length - 3]!);
    return makePersistent(core, name, args.slice(0, -2), args[args.length - 1]!, newSeries(comm));
  };
}
