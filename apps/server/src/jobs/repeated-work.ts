/**
 * Work that a rollback undid is done again: what ranks say of their time meanwhile is time of repeating. Under other
 * protocols nothing changes: there a rank knows itself what it repeats.
 *
 * Owns: what each acting incarnation said last, and how it was accounted for. A new incarnation begins at nothing.
 */
import type { CheckpointFigures } from '@mayfly/protocols';
import { SPENT, type Heartbeat, type JobId } from '@mayfly/wire';
import { clock } from '../clock.ts';

type Told = Heartbeat['tasks'][number];

interface Account {
  incarnation: number;
  at: number;
  spent: readonly number[];
  counted: number[];
}

/** A job that has ended so long ago says nothing any more. */
const LAST_WORDS_MS = 60_000;
const CHECKPOINTING = SPENT.indexOf('checkpointing');
const REPLAYING = SPENT.indexOf('replaying');

export class RepeatedWork {
  /** By job, by task. */
  readonly #accounts = new Map<JobId, Map<number, Account>>();

  constructor(
    private readonly waves: (job: JobId) => Pick<CheckpointFigures, 'ran' | 'repeatsUntil' | 'stalled'> | undefined,
  ) {}

  /** @param believed whether the incarnation acts at the node that says so */
  heard(m: Heartbeat, believed: (t: Told) => boolean, now = clock()): Heartbeat {
    return { ...m, tasks: m.tasks.map((t) => (t.spent && believed(t) ? this.#task(t, t.spent, now) : t)) };
  }

  #task(t: Told, spent: readonly number[], now: number): Told {
    const waves = this.waves(t.job);
    let tasks = this.#accounts.get(t.job);
    // What ranks say last comes after the end of the job, perhaps.
    if (!waves && !tasks) return t;
    if (!tasks) {
      this.#forgetOld(now);
      this.#accounts.set(t.job, (tasks = new Map()));
    }
    let a = tasks.get(t.task);
    if (a?.incarnation !== t.incarnation) {
      const none = SPENT.map(() => 0);
      tasks.set(t.task, (a = { incarnation: t.incarnation, at: -Infinity, spent: none, counted: [...none] }));
    }
    const news = SPENT.map((_, k) => Math.max(0, (spent[k] ?? 0) - (a.spent[k] ?? 0)));
    const sum = news.reduce((n, ms) => n + ms, 0);
    const from = Math.max(a.at, now - sum);
    if (a.at === -Infinity) waves?.ran(t.task, from);
    const until = waves?.repeatsUntil(t.task) ?? 0;
    const again = now <= from ? 0 : Math.min(1, Math.max(0, (until - from) / (now - from)));
    news.forEach((ms, k) => {
      const repeated = k === CHECKPOINTING ? 0 : ms * again;
      a.counted[k]! += ms - repeated;
      a.counted[REPLAYING]! += repeated;
    });
    if (news[CHECKPOINTING]! > 0) waves?.stalled(t.task, news[CHECKPOINTING]!);
    a.at = now;
    a.spent = SPENT.map((_, k) => Math.max(spent[k] ?? 0, a.spent[k] ?? 0));
    return { ...t, spent: [...a.counted] };
  }

  #forgetOld(now: number): void {
    for (const [job, tasks] of this.#accounts)
      if (!this.waves(job) && [...tasks.values()].every((a) => now - a.at > LAST_WORDS_MS)) this.#accounts.delete(job);
  }

  forget(job: JobId): void {
    this.#accounts.delete(job);
  }
}
