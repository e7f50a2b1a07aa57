/** A wave under way: who takes part, and which answers have come. It decides nothing. */
import type { Cut, ImageId, TaskId } from '@mayfly/wire';
import { START_OF_TASK, type TaskOfWave } from '../contract/waves.ts';

export interface Beginning {
  readonly number: number;
  /** ms. */
  readonly since: number;
  /** They run, and will cut. */
  readonly members: ReadonlySet<TaskId>;
  /** They had ended. The others begin at their start. */
  readonly ended: ReadonlySet<TaskId>;
}

export class WaveUnderWay implements Beginning {
  readonly number: number;
  readonly since: number;
  readonly members: ReadonlySet<TaskId>;
  readonly ended: ReadonlySet<TaskId>;
  readonly cuts = new Map<TaskId, Cut>();
  readonly images = new Map<TaskId, ImageId>();
  /** Whose images are of level 1. */
  readonly near = new Set<TaskId>();
  readonly recorded = new Set<TaskId>();
  markAsked = false;
  mark: { value: unknown } | undefined;
  /** Everything that it needs is durable: no answer counts any more. */
  complete = false;

  constructor({ number, since, members, ended }: Beginning) {
    this.number = number;
    this.since = since;
    this.members = new Set(members);
    this.ended = new Set(ended);
  }

  /** They begin at their start. */
  startingOf(tasks: readonly TaskId[]): TaskId[] {
    return tasks.filter((t) => !this.members.has(t) && !this.ended.has(t));
  }

  /** A member that has neither cut nor ended. */
  missing(ended: ReadonlySet<TaskId>): TaskId | undefined {
    for (const t of this.members) if (!this.cuts.has(t) && !ended.has(t)) return t;
    return undefined;
  }

  /**
   * Its tasks, as far as they are known; those that came later begin at their start. Undefined: an image is missing.
   * @param ended by now
   */
  tasks(all: Iterable<TaskId>, ended: ReadonlySet<TaskId>): TaskOfWave[] | undefined {
    const tasks: TaskOfWave[] = [];
    for (const task of all) {
      const [cut, image] = [this.cuts.get(task), this.images.get(task)];
      // What a task does after its cut, or after the beginning of a wave that it began in, is behind the wave: also its
      // end.
      if (!this.members.has(task)) tasks.push({ task, state: this.ended.has(task) ? 'ended' : 'start' });
      else if (cut && image !== undefined) tasks.push({ task, state: 'image', image, cut });
      else if (!cut && ended.has(task)) tasks.push({ task, state: 'ended' });
      else return undefined;
    }
    return tasks;
  }

  /** The cuts, with those of the tasks that begin at their start. */
  cutsOf(tasks: readonly TaskOfWave[]): Map<TaskId, Cut> {
    const cuts = new Map(this.cuts);
    for (const t of tasks) if (t.state === 'start') cuts.set(t.task, START_OF_TASK);
    return cuts;
  }
}
