/**
 * Communicators with a topology (MPI 4.1 chapter 8): grids, graphs, distributed graphs, and the collectives of
 * neighbours.
 */
import * as neighbours from '../neighbours.ts';
import * as topology from '../topology.ts';
import { contextOf } from './held.ts';
import { addNeighbourhoods, type NeighbourForms } from './collectives.ts';
import { CommObject } from './comm.ts';
import * as objects from './objects.ts';
import type { DistGraphTopology } from '../state.ts';
import type * as Mayfly from '../../types/mayfly.d.ts';

/** The forms of the collectives come from their table (collectives.ts). */
// eslint-disable-next-line @typescript-eslint/no-unsafe-declaration-merging, @typescript-eslint/no-empty-object-type -- addNeighbourhoods, below, puts them there
export interface TopologyObject extends NeighbourForms {}
// eslint-disable-next-line @typescript-eslint/no-unsafe-declaration-merging -- see above
export abstract class TopologyObject extends CommObject implements Mayfly.TopologyComm {
  private neighbours(): neighbours.Neighbours {
    return contextOf(this).call(() =>
      neighbours.neighboursOf(this.record('MPI_Dist_graph_neighbors'), 'MPI_Dist_graph_neighbors'),
    );
  }
  get sources(): readonly number[] {
    return [...this.neighbours().sources];
  }
  get destinations(): readonly number[] {
    return [...this.neighbours().destinations];
  }
  neighborAllgatherObject<T>(value: T): (T | undefined)[] {
    return contextOf(this).call(() => objects.neighbourAllgather(contextOf(this), this, value));
  }
  neighborAlltoallObject<T>(values: readonly T[]): (T | undefined)[] {
    return contextOf(this).call(() => objects.neighbourAlltoall(contextOf(this), this, values));
  }
}
addNeighbourhoods(TopologyObject.prototype);

export class CartObject extends TopologyObject implements Mayfly.CartComm {
  get dims(): readonly number[] {
    return contextOf(this).call(() => [...topology.cartOf(this.record('MPI_Cart_get'), 'MPI_Cart_get').dims]);
  }
  get periods(): readonly boolean[] {
    return contextOf(this).call(() => [...topology.cartOf(this.record('MPI_Cart_get'), 'MPI_Cart_get').periods]);
  }
  get coords(): readonly number[] {
    return contextOf(this).call(() => topology.coordsOf(this.record('MPI_Cart_get'), this.rank));
  }
  coordsOf(rank: number): number[] {
    return contextOf(this).call(() => topology.coordsOf(this.record('MPI_Cart_coords'), rank));
  }
  cartRank(coords: ArrayLike<number>): number {
    return contextOf(this).call(() => topology.rankAt(this.record('MPI_Cart_rank'), coords));
  }
  shift(direction: number, displacement = 1): { source: number; dest: number } {
    return contextOf(this).call(() => topology.shift(this.record('MPI_Cart_shift'), direction, displacement));
  }
  sub(keep: readonly boolean[]): Mayfly.CartComm {
    return this.make(() => topology.sub(contextOf(this).layer, this.handle, keep)) as unknown as Mayfly.CartComm;
  }
}

export class GraphObject extends TopologyObject implements Mayfly.GraphComm {
  get index(): readonly number[] {
    return contextOf(this).call(() => [...neighbours.graphOf(this.record('MPI_Graph_get'), 'MPI_Graph_get').index]);
  }
  get edges(): readonly number[] {
    return contextOf(this).call(() => [...neighbours.graphOf(this.record('MPI_Graph_get'), 'MPI_Graph_get').edges]);
  }
  neighborsOf(rank: number): number[] {
    return contextOf(this).call(() =>
      neighbours.graphNeighbours(this.record('MPI_Graph_neighbors'), rank, 'MPI_Graph_neighbors'),
    );
  }
}

export class DistGraphObject extends TopologyObject implements Mayfly.DistGraphComm {
  private get graph(): DistGraphTopology {
    return contextOf(this).call(() =>
      neighbours.distGraphOf(this.record('MPI_Dist_graph_neighbors'), 'MPI_Dist_graph_neighbors'),
    );
  }
  get weights(): { readonly sources: readonly number[]; readonly destinations: readonly number[] } | undefined {
    const { sourceWeights, destinationWeights } = this.graph;
    return (
      sourceWeights && destinationWeights && { sources: [...sourceWeights], destinations: [...destinationWeights] }
    );
  }
}
