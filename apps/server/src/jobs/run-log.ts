/**
 * What a run took: the time of its ranks by what they did and by the MPI calls that they waited in, and on whose
 * machines, from what heartbeats say. For people only; when a job ends it goes to the archive, as JSON with a checksum.
 * What was before the last start of the server is not known, but for the incarnations
 * that live: they tell their whole time.
 *
 *  R1  Bounded whatever nodes say: names of calls are checked, and a rank has at most MAX_CALLS of them, and MAX_PLACES
 *      of places.
 *  R2  The last report of an incarnation counts, even if it is done by then, or the whole job for LAST_WORDS_MS.
 */
import { seal, unseal } from '@mayfly/storage';
import type { Archive } from '@mayfly/storage/ports';
import {
  SPENT,
  type CallTime,
  type Heartbeat,
  type Incarnation,
  type JobId,
  type NodeId,
  type PlaceTime,
  type TaskId,
} from '@mayfly/wire';

export interface RankTimes {
  /** By {@link SPENT}. */
  spentMs: number[];
  calls: CallTime[];
  /** From where in the program those calls were made. Absent: written before this was kept. */
  places?: PlaceTime[];
}

export interface RunSummary {
  /** By {@link SPENT}; of all ranks. */
  spentMs: number[];
  /** By rank. Absent: written before this was kept. */
  ranks?: RankTimes[];
  nodes: { name: string; engine: string; ranks: number[] }[];
}

export interface Place {
  id: NodeId;
  name: string;
  engine: string;
}

/** Nodes of one job that are remembered. */
const MAX_NODES = 1000;
const MAX_CALLS = 48;
const MAX_PLACES = 96;
const LAST_WORDS_MS = 5_000;
const CALL_NAME = /^\w[\w ]*$/;

interface Acting {
  incarnation: number;
  node: NodeId;
  spent: readonly number[];
  calls: readonly CallTime[];
  places: readonly PlaceTime[];
}

interface Run {
  /** Of incarnations that are over. */
  past: Map<TaskId, Times>;
  acting: Map<TaskId, Acting>;
  nodes: Map<NodeId, { name: string; engine: string; ranks: Set<number> }>;
  over: boolean;
  /** Nothing of it is written any more. */
  forgotten: boolean;
  closing?: NodeJS.Timeout;
}

/** Times of one rank, added up. R1. */
class Times {
  readonly spent = SPENT.map(() => 0);
  readonly #calls = new Map<string, { ms: number; times: number }>();
  readonly #places = new Map<string, [call: string, place: string, ms: number]>();

  add({ spent, calls, places }: Pick<Acting, 'spent' | 'calls' | 'places'>): this {
    for (let i = 0; i < this.spent.length; i++) this.spent[i]! += spent[i] ?? 0;
    for (const [name, ms, times] of calls) {
      const call =
        CALL_NAME.test(name) && (this.#calls.has(name) || this.#calls.size < MAX_CALLS) ? name : 'other calls';
      const sum = this.#calls.get(call);
      if (sum) Object.assign(sum, { ms: sum.ms + ms, times: sum.times + times });
      else this.#calls.set(call, { ms, times });
    }
    for (const [call, place, ms] of places) {
      if (!CALL_NAME.test(call)) continue;
      const key = `${call} ${place}`;
      const sum = this.#places.get(key);
      if (sum) sum[2] += ms;
      else if (this.#places.size < MAX_PLACES) this.#places.set(key, [call, place, ms]);
    }
    return this;
  }
  get places(): PlaceTime[] {
    return [...this.#places.values()].sort((a, b) => b[2] - a[2]);
  }
  get calls(): CallTime[] {
    return [...this.#calls].map(([name, { ms, times }]): CallTime => [name, ms, times]).sort((a, b) => b[1] - a[1]);
  }
}

function said(acting: Acting, { spent, calls, places }: Heartbeat['tasks'][number]): void {
  if (spent) acting.spent = spent;
  if (calls) acting.calls = calls;
  if (places) acting.places = places;
}

export class RunLog {
  readonly #archive: Archive;
  readonly #runs = new Map<JobId, Run>();
  /** What is read and written of a job happens one after the other. */
  readonly #writing = new Map<JobId, Promise<void>>();

  constructor(archive: Archive) {
    this.#archive = archive;
  }

  /** `from`: the node that reported it. `placeOf`: the node of the acting incarnation, if it is this one. */
  heard(
    m: Heartbeat,
    from: NodeId | undefined,
    placeOf: (job: JobId, task: TaskId, incarnation: Incarnation) => Place | undefined,
  ): void {
    for (const t of m.tasks) {
      const place = placeOf(t.job, t.task, t.incarnation);
      let run = this.#runs.get(t.job);
      let acting = run?.acting.get(t.task);
      if (!place || run?.over) {
        if (acting && acting.incarnation === t.incarnation && acting.node === from) said(acting, t); // R2
        continue;
      }
      if (!run)
        this.#runs.set(
          t.job,
          (run = { past: new Map(), acting: new Map(), nodes: new Map(), over: false, forgotten: false }),
        );
      if (acting && acting.incarnation !== t.incarnation) {
        run.past.set(t.task, (run.past.get(t.task) ?? new Times()).add(acting));
        acting = undefined;
      }
      if (!acting)
        run.acting.set(
          t.task,
          (acting = { incarnation: t.incarnation, node: place.id, spent: [], calls: [], places: [] }),
        );
      said(acting, t);
      let node = run.nodes.get(place.id);
      if (!node && run.nodes.size < MAX_NODES)
        run.nodes.set(place.id, (node = { name: place.name, engine: place.engine, ranks: new Set() }));
      node?.ranks.add(t.task);
    }
  }

  async of(job: JobId): Promise<RunSummary> {
    const run = this.#runs.get(job);
    return run ? summaryOf(run) : ((await this.#read(job)) ?? { spentMs: SPENT.map(() => 0), nodes: [] });
  }

  async #read(job: JobId): Promise<RunSummary | undefined> {
    try {
      const bytes = await this.#archive.get(job, 'run');
      return bytes && (JSON.parse(unseal(Buffer.from(bytes).toString('utf8'), 'run.json')) as RunSummary);
    } catch {
      // Damaged.
      return undefined;
    }
  }

  /** The job has ended. The first word stands. */
  write(job: JobId): void {
    const run = this.#runs.get(job);
    if (!run || run.over) return;
    run.over = true;
    run.closing = setTimeout(() => this.#last(job, run), LAST_WORDS_MS).unref();
    this.#then(job, async () => {
      if ((await this.#archive.get(job, 'run')) === undefined) return this.#put(job, run);
      clearTimeout(run.closing);
      run.forgotten = true;
      this.#drop(job, run);
    });
  }

  /** R2. */
  #last(job: JobId, run: Run): void {
    this.#then(job, async () => {
      await this.#put(job, run);
      this.#drop(job, run);
    });
  }

  #drop(job: JobId, run: Run): void {
    if (this.#runs.get(job) === run) this.#runs.delete(job);
  }

  /** Resolves when nothing is written of the job any more. */
  async forget(job: JobId): Promise<void> {
    const run = this.#runs.get(job);
    if (run) {
      clearTimeout(run.closing);
      run.forgotten = true;
      this.#drop(job, run);
    }
    await this.#writing.get(job);
  }

  /**
   * The server stops: what is waited for does not come any more. A job that ends on the way out is none of its affair:
   * the next server finds it.
   */
  async close(): Promise<void> {
    for (const [job, run] of this.#runs) {
      clearTimeout(run.closing);
      if (run.over) this.#last(job, run);
    }
    this.#runs.clear();
    await Promise.all(this.#writing.values());
  }

  #then(job: JobId, work: () => Promise<void>): void {
    const all = (this.#writing.get(job) ?? Promise.resolve())
      .then(work)
      // Statistics of an ended job: its report will say less; or the job was deleted.
      .catch(() => undefined)
      .finally(() => {
        if (this.#writing.get(job) === all) this.#writing.delete(job);
      });
    this.#writing.set(job, all);
  }

  async #put(job: JobId, run: Run): Promise<void> {
    if (!run.forgotten) await this.#archive.put(job, 'run', Buffer.from(seal(JSON.stringify(summaryOf(run)))));
  }
}

function summaryOf(run: Run): RunSummary {
  const all = new Times();
  const ranks = Array.from({ length: Math.max(-1, ...run.acting.keys()) + 1 }, (_, rank): RankTimes => {
    const times = new Times();
    for (const part of [run.past.get(rank as TaskId), run.acting.get(rank as TaskId)]) if (part) times.add(part);
    all.add({ spent: times.spent, calls: [], places: [] });
    return { spentMs: times.spent, calls: times.calls, places: times.places };
  });
  return {
    spentMs: all.spent,
    ranks,
    nodes: [...run.nodes.values()].map((n) => ({ ...n, ranks: [...n.ranks].sort((a, b) => a - b) })),
  };
}
