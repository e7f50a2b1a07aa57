/** Graph topologies, and who the neighbours of a process are in any topology (MPI 4.1 §8.5, §8.6). */
import { intra } from './checks.ts';
import { PROC_NULL } from './constants.ts';
import { ERR, fail } from './errors.ts';
import { create } from './comm.ts';
import { coordsOf, rankAt } from './topology.ts';
import type { Layer } from './layer.ts';
import type { CommRecord, DistGraphTopology, GraphTopology } from './state.ts';

/** [MPI_Graph_create] Processes beyond the graph get no communicator. */
export function createGraph(layer: Layer, handle: number, index: readonly number[], edges: readonly number[]): number {
  const call = 'MPI_Graph_create';
  const comm = intra(layer, handle, call);
  const n = index.length;
  if (n > comm.group.length)
    fail(ERR.ARG, call, `the graph has ${n} nodes, ${comm.name} ${comm.group.length} processes`, handle);
  index.forEach((end, i) => {
    if (end < (index[i - 1] ?? 0)) fail(ERR.ARG, call, `index [${index.join(', ')}] does not rise`, handle);
  });
  for (const e of edges)
    if (e < 0 || e >= n) fail(ERR.ARG, call, `edge to ${e}: the graph has nodes 0 to ${n - 1}`, handle);
  return create(layer, handle, comm.group.slice(0, n), call, { kind: 'graph', index: [...index], edges: [...edges] });
}

/** [MPI_Dist_graph_create_adjacent] */
export function createAdjacent(layer: Layer, handle: number, topology: DistGraphTopology): number {
  const call = 'MPI_Dist_graph_create_adjacent';
  const comm = intra(layer, handle, call);
  for (const r of [...topology.sources, ...topology.destinations])
    if (r !== PROC_NULL && (r < 0 || r >= comm.group.length))
      fail(
        ERR.RANK,
        call,
        `neighbour ${r} is not a rank: ${comm.name} has ranks 0 to ${comm.group.length - 1}`,
        handle,
      );
  return create(layer, handle, comm.group, call, topology);
}

/** An edge of a distributed graph. */
export type Edge = readonly [source: number, destination: number, weight: number];

/**
 * [MPI_Dist_graph_create] What a process knows of the graph when all have told all: the edges that begin or end here.
 */
export function adjacent(edges: readonly Edge[], rank: number, weighted: boolean): DistGraphTopology {
  const into = edges.filter((e) => e[1] === rank);
  const from = edges.filter((e) => e[0] === rank);
  return {
    kind: 'dist',
    sources: into.map((e) => e[0]),
    sourceWeights: weighted ? into.map((e) => e[2]) : undefined,
    destinations: from.map((e) => e[1]),
    destinationWeights: weighted ? from.map((e) => e[2]) : undefined,
  };
}

/** @throws MPIError ERR_TOPOLOGY */
export const graphOf = (comm: CommRecord, call: string): GraphTopology =>
  comm.topology?.kind === 'graph'
    ? comm.topology
    : fail(ERR.TOPOLOGY, call, `${comm.name} has no graph topology`, comm.handle);
export const distGraphOf = (comm: CommRecord, call: string): DistGraphTopology =>
  comm.topology?.kind === 'dist'
    ? comm.topology
    : fail(ERR.TOPOLOGY, call, `${comm.name} has no distributed graph topology`, comm.handle);

/** [MPI_Graph_neighbors] */
export function graphNeighbours(comm: CommRecord, rank: number, call: string): number[] {
  const { index, edges } = graphOf(comm, call);
  if (rank < 0 || rank >= index.length)
    fail(ERR.RANK, call, `rank ${rank} is not a node of the graph, which has ${index.length}`, comm.handle);
  return edges.slice(index[rank - 1] ?? 0, index[rank]!);
}

export interface Neighbours {
  sources: number[];
  destinations: number[];
  /**
   * Order in which the receives are listed: two messages of one process meet them in the order in which it sent them.
   */
  order: number[];
}

/**
 * "For Cartesian topologies … the sequence of neighbors in the send and receive buffers … is defined by order of the
 * dimensions, first the neighbor in the negative direction and then in the positive direction" (§8.6). What a neighbour
 * sends towards its negative side comes here from the positive one: receives are listed the other way round.
 */
export function neighboursOf(comm: CommRecord, call: string): Neighbours {
  const t = comm.topology;
  if (t?.kind === 'dist')
    return { sources: t.sources, destinations: t.destinations, order: t.sources.map((_, i) => i) };
  if (t?.kind === 'graph') {
    const list = graphNeighbours(comm, comm.rank, call);
    return { sources: list, destinations: list, order: list.map((_, i) => i) };
  }
  if (t?.kind !== 'cart') return fail(ERR.TOPOLOGY, call, `${comm.name} has no topology`, comm.handle);
  const here = coordsOf(comm, comm.rank, call);
  const at = (dimension: number, by: number): number => {
    const c = here[dimension]! + by;
    if (!t.periods[dimension] && (c < 0 || c >= t.dims[dimension]!)) return PROC_NULL;
    return rankAt(
      comm,
      here.map((x, i) => (i === dimension ? c : x)),
      call,
    );
  };
  const list = t.dims.flatMap((_, d) => [at(d, -1), at(d, 1)]);
  return { sources: list, destinations: list, order: list.map((_, i) => i ^ 1) };
}
