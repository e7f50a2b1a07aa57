/**
 * The scheduler of a job's clusters on real nodes. When a cluster takes a CLC, what its DDV is and where a loss goes
 * back to is for the federation (federation.ts). A CLC is a wave of its cluster; who takes part in it, and when it is
 * complete, is decided here, as for waves of a whole job (coordinated/waves.ts).
 *
 * Owns: by cluster, the wave under way and who has answered; which tasks have begun and ended. Does not own: committed
 * CLCs and numbers, channels, images, output, incarnations.
 *
 *  H1 A CLC is complete when everything that it needs is durable: all images, the wave streams, what its cluster had
 *     sent to others before the cut (S2). Its cut is consistent within the cluster, or it is abandoned.
 *  H2 A task that is on its way back to an image can neither take part nor be left out: the CLC waits for it.
 *  H3 What a task that has ended in a CLC sent is before the cut, and nothing is ever given to it again.
 *  H4 The garbage line is drawn after each CLC, and written when it has moved. It is the stable line: no loss goes back
 *     behind it, also where the newest CLC of a cluster is damaged. So what was written before it is shown.
 *  H5 Exits are final when the newest CLC of each cluster has ended tasks only. Such a CLC has no images.
 *  H6 A CLC takes {@link WaveSettings.waveMs} at most; the next may take twice as long, up to {@link MOST_PATIENCE}.
 */
import type { TaskId } from '@mayfly/wire';
import {
  tasksOfClc,
  type Changes,
  type ClcRecord,
  type ClusterEffect,
  type ClusterEvent,
  type ClusterOptions,
  type ClusterScheduler,
  type ClustersNow,
  type Counts,
  type Cuts,
  type FederationRecord,
} from '../contract/clusters.ts';
import type { Due, TaskOfWave, WaveRecord } from '../contract/waves.ts';
import { contradiction } from '../coordinated/cut.ts';
import { Period } from '../coordinated/period.ts';
import { WaveUnderWay } from '../coordinated/under-way.ts';
import { Federation } from './federation.ts';
import { DEPTH, garbageLine } from './garbage.ts';
import type { FederationEffect, FederationEvent } from './records.ts';

/** From a CLC that was abandoned to the next attempt, if a message waits for it, ms. */
const RETRY_MS = 1000;
/** H6, ms. */
const MOST_PATIENCE = 3_600_000;
/** CLCs of a cluster that cannot be had so often in a row are shown to people. */
const WARN_AFTER = 3;
/** H3. */
const ALL = Number.MAX_SAFE_INTEGER;

interface Wave extends WaveUnderWay {
  /** Other clusters that have what this one sent before its cut. */
  sentTo: Set<number>;
  complete: boolean;
}

interface Cluster {
  readonly tasks: readonly TaskId[];
  readonly began: Set<TaskId>;
  readonly returning: Set<TaskId>;
  readonly ended: Set<TaskId>;
  /** The federation wants it. */
  wanted: { readonly sn: number; readonly forced: boolean } | undefined;
  wave: Wave | undefined;
  /** Of the rollback that its tasks act in. */
  epoch: number;
  /** From its rollback until its tasks are assigned. */
  goesBack: boolean;
  readonly period: Period;
  /** H6, ms. */
  patience: number;
  abandoned: number;
}

type Input<E = FederationEvent> = E extends { readonly now: number } ? Omit<E, 'now'> : never;

export class Clusters implements ClusterScheduler {
  readonly #o: ClusterOptions;
  readonly #clusters: readonly Cluster[];
  readonly #clusterOf = new Map<TaskId, number>();
  readonly #periods: number[];
  readonly #size: number;
  #federation: Federation;
  #finished = false;
  #now = 0;
  #out: ClusterEffect[] = [];

  constructor(options: ClusterOptions) {
    this.#o = options;
    const { tasks, settings, timers } = options;
    this.#clusters = tasks.map((of, cluster) => ({
      tasks: of,
      began: new Set(),
      returning: new Set(),
      ended: new Set(),
      wanted: undefined,
      wave: undefined,
      epoch: 0,
      goesBack: false,
      period: new Period(timers ? (timers[cluster] ?? Infinity) : settings.periodMs),
      patience: settings.waveMs,
      abandoned: 0,
    }));
    tasks.forEach((of, cluster) => of.forEach((task) => this.#clusterOf.set(task, cluster)));
    this.#size = this.#clusterOf.size;
    this.#periods = tasks.map(() => 0);
    this.#federation = this.#newFederation(0);
  }

  #newFederation(now: number): Federation {
    this.#measure(now);
    const { job, tasks } = this.#o;
    return this.newFederation({ job, tasks, periodMs: this.#periods, retryMs: RETRY_MS }, now);
  }

  /** The periods are those of the moment. */
  #measure(now: number): void {
    this.#now = now;
    this.#clusters.forEach((c, i) => (this.#periods[i] = c.period.ms(now)));
  }

  get epoch(): number {
    return this.#federation.epoch;
  }

  get clusters(): ClustersNow {
    const { stored, dead } = this.#federation;
    const underWay = this.#clusters.map(
      (c) => c.wave && { sn: c.wave.number, ended: [...c.ended], starting: startingOf(c, c.wave) },
    );
    return { stored, underWay, dead };
  }

  due(cluster: number): Due {
    const { wave, wanted, goesBack, period } = this.#clusters[cluster]!;
    const at = wave || wanted || goesBack || this.#finished ? undefined : this.#federation.due(cluster);
    return { at, periodMs: this.#periods[cluster]!, ...period.raisedFrom };
  }

  begin(now: number): Changes {
    this.#federation = this.#newFederation(now);
    return this.#federation.initial;
  }

  recover(stored: readonly ClcRecord[], record: FederationRecord | undefined, now: number): ClusterEffect[] {
    this.#federation = this.#newFederation(now);
    this.#perform(this.#federation.recover(stored, record, now));
    this.#out.unshift({ type: 'stable', records: this.#federation.stored.map(([oldest]) => oldest!) });
    return this.#out.splice(0);
  }

  step(e: ClusterEvent): ClusterEffect[] {
    this.#measure(e.now);
    if (!this.#finished) this.#handle(e);
    return this.#out.splice(0);
  }

  #handle(e: ClusterEvent): void {
    switch (e.type) {
      case 'tick':
        for (const c of this.#clusters) {
          const w = c.wave;
          if (w && !w.complete && this.#now - w.since > c.patience) this.#tookTooLong(c, w);
        }
        this.#tell({ type: 'tick' });
        if (this.#clusters.every((c) => allEnded(c) && !c.wave)) this.#ask();
        return;
      case 'ask':
        return this.#ask(e.clusters);
      case 'force':
      case 'committed':
      case 'checked':
        return this.#tell(e);
      case 'wentBack':
        return this.#tell({ type: 'wentBack', cluster: e.cluster, epoch: e.epoch });
      case 'lost':
        for (const cluster of e.clusters) this.#clusters[cluster]!.period.lost();
        return this.#tell({ type: 'lost', clusters: e.clusters });
      case 'began': {
        const c = this.#of(e.task);
        c.began.add(e.task);
        c.returning.delete(e.task);
        return this.#maybeBegin(this.#clusterOf.get(e.task)!);
      }
      case 'ended':
        return this.#ends(e.task);
      case 'sent': {
        const w = this.#clusters[e.cluster]?.wave;
        if (w?.number === e.wave) w.sentTo.add(e.to);
        return this.#maybeComplete(e.cluster);
      }
      case 'marked': {
        const w = this.#clusters[e.cluster]!.wave;
        if (w?.number === e.wave) w.mark ??= { value: null };
        return this.#maybeComplete(e.cluster);
      }
      default: {
        const cluster = this.#clusterOf.get(e.task)!;
        const c = this.#clusters[cluster]!;
        const w = c.wave;
        if (
          w?.number !== e.wave ||
          w.complete ||
          (e.type !== 'cannot' && e.type !== 'recorded' && !w.members.has(e.task))
        )
          return;
        if (e.type === 'cannot') return this.#abandon(c, w, `rank ${e.task} cannot take an image now: ${e.reason}`);
        if (e.type === 'cut') w.cuts.set(e.task, e.cut);
        else if (e.type === 'stored') w.images.set(e.task, e.image);
        else w.recorded.add(e.task);
        this.#maybeComplete(cluster);
      }
    }
  }

  #of(task: TaskId): Cluster {
    return this.#clusters[this.#clusterOf.get(task)!]!;
  }

  #tell(e: Input): void {
    this.#perform(this.#federation.step({ ...e, now: this.#now } as FederationEvent));
  }

  // ---- a CLC ----

  /** All of its tasks have ended, and it has a CLC that says so. */
  #rests(cluster: number, c: Cluster): boolean {
    return allEnded(c) && !c.goesBack && endedIn(this.#federation.stored[cluster]!.at(-1)!);
  }

  #ends(task: TaskId): void {
    const c = this.#of(task);
    const w = c.wave;
    c.ended.add(task);
    if (w && !w.complete && w.cuts.has(task) && !w.images.has(task))
      this.#abandon(c, w, `rank ${task} ended before its image was here`);
    else this.#maybeComplete(this.#clusterOf.get(task)!);
    this.#maybeBegin(this.#clusterOf.get(task)!);
    if (this.#clusters.every(allEnded)) this.#ask(); // H5
  }

  #ask(clusters: Iterable<number> = this.#clusters.keys()): void {
    for (const cluster of clusters)
      if (!this.#rests(cluster, this.#clusters[cluster]!)) this.#tell({ type: 'ask', cluster });
  }

  #maybeBegin(cluster: number): void {
    const c = this.#clusters[cluster]!;
    const { wanted } = c;
    if (!wanted || c.wave) return;
    const living = c.tasks.filter((t) => !c.ended.has(t));
    if (c.began.size === 0 && living.length > 0) return;
    if (living.some((t) => c.returning.has(t))) return; // H2
    c.wanted = undefined;
    if (!wanted.forced && this.#rests(cluster, c)) return this.#tell({ type: 'abandoned', cluster, sn: wanted.sn });
    const members = new Set(living.filter((t) => c.began.has(t)));
    const under = new WaveUnderWay({ number: wanted.sn, since: this.#now, members, ended: c.ended });
    const wave = Object.assign(under, { sentTo: new Set<number>(), complete: false });
    c.wave = wave;
    this.#out.push({
      type: 'begin',
      cluster,
      forced: wanted.forced,
      sn: wanted.sn,
      ended: [...c.ended],
      starting: startingOf(c, wave),
    });
    this.#maybeComplete(cluster);
  }

  /** H1. */
  #maybeComplete(cluster: number): void {
    const c = this.#clusters[cluster]!;
    const w = c.wave;
    if (!w || w.complete || w.missing(c.ended) !== undefined) return;
    if (!w.markAsked) {
      w.markAsked = true;
      this.#out.push({ type: 'mark', cluster, sn: w.number });
    }
    const tasks = w.tasks(c.tasks, c.ended);
    if (!tasks || !this.durable(tasks, w)) return;
    const wrong = contradiction(w.cutsOf(tasks));
    if (wrong) {
      const message = `CLC ${w.number} of cluster ${cluster}: rank ${wrong.dst} has consumed what rank ${wrong.src} has not sent`;
      this.#out.push({ type: 'log', level: 'error', message });
      return this.#abandon(c, w, 'its cut is not consistent (INCONSISTENT_WAVE)');
    }
    w.complete = true;
    const wave: WaveRecord = { wave: w.number, epoch: c.epoch, at: this.#now, tasks, mark: w.mark?.value };
    this.#tell({ type: 'complete', cluster, sn: w.number, cuts: this.#cutsOf(tasks), wave });
  }

  /** H1, besides the images. */
  protected durable(tasks: readonly TaskOfWave[], w: Pick<Wave, 'mark' | 'recorded' | 'sentTo'>): boolean {
    return (
      w.mark !== undefined && tasks.every((t) => w.recorded.has(t.task)) && w.sentTo.size === this.#clusters.length - 1
    );
  }

  protected newFederation(...of: ConstructorParameters<typeof Federation>): Federation {
    return new Federation(...of);
  }

  /** H3. */
  #cutsOf(tasks: readonly TaskOfWave[]): Cuts {
    const all = Array.from({ length: this.#size }, (_, t): readonly [TaskId, number] => [t as TaskId, ALL]);
    return tasks.map((t): readonly [TaskId, Counts] => {
      if (t.state === 'ended') return [t.task, { sends: all as Counts['sends'], receives: all as Counts['receives'] }];
      const { sends, receives } = t.state === 'image' ? t.cut : { sends: [], receives: [] };
      return [t.task, { sends, receives }];
    });
  }

  #abandon(c: Cluster, w: Wave, reason: string): void {
    const cluster = this.#clusters.indexOf(c);
    c.abandoned++;
    this.#over(cluster, w, reason);
    const message = `CLC ${w.number} of cluster ${cluster} is abandoned: ${reason}`;
    this.#out.push({ type: 'log', level: c.abandoned >= WARN_AFTER ? 'warn' : 'info', message });
    this.#tell({ type: 'abandoned', cluster, sn: w.number });
  }

  /** H6. */
  #tookTooLong(c: Cluster, w: Wave): void {
    const missing = w.missing(c.ended);
    const why = missing === undefined ? 'its images' : `rank ${missing}, whose next MPI call has not come,`;
    c.patience = Math.min(MOST_PATIENCE, 2 * c.patience);
    this.#abandon(c, w, `${why} took too long; the next one may take ${Math.round(c.patience / 1000)} s`);
  }

  #over(cluster: number, w: Wave, reason: string): void {
    const c = this.#clusters[cluster]!;
    if (c.wave === w) c.wave = undefined;
    this.#out.push({ type: 'over', cluster, sn: w.number, reason });
  }

  #opened(record: ClcRecord): void {
    const { cluster, sn } = record;
    const c = this.#clusters[cluster]!;
    if (c.wave) c.period.took(this.#now - c.wave.since);
    c.wave = undefined;
    c.abandoned = 0;
    this.#out.push({ type: 'over', cluster, sn, record });
    if (garbageLine(this.#federation.stored, DEPTH).some((oldest) => oldest > 0)) this.#tell({ type: 'collect' }); // H4
    this.#maybeFinish();
  }

  /** H5. */
  #maybeFinish(): void {
    if (this.#finished || this.#clusters.some((c) => !allEnded(c) || c.goesBack)) return;
    if (!this.#federation.stored.every((records) => endedIn(records.at(-1)!))) return;
    this.#finished = true;
    this.#out.push({ type: 'finished' });
  }

  // ---- what the federation wants ----

  #perform(effects: readonly FederationEffect[]): void {
    for (const e of effects)
      switch (e.type) {
        case 'begin':
          this.#clusters[e.cluster]!.wanted = { sn: e.sn, forced: e.forced };
          this.#maybeBegin(e.cluster);
          break;
        case 'commit':
          this.#commit(e);
          break;
        case 'open':
          this.#opened(e.record);
          break;
        case 'over': {
          const c = this.#clusters[e.cluster]!;
          if (c.wanted?.sn === e.sn) c.wanted = undefined;
          if (c.wave?.number === e.sn) this.#over(e.cluster, c.wave, 'a rank was lost');
          break;
        }
        case 'check': {
          const { stored } = this.#federation;
          const clcs = e.clcs.map(([cluster, sn]) => stored[cluster]!.find((r) => r.sn === sn)!);
          this.#out.push({ type: 'check', check: e.check, clcs });
          break;
        }
        case 'goBack':
          this.#goBack(e);
          break;
        case 'assign':
          this.#assign(e.cluster);
          break;
        case 'stable':
          this.#out.push({ type: 'stable', records: e.records });
          break;
        case 'failed':
          this.#finished = true;
          this.#out.push(e);
          break;
      }
  }

  #commit({ commit, changes, line }: Extract<FederationEffect, { type: 'commit' }>): void {
    if (!line) return void this.#out.push({ type: 'commit', commit, changes });
    const clusters = line.rolled.map((r) => r.cluster);
    this.#out.push({ type: 'line', commit, epoch: line.epoch, clusters, changes });
  }

  #goBack({ epoch, rolled }: Extract<FederationEffect, { type: 'goBack' }>): void {
    for (const { cluster, alias } of rolled) {
      const c = this.#clusters[cluster]!;
      c.wanted = undefined;
      c.wave = undefined;
      c.epoch = epoch;
      c.goesBack = true;
      for (const of of [c.began, c.ended, c.returning]) of.clear();
      for (const { task, state } of tasksOfClc(alias))
        if (state === 'ended') c.ended.add(task);
        else if (state === 'image') c.returning.add(task);
    }
    const kept = this.#federation.stored.map((records) => records.map((r) => r.images));
    this.#out.push({ type: 'goBack', epoch, rolled, kept });
  }

  #assign(cluster: number): void {
    const c = this.#clusters[cluster]!;
    c.goesBack = false;
    this.#out.push({ type: 'assign', cluster, ended: [...c.ended] });
    this.#maybeFinish();
  }
}

const allEnded = (c: Pick<Cluster, 'tasks' | 'ended'>): boolean => c.tasks.every((t) => c.ended.has(t));
const endedIn = (record: ClcRecord): boolean => tasksOfClc(record).every((t) => t.state === 'ended');
/** They take part from their start. */
const startingOf = (c: Pick<Cluster, 'tasks'>, w: Pick<WaveUnderWay, 'members' | 'ended'>): TaskId[] =>
  c.tasks.filter((t) => !w.members.has(t) && !w.ended.has(t));
