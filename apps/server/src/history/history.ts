/**
 * Histories of all jobs of this server: fed by what the runtime sees, read by REST and by the feed.
 *
 * Owns: the histories of jobs that run, and of some that were asked for lately; when they are written to the disk.
 *  Y1  The history of a job that runs is written every WRITE_MS and when the server stops: a crash loses as much at
 *      most. What is lost is a gap, and the event 'server' says where it ends.
 *  Y2  A job's history is kept LAST_WORDS_MS beyond its end: what its ranks say last is still on the way. Then it is on
 *      the disk only.
 */
import { goesBackNow, type Dispatcher, type FaultRecord, type WaveNews } from '@mayfly/protocols';
import type { Archive } from '@mayfly/storage/ports';
import {
  taskId,
  wavesOfBoth,
  type Heartbeat,
  type JobId,
  type TaskId,
  type TimelineEvent,
  type WavesView,
} from '@mayfly/wire';
import { clock } from '../clock.ts';
import type { Tap } from '../hosts/traffic.ts';
import type { Logger } from '../logger.ts';
import type { Rows } from './columns.ts';
import type { Reading } from './gauges.ts';
import { JobHistory } from './job-history.ts';
import { decodeHistory, encodeHistory, pairsOf } from './store.ts';

/** Of {@link History.computed}: a figure that changes every second would send every view every second. */
const STEPS = 20;
const WRITE_MS = 60_000;
const LAST_WORDS_MS = 5_000;
/** Histories of ended jobs that are kept at hand. */
const AT_HAND = 4;

/** Counters of one Channel Memory. */
export interface Counted extends Rows {
  tap: Tap | undefined;
}

interface Open {
  history: JobHistory;
  /** Faults of the dispatcher's list that the lanes know. */
  faults: number;
  writtenAt: number;
  /** Its Channel Memories count no more: what they had counted. */
  final: Rows | undefined;
  closing: NodeJS.Timeout | undefined;
  /** As of the last tick. */
  computed: number | undefined;
}

export class History {
  /** Columns of this job have changed from a moment on. */
  onChange: (job: JobId, from: number) => void = () => undefined;
  /** {@link computed} of this job has changed. */
  onComputed: (job: JobId) => void = () => undefined;
  readonly #archive: Archive;
  readonly #dispatcher: () => Dispatcher;
  readonly #traffic: (job: JobId) => Counted[];
  readonly #reading: (job: JobId) => Reading | undefined;
  readonly #waves: (job: JobId) => WavesView | undefined;
  readonly #logger: Logger;
  readonly #open = new Map<JobId, Open>();
  readonly #atHand = new Map<JobId, { history: JobHistory; matrix: Rows }>();
  readonly #writing = new Map<JobId, Promise<void>>();

  constructor(deps: {
    archive: Archive;
    dispatcher: () => Dispatcher;
    traffic: (job: JobId) => Counted[];
    reading: (job: JobId) => Reading | undefined;
    waves: (job: JobId) => WavesView | undefined;
    logger: Logger;
  }) {
    this.#archive = deps.archive;
    this.#dispatcher = deps.dispatcher;
    this.#traffic = deps.traffic;
    this.#reading = deps.reading;
    this.#waves = deps.waves;
    this.#logger = deps.logger;
  }

  /** What the archive has of a job that the server finds running, for {@link open}. */
  recall(job: JobId): Promise<Uint8Array | undefined> {
    return this.#archive.get(job, 'history').catch(() => undefined);
  }

  /** The job starts, or the server finds it running (`again`), with this history in the archive. */
  open(job: JobId, size: number, again: boolean, before?: Uint8Array, now = clock()): void {
    if (this.#open.has(job)) return;
    const stored = again && before ? decodeHistory(before, size) : undefined;
    const history = new JobHistory(size, now, stored?.history);
    history.onChange = (from) => this.onChange(job, from);
    if (again) history.note({ at: now, kind: 'server' });
    // G2: all that comes is throughput, from the first message on. Of a job that is found running its logs are read
    // first.
    else history.gauges.read(now, { messages: 0, bytes: 0, logBytes: 0, imageBytes: 0 });
    const faults = this.#faultsOf(job);
    this.#open.set(job, {
      history,
      faults: faults.length,
      writtenAt: now,
      final: undefined,
      closing: undefined,
      computed: undefined,
    });
    if (again) this.#find(job, now);
  }

  /** The job has more tasks now. */
  grow(job: JobId, size: number): void {
    this.#open.get(job)?.history.grow(size, clock());
  }

  /** Incarnations that were given out before this start of the server. */
  #find(job: JobId, now: number): void {
    const h = this.#open.get(job)?.history;
    for (const t of this.#dispatcher().core.jobs.get(job)?.tasks ?? [])
      if (t.phase === 'done' || t.phase === 'exiting') h?.done(t.task, now);
      else if (t.incarnation !== undefined) h?.found(t.task, t.incarnation, t.node, now);
  }

  /** The job is over: what its Channel Memories have counted is taken down before they go. */
  end(job: JobId): void {
    const o = this.#open.get(job);
    if (!o || o.closing) return;
    const at = this.#endOf(job) ?? clock();
    this.changed(job);
    this.#gauge(job, o, at);
    o.history.end(at);
    o.final = this.#counted(job, o.history.size);
    o.closing = setTimeout(() => {
      o.history.close();
      this.#open.delete(job);
      this.#keep(job, { history: o.history, matrix: o.final! });
      this.#write(job, o);
    }, LAST_WORDS_MS).unref();
  }
  /** Resolves when nothing is written to the job's folder any more. */
  async forget(job: JobId): Promise<void> {
    const o = this.#open.get(job);
    if (o) clearTimeout(o.closing);
    this.#open.delete(job);
    this.#atHand.delete(job);
    await this.#writing.get(job);
  }

  // What the runtime sees

  heard(m: Heartbeat, node: string | undefined): void {
    if (node === undefined) return;
    const now = clock();
    // Until the program has begun, it starts.
    for (const t of m.tasks)
      if (t.spent && t.started) this.#open.get(t.job)?.history.heard(t.task, t.incarnation, node, t.spent, now);
  }
  assigned(job: JobId, task: TaskId): void {
    const t = this.#dispatcher().core.jobs.get(job)?.tasks[task];
    this.changed(job);
    if (t?.incarnation !== undefined && t.node !== undefined)
      this.#open.get(job)?.history.assigned(task, t.incarnation, t.node, clock());
  }
  done(job: JobId, task: TaskId): void {
    this.#open.get(job)?.history.done(task, clock());
  }
  image(job: JobId, task: TaskId, kind: 'image' | 'imageBegun'): void {
    this.#open.get(job)?.history.image(task, kind, clock());
  }
  note(job: JobId, event: TimelineEvent): void {
    this.#open.get(job)?.history.note(event);
  }
  wave(job: JobId, news: WaveNews): void {
    this.#open.get(job)?.history.note(news);
  }
  /** The waves of a job that is open: those that this start of the server has seen, and those before. */
  waves(job: JobId): WavesView | undefined {
    const since = this.#waves(job);
    return since && wavesOfBoth(this.#open.get(job)?.history.wavesBefore, since);
  }
  /** The dispatcher has news of the job: faults, or a pause, perhaps. */
  changed(job: JobId): void {
    const o = this.#open.get(job);
    if (!o) return;
    const faults = this.#faultsOf(job);
    for (; o.faults < faults.length; o.faults++) {
      const f = faults[o.faults]!;
      o.history.lost(f.task, f.incarnation, f.at);
    }
    const known = this.#dispatcher().core.jobs.get(job);
    const paused = known?.record.state === 'paused';
    const now = clock();
    o.history.pause(paused, now);
    // Ranks are given back one by one, or stop for the loss of another one, which is no fault.
    if (paused || known?.rolling)
      for (const t of known.tasks)
        if (t.phase === 'idle' && (paused || goesBackNow(t)) && t.incarnation !== undefined)
          o.history.lost(t.task, t.incarnation, now);
  }

  /** Once a second. */
  tick(now = clock()): void {
    for (const [job, o] of this.#open) {
      o.history.settle(now);
      this.#gauge(job, o, now);
      const share = o.history.computed(now);
      const computed = share === undefined ? undefined : Math.round(share * STEPS) / STEPS;
      if (computed !== o.computed) {
        o.computed = computed;
        this.onComputed(job);
      }
      if (!o.closing && now - o.writtenAt >= WRITE_MS) {
        o.writtenAt = now;
        if (!this.#writing.has(job)) this.#write(job, o);
      }
    }
  }

  #gauge(job: JobId, o: Open, now: number): void {
    const reading = o.closing ? undefined : this.#reading(job);
    if (reading) o.history.gauges.read(now, reading);
  }

  /** Y1. */
  async close(): Promise<void> {
    for (const o of this.#open.values()) {
      clearTimeout(o.closing);
      if (o.history.ended) o.history.close();
    }
    for (const [job, o] of this.#open) this.#write(job, o);
    this.#open.clear();
    await Promise.all(this.#writing.values());
  }

  /** After what of the job is being written. */
  #write(job: JobId, o: Open): void {
    const waves = this.waves(job) ?? o.history.wavesBefore;
    const work = (this.#writing.get(job) ?? Promise.resolve())
      .then(() => encodeHistory({ ...o.history.record(), waves }, pairsOf([this.#rows(job, o)], o.history.size)))
      .then((bytes) => this.#archive.put(job, 'history', bytes))
      .catch((error: unknown) => this.#logger.warn({ err: error, job }, 'the history of a job could not be written'))
      .finally(() => {
        if (this.#writing.get(job) === work) this.#writing.delete(job);
      });
    this.#writing.set(job, work);
  }

  // Readers

  async of(job: JobId): Promise<JobHistory | undefined> {
    return this.near(job) ?? (await this.#stored(job))?.history;
  }
  /** What is in memory: of a job that runs, or that {@link of} was asked for lately. */
  near(job: JobId): JobHistory | undefined {
    const o = this.#open.get(job);
    if (!o) return this.#atHand.get(job)?.history;
    o.history.settle(clock());
    return o.history;
  }
  /** The share of the last ten seconds that the ranks of a job computed, in steps of a twentieth. */
  computed(job: JobId): number | undefined {
    return this.#open.get(job)?.computed;
  }
  running(job: JobId): JobHistory | undefined {
    return this.#open.get(job)?.history;
  }
  /** Counters by destination; undefined: there are none. */
  async matrix(job: JobId): Promise<Rows | undefined> {
    return this.matrixNear(job) ?? (await this.#stored(job))?.matrix;
  }
  /** As {@link near}. */
  matrixNear(job: JobId): Rows | undefined {
    const o = this.#open.get(job);
    return o ? this.#rows(job, o) : this.#atHand.get(job)?.matrix;
  }
  /** Where a viewer of messages as they pass may listen. */
  traffic(job: JobId): Counted[] {
    return this.#traffic(job);
  }
  /** All that has happened, in order: the dispatcher's faults, changes of teams and what else is remembered. */
  events(job: JobId, h: JobHistory): TimelineEvent[] {
    return [...h.events, ...this.faults(job), ...this.teamChanges(job)].sort((a, b) => a.at - b.at);
  }
  faults(job: JobId, from = 0): TimelineEvent[] {
    return this.#faultsOf(job)
      .slice(from)
      .map((f) => ({ at: f.at, kind: 'fault', task: f.task, incarnation: f.incarnation, cause: f.cause }));
  }

  teamChanges(job: JobId, from = 0): TimelineEvent[] {
    const changes = this.#dispatcher().core.jobs.get(job)?.record.teamChanges ?? [];
    return changes.slice(from).map(({ what: kind, ...change }) => ({ kind, ...change }));
  }

  #endOf(job: JobId): number | undefined {
    return this.#dispatcher().core.jobs.get(job)?.record.endedAt;
  }
  #faultsOf(job: JobId): readonly FaultRecord[] {
    return this.#dispatcher().core.jobs.get(job)?.faults ?? [];
  }
  #rows(job: JobId, o: Open): Rows {
    return o.final ?? sumOf(this.#traffic(job), o.history.size);
  }
  #counted(job: JobId, size: number): Rows {
    const live = sumOf(this.#traffic(job), size);
    const rows = Array.from({ length: size }, (_, d) => live.to(taskId(d)).slice());
    return { to: (d) => rows[d] ?? NONE };
  }
  async #stored(job: JobId): Promise<{ history: JobHistory; matrix: Rows } | undefined> {
    const here = this.#atHand.get(job);
    if (here) return here;
    const bytes = await this.recall(job);
    const size = this.#dispatcher().core.jobs.get(job)?.tasks.length;
    const stored = bytes && size !== undefined ? decodeHistory(bytes, size) : undefined;
    if (!stored || size === undefined) return undefined;
    const history = new JobHistory(size, stored.history.buckets.origin, stored.history);
    history.end(this.#endOf(job) ?? history.buckets.until);
    return this.#keep(job, { history, matrix: stored.matrix });
  }
  #keep<T extends { history: JobHistory; matrix: Rows }>(job: JobId, kept: T): T {
    if (this.#atHand.size >= AT_HAND) this.#atHand.delete(this.#atHand.keys().next().value!);
    this.#atHand.set(job, kept);
    return kept;
  }
}

const NONE = new Float64Array(0);
/** A destination has its home at one Channel Memory; after a change of their number perhaps rows at several. */
const sumOf = (parts: readonly Rows[], size: number): Rows => ({
  to: (d) => {
    const rows = parts.map((p) => p.to(d)).filter((r) => r.length > 0);
    if (rows.length <= 1) return rows[0] ?? NONE;
    const sum = new Float64Array(2 * size);
    for (const r of rows) for (let i = 0; i < sum.length; i++) sum[i]! += r[i]!;
    return sum;
  },
});
