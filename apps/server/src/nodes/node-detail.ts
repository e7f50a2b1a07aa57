/** One node as REST shows it: itself, the ranks that it has, and those that were lost there. */
import { jobView, type Dispatcher } from '@mayfly/protocols';
import type { JobId, NodeDetail, NodeId, NodeView } from '@mayfly/wire';
import { noCounters } from '../jobs/job-counters.ts';

/** Losses that are listed. */
const LISTED = 100;

export function nodeDetail(dispatcher: Dispatcher, node: NodeView, memory: number, now: number): NodeDetail {
  const { core } = dispatcher;
  const losses = lossesAt(dispatcher, node.id);
  const jobs = new Set<JobId>([...(core.nodes.get(node.id)?.tasks ?? [])].map((t) => t.job.record.spec.id));
  const ranks = [...jobs].flatMap((id) => {
    const job = jobView(dispatcher, id, { task: noCounters, outputs: [], outputBytes: 0 });
    return (job?.tasks ?? [])
      .filter((t) => t.node === node.id && t.state !== 'done' && t.state !== 'failed')
      .map(({ task, incarnation, state, activity, activitySince }) => ({
        job: id,
        name: job!.name,
        task,
        incarnation,
        state,
        ...(activity ? { activity } : {}),
        ...(activitySince === undefined ? {} : { activitySince }),
      }));
  });
  return {
    now,
    node,
    ranks,
    ...(memory > 0 && ranks.length > 0 ? { memory } : {}),
    losses: losses.slice(0, LISTED),
    lossesLeftOut: Math.max(0, losses.length - LISTED),
  };
}

/** Newest first. The records of faults outlive the node, and a restart of the server. */
function lossesAt({ core }: Dispatcher, node: NodeId): NodeDetail['losses'] {
  const found: NodeDetail['losses'] = [];
  for (const { record, faults } of core.jobs.values())
    for (const f of faults)
      if (f.node === node)
        found.push({
          at: f.at,
          job: record.spec.id,
          name: record.spec.name,
          task: f.task,
          incarnation: f.incarnation,
          cause: f.cause,
          ...(f.recoveredAfterMs === undefined ? {} : { recoveredAfterMs: f.recoveredAfterMs }),
        });
  return found.sort((a, b) => b.at - a.at);
}
