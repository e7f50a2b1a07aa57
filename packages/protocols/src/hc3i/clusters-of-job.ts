/**
 * The clusters of one job (`hc3i`): what their scheduler wants goes to the other cores here, and their answers come
 * back. The Channel Memory with the number of a cluster is the home of its tasks.
 *
 * Owns: which keys the job has in the registry, which waves have images, figures for people (one wave-book.ts for each
 * cluster). Does not own: what the scheduler decides (clusters.ts), the cores.
 *
 *  Y4 The world cuts when every task of the cluster has. It never depends on what can be undone, because it sees only
 *     what no loss can undo. So the file service needs no interval of its own: it never fails, and does nothing in
 *     between that could be undone.
 *  Y5 What a task has written may be shown up to its cut in the CLC of the garbage line; of a task that had ended
 *     there, everything. When the job has ended, or a task has aborted it, everything may be.
 *  Y6 Of a rollback, the Channel Memories of the clusters that go back hear that they begin anew, and all others which
 *     clusters went back, in the same step. The incarnations of these are fenced there before.
 */
import {
  taskId,
  type ClusterView,
  type ImageId,
  type JobId,
  type TaskId,
  type WavesView,
  LISTED_WAVES,
} from '@mayfly/wire';
import {
  federationKey,
  tasksOfClc,
  clcKey,
  type Changes,
  type ClcRecord,
  type ClusterEffect,
  type ClusterEvent,
  type ClusterLogEvent,
  type ClusterOptions,
  type ClusterScheduler,
  type FederationRecord,
  type Rolled,
} from '../contract/clusters.ts';
import type { Due, TaskOfWave } from '../contract/waves.ts';
import { OutputWaits } from '../coordinated/output-waits.ts';
import { showEverything, showUpTo } from '../coordinated/show-output.ts';
import { WaveBook } from '../coordinated/wave-book.ts';
import { aborts, settingsOf, type WavesHost } from '../coordinated/waves-of-job.ts';
import { Inbox } from '../service/inbox.ts';
import type { CheckpointFigures, Entry, Loss, ServicePart, ServicePolicy, Worked } from '../service/part.ts';
import type { ServedLog, StageAnswer } from '../service/served-log.ts';
import type { Timeless } from '../service/timeless.ts';
import { Clusters } from './clusters.ts';

/** @param scheduler a planted bug is another one */
export const clusterService = (
  scheduler: (options: ClusterOptions) => ClusterScheduler = (options) => new Clusters(options),
): ServicePolicy => ({
  kinds: ['clc', 'federation'],
  begin(spec, host) {
    const { id: job, channelMemories, checkpointMs, clusterCheckpointMs: timers, clusters: homes = [] } = spec;
    const tasks = Array.from({ length: channelMemories }, (_, cluster) =>
      homes.flatMap((home, t) => (home === cluster ? [taskId(t)] : [])),
    );
    const core = scheduler({ job, tasks, settings: settingsOf(spec), timers });
    return new ClustersOfJob(job, tasks, core, host, checkpointMs > 0 || timers !== undefined);
  },
});

type Input = Timeless<ClusterEvent>;

/** CLCs of a line whose images are looked at, one after the other. */
interface Check {
  readonly check: number;
  readonly left: ClcRecord[];
  readonly damaged: [number, number][];
  /** The question that is being answered. */
  question: number;
}

/** Of a cluster without a timer there is none. */
const periodOf = ({ periodMs, askedMs }: Omit<Due, 'at'>): { periodMs?: number; askedMs?: number } => ({
  ...(Number.isFinite(periodMs) && { periodMs: Math.round(periodMs) }),
  ...(askedMs !== undefined && { askedMs }),
});

export class ClustersOfJob implements ServicePart, CheckpointFigures {
  readonly figures = this;
  readonly #books: readonly WaveBook[];
  readonly #inbox: Inbox<Input>;
  /** By cluster: the checkpoints of one do not keep those of another from being asked for. */
  readonly #waits: readonly OutputWaits[];
  readonly #keys = new Set<string>();
  /** By cluster: waves whose images are kept. */
  readonly #waves: readonly Set<number>[];
  readonly #counts: readonly { forced: number; timed: number }[];
  /** By cluster: its CLC under way was forced. */
  readonly #forced: boolean[];
  #line: { readonly epoch: number; readonly commit: number } | undefined;
  #check: Check | undefined;
  #questions = 0;
  /** Clusters whose next CLC a pause waits for. */
  #asked: Set<number> | undefined;
  /** Why clusters go back, until they do. */
  #cause = 'server';

  /** @param tasks by cluster */
  constructor(
    private readonly job: JobId,
    private readonly tasks: readonly (readonly TaskId[])[],
    readonly scheduler: ClusterScheduler,
    private readonly host: WavesHost,
    /** The owner of the job has chosen the period. */
    private readonly chosen: boolean,
  ) {
    this.#inbox = new Inbox((e) => this.#take(e));
    this.#books = tasks.map(() => new WaveBook());
    this.#waits = tasks.map(() => new OutputWaits());
    this.#waves = tasks.map(() => new Set());
    this.#counts = tasks.map(() => ({ forced: 0, timed: 0 }));
    this.#forced = tasks.map(() => false);
  }

  /** A new job. */
  begin(): void {
    const changes = this.scheduler.begin(this.host.now());
    this.#note(changes);
    this.host.commit(changes, () => undefined);
  }

  recover(left: readonly Entry[], worked: Worked): void {
    const own = federationKey(this.job);
    const federation = left.find(([key]) => key === own)?.[1] as FederationRecord | undefined;
    const clcs = left.flatMap(([key, value]) => (key === own ? [] : [value as ClcRecord]));
    const now = this.host.now();
    for (const { cluster, sn, images } of clcs) {
      this.#keys.add(clcKey(this.job, cluster, sn));
      this.#waves[cluster]?.add(images);
    }
    if (federation) this.#keys.add(own);
    this.#books.forEach((book, cluster) => {
      const last = clcs
        .filter((r) => r.cluster === cluster)
        .reduce<ClcRecord | undefined>((a, b) => (a && a.sn > b.sn ? a : b), undefined);
      book.restarted(last?.wave, this.tasks[cluster]!, worked, now);
    });
    this.#performAll(this.scheduler.recover(clcs, federation, now));
  }

  finish(): void {
    const tasks = this.tasks.flat().map((task) => ({ task, state: 'ended' as const }));
    tasks.sort((a, b) => a.task - b.task);
    for (const log of this.host.logs()) log.goBack({ epoch: 0, to: { wave: 0, epoch: 0, at: 0, tasks, mark: null } });
    showEverything(this.host.logs());
  }

  end(): void {
    if (this.host.logs().some((log) => log.waitsForLine)) this.finish();
    else showEverything(this.host.logs());
  }

  keys(): string[] {
    return [...this.#keys];
  }

  view(): WavesView {
    const books = this.#books.map((book) => book.view({ chosen: this.chosen }));
    const due = this.tasks.map((_, cluster) => this.scheduler.due(cluster));
    const next = due.flatMap((d) => (d.at === undefined || !Number.isFinite(d.at) ? [] : [d.at]));
    const sum = (of: 'committed' | 'abandoned' | 'rollbacks' | 'lostMs'): number =>
      books.reduce((n, b) => n + b[of], 0);
    const newest = <T extends { readonly at: number }>(lists: readonly (readonly T[])[]): T[] =>
      lists
        .flatMap((list, cluster) => list.map((x) => ({ ...x, cluster })))
        .sort((a, b) => a.at - b.at)
        .slice(-LISTED_WAVES);
    return {
      clusters: this.#clusterViews(due),
      chosen: this.chosen,
      ...periodOf(due.reduce((a, b) => (b.periodMs < a.periodMs ? b : a))),
      ...(next.length > 0 && { nextAt: Math.round(Math.min(...next)) }),
      committed: sum('committed'),
      abandoned: sum('abandoned'),
      rollbacks: sum('rollbacks'),
      lostMs: sum('lostMs'),
      recent: newest(books.map((b) => b.recent)),
      rolledBack: newest(books.map((b) => b.rolledBack)),
    };
  }

  #clusterViews(due: readonly Due[]): ClusterView[] {
    const { stored } = this.scheduler.clusters;
    return this.tasks.map((ranks, cluster) => {
      const { sn, ddv } = stored[cluster]!.at(-1)!;
      const core = this.host.logs()[cluster]?.core;
      return {
        cluster,
        ranks: [...ranks],
        sn,
        ddv: [...ddv],
        ...periodOf(due[cluster]!),
        stored: stored[cluster]!.length,
        ...this.#counts[cluster]!,
        waiting: ranks.reduce((n, task) => n + (core?.awaiting(task) ?? 0), 0),
      };
    });
  }

  repeatsUntil(task: TaskId): number | undefined {
    return this.#bookOf(task).repeatsUntil(task);
  }

  ran(task: TaskId, since: number): void {
    this.#bookOf(task).ran(task, since);
  }

  stalled(task: TaskId, ms: number): void {
    this.#bookOf(task).stalled(task, ms);
  }

  stallOf(task: TaskId): number | undefined {
    return this.#bookOf(task).stallOf(task);
  }

  lost(cause: string, ranks: readonly TaskId[], what: Loss): void {
    const cluster = 'cm' in what ? what.cm : this.#clusterOf(what.task);
    this.#cause = cause;
    this.#books[cluster]!.lost(cause, ranks, this.host.now());
    this.tell({ type: 'lost', clusters: [cluster] });
  }

  began(task: TaskId): void {
    this.#bookOf(task).began(task, this.host.now());
    this.tell({ type: 'began', task });
  }

  stored(wave: number, i: { task: TaskId; image: ImageId; bytes: number; sentBytes: number }): void {
    this.#bookOf(i.task).stored(wave, i.bytes, i.sentBytes);
    this.tell({ type: 'stored', wave, task: i.task, image: i.image });
  }

  ask(): void {
    this.#asked = new Set(this.tasks.keys());
    this.tell({ type: 'ask' });
  }

  lineDurable(epoch: number): void {
    if (this.#line?.epoch === epoch) this.tell({ type: 'committed', commit: this.#line.commit });
  }

  checked(question: number, sound: boolean): void {
    const c = this.#check;
    if (c?.question !== question) return;
    const { cluster, sn } = c.left.shift()!;
    if (!sound) c.damaged.push([cluster, sn]);
    this.#askForImages(c);
  }

  wentBack(cm: number, epoch: number): void {
    this.tell({ type: 'wentBack', cluster: cm, epoch });
  }

  grow(): void {
    throw new Error('a job with clusters does not grow');
  }

  recovered(): ClusterLogEvent {
    return { type: 'clusters', now: this.scheduler.clusters };
  }

  tick(): void {
    this.tell({ type: 'tick' });
    const [now, logs] = [this.host.now(), this.host.logs()];
    const { underWay } = this.scheduler.clusters;
    const clusters = this.#waits.flatMap((w, c) => (w.wants(now, logs, underWay[c] !== undefined) ? [c] : []));
    if (clusters.length > 0) this.tell({ type: 'ask', clusters }); // Y5
  }

  tell(event: Input): void {
    this.#inbox.put(event);
  }

  #take(event: Input): void {
    let effects: ClusterEffect[];
    try {
      effects = this.scheduler.step({ ...event, now: this.host.now() } as ClusterEvent);
    } catch (error) {
      return this.host.defect(event.type, error);
    }
    this.#performAll(effects);
  }

  #clusterOf(task: TaskId): number {
    return this.tasks.findIndex((of) => of.includes(task));
  }

  #bookOf(task: TaskId): WaveBook {
    return this.#books[this.#clusterOf(task)]!;
  }

  // ---- what the scheduler wants ----

  #performAll(effects: readonly ClusterEffect[]): void {
    for (const e of effects) this.#perform(e);
  }

  #perform(e: ClusterEffect): void {
    const { host, job } = this;
    const logs = host.logs();
    switch (e.type) {
      case 'begin': {
        const { cluster, sn, ended, starting } = e;
        this.#waits[cluster]!.waveBegins(host.now());
        this.#books[cluster]!.waveBegins(sn, host.now(), e.forced);
        this.#forced[cluster] = e.forced;
        host.changed(undefined);
        host.image({ type: 'wave', job, wave: sn, tasks: this.tasks[cluster]! });
        for (const log of logs) log.step({ type: 'clcBegins', cluster, clc: { sn, ended, starting } });
        logs[cluster]!.step({ type: 'wave', wave: sn, ended, starting });
        return;
      }
      case 'mark':
        logs[e.cluster]!.step({ type: 'mark', wave: e.sn }); // Y4
        return this.tell({ type: 'marked', cluster: e.cluster, wave: e.sn });
      case 'commit':
        this.#note(e.changes);
        return host.commit(e.changes, () => this.tell({ type: 'committed', commit: e.commit }));
      case 'line':
        this.#note(e.changes);
        this.#line = { epoch: e.epoch, commit: e.commit };
        return host.dispatch({ type: 'rollBack', job, epoch: e.epoch, changes: e.changes, clusters: e.clusters });
      case 'over':
        return this.#over(e);
      case 'check':
        this.#check = { check: e.check, left: [...e.clcs], damaged: [], question: 0 };
        return this.#askForImages(this.#check);
      case 'goBack':
        return this.#goBack(e);
      case 'assign':
        return host.dispatch({ type: 'goOn', job, cluster: e.cluster, ended: e.ended });
      case 'stable':
        return this.#stable(e.records);
      case 'finished':
        return showEverything(this.host.logs());
      case 'failed':
        return host.dispatch({ type: 'jobFailed', job, error: e.error });
      case 'log':
        return host.log(e.level, e.message);
    }
  }

  #note(changes: Changes): void {
    for (const [key, value] of changes)
      if (value === undefined) this.#keys.delete(key);
      else this.#keys.add(key);
  }

  #over({ cluster, sn, record, reason }: Extract<ClusterEffect, { type: 'over' }>): void {
    const { host, job } = this;
    const logs = host.logs();
    const committed = record !== undefined;
    this.#waits[cluster]!.waveOver(host.now(), committed);
    if (committed) {
      this.#waves[cluster]!.add(sn);
      this.#counts[cluster]![this.#forced[cluster] ? 'forced' : 'timed']++;
    }
    const counts = logs[cluster]?.core?.waveCounts();
    const why = committed ? undefined : (reason ?? '');
    const news = this.#books[cluster]!.waveOver(sn, host.now(), why, counts ? [counts] : []);
    host.changed(news && { ...news, cluster });
    host.image({ type: 'waveOver', job, wave: sn, committed, tasks: this.tasks[cluster]! });
    logs[cluster]!.step({ type: 'waveOver', wave: sn });
    for (const log of logs) log.step({ type: 'clcOver', cluster, sn, record });
    if (!committed || !this.#asked?.delete(cluster) || this.#asked.size > 0) return;
    this.#asked = undefined;
    host.dispatch({ type: 'waveDone', job });
  }

  #askForImages(c: Check): void {
    const [clc] = c.left;
    if (!clc) {
      this.#check = undefined;
      return this.tell({ type: 'checked', check: c.check, damaged: c.damaged });
    }
    c.question = ++this.#questions;
    const images = tasksOfClc(clc).flatMap((t) => (t.state === 'image' ? [t.image] : []));
    this.host.image({ type: 'checkWave', job: this.job, wave: c.question, images });
  }

  /** Y6. */
  #goBack({ epoch, rolled, kept }: Extract<ClusterEffect, { type: 'goBack' }>): void {
    const { host, job } = this;
    const logs = host.logs();
    this.#asked = undefined;
    for (const { cluster, alias } of rolled) {
      const book = this.#books[cluster]!;
      // Those whose undone intervals its CLC names have alerted it.
      const by = rolled.filter((r) => r.cluster !== cluster && alias.ddv[r.cluster]! >= r.to).map((r) => r.cluster);
      const alertedBy = book.depends(this.#cause, host.now()) ? by : undefined;
      host.changed({ ...book.goesBack(epoch, alias.wave, host.now(), alertedBy), cluster });
      for (const wave of this.#waves[cluster]!) if (!kept[cluster]!.includes(wave)) this.#waves[cluster]!.delete(wave);
      const images = tasksOfClc(alias).flatMap((t) => (t.state === 'image' ? [[t.task, t.image] as const] : []));
      host.image({ type: 'goBack', job, kept: kept[cluster]!, images, tasks: this.tasks[cluster]! });
    }
    for (const [cluster, log] of logs.entries()) {
      const own = rolled.find((r) => r.cluster === cluster);
      if (!own) this.#sendersWentBack(log, rolled);
      else log.goBack({ epoch, to: own.alias.wave && { ...own.alias.wave, tasks: this.#byTask(own.alias) } });
    }
  }

  #sendersWentBack(log: ServedLog, rolled: readonly Rolled[]): void {
    log.fenceAgain(rolled.flatMap(({ alias }) => alias.cuts.map(([task]) => task)));
    log.step({ type: 'sendersWentBack', rolled });
  }

  /** As a Channel Memory looks them up; those of other clusters are none of its business. */
  #byTask(record: ClcRecord): TaskOfWave[] {
    const own = new Map(tasksOfClc(record).map((t) => [t.task, t]));
    const size = this.tasks.reduce((n, of) => n + of.length, 0);
    return Array.from(
      { length: size },
      (_, t): TaskOfWave => own.get(taskId(t)) ?? { task: taskId(t), state: 'start' },
    );
  }

  #stable(records: readonly ClcRecord[]): void {
    const { host, job } = this;
    const logs = host.logs();
    for (const record of records) {
      const { cluster, images } = record;
      for (const t of tasksOfClc(record)) showUpTo([logs[cluster]!], t);
      for (const wave of this.#waves[cluster]!) {
        if (wave >= images) continue;
        this.#waves[cluster]!.delete(wave);
        this.#books[cluster]!.forget(wave);
        host.image({ type: 'forgetWave', job, wave, tasks: this.tasks[cluster]! });
      }
      logs[cluster]!.step({ type: 'forgetWaves', before: images });
    }
    for (const log of logs) log.step({ type: 'stableClcs', records });
  }

  // ---- answers ----

  answered(cm: number, a: StageAnswer): void {
    switch (a.type) {
      case 'cut':
        this.#bookOf(a.task).cut(a.wave, a.task, this.host.now());
        return this.tell({ type: 'cut', task: a.task, wave: a.wave, cut: a.cut });
      case 'recorded':
        return this.tell({ type: 'recorded', task: a.task, wave: a.wave });
      case 'cannot':
        return this.tell({ type: 'cannot', task: a.task, wave: a.wave, reason: a.reason });
      case 'taskEnded':
        return this.#ended(a.task, a.report);
      case 'force':
        return this.tell({ type: 'force', cluster: cm, from: a.from, interval: a.interval });
      case 'sent':
        return this.tell({ type: 'sent', cluster: a.cluster, wave: a.wave, to: cm });
    }
  }

  #ended(task: TaskId, report: Uint8Array): void {
    this.#bookOf(task).ended(task, this.host.now());
    if (aborts(report)) return showEverything(this.host.logs()); // Y5
    for (const log of this.host.logs()) log.step({ type: 'ended', task });
    this.host.dispatch({ type: 'ended', job: this.job, task });
    this.tell({ type: 'ended', task });
  }
}
