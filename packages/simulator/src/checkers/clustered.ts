/**
 * The kit of clusters that checkpoint independently (`hc3i`). Shares no code with the cores.
 *
 *  Q1, Q2, Q3, Q5, Q19: surviving.ts, over the histories of all tasks, of which a line cuts back some. Q8, Q10, Q11:
 *  wave-course.ts, for each cluster.
 *  Q2 Every message that was under way within the cluster of a CLC is in a wave stream, durably, once; and every
 *     message that the cluster had sent to another one is in the log of its receiver, durably.
 *  Q4 Every image that a kept CLC names is complete when a cluster goes back to it.
 *  Q6 The world sees of a task nothing behind its cut in the oldest CLC that a loss may need.
 *  Q7 What a task had written to the world before its cut is durable when its CLC counts.
 *  Q9 A line raises the incarnations of the tasks of its clusters, and no others. Nobody of a cluster is assigned
 *     before it has gone back, and each gets the image of the CLC of the line.
 *  Q12 No CLC, and no record of a message between clusters, goes that a loss may need: of one or two clusters at once,
 *     the newest CLC of which may be damaged.
 *  Q13 A cluster that has not failed goes back only because of those that have, and nobody further than needed.
 *  Q14 A task consumes a message of another cluster only if a CLC of its own cluster names that interval.
 *  Q15 The line is the greatest one (clc-lines.ts), and nobody has consumed a message that it undoes.
 *
 * Owns: the kept CLCs as the registry has them, messages in logs and on their way to the world.
 */
import { FILES, WORLD, type ErrorBody, type Frame, type Header } from '@mayfly/wire';
import { Violation } from '../violation.ts';
import { greatestLine, oldestNeeded } from './clc-lines.ts';
import { ClcLogs, type ClcRecord, type DeadInterval } from './clc-logs.ts';
import { messageKey, type Place } from './records.ts';
import { Surviving } from './surviving.ts';
import {
  incarnationOf,
  name,
  type Excuses,
  type Histories,
  type ProtocolCheckers,
  type Stores,
  type Trim,
} from './universal.ts';
import { WaveCourse } from './wave-course.ts';
import { consumedBefore, memberOf, sentBefore, shownBefore, type Wave } from './wave-records.ts';
import type { WaveWitness } from './wave-witness.ts';
import { WithoutLog } from './without-log.ts';

interface Federation {
  readonly epoch: number;
  readonly dead: readonly DeadInterval[];
}
type Changes = readonly (readonly [key: string, value: unknown])[];

/** A cluster of tasks, and where it is. */
interface Cluster {
  readonly tasks: ReadonlySet<number>;
  readonly kept: ClcRecord[];
  readonly course: WaveCourse;
  /** The CLC that it went back to last. */
  to: ClcRecord | undefined;
  /** From a line, or a start of the server, until it may go on. */
  rolling: boolean;
  /** The epoch of its last line, and of its Channel Memory. */
  epoch: number;
  back: number;
}

export class Clustered extends WithoutLog implements ProtocolCheckers {
  private readonly surviving = new Surviving();
  private readonly logs: ClcLogs;
  private readonly clusters: readonly Cluster[];
  /** Q6: messages of each task to the world that no loss can undo. */
  private readonly stable = new Map<number, number>();
  private readonly floor = new Map<number, number>();
  private readonly begun = new Set<string>();
  private epoch = 0;
  private lives = 0;
  readonly waves: WaveWitness;

  constructor(
    private readonly histories: Histories,
    private readonly stores: Stores,
    private readonly of: readonly number[],
  ) {
    super();
    this.logs = new ClcLogs(this.surviving, stores, of);
    const count = Math.max(...of) + 1;
    this.clusters = Array.from({ length: count }, (_, cluster) => ({
      tasks: new Set(of.flatMap((c, task) => (c === cluster ? [task] : []))),
      // The start of the program is one, whether or not its record is there yet.
      kept: [{ cluster, sn: 1, images: 1, ddv: Array.from({ length: count }, (_, i) => (i === cluster ? 1 : 0)) }],
      course: new WaveCourse(() => stores.now()),
      to: undefined,
      rolling: false,
      epoch: 0,
      back: 0,
    }));
    const { clusters, surviving } = this;
    this.waves = {
      serverBegins: () => {
        for (const c of clusters) {
          c.course.serverBegins();
          c.rolling = this.lives > 0;
        }
        this.lives++;
      },
      begins: (wave, cluster) => clusters[cluster]!.course.begins(wave),
      ends: (wave, cluster) => clusters[cluster]!.course.ends(wave),
      rollsBack(_epoch, rolled = [...clusters.keys()]) {
        for (const cluster of rolled) clusters[cluster]!.course.rollsBack();
      },
      wentBack: (cm, epoch) => void (clusters[cm]!.back = epoch),
      goesOn: (cluster) => this.goesOn(clusters[cluster!]!, cluster!),
      imageTaken: (task, incarnation, image, held) => surviving.imageTaken(task, incarnation, image, held),
      assigned: (task, incarnation, image) => this.assigned(task, incarnation, image),
      writes: () => undefined,
      leaves: () => undefined,
      holdsBack: (cm, messages) => clusters[cm]!.course.holdsBack(cm, messages),
    };
  }

  private clusterOf(task: number): Cluster {
    return this.clusters[this.of[task]!]!;
  }

  /** The later life of a task is the one that counts: whatever an earlier one did behind the line is undone. */
  supersedes(life: number, known: number): boolean {
    return life >= known;
  }

  // ---- what is committed ----

  commits(changes: Changes): void {
    const line = changes.find(([key, value]) => key.startsWith('federation/') && value !== undefined);
    const incarnations = new Map(this.surviving.incarnations());
    for (const [key, value] of changes)
      if (key.startsWith('task/') && value !== undefined)
        this.surviving.raised(Number(key.split('/')[2]), (value as { incarnation: number }).incarnation);
    const clcs = changes.filter(([key]) => key.startsWith('clc/'));
    const made = clcs.flatMap(([, value]) => (value === undefined ? [] : [value as ClcRecord]));
    const gone = clcs.flatMap(([key, value]) => (value === undefined ? [key.split('/').slice(2).map(Number)] : []));
    if (line) this.goBack(line[1] as Federation, made, incarnations);
    else {
      if (gone.length > 0) this.collects(gone);
      for (const record of made) this.counts(record);
    }
    if (clcs.length > 0) this.raiseStable();
  }

  private get kept(): readonly (readonly ClcRecord[])[] {
    return this.clusters.map((c) => c.kept);
  }

  private raiseStable(): void {
    if (this.kept.some((k) => k.length === 0)) return;
    oldestNeeded(this.kept).forEach((at, cluster) => {
      for (const task of this.clusters[cluster]!.tasks) {
        const { wave } = this.kept[cluster]![at]!;
        this.stable.set(task, Math.max(this.stable.get(task) ?? 0, shownBefore(wave && memberOf(wave, task))));
      }
    });
  }

  /** Q12. */
  private collects(gone: readonly (readonly number[])[]): void {
    // An ended job is forgotten as a whole.
    if (gone.length === this.kept.reduce((n, k) => n + k.length, 0)) return;
    const oldest = oldestNeeded(this.kept);
    for (const [cluster, sn] of gone) {
      const { kept } = this.clusters[cluster!]!;
      const at = kept.findIndex((r) => r.sn === sn);
      if (at >= oldest[cluster!]!)
        throw new Violation(`Q12: CLC ${sn} of cluster ${cluster} goes, and a loss may need it`);
    }
    for (const [cluster, sn] of gone) {
      const { kept } = this.clusters[cluster!]!;
      kept.splice(
        kept.findIndex((r) => r.sn === sn),
        1,
      );
    }
  }

  private counts(record: ClcRecord): void {
    const { cluster, sn, ddv, wave } = record;
    const c = this.clusters[cluster]!;
    const last = c.kept.at(-1)!;
    if (sn === 1 && last.sn === 1) return;
    if (sn <= last.sn || ddv.some((x, i) => x < last.ddv[i]!))
      throw new Violation(`Q8: CLC ${sn} of cluster ${cluster} counts after ${last.sn}, and is not behind it`);
    c.kept.push(record);
    if (!wave) return;
    this.consistent(record, wave);
    this.surviving.committed(wave, c.tasks);
    this.whole(record, wave);
    for (const m of wave.tasks) {
      this.logs.sentOut(record, m);
      this.logs.durable(record, m);
    }
    if (wave.epoch !== c.epoch)
      throw new Violation(`Q19: CLC ${sn} of cluster ${cluster} of epoch ${wave.epoch} counts in epoch ${c.epoch}`);
  }

  /** Q1. */
  private consistent({ cluster, sn }: ClcRecord, wave: Wave): void {
    for (const p of wave.tasks)
      for (const [src, received] of p.cut?.receives ?? []) {
        const q = memberOf(wave, src);
        if (q && received > sentBefore(q, p.task))
          throw new Violation(
            `Q1: CLC ${sn} of cluster ${cluster}: ${p.task} has consumed ${received} messages of ${src}, which sent ` +
              String(sentBefore(q, p.task)),
          );
      }
  }

  /** Q4. */
  private imagesOf({ cluster, sn, wave }: ClcRecord): void {
    for (const p of wave?.tasks ?? [])
      if (p.state === 'image' && !this.stores.kept(p.task).some((i) => i.image === p.image))
        throw new Violation(`Q4: CLC ${sn} of cluster ${cluster} names image ${p.image}, which is not complete`);
  }

  /** Q2, Q4: of what was under way within the cluster, and of bodies that images lack. */
  private whole(record: ClcRecord, wave: Wave): void {
    this.imagesOf(record);
    const what = `Q2: CLC ${record.sn} of cluster ${record.cluster}`;
    const recorded = this.logs.recordedIn(record, wave, this.clusters[record.cluster]!.tasks);
    for (const p of wave.tasks) {
      if (p.state === 'ended') continue;
      const lacks = (src: number, n: number, wrote: number | undefined): void => {
        const digest = recorded.get(messageKey(src, p.task, n));
        if (digest === undefined) throw new Violation(`${what} lacks message ${n} of ${name(src)} → ${p.task}`);
        if (wrote !== undefined && wrote !== digest)
          throw new Violation(`${what} has another message ${n} of ${name(src)} → ${p.task}`);
      };
      for (const q of wave.tasks) {
        const sends = this.surviving.sentTo(q.task, p.task);
        const sent = Math.min(sends.length, sentBefore(q, p.task));
        for (let n = consumedBefore(p, q.task) + 1; n <= sent; n++) lacks(q.task, n, sends[n - 1]);
      }
      for (const held of p.image === undefined ? [] : this.surviving.heldBy(p.image)) {
        const m = this.histories.arrival(p.task, held);
        if (m) lacks(m.src, m.channel, this.histories.sentBy(m.src, p.task, m.channel)?.digest);
      }
    }
  }

  // ---- a line ----

  private goBack(record: Federation, made: readonly ClcRecord[], before: ReadonlyMap<number, number>): void {
    const { epoch, dead } = record;
    if (epoch <= this.epoch) throw new Violation(`Q9: epoch ${epoch} is drawn after ${this.epoch}`);
    this.epoch = epoch;
    const rolled = dead.slice(this.logs.dead.length);
    this.logs.dead = dead;
    const at = this.clusters.map(({ kept }, cluster) => {
      const of = rolled.find((r) => r.cluster === cluster);
      return of ? kept.findIndex((r) => r.sn === of.from) : kept.length;
    });
    if (at.includes(-1)) throw new Violation(`Q7: epoch ${epoch}: a cluster goes back to a CLC that is not kept`);
    this.isGreatest(epoch, at);
    for (const { cluster, from, until } of rolled) {
      const c = this.clusters[cluster]!;
      const alias = made.find((r) => r.cluster === cluster);
      const to = c.kept[at[cluster]!]!;
      if (alias?.sn !== until || alias.images !== to.images || until <= c.kept.at(-1)!.sn)
        throw new Violation(`Q8: cluster ${cluster} goes back to CLC ${from}, whose new number is ${alias?.sn}`);
      this.imagesOf(alias);
      this.surviving.back(alias.wave, c.tasks);
      c.kept.splice(at[cluster]!, Infinity, alias);
      Object.assign(c, { to: alias, epoch, rolling: true });
    }
    this.surviving.consistent(epoch);
    for (const [task, was] of before) {
      const back = rolled.some((r) => this.clusters[r.cluster]!.tasks.has(task));
      const is = this.stores.raised(task) ?? 0;
      if (back && !this.stores.isDone(task) && is <= was)
        throw new Violation(`Q9: epoch ${epoch} begins, and task ${task} keeps incarnation ${was}`);
      if (!back && is !== was)
        throw new Violation(`Q9: epoch ${epoch} raises task ${task}, whose cluster does not go back`);
    }
  }

  /** Q13, Q15. Those that nobody takes back have failed. */
  private isGreatest(epoch: number, at: readonly number[]): void {
    const { kept } = this;
    const back = at.flatMap((x, cluster) => (x < kept[cluster]!.length ? [cluster] : []));
    const without = (cluster: number): number =>
      greatestLine(kept, new Map(back.flatMap((c) => (c === cluster ? [] : [[c, at[c]!] as const]))))[cluster]!;
    const failed = back.filter((cluster) => without(cluster) > at[cluster]!);
    const all = failed.length > 0 ? failed : back;
    const best = greatestLine(kept, new Map(all.map((c) => [c, at[c]!])));
    if (best.some((x, cluster) => x !== at[cluster]))
      throw new Violation(
        `Q15: epoch ${epoch}: the line is ${at.join(' ')}, and the greatest one is ${best.join(' ')} of ` +
          kept.map((k) => k.length).join(' '),
      );
  }

  private goesOn(c: Cluster, cluster: number): void {
    if (c.back !== c.epoch)
      throw new Violation(`Q9: cluster ${cluster} goes on in epoch ${c.epoch}, its Channel Memory is in ${c.back}`);
    c.rolling = false;
    c.course.goesOn();
    for (const task of c.tasks) this.floor.set(task, this.surviving.actingOf(task) ?? 0);
  }

  private assigned(task: number, incarnation: number, image: string | undefined): void {
    const c = this.clusterOf(task);
    if (c.rolling) throw new Violation(`Q9: task ${task}.${incarnation} is assigned while its cluster goes back`);
    const m = c.to?.wave && memberOf(c.to.wave, task);
    if (m?.state === 'ended') throw new Violation(`Q7: task ${task}.${incarnation} is assigned, and had ended`);
    if (image !== m?.image)
      throw new Violation(`Q7: task ${task}.${incarnation} gets image ${image}, and its CLC has ${m?.image}`);
  }

  // ---- what passes through the server ----

  logged(at: Place, frame: Frame): void {
    this.logs.logged(at, frame);
  }

  cut(cm: number, stream: string, next: number): void {
    this.logs.cut(cm, stream, next);
  }

  trims(cm: number, trim: Trim): void {
    const { kept } = this.clusters[cm]!;
    this.logs.trims(cm, trim, kept, kept[oldestNeeded(this.kept)[cm]!]!);
  }

  /** Q6. */
  shows(_cm: number, task: number, channel: number): void {
    this.surviving.shows(task, channel);
    if (this.kept.every((k) => k.at(-1)?.wave?.tasks.every((t) => t.state === 'ended'))) return;
    const most = this.stable.get(task) ?? 0;
    if (channel > most)
      throw new Violation(`Q6: the world sees message ${channel} of task ${name(task)}; ${most} can never be undone`);
  }

  // ---- what ranks do ----

  began(task: number, life: number): void {
    const key = `${task}.${incarnationOf(life)}`;
    if (this.begun.has(key)) throw new Violation(`Q9: task ${key} begins twice`);
    this.begun.add(key);
  }

  sent(task: number, life: number, dst: number, channel: number, digest: number): void {
    this.surviving.sent(task, incarnationOf(life), dst, channel, digest);
  }

  consumed(
    task: number,
    life: number,
    _arrival: number,
    src: number,
    channel: number,
    digest: number | undefined,
  ): void {
    const incarnation = incarnationOf(life);
    this.surviving.consumed(task, incarnation, src, channel, digest);
    if (src === WORLD || src === FILES || this.of[src] === this.of[task]) return;
    if (incarnation === (this.surviving.actingOf(task) ?? incarnation)) this.named(task, src, channel);
  }

  /** Q14. */
  private named(task: number, src: number, channel: number): void {
    const from = this.of[src]!;
    const interval = this.kept[from]!.findLast(({ wave }) => sentBefore(wave && memberOf(wave, src), task) < channel);
    const { sn, ddv } = this.clusterOf(task).kept.at(-1)!;
    if (interval && ddv[from]! < interval.sn)
      throw new Violation(
        `Q14: task ${task} consumes message ${channel} of ${src}, of interval ${interval.sn}, and CLC ${sn} of its ` +
          `cluster names ${ddv[from]}`,
      );
  }

  /** Q9. */
  pushed(cm: number, { dst, src, channel, incarnation }: Header): void {
    const least = this.floor.get(dst) ?? 0;
    if (incarnation < least)
      throw new Violation(
        `Q9: Channel Memory ${cm} pushes message ${channel} of ${src} to ${dst}.${incarnation}; ${least} acts`,
      );
  }

  /**
   * One damaged image is enough: it may be that of the only CLC that its cluster has since it went back, or of an older
   * one to which the line leads. Q12 judges whether all are kept that ought to be.
   */
  override excuses(error: ErrorBody, misfortunes: Excuses): boolean {
    return (
      super.excuses(error, misfortunes) || (error.code === 'LOST_CHECKPOINTS' && misfortunes.damagedImages.size > 0)
    );
  }
}
