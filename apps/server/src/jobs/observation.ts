/**
 * What the detector of deadlocks and the dispatcher are told of a job's ranks: what they wait for, what is logged of
 * them, and what is under way.
 */
import type { LoggedProgress, TaskObservation } from '@mayfly/protocols';
import { FILES, homeOf, taskId, type JobView } from '@mayfly/wire';
import type { ChannelMemoryHost } from '../hosts/channel-memory-host.ts';
import type { WorldHost } from '../hosts/world-host.ts';

/** undefined: a Channel Memory recovers, so that nobody can say. */
export function observed(
  view: JobView,
  hosts: readonly ChannelMemoryHost[],
  world: Pick<WorldHost, 'requests'>,
): TaskObservation[] | undefined {
  const tasks: TaskObservation[] = [];
  for (const t of view.tasks) {
    const core = hosts[homeOf(t.task, hosts.length)]?.core;
    const home = core?.observe(t.task);
    if (!core || !home) return undefined;
    tasks.push({
      task: t.task,
      // One that was restarted and waits where its log ends takes no new step: the counts below say whether it has
      // repeated everything.
      state: t.state === 'running' || t.state === 'recovering' ? 'running' : t.state === 'done' ? 'done' : 'other',
      incarnation: t.incarnation,
      ...(t.activity === undefined ? {} : { activity: t.activity }),
      arrivalsLogged: home.arrivalsLogged,
      sendsLogged: hosts.reduce((n, h) => n + (h.core?.observe(t.task).sendsLogged ?? 0), 0),
      // A request to the file service that is not answered is under way.
      bodiesUnderWay: home.bodiesUnderWay + Math.max(0, world.requests(view.id, t.task) - core.logged(FILES, t.task)),
    });
  }
  return tasks;
}

/** What the Channel Memories have of each task; nothing while one of them recovers. */
export function loggedProgress(tasks: number, hosts: readonly ChannelMemoryHost[]): LoggedProgress[] {
  const cores = hosts.flatMap((h) => h.core ?? []);
  if (cores.length < hosts.length || cores.length === 0 || cores.some((c) => c.tasks < tasks)) return [];
  return Array.from({ length: tasks }, (_, n) => {
    const task = taskId(n);
    const home = cores[homeOf(task, cores.length)]!;
    const { arrivalsLogged, bodiesUnderWay } = home.observe(task);
    let sends = 0;
    for (const c of cores) sends += c.progress(task).sends;
    return {
      task,
      sends,
      arrivals: arrivalsLogged,
      consumed: home.progress(task).consumed,
      underWay: bodiesUnderWay > 0,
    };
  });
}
