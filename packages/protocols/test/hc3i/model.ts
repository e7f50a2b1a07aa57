/**
 * Random runs of the cores of `hc3i`: clusters whose tasks send to each other, cut at different times, are lost alone
 * or together, with damaged images and restarts of the server. The last cluster never fails: it stands for the file
 * service. Tasks keep a history of what they sent and consumed, and judge.ts compares histories.
 */
import type { TaskId } from '@mayfly/wire';
import { Federation } from '../../src/hc3i/federation.ts';
import { ClusterGates, type GateEffect } from '../../src/hc3i/gates.ts';
import type { ClcRecord, Cuts, FederationEffect, FederationEvent, FederationRecord } from '../../src/hc3i/records.ts';
import type { Leaving, Stamped } from '../../src/hc3i/stamps.ts';
import { Wrong } from '../coordinated/wrong.ts';
import { randomOf } from '../random.ts';
import { Judge, type Task } from './judge.ts';

/** What a planted bug replaces. */
export interface Cores {
  readonly Federation: typeof Federation;
  readonly Gates: typeof ClusterGates;
  /** S2. */
  readonly complete: ClusterGates['complete'];
}
export const CORES: Cores = {
  Federation,
  Gates: ClusterGates,
  complete(this: ClusterGates, ...of) {
    return this.complete(...of);
  },
};

/** The content of a message travels with it. */
type Content = { readonly id: number };
type OnLink = { cut: number } | (Leaving & Content);
interface Event {
  readonly run: () => void;
}

/** Clusters with two tasks each; the service has one. */
const CLUSTERS = 4;
const SERVICE = CLUSTERS - 1;
const TASKS: readonly (readonly TaskId[])[] = [[0, 1], [2, 3], [4, 5], [6]] as unknown as TaskId[][];
const clusterOf = (task: TaskId): number => task >> 1;
const CMS = 2;
const cmOf = (task: TaskId): number => task % CMS;
const STEPS = 700;

export class Model {
  readonly #random: (below: number) => number;
  readonly #cores: Cores;
  readonly #judge: Judge;
  #now = 0;
  #federation: Federation;
  /** Of each Channel Memory. */
  readonly #gates: ClusterGates[];
  readonly #tasks: Task[] = TASKS.flat().map((id) => ({ id, history: [], sends: new Map(), receives: new Map() }));
  /** From a task to each Channel Memory: messages, and where it cut. */
  readonly #links: OnLink[][][] = TASKS.flat().map(() => Array.from({ length: CMS }, () => []));
  /** Stamped messages on their way, by sender. */
  readonly #nets: Stamped[][] = TASKS.flat().map(() => []);
  readonly #inboxes: Stamped[][] = TASKS.flat().map(() => []);
  /** By cluster: number of its CLC under way, who has cut, whose CUT has come. */
  readonly #underWay: ({ sn: number; cut: Set<TaskId>; come: Set<TaskId> } | undefined)[] = TASKS.map(() => undefined);
  readonly #down = new Set<number>();
  readonly #registry = new Map<string, unknown>();
  #commits: { commit: number; changes: readonly (readonly [string, unknown])[] }[] = [];
  #answers: Event[] = [];
  #id = 0;
  readonly counts = { forced: 0, timed: 0, back: 0, stayed: 0, dead: 0, again: 0, waited: 0, damaged: 0, garbage: 0 };

  constructor(seed: number, cores: Cores = CORES) {
    this.#random = randomOf(seed);
    this.#cores = cores;
    this.#federation = this.#newFederation();
    this.#write(this.#federation.initial);
    const start = this.#federation.stored.map(([first]) => first!);
    this.#gates = Array.from({ length: CMS }, (_, cm) => new cores.Gates(start, clusterOf, (t) => cmOf(t) === cm));
    this.#judge = new Judge(start, this.#tasks, clusterOf);
  }

  #newFederation(): Federation {
    const periodMs = TASKS.map(() => 50 + this.#random(200));
    return new this.#cores.Federation({ job: 'j' as never, tasks: TASKS, periodMs, retryMs: 5 }, this.#now);
  }

  run(): this {
    for (let step = 0; step < STEPS; step++) this.#step(true);
    for (let step = 0; !this.#quiet(); step++) {
      if (step > 20_000) throw new Wrong('Q11: something waits for ever');
      this.#step(false);
    }
    this.#judge.nothingLost();
    return this;
  }

  #quiet(): boolean {
    return (
      this.#links.flat().every((link) => link.every((m) => 'cut' in m)) &&
      [...this.#nets, ...this.#inboxes].every((q) => q.length === 0) &&
      this.#answers.length + this.#down.size === 0 &&
      this.#gates.every((g) => g.stamps.every((s) => s.waiting === 0)) &&
      this.#gates.every((g) => g.intakes.every((i) => i.log.every((m) => m.pushed)))
    );
  }

  #step(lively: boolean): void {
    const r = this.#random;
    this.#now++;
    const all = this.#tasks.map(({ id }) => id);
    const busy = (queues: readonly unknown[][]): TaskId => {
      const some = all.filter((t) => queues[t]!.length > 0);
      return (some.length > 0 ? some : all)[r(some.length || all.length)]!;
    };
    const dice = r(1000);
    if (lively && dice < 8) return this.#lose();
    if (lively && dice < 10) return this.#restart();
    if (lively && dice < 20) return this.#tell({ type: 'collect' });
    if (dice < 60) return this.#tell({ type: 'tick' });
    if (dice < 150) return this.#commitOne();
    if (dice < 250) return this.#answerOne();
    if (dice < 400) return this.#cut(this.#tasks[r(all.length)]!);
    if (dice < 600) return this.#link(busy(this.#links.map((links) => links.flat())));
    if (dice < 720) return this.#net(busy(this.#nets));
    if (dice < 850) return this.#consume(this.#tasks[busy(this.#inboxes)]!);
    if (lively) this.#send(this.#tasks[r(all.length)]!);
  }

  #tell(e: { type: FederationEvent['type'] } & Record<string, unknown>): void {
    for (const effect of this.#federation.step({ ...e, now: this.#now } as FederationEvent)) this.#perform(effect);
  }

  #perform(e: FederationEffect): void {
    switch (e.type) {
      case 'begin':
        this.#underWay[e.cluster] = { sn: e.sn, cut: new Set(), come: new Set() };
        this.counts[e.forced ? 'forced' : 'timed']++;
        for (const g of this.#gates) g.begin(e.cluster, e.sn);
        return;
      case 'commit':
        if (e.changes[0]?.[0].startsWith('federation/')) this.#judge.drawn();
        this.#commits.push(e);
        return;
      case 'open':
        this.#underWay[e.record.cluster] = undefined;
        this.#judge.committed(e.record);
        return this.#flow(this.#gates.flatMap((g) => g.opened(e.record)));
      case 'over':
        this.#underWay[e.cluster] = undefined;
        return this.#flow(this.#gates.flatMap((g) => g.over(e.cluster)));
      case 'check':
        return void this.#answers.push({ run: () => this.#check(e.check, e.clcs) });
      case 'goBack':
        return this.#goBack(e);
      case 'assign':
        return void this.#down.delete(e.cluster);
      case 'stable':
        this.counts.garbage++;
        this.#judge.stable(e.records);
        for (const g of this.#gates) g.trim(e.records);
        return;
      case 'failed':
        throw new Wrong(`Q12: ${e.error.message}`);
    }
  }

  /** Only the newest CLC of a cluster may be damaged. */
  #check(check: number, clcs: readonly (readonly [number, number])[]): void {
    const stored = this.#federation.stored;
    const damaged = clcs.filter(([cluster, sn]) => {
      const own = stored[cluster]!;
      return own.at(-1)!.sn === sn && own.length > 1 && this.#random(4) === 0;
    });
    this.#tell({ type: 'checked', check, damaged });
    for (const [cluster, sn] of damaged) {
      // An answer to an older question means nothing.
      if (this.#federation.stored[cluster]!.some((r) => r.sn === sn)) continue;
      this.#judge.damage(cluster);
      this.counts.damaged++;
    }
  }

  #goBack({ epoch, rolled, dead }: Extract<FederationEffect, { type: 'goBack' }>): void {
    this.#judge.line(rolled);
    this.counts.back += rolled.length;
    this.counts.stayed += CLUSTERS - rolled.length;
    for (const { cluster } of rolled) {
      this.#down.add(cluster);
      this.#underWay[cluster] = undefined;
      for (const task of TASKS[cluster]!) {
        this.#judge.restore(this.#tasks[task]!);
        this.#links[task] = this.#links[task]!.map(() => []);
        this.#inboxes[task] = [];
      }
      this.#answers.push({ run: () => this.#tell({ type: 'wentBack', cluster, epoch }) });
    }
    const effects = this.#gates.flatMap((g) => g.goBack(rolled, dead));
    this.counts.again += effects.filter((e) => e.type === 'push').length;
    this.#flow(effects);
    this.#judge.noOrphan();
  }

  #flow(effects: readonly GateEffect[]): void {
    for (const e of effects) {
      if (e.type === 'stamped') this.#nets[e.message.src]!.push(e.message);
      else if (e.type === 'push') {
        this.#judge.pushed(e.message as Stamped & Content);
        this.#inboxes[e.message.dst]!.push(e.message);
      } else if (e.type === 'force') {
        const { cluster, from, interval } = e;
        this.#tell({ type: 'force', cluster, from, interval });
      }
    }
  }

  // ---- what happens ----

  #lose(): void {
    const clusters = [this.#random(SERVICE), ...(this.#random(3) === 0 ? [this.#random(SERVICE)] : [])];
    this.#judge.lost(clusters);
    for (const cluster of clusters) this.#down.add(cluster);
    this.#tell({ type: 'lost', clusters });
  }

  /** The server is killed: of the commits under way, the first ones were durable. */
  #restart(): void {
    const durable = this.#random(this.#commits.length + 1);
    const durably = this.#commits.slice(0, durable);
    for (const { changes } of durably) this.#write(changes);
    this.#commits = [];
    this.#answers = [];
    const records = [...this.#registry].filter(([key]) => key.startsWith('clc/')).map(([, r]) => r as ClcRecord);
    TASKS.forEach((_, cluster) => this.#down.add(cluster));
    this.#underWay.fill(undefined);
    this.#federation = this.#newFederation();
    const own = this.#registry.get('federation/j') as FederationRecord | undefined;
    this.#judge.restarted(records, own?.dead ?? []);
    for (const effect of this.#federation.recover(records, own, this.#now)) this.#perform(effect);
  }

  #write(changes: readonly (readonly [string, unknown])[]): void {
    for (const [key, value] of changes)
      if (value === undefined) this.#registry.delete(key);
      else this.#registry.set(key, value);
  }

  #commitOne(): void {
    const next = this.#commits.shift();
    if (!next) return;
    if (this.#random(12) === 0) return this.#tell({ type: 'commitFailed', commit: next.commit });
    this.#write(next.changes);
    this.#tell({ type: 'committed', commit: next.commit });
  }

  #answerOne(): void {
    this.#answers.splice(this.#random(this.#answers.length), 1)[0]?.run();
  }

  #cut(task: Task): void {
    const cluster = clusterOf(task.id);
    const u = this.#underWay[cluster];
    if (!u || u.cut.has(task.id) || this.#down.has(cluster)) return;
    if (this.#random(40) === 0) {
      this.#underWay[cluster] = undefined;
      return this.#tell({ type: 'abandoned', cluster, sn: u.sn });
    }
    u.cut.add(task.id);
    this.#judge.cut(task, u.sn);
    for (const link of this.#links[task.id]!) link.push({ cut: u.sn });
  }

  #link(task: TaskId): void {
    const cluster = clusterOf(task);
    const cm = this.#random(CMS);
    const next = this.#down.has(cluster) ? undefined : this.#links[task]![cm]!.shift();
    if (!next) return;
    if ('cut' in next) {
      this.#gates[cm]!.cut(cluster, next.cut, task, this.#judge.countsOf(task, next.cut).sends);
      if (cm === cmOf(task) && this.#underWay[cluster]?.sn === next.cut) this.#underWay[cluster]!.come.add(task);
    } else this.#flow(this.#gates[cm]!.leaves(next));
    this.#maybeComplete(cluster);
  }

  #maybeComplete(cluster: number): void {
    const u = this.#underWay[cluster];
    const tasks = TASKS[cluster]!;
    if (!u || !tasks.every((t) => u.come.has(t))) return;
    if (!this.#gates.every((g) => this.#cores.complete.call(g, cluster, tasks))) return;
    const cuts: Cuts = tasks.map((t) => [t, this.#judge.countsOf(t, u.sn)] as const);
    this.#tell({ type: 'complete', cluster, sn: u.sn, cuts });
  }

  #net(src: TaskId): void {
    const next = this.#nets[src]!.shift();
    if (!next) return;
    const gates = this.#gates[cmOf(next.dst)]!;
    const { log } = gates.intakes[clusterOf(next.dst)]!;
    const before = log.length;
    let effects: GateEffect[];
    try {
      effects = gates.arrives(next);
    } catch (e) {
      throw new Wrong(`Q2: ${(e as Error).message}`);
    }
    if (effects.length === 0 && log.length === before) this.counts.dead++;
    this.#judge.arrived(next as Stamped & Content);
    this.#flow(effects);
  }

  #consume(task: Task): void {
    if (this.#down.has(clusterOf(task.id))) return;
    const m = this.#inboxes[task.id]!.shift() as (Stamped & Content) | undefined;
    if (m) this.#judge.consume(task, m.src, m.id);
  }

  #send(task: Task): void {
    const cluster = clusterOf(task.id);
    if (this.#down.has(cluster)) return;
    const dst = this.#tasks[this.#random(this.#tasks.length)]!;
    if (dst === task) return;
    const id = this.#id++;
    if (clusterOf(dst.id) !== cluster) {
      const channel = this.#judge.send(task, dst.id, id);
      const u = this.#underWay[cluster];
      if (u?.cut.has(task.id)) this.counts.waited++;
      this.#links[task.id]![cmOf(dst.id)]!.push({ src: task.id, dst: dst.id, channel, id });
      return;
    }
    // Within a cluster a message takes no time, and none crosses a cut: its waves see to that.
    const u = this.#underWay[cluster];
    if (u && u.cut.has(task.id) !== u.cut.has(dst.id)) return;
    this.#judge.send(task, dst.id, id);
    this.#judge.consume(dst, task.id, id);
  }
}
