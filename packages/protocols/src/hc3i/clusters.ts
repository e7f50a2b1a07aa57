/**
 * The scheduler of a job's clusters on real nodes. When a cluster takes a CLC, what its DDV is and where a loss goes
 * back to is for the federation (federation.ts). A CLC is a wave of its cluster; who takes part in it, and when it is
 * complete, is for its unit, as for waves of a whole job (coordinated/waves.ts).
 *
 * Owns: by cluster, what the federation wants of it, and which other clusters have what it sent. Does not own: who has
 * answered (units/unit.ts), committed CLCs and numbers, channels, images, output, incarnations.
 *
 *  H1 Of a CLC that is complete everything is durable: all images, the wave streams, the mark of the outside, what its
 *     cluster had sent to others before the cut (S2).
 *  H3 What a task that has ended in a CLC sent is before the cut, and nothing is ever given to it again.
 *  H4 The garbage line is drawn after each CLC, and written when it has moved. It is the stable line: no loss goes back
 *     behind it, also where the newest CLC of a cluster is damaged. So what was written before it is shown.
 *  H5 Exits are final when the newest CLC of each cluster has ended tasks only. Such a CLC has no images.
 */
import type { TaskId } from '@mayfly/wire';
import {
  tasksOfClc,
  type Changes,
  type ClcRecord,
  type ClcUnderWay,
  type ClusterEffect,
  type ClusterEvent,
  type ClusterOptions,
  type ClusterScheduler,
  type ClustersNow,
  type Counts,
  type Cuts,
  type FederationRecord,
} from '../contract/clusters.ts';
import type { Due, TaskOfWave, WaveRecord, WaveSettings } from '../contract/waves.ts';
import type { WaveUnderWay } from '../units/under-way.ts';
import { Unit, type WaveBegins } from '../units/unit.ts';
import { Federation } from './federation.ts';
import { DEPTH, garbageLine } from './garbage.ts';
import type { FederationEffect, FederationEvent } from './records.ts';

/** From a CLC that was abandoned to the next attempt, if a message waits for it, ms. */
const RETRY_MS = 1000;
/** H3. */
const ALL = Number.MAX_SAFE_INTEGER;

interface Cluster {
  readonly unit: Unit;
  /** The federation wants it. */
  wanted: { readonly sn: number; readonly forced: boolean } | undefined;
  /** Other clusters that have what this one sent before its cut in the CLC under way. */
  readonly sentTo: Set<number>;
  /** Of the rollback that its tasks act in. */
  epoch: number;
  /** From its rollback until its tasks are assigned. */
  goesBack: boolean;
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
    this.#clusters = tasks.map((of, cluster) => {
      const periodMs = timers ? (timers[cluster] ?? Infinity) : settings.periodMs;
      const unit = this.#unit(of, { ...settings, periodMs }, cluster);
      return { unit, wanted: undefined, sentTo: new Set(), epoch: 0, goesBack: false };
    });
    tasks.forEach((of, cluster) => of.forEach((task) => this.#clusterOf.set(task, cluster)));
    this.#size = this.#clusterOf.size;
    this.#periods = tasks.map(() => 0);
    this.#federation = this.#newFederation(0);
  }

  #unit(tasks: readonly TaskId[], settings: WaveSettings, cluster: number): Unit {
    return new Unit(tasks, settings, {
      nameOf: (sn) => `CLC ${sn} of cluster ${cluster}`,
      begins: (wave) => this.#begins(cluster, wave),
      mark: (sn) => this.#out.push({ type: 'mark', cluster, sn }),
      durable: (of, wave) => this.durable(of, wave, this.#clusters[cluster]!.sentTo),
      completes: (wave, of) => this.#completes(cluster, wave, of),
      abandoned: (sn, reason, { level, message }) => {
        this.#out.push({ type: 'over', cluster, sn, reason }, { type: 'log', level, message });
        this.#tell({ type: 'abandoned', cluster, sn });
      },
      error: (message) => this.#out.push({ type: 'log', level: 'error', message }),
    });
  }

  #newFederation(now: number): Federation {
    this.#measure(now);
    const { job, tasks } = this.#o;
    return this.newFederation({ job, tasks, periodMs: this.#periods, retryMs: RETRY_MS }, now);
  }

  /** The periods are those of the moment. */
  #measure(now: number): void {
    this.#now = now;
    this.#clusters.forEach((c, i) => (this.#periods[i] = c.unit.period.ms(now)));
  }

  get epoch(): number {
    return this.#federation.epoch;
  }

  get clusters(): ClustersNow {
    const { stored, dead } = this.#federation;
    const underWay = this.#clusters.map(({ unit }) => unit.underWay && clcOf(unit.underWay));
    return { stored, underWay, dead };
  }

  due(cluster: number): Due {
    const { unit, wanted, goesBack } = this.#clusters[cluster]!;
    const at = unit.wave || wanted || goesBack || this.#finished ? undefined : this.#federation.due(cluster);
    return { at, periodMs: this.#periods[cluster]!, ...unit.period.raisedFrom };
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
        for (const { unit } of this.#clusters) unit.tick(this.#now);
        this.#tell({ type: 'tick' });
        if (this.#clusters.every(({ unit }) => unit.allEnded && !unit.wave)) this.#ask();
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
        for (const cluster of e.clusters) this.#clusters[cluster]!.unit.period.lost();
        return this.#tell({ type: 'lost', clusters: e.clusters });
      case 'began': {
        const cluster = this.#clusterOf.get(e.task)!;
        this.#clusters[cluster]!.unit.begins(e.task);
        return this.#maybeBegin(cluster);
      }
      case 'ended': {
        const cluster = this.#clusterOf.get(e.task)!;
        this.#clusters[cluster]!.unit.ends(e.task);
        this.#maybeBegin(cluster);
        if (this.#clusters.every(({ unit }) => unit.allEnded)) this.#ask(); // H5
        return;
      }
      case 'sent': {
        const { unit, sentTo } = this.#clusters[e.cluster]!;
        if (unit.wave?.number === e.wave) sentTo.add(e.to);
        return unit.maybeComplete();
      }
      case 'marked':
        return this.#clusters[e.cluster]!.unit.answer({ type: 'marked', wave: e.wave, mark: null });
      default:
        return this.#clusters[this.#clusterOf.get(e.task)!]!.unit.answer(e);
    }
  }

  #tell(e: Input): void {
    this.#perform(this.#federation.step({ ...e, now: this.#now } as FederationEvent));
  }

  // ---- a CLC ----

  /** All of its tasks have ended, and it has a CLC that says so. */
  #rests(cluster: number, c: Cluster): boolean {
    return c.unit.allEnded && !c.goesBack && endedIn(this.#federation.stored[cluster]!.at(-1)!);
  }

  #ask(clusters: Iterable<number> = this.#clusters.keys()): void {
    for (const cluster of clusters)
      if (!this.#rests(cluster, this.#clusters[cluster]!)) this.#tell({ type: 'ask', cluster });
  }

  #maybeBegin(cluster: number): void {
    const c = this.#clusters[cluster]!;
    const { wanted } = c;
    if (!wanted || !c.unit.mayBegin) return;
    if (!wanted.forced && this.#rests(cluster, c)) {
      c.wanted = undefined;
      return this.#tell({ type: 'abandoned', cluster, sn: wanted.sn });
    }
    c.unit.begin(wanted.sn, this.#now);
  }

  #begins(cluster: number, wave: WaveBegins): void {
    const c = this.#clusters[cluster]!;
    const { forced } = c.wanted!;
    c.wanted = undefined;
    c.sentTo.clear();
    this.#out.push({ type: 'begin', cluster, forced, ...clcOf(wave) });
  }

  #completes(cluster: number, w: WaveUnderWay, tasks: readonly TaskOfWave[]): void {
    const { epoch } = this.#clusters[cluster]!;
    const wave: WaveRecord = { wave: w.number, epoch, at: this.#now, tasks, mark: w.mark?.value };
    this.#tell({ type: 'complete', cluster, sn: w.number, cuts: this.#cutsOf(tasks), wave });
  }

  /** H1, besides the images. */
  protected durable(tasks: readonly TaskOfWave[], w: WaveUnderWay, sentTo: ReadonlySet<number>): boolean {
    const others = this.#clusters.length - 1;
    return w.mark !== undefined && tasks.every((t) => w.recorded.has(t.task)) && sentTo.size === others;
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

  #opened(record: ClcRecord): void {
    const { cluster, sn } = record;
    this.#clusters[cluster]!.unit.committed(this.#now);
    this.#out.push({ type: 'over', cluster, sn, record });
    if (garbageLine(this.#federation.stored, DEPTH).some((oldest) => oldest > 0)) this.#tell({ type: 'collect' }); // H4
    this.#maybeFinish();
  }

  /** H5. */
  #maybeFinish(): void {
    if (this.#finished || this.#clusters.some((c) => !c.unit.allEnded || c.goesBack)) return;
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
          if (c.unit.wave?.number !== e.sn) break;
          c.unit.drop();
          this.#out.push({ type: 'over', cluster: e.cluster, sn: e.sn, reason: 'a rank was lost' });
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
      c.epoch = epoch;
      c.goesBack = true;
      c.unit.goesBack(tasksOfClc(alias));
    }
    const kept = this.#federation.stored.map((records) => records.map((r) => r.images));
    this.#out.push({ type: 'goBack', epoch, rolled, kept });
  }

  #assign(cluster: number): void {
    const c = this.#clusters[cluster]!;
    c.goesBack = false;
    this.#out.push({ type: 'assign', cluster, ended: [...c.unit.ended] });
    this.#maybeFinish();
  }
}

const clcOf = ({ wave, ended, starting }: WaveBegins): ClcUnderWay => ({ sn: wave, ended, starting });
const endedIn = (record: ClcRecord): boolean => tasksOfClc(record).every((t) => t.state === 'ended');
