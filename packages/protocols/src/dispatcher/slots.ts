/** A task and the slot that it has. */
import type { NodeId } from '@mayfly/wire';
import type { Core, Task } from './state.ts';

/** D3: only here, by the placement and when a node comes back with what it holds, does a task get a slot. */
export function occupy(core: Core, t: Task, node: NodeId): void {
  t.node = node;
  core.nodes.get(node)!.tasks.add(t);
  core.nodesChanged = true;
  core.changed(t.job);
}

export function release(core: Core, t: Task): void {
  if (t.node === undefined) return;
  core.nodes.get(t.node)?.tasks.delete(t);
  t.node = undefined;
  core.nodesChanged = true;
  core.reschedule = true;
  core.changed(t.job);
}
