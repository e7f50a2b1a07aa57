/**
 * Collectives that move data from rank to rank (MPI 4.1 §6.3 to §6.8): each is one starter, which its three forms share
 * (collective-forms.ts). Those that combine it: reductions.ts.
 */
import { NO_BYTES, bundles, collectives as coll } from '@mayfly/mpi';
import { collectiveBuffers, hasOwn, inPlace, isRoot, own, size, sum } from './collective-buffers.ts';
import { addForms } from './collective-forms.ts';
import type { Bundle, Core } from './core.ts';
import type { Implementations } from './define.ts';
import type { Starters } from './requests.ts';

export function collectives(core: Core, starters: Starters): Implementations {
  const { layer, heap } = core;
  const { apart, ownApart, vector, all, displsOf, several, sent } = collectiveBuffers(core);

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

  const out: Implementations = {};
  const NAMES = [
    'Barrier',
    'Bcast',
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
