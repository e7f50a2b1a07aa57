/** The making of communicators with a topology (MPI 4.1 §8.5). Their objects: topology.ts. */
import * as coll from '../collectives/index.ts';
import * as topology from '../topology.ts';
import { ERR, fail } from '../errors.ts';
import * as neighbours from '../neighbours.ts';
import { contextOf } from './held.ts';
import type { Collective } from './collectives.ts';
import type * as Mayfly from '../../types/mayfly.d.ts';

/** A communicator that others, objects of type `C`, are made from. */
interface Parent<C> extends Collective {
  /** Makes one by a schedule; null for a process that is not in it. */
  make(start: () => number): C | null;
}

const whole = (c: Collective, list: readonly number[], what: string, call: string): number[] => {
  if (!Array.isArray(list)) return fail(ERR.ARG, call, `${what}: a list of whole numbers is needed`, c.handle);
  return list.map((x: number) =>
    (x | 0) === x ? x : fail(ERR.ARG, call, `${what}: ${String(x)} is not a whole number`, c.handle),
  );
};
const weightsOf = (
  c: Collective,
  list: readonly number[] | undefined,
  n: number,
  what: string,
  call: string,
): number[] | undefined => {
  if (list && list.length !== n) fail(ERR.ARG, call, `${what}: ${list.length} weights for ${n} neighbours`, c.handle);
  return list && whole(c, list, what, call);
};

export const cart = <C>(c: Parent<C>, dims: readonly number[], periods?: readonly boolean[]): C | null =>
  c.make(() => topology.createCart(contextOf(c).layer, c.handle, dims, periods ?? dims.map(() => false)));

export function graph<C>(c: Parent<C>, index: readonly number[], edges: readonly number[]): C | null {
  const call = 'MPI_Graph_create';
  return c.make(() => {
    const ends = whole(c, index, 'index', call);
    const list = whole(c, edges, 'edges', call);
    if (list.length !== (ends.at(-1) ?? 0))
      fail(ERR.ARG, call, `${list.length} edges, the index says ${ends.at(-1) ?? 0}`, c.handle);
    return neighbours.createGraph(contextOf(c).layer, c.handle, ends, list);
  });
}

export function adjacent<C>(
  c: Parent<C>,
  sources: readonly number[],
  destinations: readonly number[],
  weights?: Mayfly.NeighbourWeights,
): C | null {
  const call = 'MPI_Dist_graph_create_adjacent';
  return c.make(() =>
    neighbours.createAdjacent(contextOf(c).layer, c.handle, {
      kind: 'dist',
      sources: whole(c, sources, 'sources', call),
      sourceWeights: weightsOf(c, weights?.sources, sources.length, 'weights of sources', call),
      destinations: whole(c, destinations, 'destinations', call),
      destinationWeights: weightsOf(c, weights?.destinations, destinations.length, 'weights of destinations', call),
    }),
  );
}

/**
 * Any process may name any edge, so all tell all: first how many, then which, then the communicator is made of those
 * that begin or end here.
 */
export function distGraph<C>(
  c: Parent<C>,
  sources: readonly number[],
  degrees: readonly number[],
  destinations: readonly number[],
  weights?: readonly number[],
): C | null {
  const call = 'MPI_Dist_graph_create';
  return contextOf(c).call(() => {
    const { layer } = contextOf(c);
    const { handle } = c;
    const from = whole(c, sources, 'sources', call);
    const to = whole(c, destinations, 'destinations', call);
    const counts = whole(c, degrees, 'degrees', call);
    const weight = weightsOf(c, weights, to.length, 'weights', call);
    if (counts.length !== from.length || counts.some((n) => n < 0) || counts.reduce((a, b) => a + b, 0) !== to.length)
      fail(
        ERR.ARG,
        call,
        `degrees [${counts.join(', ')}] for ${from.length} sources and ${to.length} destinations`,
        handle,
      );
    for (const r of [...from, ...to])
      if (r < 0 || r >= c.size)
        fail(ERR.RANK, call, `${r} is not a rank: ${c.name} has ranks 0 to ${c.size - 1}`, handle);
    const own: number[] = [];
    from.forEach((source, i) => {
      for (let k = 0; k < counts[i]!; k++) own.push(source, to[own.length / 3]!, weight?.[own.length / 3] ?? 1);
    });
    const lengths = new Int32Array(c.size);
    c.finish(
      c.start(call, (pins) =>
        coll.allgather(
          layer,
          handle,
          pins.from(Int32Array.of(own.length), 'the number of edges'),
          pins.into(lengths, 'the numbers of edges'),
          call,
        ),
      ),
    );
    const all = new Int32Array(lengths.reduce((a, b) => a + b, 0));
    c.finish(
      c.start(call, (pins) =>
        coll.allgatherv(
          layer,
          handle,
          pins.from(Int32Array.from(own), 'the edges'),
          pins.vector({ data: all, counts: lengths }, 'the edges', true),
          call,
        ),
      ),
    );
    const edges = Array.from({ length: all.length / 3 }, (_, i): neighbours.Edge => [
      all[3 * i]!,
      all[3 * i + 1]!,
      all[3 * i + 2]!,
    ]);
    return c.make(() =>
      neighbours.createAdjacent(layer, handle, neighbours.adjacent(edges, c.rank, weights !== undefined)),
    );
  });
}
