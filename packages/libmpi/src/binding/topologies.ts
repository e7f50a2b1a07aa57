/** Cartesian topologies (MPI 4.1 chapter 8). */
import { ERR, UNDEFINED, topology } from '@mayfly/mpi';
import { constant } from '../abi/constants.ts';
import { making } from './communicators.ts';
import type { Implementations } from './define.ts';
import type { Core } from './core.ts';

export function topologies(core: Core): Implementations {
  const { layer, heap } = core;
  const success = (f: () => void): number => (f(), ERR.SUCCESS);
  const flags = (at: number, n: number, what: string): boolean[] => heap.ints(at, n, what).map((x) => x !== 0);
  const room = (n: number, most: number, c: { handle: number }): void => void (most < n && core.fail(ERR.ARG, `maxdims ${most} is less than the ${n} dimensions`, c.handle));
  return {
    Cart_create: making(core, 'Cart_create', (comm, n, dims, periods) => {
      const c = core.comm(comm!);
      core.count(n!, c.handle, 'ndims');
      return { request: topology.createCart(layer, c.handle, heap.ints(dims!, n!, 'dims'), flags(periods!, n!, 'periods')) };
    }),
    Cart_sub: making(core, 'Cart_sub', (comm, keep) => {
      const c = core.comm(comm!);
      return { request: topology.sub(layer, c.handle, flags(keep!, topology.cartOf(c, core.call).dims.length, 'remain_dims')) };
    }),
    Cartdim_get: (comm: number, at: number) => success(() => heap.setInt(at, topology.cartOf(core.comm(comm), core.call).dims.length, 'ndims')),
    Cart_get: (comm: number, most: number, dims: number, periods: number, coords: number) =>
      success(() => {
        const c = core.comm(comm);
        const t = topology.cartOf(c, core.call);
        room(t.dims.length, most, c);
        heap.setInts(dims, t.dims, 'dims');
        heap.setInts(periods, t.periods.map(Number), 'periods');
        heap.setInts(coords, topology.coordsOf(c, c.rank, core.call), 'coords');
      }),
    Cart_rank: (comm: number, coords: number, at: number) =>
      success(() => {
        const c = core.comm(comm);
        const { dims } = topology.cartOf(c, core.call);
        heap.setInt(at, topology.rankAt(c, heap.ints(coords, dims.length, 'coords'), core.call), 'rank');
      }),
    Cart_coords: (comm: number, rank: number, most: number, at: number) =>
      success(() => {
        const c = core.comm(comm);
        const found = topology.coordsOf(c, rank, core.call);
        room(found.length, most, c);
        heap.setInts(at, found, 'coords');
      }),
    Cart_shift: (comm: number, direction: number, displacement: number, source: number, dest: number) =>
      success(() => {
        const s = topology.shift(core.comm(comm), direction, displacement);
        heap.setInt(source, s.source, 'rank_source');
        heap.setInt(dest, s.dest, 'rank_dest');
      }),
    Cart_map: (comm: number, n: number, dims: number, _periods: number, at: number) =>
      success(() => {
        const c = core.comm(comm);
        const list = heap.ints(dims, core.count(n, c.handle, 'ndims'), 'dims');
        if (list.some((d) => d <= 0)) core.fail(ERR.DIMS, `dims [${list.join(', ')}]: every extent has to be > 0`, c.handle);
        const all = list.reduce((a, b) => a * b, 1);
        if (all > c.group.length) core.fail(ERR.TOPOLOGY, `dims [${list.join(', ')}] need ${all} processes, ${c.name} has ${c.group.length}`, c.handle);
        heap.setInt(at, c.rank < all ? c.rank : UNDEFINED, 'newrank');
      }),
    Dims_create: (nodes: number, n: number, at: number) => success(() => heap.setInts(at, topology.dimsCreate(nodes, heap.ints(at, core.count(n, 0, 'ndims'), 'dims')), 'dims')),
    Topo_test: (comm: number, at: number) => success(() => heap.setInt(at, core.comm(comm).topology ? constant('MPI_CART') : UNDEFINED, 'status')),
  };
}
