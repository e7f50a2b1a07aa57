/**
 * Finds the job that cannot go on: every rank that has not ended waits, and nothing is in flight to wake one of them.
 *
 * Pure and on the safe side: what rank and Channel Memory say must agree to the message, and must be the same in two
 * observations which lie at least {@link STABLE_MS} apart, before a job is called dead. A rank that waits for standard
 * input which is still open, one that waits for a limited time, and one that has no running incarnation, or replays, or
 * computes, are no part of a deadlock.
 */
import { WORLD, type Incarnation, type RankActivity, type TaskId } from '@mayfly/wire';

/** Longer than a heartbeat and than any push that is under way on a living connection. */
export const STABLE_MS = 3000;

/**
 * Calls in which a rank waits for what is on its way to it, not for another rank: the device's own (a long message, a
 * pulled body, a replay).
 */
export const MOVING: readonly string[] = ['message', 'message body', 'replay'];

/** Ends the name of a call that waits for a limited time: the rank goes on by itself. */
export const TIMED = ' until its time-out';

/** One task as seen at one moment. Counts are since the start of the program. */
export interface TaskObservation {
  task: TaskId;
  /** 'running': its acting incarnation runs and was heard within the last two heartbeats. */
  state: 'running' | 'done' | 'other';
  incarnation: Incarnation;
  /** From the last heartbeat. */
  activity?: RankActivity;
  /** Its arrivals logged whole at its home CM. */
  arrivalsLogged: number;
  /** Its messages logged whole over all CMs, those to the world included. */
  sendsLogged: number;
  /** Messages to it of which only a part has come. */
  bodiesUnderWay?: number;
}

export interface JobObservation {
  now: number;
  tasks: readonly TaskObservation[];
  /** Standard input may still get more. */
  stdinOpen: boolean;
}

export interface Waiter {
  task: TaskId;
  call: string;
  /** Absent: any source. */
  peer?: TaskId;
  tag?: number;
  /** From where in the program it waits. */
  place?: string;
}
export interface Deadlock {
  waiters: Waiter[];
  /** Tasks that wait for each other in a ring, when there is one; the first is not repeated. */
  cycle?: TaskId[];
  /** For people: which rank waits in which call for which other. */
  report: string;
}

/** Watches one job; give it an observation every second or so. */
export class DeadlockWatch {
  #since: { at: number; print: string } | undefined;

  /** The deadlock, once it has been stable for {@link STABLE_MS}; undefined while there is none. */
  observe(o: JobObservation): Deadlock | undefined {
    const waiters = blocked(o);
    if (!waiters) {
      this.#since = undefined;
      return undefined;
    }
    const print = JSON.stringify(
      o.tasks.map((t) => [
        t.task,
        t.state,
        t.incarnation,
        t.activity?.call,
        t.activity?.arrivals,
        t.activity?.sends,
        t.activity?.local,
        t.sendsLogged,
      ]),
    );
    if (this.#since?.print !== print) {
      this.#since = { at: o.now, print };
      return undefined;
    }
    return o.now - this.#since.at >= STABLE_MS ? describe(waiters, o) : undefined;
  }
}

/** The waiting ranks, if all ranks wait and nothing is in flight; else undefined. */
function blocked(o: JobObservation): Waiter[] | undefined {
  const waiters: Waiter[] = [];
  for (const t of o.tasks) {
    if (t.state === 'done') continue;
    const a = t.activity;
    if (t.state !== 'running' || a?.state !== 'waiting' || a.call === undefined) return undefined;
    // In flight to it, or from it: what the rank counts and what the logs count differ.
    if (a.arrivals !== t.arrivalsLogged || a.sends !== t.sendsLogged || (t.bodiesUnderWay ?? 0) > 0) return undefined;
    if ((a.local?.waiting ?? 0) > 0) return undefined;
    if (MOVING.includes(a.call) || a.call.endsWith(TIMED)) return undefined;
    if (a.peer === WORLD && o.stdinOpen) return undefined;
    waiters.push({
      task: t.task,
      call: a.call,
      ...(a.peer === undefined ? {} : { peer: a.peer }),
      ...(a.tag === undefined ? {} : { tag: a.tag }),
      ...(a.place === undefined ? {} : { place: a.place }),
    });
  }
  return waiters.length > 0 ? waiters : undefined;
}

function describe(waiters: Waiter[], o: JobObservation): Deadlock {
  const done = new Set(o.tasks.filter((t) => t.state === 'done').map((t) => t.task));
  const lines = waiters.map((w) => {
    const whom =
      w.peer === undefined
        ? 'any rank'
        : w.peer === WORLD
          ? 'standard input, which has ended'
          : `rank ${w.peer}${done.has(w.peer) ? ', which has ended' : ''}`;
    return (
      `  rank ${w.task} waits in ${w.call} for ` +
      `${whom}${w.tag === undefined ? '' : `, tag ${w.tag}`}${w.place === undefined ? '' : `, at ${w.place}`}`
    );
  });
  const cycle = findCycle(waiters);
  const head =
    waiters.length === 1
      ? 'Deadlock: the only unfinished rank is waiting and no message is in flight:'
      : `Deadlock: all ${waiters.length} unfinished ranks are waiting and no message is in flight:`;
  const report = [head, ...lines, ...(cycle ? [`Wait cycle: ${[...cycle, cycle[0]!].join(' → ')}`] : [])].join('\n');
  return cycle ? { waiters, cycle, report } : { waiters, report };
}

/** Everybody waits for at most one: follow the arrows. */
function findCycle(waiters: readonly Waiter[]): TaskId[] | undefined {
  const next = new Map(waiters.map((w) => [w.task, w.peer]));
  const visited = new Set<TaskId>();
  for (const { task } of waiters) {
    const path: TaskId[] = [];
    for (let at: TaskId | undefined = task; at !== undefined && next.has(at) && !visited.has(at); at = next.get(at)) {
      visited.add(at);
      path.push(at);
      const to = next.get(at);
      const start = to === undefined ? -1 : path.indexOf(to);
      if (start >= 0) return path.slice(start);
    }
  }
  return undefined;
}
