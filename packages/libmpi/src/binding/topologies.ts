/** Topologies (MPI 4.1 chapter 8): grids and graphs. The collectives of neighbours are neighbours.ts. */
import { ERR, UNDEFINED, collectives, linear, neighbours, requests, topology, type CommRecord } from '@mayfly/mpi';
import { constant } from '../abi/constants.ts';
import { madeComm, making } from './communicators.ts';
import { record, type Implementation, type Implementations } from './define.ts';
import type { Core } from './core.ts';

const UNWEIGHTED = 10;
const WEIGHTS_EMPTY = 11;

export function topologies(core: Core): Implementations {
  const { layer, heap } = core;
  const success = (f: () => void): number => (f(), ERR.SUCCESS);
  const flags = (at: number, n: number, what: string): boolean[] => heap.ints(at, n, what).map((x) => x !== 0);
  const room = (n: number, most: number, c: { handle: number }): void =>
    void (most < n && core.fail(ERR.ARG, `maxdims ${most} is less than the ${n} dimensions`, c.handle));
  return {
    Cart_create: making(core, 'Cart_create', (comm, n, dims, periods) => {
      const c = core.comm(comm!);
      core.count(n!, c.handle, 'ndims');
      return {
        request: topology.createCart(layer, c.handle, heap.ints(dims!, n!, 'dims'), flags(periods!, n!, 'periods')),
      };
    }),
    Cart_sub: making(core, 'Cart_sub', (comm, keep) => {
      const c = core.comm(comm!);
      return {
        request: topology.sub(layer, c.handle, flags(keep!, topology.cartOf(c, core.call).dims.length, 'remain_dims')),
      };
    }),
    Cartdim_get: (comm: number, at: number) =>
      success(() => heap.setInt(at, topology.cartOf(core.comm(comm), core.call).dims.length, 'ndims')),
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
        if (list.some((d) => d <= 0))
          core.fail(ERR.DIMS, `dims [${list.join(', ')}]: every extent has to be > 0`, c.handle);
        const all = list.reduce((a, b) => a * b, 1);
        if (all > c.group.length)
          core.fail(
            ERR.TOPOLOGY,
            `dims [${list.join(', ')}] need ${all} processes, ${c.name} has ${c.group.length}`,
            c.handle,
          );
        heap.setInt(at, c.rank < all ? c.rank : UNDEFINED, 'newrank');
      }),
    Dims_create: (nodes: number, n: number, at: number) =>
      success(() =>
        heap.setInts(at, topology.dimsCreate(nodes, heap.ints(at, core.count(n, 0, 'ndims'), 'dims')), 'dims'),
      ),
    Graph_create: making(core, 'Graph_create', (comm, n, index, edges) => {
      const c = core.comm(comm!);
      const ends = heap.ints(index!, core.count(n!, c.handle, 'nnodes'), 'index');
      const list = heap.ints(edges!, ends[ends.length - 1] ?? 0, 'edges');
      return { request: neighbours.createGraph(layer, c.handle, ends, list) };
    }),
    Graphdims_get: (comm: number, nodes: number, edges: number) =>
      success(() => {
        const g = neighbours.graphOf(core.comm(comm), core.call);
        heap.setInt(nodes, g.index.length, 'nnodes');
        heap.setInt(edges, g.edges.length, 'nedges');
      }),
    Graph_get: (comm: number, mostIndex: number, mostEdges: number, index: number, edges: number) =>
      success(() => {
        const g = neighbours.graphOf(core.comm(comm), core.call);
        heap.setInts(index, g.index.slice(0, mostIndex), 'index');
        heap.setInts(edges, g.edges.slice(0, mostEdges), 'edges');
      }),
    Graph_neighbors_count: (comm: number, rank: number, at: number) =>
      success(() => heap.setInt(at, neighbours.graphNeighbours(core.comm(comm), rank, core.call).length, 'nneighbors')),
    Graph_neighbors: (comm: number, rank: number, most: number, at: number) =>
      success(() =>
        heap.setInts(
          at,
          neighbours.graphNeighbours(core.comm(comm), rank, core.call).slice(0, Math.max(most, 0)),
          'neighbors',
        ),
      ),
    Graph_map: (comm: number, n: number, _index: number, _edges: number, at: number) =>
      success(() => {
        const c = core.comm(comm);
        if (n <= 0 || n > c.group.length)
          core.fail(ERR.ARG, `a graph of ${n} nodes, ${c.name} has ${c.group.length} processes`, c.handle);
        heap.setInt(at, c.rank < n ? c.rank : UNDEFINED, 'newrank');
      }),
    Dist_graph_create: distGraph(core),
    Dist_graph_create_adjacent: making(
      core,
      'Dist_graph_create_adjacent',
      (comm, indegree, sources, sourceWeights, outdegree, destinations, destinationWeights) => {
        const c = core.comm(comm!);
        const list = (at: number, n: number, what: string): number[] =>
          heap.ints(at, core.count(n, c.handle, 'a degree'), what);
        const weights = (at: number, n: number, what: string): number[] | undefined =>
          at === UNWEIGHTED ? undefined : at === WEIGHTS_EMPTY ? [] : list(at, n, what);
        return {
          request: neighbours.createAdjacent(layer, c.handle, {
            kind: 'dist',
            sources: list(sources!, indegree!, 'sources'),
            sourceWeights: weights(sourceWeights!, indegree!, 'sourceweights'),
            destinations: list(destinations!, outdegree!, 'destinations'),
            destinationWeights: weights(destinationWeights!, outdegree!, 'destweights'),
          }),
        };
      },
    ),
    Dist_graph_neighbors_count: (comm: number, indegree: number, outdegree: number, weighted: number) =>
      success(() => {
        const g = neighbours.distGraphOf(core.comm(comm), core.call);
        heap.setInt(indegree, g.sources.length, 'indegree');
        heap.setInt(outdegree, g.destinations.length, 'outdegree');
        heap.setInt(weighted, g.sourceWeights ? 1 : 0, 'weighted');
      }),
    Dist_graph_neighbors: (
      comm: number,
      mostIn: number,
      sources: number,
      sourceWeights: number,
      mostOut: number,
      destinations: number,
      destinationWeights: number,
    ) =>
      success(() => {
        const g = neighbours.distGraphOf(core.comm(comm), core.call);
        const put = (at: number, list: number[] | undefined, most: number, what: string): void =>
          void (list && at !== UNWEIGHTED && heap.setInts(at, list.slice(0, Math.max(most, 0)), what));
        put(sources, g.sources, mostIn, 'sources');
        put(sourceWeights, g.sourceWeights, mostIn, 'sourceweights');
        put(destinations, g.destinations, mostOut, 'destinations');
        put(destinationWeights, g.destinationWeights, mostOut, 'destweights');
      }),
    Topo_test: (comm: number, at: number) =>
      success(() => {
        const t = core.comm(comm).topology;
        heap.setInt(
          at,
          t ? constant({ cart: 'MPI_CART', graph: 'MPI_GRAPH', dist: 'MPI_DIST_GRAPH' }[t.kind]) : UNDEFINED,
          'status',
        );
      }),
  };
}

/** One edge on its way: source, destination, weight. */
const EDGE = 12;

/**
 * [MPI_Dist_graph_create] Any process may name any edge, so all tell all: first how many, then which, then the
 * communicator is made of those that begin or end here. Three collectives in one call: the record's phase says which is
 * under way. What is exchanged lies in the program's memory, which an image has anyway.
 */
function distGraph(core: Core): Implementation {
  const { layer, heap } = core;
  const gathered = (c: CommRecord, own: readonly number[]): { at: number; request: number } => {
    const size = c.group.length;
    const at = core.program.malloc(4 * own.length * (size + 1));
    if (at === 0) core.fail(ERR.NO_MEM, 'no memory for the edges of the graph', c.handle);
    heap.setInts(at, own, 'edges');
    return {
      at,
      request: collectives.allgather(
        layer,
        c.handle,
        linear(at, 4 * own.length),
        linear(at + 4 * own.length, 4 * own.length * size),
        core.call,
      ),
    };
  };
  return {
    start: (comm, n, sources, degrees, destinations, weights, _info, _reorder, at) => {
      const c = core.comm(comm!);
      heap.check(at!, 4, 'comm_dist_graph');
      const from = heap.ints(sources!, core.count(n!, c.handle, 'n'), 'sources');
      const degree = heap.ints(degrees!, n!, 'degrees');
      const total = degree.reduce((a, b) => a + core.count(b, c.handle, 'a degree'), 0);
      const to = heap.ints(destinations!, total, 'destinations');
      for (const r of [...from, ...to])
        if (r < 0 || r >= c.group.length)
          core.fail(ERR.RANK, `${r} is not a rank: ${c.name} has ranks 0 to ${c.group.length - 1}`, c.handle);
      const weighted = weights !== UNWEIGHTED;
      const weight = weighted && weights !== WEIGHTS_EMPTY ? heap.ints(weights!, total, 'weights') : [];
      const edges: number[] = [];
      from.forEach((source, i) => {
        for (let k = 0; k < degree[i]!; k++) edges.push(source, to[edges.length / 3]!, weight[edges.length / 3] ?? 1);
      });
      const { at: counts, request } = gathered(c, [edges.length / 3]);
      const own = core.program.malloc(EDGE * Math.max(edges.length / 3, 1));
      if (own === 0) core.fail(ERR.NO_MEM, 'no memory for the edges of the graph', c.handle);
      heap.setInts(own, edges, 'edges');
      return record('Dist_graph_create', request, [at!, c.handle, counts, own, weighted ? 1 : 0, 0]);
    },
    finish: (r) => {
      const [at, comm, counts, own, weighted] = r.at as [number, number, number, number, number];
      const c = layer.state.comms.rows.get(comm)!;
      const wait = (): number => {
        const outcome = requests.wait(layer, r.request, 'MPI_Dist_graph_create');
        if (outcome.error) throw core.failed(outcome.error, outcome.comm);
        return outcome.result;
      };
      if (r.phase === 0) {
        wait();
        const each = heap.ints(counts + 4, c.group.length, 'edges');
        const total = each.reduce((a, b) => a + b, 0);
        const all = core.program.malloc(EDGE * Math.max(total, 1));
        if (all === 0) core.fail(ERR.NO_MEM, 'no memory for the edges of the graph', comm);
        r.at[5] = all;
        r.request = collectives.allgatherv(
          layer,
          comm,
          linear(own, EDGE * each[c.rank]!),
          { buf: linear(all, EDGE * total), unit: EDGE, counts: each, displs: undefined },
          core.call,
        );
        r.phase = 1;
      }
      if (r.phase === 1) {
        wait();
        const total = heap.ints(counts + 4, c.group.length, 'edges').reduce((a, b) => a + b, 0);
        const flat = heap.ints(r.at[5]!, 3 * total, 'edges');
        const edges = Array.from({ length: total }, (_, i) => flat.slice(3 * i, 3 * i + 3) as [number, number, number]);
        for (const a of [counts, own, r.at[5]!]) core.program.free(a);
        r.request = neighbours.createAdjacent(layer, comm, neighbours.adjacent(edges, c.rank, weighted !== 0));
        r.phase = 2;
      }
      madeComm(core, wait(), at);
      return ERR.SUCCESS;
    },
  };
}
