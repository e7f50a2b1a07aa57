/** Which nodes may get ranks now, and how many. */
import type { JobId, NodeId, ProgramKind, TaskId } from '@mayfly/wire';
import { hasRecord, quarantinedUntil } from './reputation.ts';
import type { Core, Node } from './state.ts';

/** A node with free slots. */
export interface Room {
  id: NodeId;
  /** Code of the room (of people) that the node serves. */
  code: string | undefined;
  /** Kinds of programs that the node runs. */
  runs: readonly ProgramKind[];
  /** Slots that are free now. */
  free: number;
  /** Ranks of each job that it has. */
  ranks: Map<JobId, number>;
  /** It has done useful work. */
  record: boolean;
  /** A rank was taken from it because nothing came of it, and whose fault that was is not known yet. */
  doubtful: boolean;
  /** A newcomer: how often it was in quarantine, less one for each rank that ended there. */
  level: number;
  has(job: JobId, task: TaskId): boolean;
  /** When it came, for a stable order. */
  since: number;
}

/**
 * D3. Never longer than the shortest patience of a job: else a rank lost by a node's silence would be assigned to the
 * silent node again.
 */
export const takesFor = (core: Core): number => 2.5 * core.settings.heartbeatMs;

/** A node takes new ranks while its socket is open and its heartbeats come. */
export function takesRanks(core: Core, n: Node): boolean {
  return n.connection !== undefined && !n.presence.left && core.time - n.presence.heard < takesFor(core);
}

/** Nodes with free slots, as they are now. */
export function rooms(core: Core): Room[] {
  const out: Room[] = [];
  const doubtful = new Set<NodeId>();
  for (const job of core.jobs.values()) for (const t of job.tasks) for (const c of t.comparisons) doubtful.add(c.node);
  for (const n of core.nodes.values()) {
    if (!takesRanks(core, n) || quarantinedUntil(core, n.id) !== undefined) continue;
    const free = n.slots - n.tasks.size;
    if (free <= 0) continue;
    const ranks: Room['ranks'] = new Map();
    for (const t of n.tasks) ranks.set(t.job.record.spec.id, (ranks.get(t.job.record.spec.id) ?? 0) + 1);
    out.push({
      id: n.id,
      code: n.room,
      runs: n.runs,
      free,
      ranks,
      since: n.since,
      record: hasRecord(core, n.id),
      doubtful: doubtful.has(n.id),
      level: core.reputations.get(n.id)?.level ?? 0,
      has: (job, task) => {
        const t = core.find(job, task);
        return t?.newest !== undefined && n.images.get(t)?.includes(t.newest.image) === true;
      },
    });
  }
  return out;
}
