/**
 * The paper's discrete-event simulator (hc3i, section 5.1) on the production cores: `Federation` decides when a
 * cluster takes a CLC, what a failure goes back to and what is garbage, `ClusterGates` which messages wait and which
 * come again. This file has the nodes, the network, the timers, and the checkpoints' durations.
 *
 * A node computes for an exponentially distributed time, sends one message, and computes again. It never waits for
 * one: the paper names no such thing. So messages within a cluster are only counted.
 */
import {
  ClusterGates,
  Federation,
  type ClcRecord,
  type ClusterGateEffect,
  type RolledCluster,
} from '@mayfly/protocols';
import type { FederationEffect, FederationEvent, StampedMessage } from '@mayfly/protocols';
import type { JobId, TaskId } from '@mayfly/wire';
import { Agenda } from '../../agenda.ts';
import { Random } from '../../random.ts';
import { exponential } from './exponential.ts';
import type { LinkSpec, SimulationFiles } from './files.ts';
import type { FederationStatistics, Garbage } from './statistics.ts';

const S = 1000;
const HOUR = 3600 * S;

/** What checkpoints and restarts cost; without it they take no time, as in the reference model. */
export interface CheckpointCosts {
  /** Of a node. */
  readonly stateMB: number;
  /** A node stands still while its state is copied, MB/s. */
  readonly copyRate: number;
  /** Until a record is durable, ms. */
  readonly commitMs: number;
  /** From a failure to the beginning of the rollback, ms. */
  readonly detectMs: number;
  /** Content of a message between clusters. */
  readonly messageKB: number;
}

export interface SimulationOptions {
  readonly files: SimulationFiles;
  readonly seed: number;
  readonly costs?: CheckpointCosts;
  /** The higher trace level: "we can observe each node time-stamped action". Time in ms. */
  readonly trace?: (at: number, action: string) => void;
}

interface Node {
  readonly task: TaskId;
  readonly cluster: number;
  readonly random: Random;
  /** To and from nodes of other clusters. */
  sends: Map<TaskId, number>;
  receives: Map<TaskId, number>;
  /** Both, as of its last cut; undefined: they have changed. */
  counts: ClcRecord['cuts'][number][1] | undefined;
  /** It has stood still so long since its computation began, ms. */
  still: number;
  /** Its last image under message logging: it takes one each period, at a time of its own. */
  image: number;
}

interface ClusterState {
  readonly nodes: readonly Node[];
  /** A rollback ends what its nodes had begun. */
  life: number;
  running: boolean;
  /** Work of one node so far, ms; as of `since`. */
  work: number;
  since: number;
  /** By number of a CLC's images. */
  readonly workAt: Map<number, number>;
  /** The tick that is due. */
  tickAt: number;
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

export function simulateFederation(options: SimulationOptions): FederationStatistics {
  return new Simulation(options).run();
}

class Simulation {
  readonly #files: SimulationFiles;
  readonly #costs: CheckpointCosts | undefined;
  readonly #trace: SimulationOptions['trace'];
  readonly #agenda = new Agenda();
  readonly #end: number;
  readonly #clusters: ClusterState[];
  readonly #nodes: Node[] = [];
  readonly #federation: Federation;
  readonly #gates: ClusterGates;
  readonly #failures: Random;
  readonly #logged = new Map<TaskId, number>();
  readonly #messages: number[][];
  readonly #garbage: Garbage[] = [];
  readonly #count: Mutable<Omit<FederationStatistics, 'messages' | 'forced' | 'timed' | 'stored' | 'garbage'>> = {
    loggedByNode: 0,
    loggedByCluster: 0,
    protocolBetween: 0,
    protocolWithin: 0,
    waited: 0,
    waitedMs: 0,
    failures: 0,
    rolled: 0,
    lostHours: 0,
    lostAloneHours: 0,
  };
  readonly #forced: number[];
  readonly #timed: number[];
  /** When messages that wait have come. */
  readonly #came = new Map<string, number>();

  constructor({ files, seed, costs, trace }: SimulationOptions) {
    this.#files = files;
    this.#costs = costs;
    this.#trace = trace;
    this.#end = files.application.hours * HOUR;
    this.#failures = Random.named(seed, 'failures');
    const zero = (): number[] => files.topology.clusters.map(() => 0);
    this.#messages = files.topology.clusters.map(zero);
    [this.#forced, this.#timed] = [zero(), zero()];
    const periods = files.timers.clusters.map(({ clcMinutes }) =>
      clcMinutes === null ? Infinity : clcMinutes * 60 * S,
    );
    this.#clusters = files.topology.clusters.map((spec, cluster) => {
      const nodes = Array.from({ length: spec.nodes }, (): Node => {
        const task = this.#nodes.length as TaskId;
        const random = Random.named(seed, `node ${task}`);
        const image = Number.isFinite(periods[cluster]!) ? -random.next() * periods[cluster]! : 0;
        const node = {
          task,
          cluster,
          random,
          sends: new Map(),
          receives: new Map(),
          counts: undefined,
          still: 0,
          image,
        };
        this.#nodes.push(node);
        return node;
      });
      return { nodes, life: 0, running: true, work: 0, since: 0, workAt: new Map([[1, 0]]), tickAt: Infinity };
    });
    const tasks = this.#clusters.map(({ nodes }) => nodes.map(({ task }) => task));
    this.#federation = new Federation({ job: 'simulated' as JobId, tasks, periodMs: periods, retryMs: S }, 0);
    const start = this.#federation.stored.map(([first]) => first!);
    this.#gates = new ClusterGates(
      start,
      (t) => this.#nodes[t]!.cluster,
      () => true,
    );
  }

  run(): FederationStatistics {
    for (const node of this.#nodes) this.#compute(node);
    this.#wakeUp();
    const { garbageHours } = this.#files.timers;
    if (garbageHours !== null)
      for (let at = garbageHours * HOUR; at < this.#end; at += garbageHours * HOUR)
        this.#agenda.after(at, () => this.#collect());
    if (this.#files.topology.mtbfHours !== undefined) this.#failLater(this.#files.topology.mtbfHours * HOUR);
    this.#agenda.after(this.#end, () => {});
    while (this.#agenda.now < this.#end && this.#agenda.step());
    return {
      ...this.#count,
      messages: this.#messages,
      forced: this.#forced,
      timed: this.#timed,
      stored: this.#federation.stored.map((own) => own.length),
      garbage: this.#garbage,
    };
  }

  // ---- nodes and network ----

  #compute(node: Node): void {
    const { life } = this.#clusters[node.cluster]!;
    const { computationS } = this.#files.application.clusters[node.cluster]!;
    node.still = 0;
    this.#agenda.after(exponential(node.random, computationS * S), () => this.#computed(node, life));
  }

  #computed(node: Node, life: number): void {
    if (this.#clusters[node.cluster]!.life !== life) return;
    if (node.still > 0) {
      const { still } = node;
      node.still = 0;
      return this.#agenda.after(still, () => this.#computed(node, life));
    }
    this.#send(node);
    this.#compute(node);
  }

  #send(node: Node): void {
    const { to } = this.#files.application.clusters[node.cluster]!;
    let dice = node.random.next();
    let cluster = 0;
    while (cluster < to.length - 1 && dice >= to[cluster]!) dice -= to[cluster++]!;
    this.#messages[node.cluster]![cluster]!++;
    const dst = node.random.pick(this.#clusters[cluster]!.nodes).task;
    this.#trace?.(this.#agenda.now, `node ${node.task} sends to ${dst}`);
    if (cluster === node.cluster) return;
    const channel = (node.sends.get(dst) ?? 0) + 1;
    node.sends.set(dst, channel);
    node.counts = undefined;
    this.#flow(this.#gates.leaves({ src: node.task, dst, channel }));
  }

  #flow(effects: readonly ClusterGateEffect[]): void {
    for (const e of effects)
      switch (e.type) {
        case 'stamped':
          this.#carry(e.message);
          break;
        case 'log':
          this.#log(e.message);
          break;
        case 'force': {
          const { cluster, from, interval } = e;
          this.#tell({ type: 'force', cluster, from, interval });
          break;
        }
        case 'push':
          this.#receive(e.message);
      }
  }

  #carry(m: StampedMessage): void {
    const [a, b] = [m.from, this.#nodes[m.dst]!.cluster];
    const link = this.#files.topology.between[Math.max(a, b)]![Math.min(a, b)]!;
    const kB = this.#costs?.messageKB ?? 0;
    this.#agenda.after(link.latencyUs / 1000 + transferMs(kB / 1000, link), () => {
      const key = `${m.src} ${m.dst} ${m.channel}`;
      this.#came.set(key, this.#agenda.now);
      this.#flow(this.#gates.arrives(m));
    });
  }

  #log({ src }: StampedMessage): void {
    const logged = (this.#logged.get(src) ?? 0) + 1;
    this.#logged.set(src, logged);
    this.#count.protocolBetween++; // "The message is acknowledged with the receiver's SN" (section 3.3)
    this.#count.loggedByNode = Math.max(this.#count.loggedByNode, logged);
    const own = this.#clusters[this.#nodes[src]!.cluster]!.nodes;
    const all = own.reduce((sum, { task }) => sum + (this.#logged.get(task) ?? 0), 0);
    this.#count.loggedByCluster = Math.max(this.#count.loggedByCluster, all);
  }

  #receive({ src, dst, channel }: StampedMessage): void {
    const node = this.#nodes[dst]!;
    node.receives.set(src, channel);
    node.counts = undefined;
    const key = `${src} ${dst} ${channel}`;
    const waited = this.#agenda.now - (this.#came.get(key) ?? this.#agenda.now);
    this.#came.delete(key);
    this.#trace?.(this.#agenda.now, `node ${dst} receives from ${src}`);
    if (waited <= 0) return;
    this.#count.waited++;
    this.#count.waitedMs += (waited - this.#count.waitedMs) / this.#count.waited;
  }

  // ---- checkpoints ----

  #tell(e: { type: FederationEvent['type'] } & Record<string, unknown>): void {
    const now = this.#agenda.now;
    for (const effect of this.#federation.step({ ...e, now } as FederationEvent)) this.#perform(effect);
    this.#wakeUp();
  }

  /** The next CLCs that no message forces. */
  #wakeUp(): void {
    this.#clusters.forEach((c, cluster) => {
      const due = this.#federation.due(cluster);
      if (!Number.isFinite(due) || due === c.tickAt) return;
      c.tickAt = due;
      this.#agenda.after(due - this.#agenda.now, () => {
        if (c.tickAt === due && this.#federation.due(cluster) === due) this.#tell({ type: 'tick' });
      });
    });
  }

  /** After `ms`; at once if that is nothing. */
  #after(ms: number, run: () => void): void {
    if (ms > 0) this.#agenda.after(ms, run);
    else run();
  }

  #perform(e: FederationEffect): void {
    switch (e.type) {
      case 'begin':
        return this.#begin(e.cluster, e.sn);
      case 'commit':
        return this.#after(this.#costs?.commitMs ?? 0, () => this.#tell({ type: 'committed', commit: e.commit }));
      case 'open':
        return this.#open(e.record);
      case 'over':
        return this.#flow(this.#gates.over(e.cluster));
      case 'check':
        return this.#tell({ type: 'checked', check: e.check, damaged: [] });
      case 'goBack':
        return this.#goBack(e);
      case 'assign': {
        const c = this.#clusters[e.cluster]!;
        Object.assign(c, { running: true, since: this.#agenda.now });
        for (const node of c.nodes) this.#compute(node);
        return;
      }
      case 'stable':
        this.#gates.trim(e.records);
        this.#countLogs();
        this.#garbage.push({ before: this.#before, after: this.#federation.stored.map((own) => own.length) });
        return;
      case 'failed':
        throw new Error(e.error.message);
    }
  }

  /**
   * "An initiator node broadcasts a CLC request. All the cluster nodes acknowledge the request, then the initiator node
   * broadcasts a commit"; each node saves its state in "the memory of an other node in the cluster" (section 3.1).
   */
  #begin(cluster: number, sn: number): void {
    const c = this.#clusters[cluster]!;
    const spec = this.#files.topology.clusters[cluster]!;
    const costs = this.#costs;
    const { life } = c;
    this.#count.protocolWithin += 3 * (spec.nodes - 1);
    this.#gates.begin(cluster, sn);
    const latency = costs ? spec.latencyUs / 1000 : 0;
    this.#after(latency, () => {
      if (c.life !== life) return;
      c.workAt.set(sn, this.#work(c));
      const cuts = c.nodes.map((node) => {
        node.counts ??= { sends: [...node.sends], receives: [...node.receives] };
        return [node.task, node.counts] as const;
      });
      for (const [task, { sends }] of cuts) this.#gates.cut(cluster, sn, task, sends);
      const copy = costs ? (costs.stateMB / costs.copyRate) * S : 0;
      for (const node of c.nodes) node.still += copy;
      this.#after(costs ? copy + transferMs(costs.stateMB, spec) + latency : 0, () => {
        if (c.life === life) this.#tell({ type: 'complete', cluster, sn, cuts });
      });
    });
  }

  #open(record: ClcRecord): void {
    (record.forced ? this.#forced : this.#timed)[record.cluster]!++;
    this.#trace?.(this.#agenda.now, `cluster ${record.cluster} commits CLC ${record.sn}, DDV ${record.ddv.join(' ')}`);
    this.#flow(this.#gates.opened(record));
  }

  // ---- garbage ----

  #before: number[] = [];

  #collect(): void {
    const k = this.#clusters.length;
    this.#before = this.#federation.stored.map((own) => own.length);
    // "N-1 inter-cluster requests; N-1 inter-cluster responses …; N-1 inter-cluster collect requests; broadcast in each
    // cluster" (section 5.4)
    this.#count.protocolBetween += 3 * (k - 1);
    this.#count.protocolWithin += this.#nodes.length - k;
    this.#tell({ type: 'collect' });
  }

  #countLogs(): void {
    this.#logged.clear();
    for (const { log } of this.#gates.intakes)
      for (const { src } of log) this.#logged.set(src, (this.#logged.get(src) ?? 0) + 1);
  }

  // ---- failures ----

  #failLater(mean: number): void {
    this.#agenda.after(exponential(this.#failures, mean), () => {
      this.#fail(this.#failures.pick(this.#nodes));
      this.#failLater(mean);
    });
  }

  #fail(node: Node): void {
    const c = this.#clusters[node.cluster]!;
    this.#count.failures++;
    this.#trace?.(this.#agenda.now, `node ${node.task} fails`);
    const { clcMinutes } = this.#files.timers.clusters[node.cluster]!;
    const now = this.#agenda.now;
    const period = clcMinutes === null ? Infinity : clcMinutes * 60 * S;
    const since = now - Math.max(0, node.image);
    const last = since >= period ? now - (since % period) : Math.max(0, node.image);
    this.#count.lostAloneHours += (now - last) / HOUR;
    node.image = last;
    this.#stop(c);
    this.#after(this.#costs?.detectMs ?? 0, () => this.#tell({ type: 'lost', clusters: [node.cluster] }));
  }

  #work(c: ClusterState): number {
    return c.work + (c.running ? this.#agenda.now - c.since : 0);
  }

  #stop(c: ClusterState): void {
    Object.assign(c, { work: this.#work(c), running: false, life: c.life + 1 });
  }

  #goBack({ epoch, rolled, dead }: Extract<FederationEffect, { type: 'goBack' }>): void {
    this.#count.rolled += rolled.length;
    this.#count.protocolBetween += rolled.length * (this.#clusters.length - 1);
    for (const r of rolled) this.#restore(r);
    this.#flow(this.#gates.goBack(rolled, dead));
    this.#countLogs();
    for (const { cluster } of rolled) {
      const ms = this.#costs ? transferMs(this.#costs.stateMB, this.#files.topology.clusters[cluster]!) : 0;
      this.#after(ms, () => this.#tell({ type: 'wentBack', cluster, epoch }));
    }
  }

  #restore({ cluster, alias }: RolledCluster): void {
    const c = this.#clusters[cluster]!;
    this.#stop(c);
    const work = c.workAt.get(alias.images)!;
    this.#count.lostHours += ((c.work - work) * c.nodes.length) / HOUR;
    c.work = work;
    this.#trace?.(this.#agenda.now, `cluster ${cluster} goes back to CLC ${alias.images}`);
    for (const [task, counts] of alias.cuts) {
      const [sends, receives] = [new Map(counts.sends), new Map(counts.receives)];
      Object.assign(this.#nodes[task]!, { sends, receives, counts });
    }
  }
}

/** ms */
const transferMs = (megabytes: number, { bandwidthMbps }: LinkSpec): number => ((megabytes * 8) / bandwidthMbps) * S;
