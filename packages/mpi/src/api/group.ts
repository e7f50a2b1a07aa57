/** Group objects of the API over the layer's table. */
import { UNDEFINED } from '../constants.ts';
import { ERR, fail } from '../errors.ts';
import * as groups from '../groups.ts';
import { insert } from '../handle-table.ts';
import { contextOf, Held } from './held.ts';
import type { Context } from './context.ts';
import type * as Mayfly from '../../types/mayfly.d.ts';

export class GroupObject extends Held implements Mayfly.Group {
  constructor(
    context: Context,
    readonly handle: number,
  ) {
    super(context);
  }

  static make(context: Context, tasks: number[]): GroupObject {
    return new GroupObject(context, insert(context.layer.state.groups, tasks));
  }
  /** Tasks by rank. @throws MPIError ERR_GROUP */
  tasks(call: string): number[] {
    return contextOf(this).layer.state.groups.rows.get(this.handle) ?? fail(ERR.GROUP, call, 'the group was freed');
  }
  static of(group: unknown, call: string): GroupObject {
    return group instanceof GroupObject ? group : fail(ERR.GROUP, call, 'the argument is not a group');
  }
  private derive(call: string, f: (mine: number[]) => number[]): GroupObject {
    return contextOf(this).call(() => GroupObject.make(contextOf(this), f(this.tasks(call))));
  }
  private with(other: Mayfly.Group, call: string, f: (a: number[], b: number[]) => number[]): GroupObject {
    return this.derive(call, (mine) => f(mine, GroupObject.of(other, call).tasks(call)));
  }

  get size(): number {
    return contextOf(this).call(() => this.tasks('MPI_Group_size').length);
  }
  get rank(): number {
    return contextOf(this).call(() => {
      const at = this.tasks('MPI_Group_rank').indexOf(contextOf(this).layer.state.task);
      return at < 0 ? UNDEFINED : at;
    });
  }
  incl(ranks: ArrayLike<number>): Mayfly.Group {
    return this.derive('MPI_Group_incl', (mine) => groups.incl(mine, ranks));
  }
  excl(ranks: ArrayLike<number>): Mayfly.Group {
    return this.derive('MPI_Group_excl', (mine) => groups.excl(mine, ranks));
  }
  rangeIncl(ranges: readonly groups.Range[]): Mayfly.Group {
    const call = 'MPI_Group_range_incl';
    return this.derive(call, (mine) => groups.incl(mine, groups.expandRanges(mine, ranges, call), call));
  }
  rangeExcl(ranges: readonly groups.Range[]): Mayfly.Group {
    const call = 'MPI_Group_range_excl';
    return this.derive(call, (mine) => groups.excl(mine, groups.expandRanges(mine, ranges, call), call));
  }
  union(other: Mayfly.Group): Mayfly.Group {
    return this.with(other, 'MPI_Group_union', groups.union);
  }
  intersection(other: Mayfly.Group): Mayfly.Group {
    return this.with(other, 'MPI_Group_intersection', groups.intersection);
  }
  difference(other: Mayfly.Group): Mayfly.Group {
    return this.with(other, 'MPI_Group_difference', groups.difference);
  }
  translateRanks(ranks: ArrayLike<number>, other: Mayfly.Group): number[] {
    const call = 'MPI_Group_translate_ranks';
    return contextOf(this).call(() =>
      groups.translateRanks(this.tasks(call), ranks, GroupObject.of(other, call).tasks(call)),
    );
  }
  compare(other: Mayfly.Group): Mayfly.Comparison {
    const call = 'MPI_Group_compare';
    return contextOf(this).call(() => groups.compareGroups(this.tasks(call), GroupObject.of(other, call).tasks(call)));
  }
  free(): void {
    contextOf(this).call(() => {
      this.tasks('MPI_Group_free');
      if (this.handle !== 1) contextOf(this).layer.state.groups.rows.delete(this.handle);
    });
  }
}
