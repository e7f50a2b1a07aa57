/** Neighbourhood collectives (MPI 4.1 §8.6), in their three forms. Blocks lie in the order of the neighbours. */
import { collectives as coll, neighbours, type Buf, type CommRecord } from '@mayfly/mpi';
import { addForms } from './collective-forms.ts';
import type { Core } from './core.ts';
import type { Implementations } from './define.ts';
import type { Starters } from './requests.ts';

/** Where the block for or of the i-th neighbour lies, and of what it is made. */
interface Block {
  address: number;
  count: number;
  type: number;
}

export function neighbourhoods(core: Core, starters: Starters): Implementations {
  const { layer, heap } = core;
  const degrees = (c: CommRecord): { in: number; out: number } => {
    const n = neighbours.neighboursOf(c, core.call);
    return { in: n.sources.length, out: n.destinations.length };
  };
  const run = (c: CommRecord, send: (i: number) => Block, recv: (i: number) => Block): number =>
    core.begin((b) => {
      const place = (block: Block, receives: boolean): Buf => {
        const t = core.committed(block.type, c.handle);
        core.count(block.count, c.handle, 'a count');
        const { address, count } = block;
        return receives ? core.incoming(b, address, count, t, c.handle) : core.outgoing(b, address, count, t, c.handle);
      };
      // Blocks of MPI_PROC_NULL are never asked for.
      return coll.neighbour(
        layer,
        c.handle,
        (i) => place(send(i), false),
        (i) => place(recv(i), true),
        core.call,
      );
    });
  const extent = (type: number): number => core.type(type).layout.extent;
  /** Blocks of one type: equal ones, or with counts and displacements. */
  const even =
    (address: number, count: number, type: number) =>
    (i: number): Block => ({ address: (address >>> 0) + i * count * extent(type), count, type });
  const listed =
    (address: number, counts: number[], displs: number[], type: number) =>
    (i: number): Block => ({ address: (address >>> 0) + displs[i]! * extent(type), count: counts[i]!, type });
  const mixed =
    (address: number, counts: number[], displs: number[], types: number[]) =>
    (i: number): Block => ({ address: (address >>> 0) + displs[i]!, count: counts[i]!, type: types[i]! });
  const counts = (at: number, n: number): number[] => heap.counts(at, n, 'counts');
  const displs = (at: number, n: number): number[] => heap.ints(at, n, 'displs');

  Object.assign(starters, {
    Neighbor_allgather: (send, scount, stype, recv, rcount, rtype, comm) =>
      run(core.comm(comm!), () => ({ address: send!, count: scount!, type: stype! }), even(recv!, rcount!, rtype!)),
    Neighbor_allgatherv: (send, scount, stype, recv, rcounts, rdispls, rtype, comm) => {
      const c = core.comm(comm!);
      const n = degrees(c).in;
      return run(
        c,
        () => ({ address: send!, count: scount!, type: stype! }),
        listed(recv!, counts(rcounts!, n), displs(rdispls!, n), rtype!),
      );
    },
    Neighbor_alltoall: (send, scount, stype, recv, rcount, rtype, comm) =>
      run(core.comm(comm!), even(send!, scount!, stype!), even(recv!, rcount!, rtype!)),
    Neighbor_alltoallv: (send, scounts, sdispls, stype, recv, rcounts, rdispls, rtype, comm) => {
      const c = core.comm(comm!);
      const n = degrees(c);
      return run(
        c,
        listed(send!, counts(scounts!, n.out), displs(sdispls!, n.out), stype!),
        listed(recv!, counts(rcounts!, n.in), displs(rdispls!, n.in), rtype!),
      );
    },
    Neighbor_alltoallw: (send, scounts, sdispls, stypes, recv, rcounts, rdispls, rtypes, comm) => {
      const c = core.comm(comm!);
      const n = degrees(c);
      return run(
        c,
        mixed(send!, counts(scounts!, n.out), displs(sdispls!, n.out), heap.ints(stypes!, n.out, 'sendtypes')),
        mixed(recv!, counts(rcounts!, n.in), displs(rdispls!, n.in), heap.ints(rtypes!, n.in, 'recvtypes')),
      );
    },
  } satisfies Starters);
  const out: Implementations = {};
  for (const name of [
    'Neighbor_allgather',
    'Neighbor_allgatherv',
    'Neighbor_alltoall',
    'Neighbor_alltoallv',
    'Neighbor_alltoallw',
  ])
    addForms(core, out, starters, name);
  return out;
}
