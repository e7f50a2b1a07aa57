/** Whether a task belongs to another cluster than those whose home a Channel Memory is (between.ts). */
import type { TaskId } from '@mayfly/wire';
import type { State } from './state.ts';

export const isForeign = (s: State, task: TaskId): boolean =>
  s.between !== undefined && task < s.sources.length && s.between.links.clusterOf(task) !== s.between.links.own;
