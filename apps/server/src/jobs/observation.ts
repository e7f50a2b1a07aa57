/**
 * What the detector of deadlocks sees of a job's ranks: what they wait for, what is logged of them, and what is under
 * way.
 */
import type { TaskObservation } from '@mayfly/protocols';
import { FILES, WORLD, type JobView } from '@mayfly/wire';
import type { ChannelMemoryHost } from '../hosts/channel-memory-host.ts';
import type { WorldHost } from '../hosts/world-host.ts';

/** undefined: unknown, because a Channel Memory is recovering. */
export function observed(
  view: JobView,
  hosts: readonly ChannelMemoryHost[],
  world: Pick<WorldHost, 'requests'>,
  /** Messages of standard input so far. */
  typed: number,
): TaskObservation[] | undefined {
  const tasks: TaskObservation[] = [];
  for (const t of view.tasks) {
    const core = hosts.find((h) => h.served.isHome(t.task))?.core;
    const home = core?.observe(t.task);
    if (!core || !home) return undefined;
    tasks.push({
      task: t.task,
      // One that was restarted and waits where its log ends takes no new step: the counts below say whether it has
      // repeated everything.
      state:
        t.state === 'running' || t.state === 'recovering'
          ? 'running'
          : t.state === 'done' || t.state === 'failed'
            ? 'done'
            : 'other',
      incarnation: t.incarnation,
      ...(t.activity === undefined ? {} : { activity: t.activity }),
      arrivalsLogged: home.arrivalsLogged,
      sendsLogged: hosts.reduce((n, h) => n + (h.core?.observe(t.task).sendsLogged ?? 0), 0),
      // A request to the file service that is not answered is under way, and input that is not given yet.
      bodiesUnderWay:
        home.bodiesUnderWay +
        Math.max(0, world.requests(view.id, t.task) - core.logged(FILES, t.task)) +
        (t.task === 0 ? Math.max(0, typed - core.logged(WORLD, t.task)) : 0),
    });
  }
  return tasks;
}
