/**
 * The checkpoint scheduler of a federation of clusters (hc3i, section 3): when a cluster takes a CLC, what its DDV is,
 * what a loss goes back to, and what is garbage. Each cluster takes its CLCs as waves of its own; they answer
 * `complete`.
 *
 * Owns: by cluster, the committed CLCs that are kept, the CLC under way, what is to be forced; the dead intervals, the
 * epoch. Does not own: channels (intake.ts, stamps.ts), images, incarnations, output.
 *
 * Durable: `clc/<job>/<cluster>/<sn>`, one record for each kept CLC; `federation/<job>`, epoch, next numbers and dead
 * intervals. The commit of a rollback has all its aliases, and whoever performs it adds the new incarnations.
 *
 *  N1 One CLC of a cluster at a time, in one order. Requests merge: a CLC names the highest interval of each cluster
 *     that was asked for before it began; later ones wait for the next.
 *  N2 A CLC counts when its record is durable. The time to the next one counts from there, also after a forced one.
 *  N3 A loss waits for the outcome of commits under way, and nothing is committed until its line is durable.
 *  N4 The line is that of all failed clusters. If the images of a target are damaged, that CLC is gone and the line is
 *     computed again. One commit holds the whole line.
 *  N5 Numbers are never used twice. A rollback to CLC s gives it a new number a; intervals from s on, before a, are
 *     dead. The alias takes the place of s: two CLCs with the same images would count as two that must both be damaged.
 *  N6 A CLC under way names no dead interval: the message that forced it was never sent.
 *  N7 Garbage is collected in one commit. A loss waits for it (N3), so a line never needs what is being deleted.
 *  N8 A cluster begins a CLC only when it is not on its way back.
 */
import { START_OF_TASK, type WaveRecord } from '../contract/waves.ts';
import { DEPTH, garbageLine } from './garbage.ts';
import type { DeadIntervals } from './intake.ts';
import { recoveryLine, type Line } from './recovery-line.ts';
import {
  clcKey,
  federationKey,
  type Changes,
  type ClcRecord,
  type Cuts,
  type FederationEffect,
  type FederationEvent,
  type FederationOptions,
  type FederationRecord,
  type Rolled,
} from './records.ts';

/** A CLC under way. */
interface UnderWay {
  readonly sn: number;
  readonly at: number;
  readonly forced: boolean;
  /** Entry of the own cluster: `sn`. */
  readonly ddv: number[];
  /** Complete. */
  cuts: Cuts | undefined;
  wave: WaveRecord | undefined;
  /** Its commit is under way. */
  record: ClcRecord | undefined;
}

interface Cluster {
  readonly stored: ClcRecord[];
  next: number;
  underWay: UnderWay | undefined;
  /** N1: by cluster, the highest interval that was asked for. */
  wanted: number[];
  due: number;
  /** ms; until the next CLC is committed. */
  abandonedAt: number | undefined;
  /** N8: the epoch of its rollback. */
  goingBack: number | undefined;
}

type Commit =
  | { readonly type: 'clc'; readonly cluster: number }
  | {
      readonly type: 'line';
      readonly record: FederationRecord;
      readonly rolled: readonly Rolled[];
      readonly failed: readonly number[];
    }
  | { readonly type: 'garbage'; readonly oldest: readonly number[] };

export class Federation {
  readonly #o: FederationOptions;
  #clusters: Cluster[];
  #epoch = 0;
  #dead: DeadIntervals[] = [];
  readonly #commits = new Map<number, Commit>();
  #nextCommit = 1;
  /** Clusters of losses whose line is not durable yet. */
  readonly #failed = new Set<number>();
  /** N4: the line that waits for `checked`. */
  #check: { readonly number: number; readonly line: Line } | undefined;
  #nextCheck = 1;
  #collect = false;
  #finished = false;
  #now = 0;
  #out: FederationEffect[] = [];

  constructor(options: FederationOptions, now: number) {
    this.#o = options;
    this.#clusters = options.tasks.map((tasks, cluster) => {
      // "Each cluster stores a first CLC which is the beginning of the application" (section 4).
      const ddv = options.tasks.map((_, i) => (i === cluster ? 1 : 0));
      const cuts = tasks.map((task) => [task, START_OF_TASK] as const);
      const start: ClcRecord = { cluster, sn: 1, images: 1, ddv, forced: false, at: now, cuts };
      return this.#cluster([start], 2, now + options.periodMs[cluster]!);
    });
  }

  #cluster(stored: ClcRecord[], next: number, due: number): Cluster {
    return {
      stored,
      next,
      underWay: undefined,
      wanted: [...stored.at(-1)!.ddv],
      due,
      abandonedAt: undefined,
      goingBack: undefined,
    };
  }

  /** To be durable before any task begins: the CLCs at the start of the program. */
  get initial(): Changes {
    return this.#clusters.map(({ stored: [first] }) => [clcKey(this.#o.job, first!.cluster, first!.sn), first]);
  }

  get epoch(): number {
    return this.#epoch;
  }

  /** All dead intervals of the job. */
  get dead(): readonly DeadIntervals[] {
    return this.#dead;
  }

  /** Committed CLCs that are kept, by cluster, the oldest first. */
  get stored(): readonly (readonly ClcRecord[])[] {
    return this.#clusters.map((c) => c.stored);
  }

  /** When a cluster takes its next CLC that no message forces. */
  due(cluster: number): number {
    return this.#clusters[cluster]!.due;
  }

  /** The CLC of a cluster that is under way. */
  underWay(cluster: number): number | undefined {
    return this.#clusters[cluster]!.underWay?.sn;
  }

  /**
   * The server was restarted: what was under way within the clusters is gone, so all of them go back.
   * @param stored all records of the registry
   */
  recover(stored: readonly ClcRecord[], record: FederationRecord | undefined, now: number): FederationEffect[] {
    this.#now = now;
    this.#epoch = record?.epoch ?? 0;
    this.#dead = [...(record?.dead ?? [])];
    this.#clusters = this.#clusters.map((start, cluster) => {
      const own = stored.filter((r) => r.cluster === cluster).sort((a, b) => a.sn - b.sn);
      if (own.length === 0) own.push(start.stored[0]!); // the server died before that was durable
      return this.#cluster(own, Math.max(own.at(-1)!.sn + 1, record?.next[cluster] ?? 0), Infinity);
    });
    this.#clusters.forEach((_, cluster) => this.#failed.add(cluster));
    this.#settle();
    return this.#out.splice(0);
  }

  step(e: FederationEvent): FederationEffect[] {
    this.#now = e.now;
    if (!this.#finished) {
      this.#handle(e);
      this.#settle();
    }
    return this.#out.splice(0);
  }

  #handle(e: FederationEvent): void {
    switch (e.type) {
      case 'tick':
        return;
      case 'ask':
        this.#clusters[e.cluster]!.due = this.#now;
        return;
      case 'force': {
        const { wanted } = this.#clusters[e.cluster]!;
        wanted[e.from] = this.merged(wanted[e.from]!, e.interval);
        return;
      }
      case 'complete': {
        const u = this.#clusters[e.cluster]!.underWay;
        if (u?.sn !== e.sn || u.cuts) return;
        u.cuts = e.cuts;
        u.wave = e.wave;
        return;
      }
      case 'abandoned': {
        const c = this.#clusters[e.cluster]!;
        if (c.underWay?.sn === e.sn && !c.underWay.record) this.#abandon(e.cluster);
        return;
      }
      case 'committed':
        return this.#committed(e.commit);
      case 'commitFailed':
        return this.#commitFailed(e.commit);
      case 'lost':
        for (const cluster of e.clusters) {
          this.#failed.add(cluster);
          if (!this.#clusters[cluster]!.underWay?.record) this.#abandon(cluster);
        }
        this.#check = undefined;
        return;
      case 'checked':
        if (this.#check?.number === e.check) this.#checked(this.#check.line, e.damaged);
        return;
      case 'wentBack': {
        const c = this.#clusters[e.cluster]!;
        if (c.goingBack !== e.epoch) return;
        c.goingBack = undefined;
        this.#out.push({ type: 'assign', cluster: e.cluster, epoch: e.epoch });
        return;
      }
      case 'collect':
        this.#collect = true;
        return;
    }
  }

  /** What is possible now. */
  #settle(): void {
    if (this.#finished) return;
    if (this.mustWait()) return;
    if (this.#failed.size > 0) return this.#draw();
    this.#clusters.forEach((c, cluster) => {
      if (c.underWay?.cuts && !c.underWay.record) this.#commitClc(cluster, c.underWay, c.underWay.cuts);
    });
    if (this.#collect && ![...this.#commits.values()].some((c) => c.type === 'garbage')) this.#commitGarbage();
    this.#clusters.forEach((c, cluster) => this.#maybeBegin(cluster, c));
  }

  /** N3. */
  protected mustWait(): boolean {
    if (this.#failed.size > 0) return this.#commits.size > 0;
    return [...this.#commits.values()].some((c) => c.type === 'line');
  }

  #commit(commit: Commit, changes: Changes): void {
    const number = this.#nextCommit++;
    this.#commits.set(number, commit);
    const line = commit.type === 'line' && { line: { epoch: commit.record.epoch, rolled: commit.rolled } };
    this.#out.push({ type: 'commit', commit: number, changes, ...line });
  }

  #committed(number: number): void {
    const commit = this.#commits.get(number);
    this.#commits.delete(number);
    switch (commit?.type) {
      case 'clc':
        return this.#open(commit.cluster);
      case 'garbage':
        return this.#collected(commit.oldest);
      case 'line':
        return this.#goBack(commit.record, commit.rolled);
    }
  }

  #commitFailed(number: number): void {
    const commit = this.#commits.get(number);
    this.#commits.delete(number);
    if (commit?.type === 'clc') this.#abandon(commit.cluster);
    else if (commit?.type === 'line') for (const cluster of commit.failed) this.#failed.add(cluster);
  }

  // ---- a CLC ----

  #maybeBegin(cluster: number, c: Cluster): void {
    if (c.underWay || c.goingBack !== undefined) return; // N1, N8
    const { ddv } = c.stored.at(-1)!;
    const forced = c.wanted.some((interval, i) => interval > ddv[i]!);
    const retry = c.abandonedAt === undefined || this.#now >= c.abandonedAt + this.#o.retryMs;
    if (this.#now < c.due && !(forced && retry)) return;
    const sn = c.next++;
    const named = c.wanted.map((interval, i) => (i === cluster ? sn : Math.max(interval, ddv[i]!)));
    c.underWay = { sn, at: this.#now, forced, ddv: named, cuts: undefined, wave: undefined, record: undefined };
    this.#out.push({ type: 'begin', cluster, sn, forced });
  }

  /** N1. */
  protected merged(wanted: number, interval: number): number {
    return Math.max(wanted, interval);
  }

  #abandon(cluster: number): void {
    const c = this.#clusters[cluster]!;
    if (!c.underWay) return;
    const { sn } = c.underWay;
    c.underWay = undefined;
    c.due = this.#now + this.#o.periodMs[cluster]!;
    c.abandonedAt = this.#now;
    this.#out.push({ type: 'over', cluster, sn });
  }

  #commitClc(cluster: number, u: UnderWay, cuts: Cuts): void {
    const { sn, at, forced, ddv, wave } = u;
    u.record = { cluster, sn, images: sn, ddv: [...ddv], forced, at, cuts, ...(wave && { wave }) };
    this.#commit({ type: 'clc', cluster }, [[clcKey(this.#o.job, cluster, sn), u.record]]);
  }

  #open(cluster: number): void {
    const c = this.#clusters[cluster]!;
    const record = c.underWay?.record;
    if (!record) return;
    c.underWay = undefined;
    c.stored.push(record);
    c.due = this.#now + this.#o.periodMs[cluster]!; // N2
    c.abandonedAt = undefined;
    this.#out.push({ type: 'open', record });
  }

  // ---- a loss ----

  /** N4. */
  #draw(): void {
    if (this.#check) return;
    const start = new Map([...this.starting(this.#failed)].map((f) => [f, this.#clusters[f]!.stored.length - 1]));
    const line = this.line(start);
    const number = this.#nextCheck++;
    this.#check = { number, line };
    const clcs = [...line].map(([cluster, index]) => [cluster, this.#clusters[cluster]!.stored[index]!.sn] as const);
    this.#out.push({ type: 'check', check: number, clcs });
  }

  /** N4: all of them. */
  protected starting(failed: ReadonlySet<number>): Iterable<number> {
    return failed;
  }

  protected line(start: Line): Line {
    return recoveryLine(this.stored, start);
  }

  #checked(line: Line, damaged: readonly (readonly [number, number])[]): void {
    this.#check = undefined;
    if (damaged.length === 0) return this.#commitLine(line);
    for (const [cluster, sn] of damaged) {
      const { stored } = this.#clusters[cluster]!;
      // A cluster that only depends on others fails with them: its way back begins one CLC earlier.
      this.#failed.add(cluster);
      stored.splice(stored.findIndex((r) => r.sn === sn));
      if (stored.length > 0) continue;
      this.#finished = true;
      const message = `All kept checkpoints of cluster ${cluster} are damaged: the job has none to go back to.`;
      this.#out.push({ type: 'failed', error: { code: 'LOST_CHECKPOINTS', message } });
      return;
    }
  }

  #commitLine(line: Line): void {
    const { job } = this.#o;
    const rolled = [...line]
      .sort(([a], [b]) => a - b)
      .map(([cluster, index]): Rolled => {
        const c = this.#clusters[cluster]!;
        const from = c.stored[index]!;
        const sn = this.alias(c.next, from.sn); // N5
        const alias = { ...from, sn, ddv: from.ddv.map((x, i) => (i === cluster ? sn : x)) };
        return { cluster, to: from.sn, alias };
      });
    const next = this.#clusters
      .map((c, i) => rolled.find((r) => r.cluster === i)?.alias.sn ?? c.next - 1)
      .map((n) => n + 1);
    const dead = rolled.map(({ cluster, to, alias }) => ({ cluster, from: to, until: alias.sn }));
    const record = { epoch: this.#epoch + 1, next, dead: [...this.#dead, ...dead] };
    const changes: [string, unknown][] = [[federationKey(job), record]];
    for (const { cluster, to, alias } of rolled) {
      for (const old of this.#undone(cluster, to)) changes.push([clcKey(job, cluster, old), undefined]);
      changes.push([clcKey(job, cluster, alias.sn), alias]);
    }
    this.#commit({ type: 'line', record, rolled, failed: [...this.#failed] }, changes);
    this.#failed.clear();
  }

  /** Numbers of a cluster that its alias of CLC `to` replaces, damaged ones included. */
  #undone(cluster: number, to: number): number[] {
    const numbers: number[] = [];
    for (let sn = to; sn < this.#clusters[cluster]!.next; sn++) numbers.push(sn);
    return numbers;
  }

  /** N5. */
  protected alias(next: number, _to: number): number {
    return next;
  }

  #goBack(record: FederationRecord, rolled: readonly Rolled[]): void {
    this.#epoch = record.epoch;
    this.#dead = [...record.dead];
    for (const { cluster, to, alias } of rolled) {
      const c = this.#clusters[cluster]!;
      if (c.underWay) this.#out.push({ type: 'over', cluster, sn: c.underWay.sn });
      c.underWay = undefined;
      c.stored.splice(
        c.stored.findIndex((r) => r.sn === to),
        Infinity,
        alias,
      );
      c.next = record.next[cluster]!;
      c.wanted = [...alias.ddv];
      c.due = this.#now + this.#o.periodMs[cluster]!;
      c.goingBack = this.#epoch;
      c.abandonedAt = undefined;
    }
    this.#clusters.forEach((c, cluster) => this.#forgetDead(cluster, c, rolled));
    this.#out.push({ type: 'goBack', epoch: this.#epoch, rolled, dead: this.#dead });
  }

  /** N6. */
  #forgetDead(own: number, c: Cluster, rolled: readonly Rolled[]): void {
    const { ddv } = c.stored.at(-1)!;
    for (const { cluster, to } of rolled)
      for (const named of [c.wanted, c.underWay?.ddv ?? []])
        if (cluster !== own && named[cluster]! >= to) named[cluster] = ddv[cluster]!;
  }

  // ---- garbage ----

  protected garbage(): readonly number[] {
    return garbageLine(this.stored, DEPTH);
  }

  #commitGarbage(): void {
    this.#collect = false;
    const oldest = this.garbage();
    const gone = this.#clusters.flatMap((c, cluster) =>
      c.stored.slice(0, oldest[cluster]).map(({ sn }) => [cluster, sn]),
    );
    // N7
    const changes = gone.map(([cluster, sn]) => [clcKey(this.#o.job, cluster!, sn!), undefined] as const);
    this.#commit({ type: 'garbage', oldest: this.#clusters.map((c, i) => c.stored[oldest[i]!]!.sn) }, changes);
  }

  #collected(oldest: readonly number[]): void {
    this.#clusters.forEach((c, i) =>
      c.stored.splice(
        0,
        c.stored.findIndex(({ sn }) => sn >= oldest[i]!),
      ),
    );
    this.#out.push({ type: 'stable', records: this.#clusters.map((c) => c.stored[0]!) });
  }
}
