/**
 * A whole job under waves, from the cores of coordinated/ and as little else as will do: tasks that send to each other
 * as they like, connections that break, Channel Memories with gates, images, an outside that shows output. Nodes are
 * lost, the server is killed, images are damaged. Every message and every output has a content of its own in each life
 * of its sender, so a mixture of two lives shows.
 *
 *  Q1 The scheduler meets no contradiction.
 *  Q2 A task that has ended has received everything that was sent to it, in order.
 *  Q3 What it has received is what the surviving life of its sender sent.
 *  Q5 Output that was shown is the beginning of what the surviving life writes, at every rollback and at the end.
 *  Q9 Nothing of an older epoch reaches a task.
 *  Q11 The job ends.
 */
import { WORLD, imageId, jobId, taskId, type TaskId } from '@mayfly/wire';
import {
  START_OF_TASK,
  lineKey,
  type LineRecord,
  type WaveEffect,
  type WaveEvent,
  type WaveRecord,
} from '../../src/contract/waves.ts';
import { Waves } from '../../src/coordinated/waves.ts';
import type { Timeless } from '../../src/service/timeless.ts';
import { randomOf } from '../random.ts';
import { judge } from './job-judge.ts';
import { ModelLog, type LogHost, type Message } from './model-log.ts';
import { ModelTask, home, type Memory } from './model-task.ts';
import { Words } from './model-words.ts';
import { Wrong } from './wrong.ts';

type Input = Timeless<WaveEvent>;

/** What a run breaks on purpose. */
export type Planted =
  | 'last stored images'
  | 'output at once'
  | 'output at the commit'
  | 'exit is final'
  | 'survivors keep their life'
  | 'queues survive'
  | 'one Channel Memory stays'
  | 'the outside cuts first'
  | 'records not synced'
  | 'a task that acts is at its start';

const JOB = jobId('model0000000');
export class Model {
  readonly #random: (below: number) => number;
  readonly #tasks: ModelTask[];
  #logs: ModelLog[] = [];
  #waves!: Waves;
  #now = 0;
  readonly #registry = new Map<string, unknown>();
  readonly #images = new Map<string, Memory>();
  readonly #damaged = new Set<number>();
  /** Output up to the mark of each wave, by task. */
  readonly #marks = new Map<number, number[]>();
  readonly #shown: string[][];
  #wave = 0;
  /** Output before the cut of each task that has cut. */
  #cutTaken = new Map<TaskId, number>();
  /** Everybody has cut; the outside has, too. */
  #markAsked = false;
  #marked = true;
  #pending: (() => void)[] = [];
  readonly #words: Words;
  #faults: number;
  finished = false;
  #life = 0;
  readonly counts = { waves: 0, back: 0, recorded: 0, late: 0, shown: 0 };

  constructor(
    seed: number,
    private readonly planted?: Planted,
  ) {
    this.#random = randomOf(seed);
    const n = 2 + this.#random(3);
    const logs = 1 + this.#random(2);
    this.#words = new Words(new Set(logs === 2 && this.#random(2) === 0 ? [1] : []));
    this.#faults = 3 + this.#random(5);
    this.#tasks = Array.from({ length: n }, (_, t) => new ModelTask(taskId(t), n, logs, this.#random));
    this.#shown = this.#tasks.map(() => []);
    const host: LogHost = {
      soon: (f) => this.#soon(f),
      push: (dst, number, message) => this.#push(dst, number, message),
      recorded: (task, wave) => this.#soon(() => this.#tell({ type: 'recorded', wave, task })),
      acts: (log) => this.#logs.includes(log),
      count: (what) => this.counts[what]++,
      lost: (what) => {
        throw new Wrong(`Q2: ${what}`);
      },
      unsynced: planted === 'records not synced',
    };
    for (let i = 0; i < logs; i++) this.#logs.push(new ModelLog(n, (t) => home(t, logs) === i, 0, host));
    this.#waves = this.#scheduler();
    for (const t of this.#tasks) this.#begins(t);
  }

  #scheduler(): Waves {
    return new Waves({
      job: JOB,
      tasks: this.#tasks.length,
      participants: [...this.#logs.map((_, i) => `cm${i}`), 'images', 'outside'],
      settings: { periodMs: 20 + this.#random(100), waveMs: 2000 },
    });
  }

  // ---- a run ----

  run(): this {
    for (let step = 0; !this.finished; step++) {
      if (step > 60_000) throw new Wrong('Q11: no end');
      this.#now++;
      if (step % 5 === 0) this.#tell({ type: 'tick' });
      if (this.#faults > 0 && step > 40 && this.#random(60) === 0) this.#misfortune();
      const words = this.#words.next();
      const i = this.#random(this.#pending.length + words.length + 3 * this.#tasks.length) - words.length;
      if (i < 0) words[words.length + i]!();
      else if (i < this.#pending.length) this.#pending.splice(i, 1)[0]!();
      else this.#turn(this.#tasks[(i - this.#pending.length) % this.#tasks.length]!);
    }
    judge(this.#tasks, this.#shown);
    return this;
  }

  #soon(f: () => void): void {
    const life = this.#life;
    this.#pending.push(() => life === this.#life && f());
  }

  #tell(e: Input): void {
    if (this.finished) return;
    for (const effect of this.#waves.step({ ...e, now: this.#now } as WaveEvent)) this.#perform(effect);
  }

  /** To each Channel Memory, unless another one has taken its place. */
  #toLogs(word: (log: ModelLog, cm: number) => void): void {
    this.#logs.forEach((log, cm) =>
      this.#words.to(cm, () => {
        if (this.#logs[cm] !== log) return;
        word(log, cm);
        log.obey();
      }),
    );
  }

  /** Of a Channel Memory, as long as it acts. */
  #hear(cm: number, e: Input): void {
    const log = this.#logs[cm];
    this.#words.from(cm, () => this.#logs[cm] === log && this.#tell(e));
  }

  /** The tasks whose home is there. */
  #at(cm: number): ModelTask[] {
    return this.#tasks.filter((t) => home(t.task, this.#logs.length) === cm);
  }

  #turn(t: ModelTask): void {
    const what = this.#random(10);
    if (what < 4) this.#deliver(t);
    else if (t.runs && !t.ended) this.#act(t, what);
  }

  #act(t: ModelTask, what: number): void {
    if (t.asked > 0 && t.cut === undefined && this.#random(3) === 0) return this.#image(t);
    const got = what < 7 ? t.receive() : undefined;
    if (got && got.epoch !== t.epoch)
      throw new Wrong(`Q9: task ${t.task} gets a message of epoch ${got.epoch} in epoch ${t.epoch}`);
    if (!got && !t.act(what === 9) && t.mayEnd(this.#tasks)) t.end();
  }

  #image(t: ModelTask): void {
    const { asked: wave, epoch, task } = t;
    const image = imageId(`${JOB}-${task}-${epoch}-${wave}`);
    const memory = t.image();
    this.#soon(() => {
      this.#images.set(image, memory);
      if (t.epoch === epoch) this.#tell({ type: 'stored', wave, task, image });
    });
  }

  #begins(t: ModelTask): void {
    const { epoch } = t;
    this.#soon(() => {
      if (t.epoch !== epoch || t.runs) return;
      t.runs = true;
      this.#hear(home(t.task, this.#logs.length), { type: 'began', epoch, task: t.task });
    });
  }

  // ---- misfortune ----

  #misfortune(): void {
    const kind = this.#random(12);
    const t = this.#tasks[this.#random(this.#tasks.length)]!;
    if (kind < 6) {
      const cm = this.#random(this.#logs.length);
      return t.again(cm, this.#logs[cm]!);
    }
    this.#faults--;
    if (kind < 9 && t.runs) {
      t.runs = false;
      this.#tell({ type: 'lost', task: t.task });
    } else if (kind === 9) this.#kill();
    else {
      const kept = [...this.#registry].filter(([k]) => k.startsWith('wave/')).map(([, v]) => (v as WaveRecord).wave);
      const victim = kept[this.#random(kept.length)];
      if (victim !== undefined && this.#damaged.size === 0) this.#damaged.add(victim);
    }
  }

  /** The server's process: gates and logs are gone, synced streams and the registry stay. */
  #kill(): void {
    this.#life++;
    this.#pending = [];
    this.#words.clear();
    this.#wave = 0;
    this.#cutTaken.clear();
    this.#logs = this.#logs.map((log) => log.killed());
    for (const t of this.#tasks) t.runs = false;
    this.#waves = this.#scheduler();
    const waves = [...this.#registry].filter(([k]) => k.startsWith('wave/')).map(([, v]) => v as WaveRecord);
    const line = this.#registry.get(lineKey(JOB)) as LineRecord | undefined;
    for (const e of this.#waves.recover(waves, line, this.#now)) this.#perform(e);
  }

  // ---- Channel Memories ----

  #deliver(t: ModelTask): void {
    const cm = this.#random(this.#logs.length);
    const f = t.up[cm]!.shift();
    const log = this.#logs[cm]!;
    if (!f || (f.epoch !== log.epoch && this.planted !== 'one Channel Memory stays')) return;
    const { gate } = log;
    switch (f.k) {
      case 'data':
        log.comes(f.dst, f.message);
        break;
      case 'out':
        if (f.n !== log.output[f.from]!.length + log.held[f.from]!.length + 1) return;
        // F1: what a task writes after its cut, the outside hears when everybody has cut
        if (!this.#marked && f.n > (this.#cutTaken.get(f.from) ?? f.n)) log.held[f.from]!.push(f.content);
        else log.output[f.from]!.push(f.content);
        this.#maybeMark();
        if (this.planted === 'output at once') this.#show(f.from, f.n);
        break;
      case 'cut':
        gate.cut(f.wave, f.from, f.cut);
        if (home(f.from, this.#logs.length) === cm && f.wave === this.#wave) {
          this.#cutTaken.set(f.from, f.cut.sends.find(([dst]) => dst === WORLD)![1]);
          this.#hear(cm, { type: 'cut', wave: f.wave, task: f.from, cut: f.cut });
        }
        break;
      case 'credit':
        log.consumed(f.from, f.arrivals);
        break;
      case 'exit':
        if (log.output[f.from]!.length + log.held[f.from]!.length < f.n) return;
        this.#exit(f.from);
        break;
    }
    log.obey();
  }

  /** EXIT leaves when everything that the task sent is acknowledged. */
  #exit(task: TaskId): void {
    const t = this.#tasks[task]!;
    if (this.#logs.some((log) => log.epoch !== t.epoch) && this.planted !== 'one Channel Memory stays') return;
    const lacks = this.#tasks.some(({ task: dst }) => {
      const log = this.#logs[home(dst, this.#logs.length)]!;
      return !log.ended(dst) && log.has(task, dst) < t.memory.sends[dst]!;
    });
    if (lacks) {
      const { epoch } = t;
      this.#soon(() => t.epoch === epoch && this.#exit(task));
      return;
    }
    const { epoch } = t;
    const cm = home(task, this.#logs.length);
    const log = this.#logs[cm];
    this.#words.from(cm, () => {
      if (this.#logs[cm] !== log) return;
      this.#toLogs((each) => each.gate.ended(task));
      if (this.planted === 'exit is final') this.#show(task, t.memory.outputs.length);
      this.#tell({ type: 'ended', epoch, task });
    });
  }

  #push(dst: TaskId, number: number, message: Message): void {
    const t = this.#tasks[dst]!;
    const { epoch } = this.#logs[home(dst, this.#logs.length)]!;
    if (epoch === t.epoch || this.planted === 'one Channel Memory stays') t.inbox.push({ number, message, epoch });
  }

  // ---- what the scheduler wants ----

  #perform(e: WaveEffect): void {
    switch (e.type) {
      case 'begin':
        this.#wave = e.wave;
        this.#cutTaken = new Map(e.starting.map((t) => [t, 0]));
        this.#markAsked = this.#marked = false;
        if (this.planted === 'the outside cuts first') this.#mark(e.wave);
        return this.#toLogs(({ gate }, cm) => {
          gate.begin(e.wave, e.ended);
          for (const task of e.starting)
            if (gate.mayStart(task) || this.planted === 'a task that acts is at its start')
              gate.cut(e.wave, task, START_OF_TASK);
            else this.#hear(cm, { type: 'cannot', wave: e.wave, task, reason: 'it has begun' });
          for (const t of this.#at(cm)) {
            t.asked = e.ended.includes(t.task) || e.starting.includes(t.task) ? 0 : e.wave;
            t.cut = undefined;
          }
        });
      case 'mark':
        this.#markAsked = true;
        return this.#maybeMark();
      case 'commit':
        this.#soon(() => {
          this.#write(e.changes);
          this.#soon(() => this.#tell({ type: 'committed', wave: e.wave }));
        });
        return;
      case 'over':
        if (e.committed) this.counts.waves++;
        this.#wave = 0;
        this.#letOut();
        this.#toLogs(({ gate }, cm) => {
          for (const t of this.#at(cm)) t.asked = 0;
          gate.over(e.wave);
        });
        if (e.committed && this.planted === 'output at the commit') this.#release(e.wave);
        return;
      case 'release':
        return this.#release(e.wave);
      case 'check':
        this.#soon(() => this.#tell({ type: 'checked', wave: e.wave, sound: !this.#damaged.has(e.wave) }));
        return;
      case 'line':
        this.#soon(() => {
          this.#write(e.changes);
          this.#soon(() => this.#tell({ type: 'lineDurable', epoch: e.line.epoch }));
        });
        return;
      case 'goBack':
        return this.#goBack(e.epoch, e.to);
      case 'assign':
        for (const t of this.#tasks) this.#assign(t, e.epoch, e.to);
        return;
      case 'finished':
        this.#tasks.forEach((t) => this.#show(t.task, t.memory.outputs.length));
        this.finished = true;
        return;
      case 'failed':
        throw new Wrong(`the job failed: ${e.error.message}`);
      case 'log':
        if (e.level === 'error') throw new Wrong(`Q1: ${e.message}`);
        return;
      case 'forget':
        return;
    }
  }

  #write(changes: readonly (readonly [string, unknown])[]): void {
    for (const [k, v] of changes)
      if (v === undefined) this.#registry.delete(k);
      else this.#registry.set(k, structuredClone(v));
  }

  /** Everything before the cuts is out. */
  #maybeMark(): void {
    const wave = this.#wave;
    const { length } = this.#logs;
    const lacks = (t: TaskId): boolean => this.#logs[home(t, length)]!.output[t]!.length < (this.#cutTaken.get(t) ?? 0);
    if (!this.#markAsked || this.#marked || this.#tasks.some((t) => lacks(t.task))) return;
    if (this.planted !== 'the outside cuts first') this.#mark(wave);
    this.#letOut();
    this.#toLogs(({ gate }) => gate.mark(wave));
    this.#soon(() => this.#tell({ type: 'marked', wave, mark: wave }));
  }

  #mark(wave: number): void {
    const { length } = this.#logs;
    this.#marks.set(
      wave,
      this.#tasks.map(({ task }) => this.#logs[home(task, length)]!.output[task]!.length),
    );
  }

  #letOut(): void {
    this.#marked = true;
    for (const log of this.#logs) log.letOut();
  }

  #release(wave: number): void {
    this.#marks.get(wave)?.forEach((n, task) => this.#show(taskId(task), n));
  }

  #show(task: TaskId, n: number): void {
    const out = this.#logs[home(task, this.#logs.length)]!.output[task]!;
    const shown = this.#shown[task]!;
    for (let i = shown.length; i < n; i++) {
      this.counts.shown++;
      shown.push(out[i] ?? 'nothing');
    }
  }

  #goBack(epoch: number, to: WaveRecord | undefined): void {
    this.counts.back++;
    this.#wave = 0;
    this.#cutTaken.clear();
    for (const t of this.#tasks) {
      if (this.planted === 'survivors keep their life' && t.runs) continue;
      t.runs = false;
    }
    const marks = (to && this.#marks.get(to.wave)) ?? this.#tasks.map(() => 0);
    this.#logs.forEach((_, cm) => {
      this.#soon(() => {
        const old = this.#logs[cm]!;
        if (old.epoch >= epoch) return; // an order that a later one has overtaken
        if (cm === 1 && this.planted === 'one Channel Memory stays') old.epoch = epoch;
        else this.#logs[cm] = old.back(epoch, to, marks, this.planted === 'queues survive');
        this.#tell({ type: 'wentBack', epoch, who: `cm${cm}` });
      });
    });
    for (const who of ['images', 'outside']) this.#soon(() => this.#tell({ type: 'wentBack', epoch, who }));
  }

  #assign(t: ModelTask, epoch: number, to: WaveRecord | undefined): void {
    if (this.planted === 'survivors keep their life' && t.runs) {
      t.epoch = epoch;
      return;
    }
    const from = to?.tasks[t.task];
    let image = from?.state === 'image' ? this.#images.get(from.image) : undefined;
    if (this.planted === 'last stored images') {
      const mine = [...this.#images].filter(([id]) => id.startsWith(`${JOB}-${t.task}-`));
      image = mine.at(-1)?.[1] ?? image;
    }
    // what others send to it in their new lives nobody waits for
    t.over = from?.state === 'ended' && t.ended;
    if (t.over) return t.forget(epoch);
    t.restart(epoch, image);
    const log = this.#logs[home(t.task, this.#logs.length)]!;
    for (const [number, message] of log.arrivals[t.task]!) t.inbox.push({ number, message, epoch });
    this.#begins(t);
  }
}
