/**
 * The clusters of one job (`hc3i`): what their scheduler wants goes to the other cores here, and their answers come
 * back. The Channel Memory with the number of a cluster is the home of its tasks.
 *
 * Owns: which keys the job has in the registry, which waves have images. Does not own: what the scheduler decides
 * (clusters.ts), the cores, figures for people (units/units-of-job.ts).
 *
 *  Y4 The world cuts when every task of the cluster has. It never depends on what can be undone, because it sees only
 *     what no loss can undo. So the file service needs no interval of its own: it never fails, and does nothing in
 *     between that could be undone.
 *  Y5 What a task has written may be shown up to its cut in the CLC of the garbage line; of a task that had ended
 *     there, everything.
 *  Y6 Of a rollback, the Channel Memories of the clusters that go back hear that they begin anew, and all others which
 *     clusters went back, in the same step. The incarnations of these are fenced there before.
 */
import { taskId, type ClusterView, type JobId, type TaskId, type WavesView, LISTED_WAVES } from '@mayfly/wire';
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
import { CoreInbox } from '../service/inbox.ts';
import type { Entry, Loss, ServicePart, ServicePolicy, StoredImage, Worked } from '../service/part.ts';
import type { ServedLog, StageAnswer } from '../service/served-log.ts';
import type { Timeless } from '../service/timeless.ts';
import { showEverything, showUpTo } from '../units/show-output.ts';
import { UnitFigures, end, finish, goesOn, settingsOf, type UnitsHost } from '../units/units-of-job.ts';
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

export class ClustersOfJob implements ServicePart {
  readonly figures: UnitFigures;
  readonly #inbox: CoreInbox<Input, ClusterEffect>;
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
    private readonly host: UnitsHost,
    /** The owner of the job has chosen the period. */
    private readonly chosen: boolean,
  ) {
    const step = (e: Input): ClusterEffect[] => scheduler.step({ ...e, now: host.now() } as ClusterEvent);
    this.#inbox = new CoreInbox(step, (e) => this.#perform(e), host.defect.bind(host));
    const clusterOf = (task: TaskId): number => tasks.findIndex((of) => of.includes(task));
    this.figures = new UnitFigures(tasks.length, clusterOf, () => this.#view(), host);
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
    this.figures.statistics.forEach((book, cluster) => {
      const last = clcs
        .filter((r) => r.cluster === cluster)
        .reduce<ClcRecord | undefined>((a, b) => (a && a.sn > b.sn ? a : b), undefined);
      book.restarted(last?.wave, this.tasks[cluster]!, worked, now);
    });
    for (const e of this.scheduler.recover(clcs, federation, now)) this.#perform(e);
  }

  finish(): void {
    finish(this.host);
  }

  end(): void {
    end(this.host);
  }

  keys(): string[] {
    return [...this.#keys];
  }

  readonly #underWay = (cluster: number): boolean => this.scheduler.clusters.underWay[cluster] !== undefined;

  #view(): WavesView {
    const books = this.figures.statistics.map((book) => book.view({ chosen: this.chosen }));
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

  lost(cause: string, ranks: readonly TaskId[], what: Loss): void {
    const cluster = 'cm' in what ? what.cm : this.figures.unitOf(what.task);
    this.#cause = cause;
    this.figures.statistics[cluster]!.lost(cause, ranks, this.host.now());
    this.tell({ type: 'lost', clusters: [cluster] });
  }

  began(task: TaskId): void {
    this.figures.of(task).began(task, this.host.now());
    this.tell({ type: 'began', task });
  }

  stored(wave: number, i: StoredImage): void {
    this.figures.stored(wave, i);
    this.tell({ type: 'stored', wave, task: i.task, image: i.image });
  }

  ask(of?: readonly TaskId[]): void {
    if (of) return this.tell({ type: 'ask', clusters: this.figures.unitsToAsk(of, this.#underWay) });
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
    const clusters = this.figures.wanted(this.#underWay);
    if (clusters.length > 0) this.tell({ type: 'ask', clusters }); // Y5
  }

  tell(event: Input): void {
    this.#inbox.put(event);
  }

  // ---- what the scheduler wants ----

  #perform(e: ClusterEffect): void {
    const { host, job } = this;
    const logs = host.logs();
    switch (e.type) {
      case 'begin': {
        const { cluster, sn, ended, starting } = e;
        this.figures.waveBegins(cluster, sn, e.forced);
        this.#forced[cluster] = e.forced;
        host.image({ type: 'wave', job, wave: sn, tasks: this.tasks[cluster]! });
        for (const log of logs) log.step({ type: 'clcBegins', cluster, clc: { sn, ended, starting } });
        logs[cluster]!.step({ type: 'wave', wave: sn, tasks: this.#size, ended, starting });
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
    this.figures.waits[cluster]!.waveOver(host.now(), committed);
    if (committed) {
      this.#waves[cluster]!.add(sn);
      this.#counts[cluster]![this.#forced[cluster] ? 'forced' : 'timed']++;
    }
    const counts = logs[cluster]?.core?.waveCounts();
    const why = committed ? undefined : (reason ?? '');
    const news = this.figures.statistics[cluster]!.waveOver(sn, host.now(), why, counts ? [counts] : []);
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
      const book = this.figures.statistics[cluster]!;
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

  /** Tasks of the job. */
  get #size(): number {
    return this.tasks.reduce((n, of) => n + of.length, 0);
  }

  /** As a Channel Memory looks them up; those of other clusters are none of its business. */
  #byTask(record: ClcRecord): TaskOfWave[] {
    const own = new Map(tasksOfClc(record).map((t) => [t.task, t]));
    return Array.from(
      { length: this.#size },
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
        this.figures.statistics[cluster]!.forget(wave);
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
        this.figures.of(a.task).cut(a.wave, a.task, this.host.now());
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
    this.figures.of(task).ended(task, this.host.now());
    if (!goesOn(report, this.host)) return;
    for (const log of this.host.logs()) log.step({ type: 'ended', task });
    this.host.dispatch({ type: 'ended', job: this.job, task });
    this.tell({ type: 'ended', task });
  }
}
