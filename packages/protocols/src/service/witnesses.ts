/**
 * What one Channel Memory of a job can say for certain to the others (F5 of pessimistic/unheard.ts), across its cores.
 *
 * Owns: for which tasks the core of now is sure of the events, and what the cores before it said last. Memory of this
 * process alone: after a restart of the server a Channel Memory is sure again when the task has begun or spoken.
 *
 *  N1  A task never consumed more arrivals than its home ever numbered, nor made events before a frame that no Channel
 *      Memory ever had. So what an earlier core said is true, though too much where that core has lost something.
 *  N2  A core that is sure of a task stays so: it loses nothing while it lives.
 */
import type { TaskId } from '@mayfly/wire';
import type { Witness } from '../channel-memory/events.ts';

export class Witnesses {
  readonly #ask: (task: TaskId) => Witness | undefined;
  readonly #sure = new Set<TaskId>();
  readonly #before = new Map<TaskId, Witness>();
  /** The core of now began with the job. */
  #first = false;

  /** @param ask the core of now; undefined: there is none, or not in this process */
  constructor(ask: (task: TaskId) => Witness | undefined) {
    this.#ask = ask;
  }

  begin(fresh: boolean): void {
    this.#first = fresh;
  }

  /** An incarnation attaches that begins: all who answer it have what they will ever have of those before it. */
  began(task: TaskId): void {
    this.#sure.add(task);
  }

  /** The core goes. */
  end(tasks: Iterable<TaskId>): void {
    for (const task of tasks) {
      const last = this.of(task);
      if (last) this.#before.set(task, last);
    }
    this.#first = false;
    this.#sure.clear();
  }

  of(task: TaskId): Witness | undefined {
    const now = this.#ask(task);
    const before = this.#before.get(task);
    if (now === undefined) return before;
    if (now.whole || this.#first) this.#sure.add(task);
    const arrivals = now.arrivals ?? before?.arrivals;
    if (this.#sure.has(task)) return { arrivals, events: now.events, whole: true };
    return { arrivals, events: Math.max(now.events, before?.events ?? 0), whole: before?.whole ?? false };
  }
}
