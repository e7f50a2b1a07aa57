/**
 * A job in virtual time: ranks with the pattern of a benchmark on a platform, under the production cores. The
 * checkpoint scheduler (`Waves`), a gate for each rank (`Gate`) and what freezes its sends (`Freeze`) decide everything
 * about waves; this file only carries their effects over the network and answers. A gate stands at its rank's node, as
 * the daemon of the paper does, so each rank's marker goes to every other rank.
 *
 * Not here: losses. The paper's figures have none.
 */
import { imageId, jobId, taskId, type Cut } from '@mayfly/wire';
import type { Gate, WaveEffect, WaveEvent, Waves } from '@mayfly/protocols';
import { Agenda } from '../agenda.ts';
import { Random } from '../random.ts';
import { Channel } from './channel.ts';
import { CORES, type Cores, type Implementation } from './implementation.ts';
import { Network } from './network.ts';
import { MB_PER_S, US, type Parameters } from './parameters.ts';
import type { Pattern } from './pattern.ts';
import type { Platform } from './platform.ts';
import { Rank, type RankHost, type Sent } from './rank.ts';
import { Steady } from './steady.ts';

export interface VirtualJob {
  readonly pattern: Pattern;
  readonly platform: Platform;
  readonly implementation: Implementation;
  readonly parameters: Parameters;
  /** Millions of operations that a rank does in a second. */
  readonly speed: number;
  /** bytes of a rank's image. */
  readonly image: number;
  /** ms from the end of a wave to the next. */
  readonly periodMs: number;
  readonly seed: number;
  readonly cores?: Cores;
  /** Simulate every step: none is taken to be like the one before. */
  readonly everyStep?: boolean;
}

export interface VirtualRun {
  /** ms */
  readonly time: number;
  /** Committed ones. */
  readonly waves: number;
  /** ms from begin to commit, mean. */
  readonly waveMs: number;
  /** ms that a rank stood still for an image, mean per rank and wave. */
  readonly stallMs: number;
  /** ms between mark and image, mean per rank and wave. */
  readonly frozenMs: number;
  /** Of all waves: bytes of the channel state. */
  readonly stateBytes: number;
  /** (`pcl`) Bytes that ranks sent between mark and image. */
  readonly delayedBytes: number;
  /** Messages that gates held back, and the longest wait, ms. */
  readonly held: number;
  readonly longestHeldMs: number;
  /** Messages of the whole run, and those that were simulated one by one. */
  readonly messages: number;
  readonly simulated: number;
}

interface Door {
  readonly gate: Gate;
  last: number;
  wave: number;
  /** By channel and number: messages that the gate holds, and when they came. */
  readonly late: Map<string, { readonly since: number; readonly bytes: number }>;
  /** Bytes of the arrivals that its rank has not consumed, and the number of the first of them. */
  readonly open: number[];
  first: number;
  records: number;
}

/** ms after which a wave is given up. */
const WAVE_MS = 600_000;
const SCHEDULER = 0;
/** ms that a message is behind the marker before it, so that rounding cannot turn them round. */
const BEHIND = 1e-6;

class Run implements RankHost {
  readonly #agenda = new Agenda();
  readonly #network = new Network(this.#agenda);
  readonly #ranks: Rank[] = [];
  readonly #doors: Door[] = [];
  readonly #channels = new Map<number, Channel>();
  readonly #waves: Waves | undefined;
  readonly #steady: Steady;
  /** Of each rank: when it sent its last markers. */
  readonly #marked: number[] = [];
  #wave = 0;
  #begun = 0;
  #endedThen: readonly number[] = [];
  #uploads = 0;
  #due = Infinity;
  #running: number;
  readonly #total = { waves: 0, waveMs: 0, stateBytes: 0, held: 0, longestHeldMs: 0, simulated: 0 };

  constructor(private readonly job: VirtualJob) {
    const { pattern, implementation, parameters: p } = job;
    const cores = job.cores ?? CORES;
    const n = pattern.ranks;
    this.#running = n;
    const random = Random.named(job.seed, 'speed');
    const messages = Array.from({ length: n }, (_, r) => pattern.step(r).filter((a) => a.kind === 'send').length);
    this.#steady = new Steady(
      n,
      pattern.steps,
      messages.reduce((a, b) => a + b, 0),
    );
    for (let r = 0; r < n; r++) {
      const gate = cores.gate(n, (t) => t === r);
      this.#doors.push({ gate, last: 0, wave: 0, late: new Map(), open: [], first: 1, records: 0 });
      this.#ranks.push(
        new Rank(
          {
            rank: r,
            acts: pattern.step(r),
            perOperation: (1 + (p.spread / 100) * random.next()) / (job.speed * 1000),
            callCost: p.callCost * US,
            copy: job.image / (p.copyRate * MB_PER_S),
            freezes: implementation.protocol === 'pcl',
            untilStored: implementation.resumes === 'stored',
            freeze: cores.freeze<Sent>(),
          },
          this,
        ),
      );
    }
    if (implementation.protocol === 'none') return;
    const settings = { periodMs: job.periodMs, waveMs: WAVE_MS };
    this.#waves = cores.waves({ job: jobId('virtual'), tasks: n, participants: [], settings });
    for (let r = 0; r < n; r++) this.#step({ type: 'began', epoch: 0, task: taskId(r), now: 0 });
    this.#step({ type: 'tick', now: 0 });
    this.#tickAt(job.periodMs);
  }

  // ---- time: what steps the run left out is in the offset ----

  get now(): number {
    return this.#agenda.now;
  }

  /** ms of the job's own clock. */
  get #clock(): number {
    return this.#agenda.now + this.#steady.offset;
  }

  after(ms: number, f: () => void): void {
    this.#agenda.after(ms, f);
  }

  run(): VirtualRun {
    for (const r of this.#ranks) r.start();
    while (this.#running > 0)
      if (!this.#agenda.step()) throw new Error(`${this.#running} ranks of ${this.job.pattern.name} wait for ever`);
    const n = this.#ranks.length;
    const { waves, waveMs, ...total } = this.#total;
    const each = (of: (r: Rank) => number): number =>
      this.#ranks.reduce((sum, r) => sum + of(r), 0) / n / Math.max(1, waves);
    return {
      ...total,
      waves,
      time: this.#clock,
      waveMs: waveMs / Math.max(1, waves),
      stallMs: each((r) => r.stood),
      frozenMs: each((r) => r.frozen),
      delayedBytes: this.#ranks.reduce((sum, r) => sum + r.delayed, 0),
      messages: total.simulated + this.#steady.messages,
    };
  }

  // ---- ranks ----

  steps(rank: Rank): boolean {
    const goes = this.#steady.begins(rank.o.rank, this.now);
    if (this.#wave > 0 || this.#uploads > 0 || this.job.everyStep) this.#steady.disturbed();
    else if (this.#steady.leavesOut(this.#waves ? this.#due - this.#clock : Infinity) && this.#waves)
      this.#tickAt(this.#due);
    return goes;
  }

  transmit(from: number, m: Sent): void {
    const n = this.#ranks.length;
    const key = from * n + m.to;
    let channel = this.#channels.get(key);
    if (!channel) {
      const route = this.job.platform.route(from, m.to);
      channel = new Channel(this.#agenda, this.#network, route, this.job.implementation.daemon, (number, bytes) =>
        this.#comes(from, m.to, number, bytes),
      );
      this.#channels.set(key, channel);
    }
    this.#total.simulated++;
    const marked = this.#marked[from];
    if (marked !== undefined) channel.behind(marked + this.#toOther(from, m.to) + BEHIND);
    channel.send(m.channel, m.bytes);
  }

  consumed(rank: Rank, arrivals: number): void {
    const d = this.#doors[rank.o.rank]!;
    d.gate.consumed(rank.task, arrivals);
    d.open.splice(0, arrivals + 1 - d.first);
    d.first = arrivals + 1;
  }

  marks(rank: Rank, wave: number): void {
    const sends = [...rank.sends];
    this.#marked[rank.o.rank] = this.now;
    this.#toAll(rank.o.rank, (to) => {
      const mine = sends.filter(([dst]) => dst === to).map(([dst, count]) => [taskId(dst), count] as const);
      this.#join(to, wave);
      this.#doors[to]!.gate.frozen(wave, rank.task, mine as [ReturnType<typeof taskId>, number][]);
      this.#obey(to);
    });
  }

  cuts(rank: Rank, wave: number, cut: Cut): void {
    const me = rank.o.rank;
    this.#marked[me] = this.now;
    this.#toAll(me, (to) => {
      this.#join(to, wave);
      // A gate needs what concerns its own task.
      const mine = to === me ? cut : { ...cut, sends: cut.sends.filter(([dst]) => dst === to), receives: [] };
      this.#doors[to]!.gate.cut(wave, rank.task, mine);
      this.#obey(to);
    });
    this.#tell(me, { type: 'cut', wave, task: rank.task, cut });
    const { links, own, latency } = this.job.platform.toServer(me);
    this.#uploads++;
    const image = imageId(`virtual-${me}-${wave}`);
    this.#network.start(
      links,
      this.job.image,
      () => {
        this.#uploads--;
        this.#agenda.after(latency, () => {
          rank.stored();
          this.#tell(me, { type: 'stored', wave, task: rank.task, image });
        });
      },
      own,
    );
  }

  ends(rank: Rank): void {
    this.#running--;
    // Behind everything that it sent: a channel is empty before its end is reported.
    const me = rank.o.rank;
    const mine = [...this.#channels].filter(([key]) => Math.floor(key / this.#ranks.length) === me);
    let open = mine.filter(([, c]) => !c.empty).length;
    const report = (): void => {
      this.#toAll(me, (to) => {
        this.#doors[to]!.gate.ended(rank.task);
        this.#obey(to);
      });
      this.#tell(me, { type: 'ended', epoch: 0, task: rank.task });
    };
    if (open === 0) return report();
    for (const [, c] of mine) if (!c.empty) c.whenEmpty(() => --open === 0 && report());
  }

  // ---- gates ----

  #comes(from: number, to: number, channel: number, bytes: number): void {
    const d = this.#doors[to]!;
    if (d.gate.comes(taskId(from), taskId(to), channel)) {
      d.late.set(`${from}#${channel}`, { since: this.now, bytes });
      this.#total.held++;
      return;
    }
    this.#number(d, from, to, channel, bytes);
    if (this.#wave > 0) this.#obey(to);
  }

  #number(d: Door, from: number, to: number, channel: number, bytes: number): void {
    const number = ++d.last;
    d.open.push(bytes);
    d.gate.numbered(taskId(to), number, taskId(from), channel);
    this.#ranks[to]!.pushed(number, from);
  }

  /** A wave begins for a gate with the first frame that names it: "When a process receives the first marker". */
  #join(to: number, wave: number): void {
    const d = this.#doors[to]!;
    if (d.wave >= wave) return;
    d.wave = wave;
    d.records = 0;
    d.gate.begin(wave, this.#endedThen.map(taskId));
    this.#ranks[to]!.asked(wave);
  }

  #obey(to: number): void {
    const d = this.#doors[to]!;
    for (let effects = d.gate.take(); effects.length > 0; effects = d.gate.take())
      for (const e of effects)
        switch (e.type) {
          case 'release': {
            const { src, channel } = e.message;
            const key = `${src}#${channel}`;
            const { since, bytes } = d.late.get(key)!;
            this.#total.longestHeldMs = Math.max(this.#total.longestHeldMs, this.now - since);
            d.late.delete(key);
            this.#number(d, src, to, channel, bytes);
            break;
          }
          case 'record': {
            const [wave, records] = [d.wave, ++d.records];
            this.#total.stateBytes += d.open[e.number - d.first] ?? 0;
            this.#agenda.after(this.job.parameters.serverLogMs, () => {
              d.gate.synced(taskId(to), wave, records);
              this.#obey(to);
            });
            break;
          }
          case 'recorded':
            this.#tell(to, { type: 'recorded', wave: e.wave, task: e.dst });
            break;
          case 'flushed':
            this.#ranks[to]!.flushed(e.wave);
        }
  }

  // ---- the scheduler ----

  #tickAt(clock: number): void {
    this.#due = clock;
    this.#agenda.after(clock - this.#clock, () => {
      // A jump over steps has brought it nearer.
      if (this.#clock >= clock - 1e-6 && this.#wave === 0) this.#step({ type: 'tick', now: clock });
    });
  }

  #tell(from: number, e: Distribute<WaveEvent>): void {
    if (!this.#waves) return;
    const ms = this.job.platform.latency(from, SCHEDULER);
    this.#agenda.after(ms, () => this.#step({ ...e, now: this.#clock } as WaveEvent));
  }

  /** One after the other: a process that sends a marker to everybody needs time for each. */
  #toAll(from: number, f: (to: number) => void): void {
    f(from);
    for (let i = 1; i < this.#ranks.length; i++) {
      const to = (from + i) % this.#ranks.length;
      this.#agenda.after(this.#toOther(from, to), () => f(to));
    }
  }

  /** ms until a marker arrives. */
  #toOther(from: number, to: number): number {
    const n = this.#ranks.length;
    const { platform, parameters } = this.job;
    return platform.latency(from, to) + ((to - from + n) % n) * parameters.markerCost * US;
  }

  #step(e: WaveEvent): void {
    for (const effect of this.#waves!.step(e)) this.#perform(effect);
  }

  #perform(e: WaveEffect): void {
    switch (e.type) {
      case 'begin':
        this.#wave = e.wave;
        this.#begun = this.#clock;
        this.#endedThen = e.ended;
        this.#toAll(SCHEDULER, (to) => this.#join(to, e.wave));
        return;
      case 'mark':
        this.#toAll(SCHEDULER, (to) => {
          this.#doors[to]!.gate.mark(e.wave);
          this.#obey(to);
        });
        this.#step({ type: 'marked', wave: e.wave, mark: 0, now: this.#clock });
        return;
      case 'commit':
        this.#agenda.after(this.job.parameters.commitMs, () =>
          this.#step({ type: 'committed', wave: e.wave, now: this.#clock }),
        );
        return;
      case 'over':
        if (e.committed) {
          this.#total.waves++;
          this.#total.waveMs += this.#clock - this.#begun;
        }
        this.#wave = 0;
        this.#steady.disturbed();
        this.#tickAt(this.#clock + this.job.periodMs);
        this.#toAll(SCHEDULER, (to) => {
          this.#doors[to]!.gate.over(e.wave);
          this.#obey(to);
        });
        return;
      case 'log':
        if (e.level === 'error') throw new Error(e.message);
    }
  }
}

type Distribute<E> = E extends unknown ? Omit<E, 'now'> : never;

/** @throws Error a rank waits for ever, or a wave was not consistent: a defect of a core or of this host */
export const runVirtually = (job: VirtualJob): VirtualRun => new Run(job).run();
