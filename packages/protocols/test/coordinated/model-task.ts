/**
 * A task of the model (job-model.ts) and its comm worker: a program that sends, receives and writes as it likes, takes
 * images, and ends when it has heard everything.
 */
import { WORLD, taskId, type Cut, type TaskId } from '@mayfly/wire';
import type { Message, ModelLog } from './model-log.ts';

/** Actions of a program, besides receiving. */
const STEPS = 12;

/** What a program knows; an image is a copy. */
export interface Memory {
  sends: number[];
  receives: number[];
  received: string[][];
  sent: string[][];
  outputs: string[];
  arrivals: number;
  steps: number;
}

/** On the way to a Channel Memory. */
export type Frame = { readonly epoch: number; readonly from: TaskId } & (
  | { readonly k: 'data'; readonly dst: TaskId; readonly message: Message }
  | { readonly k: 'out'; readonly n: number; readonly content: string }
  | { readonly k: 'cut'; readonly wave: number; readonly cut: Cut }
  | { readonly k: 'credit'; readonly arrivals: number }
  | { readonly k: 'exit'; readonly n: number }
);
type Content<F> = F extends unknown ? Omit<F, 'epoch' | 'from'> : never;

export const home = (task: TaskId, logs: number): number => task % logs;

export class ModelTask {
  memory: Memory;
  epoch = 0;
  /** Executes. */
  runs = false;
  ended = false;
  /** It had ended in the wave that the others went back to. */
  over = false;
  /** The wave that it is asked for an image for, and its cut once it is taken. */
  asked = 0;
  cut: Cut | undefined;
  /** Pushed by its home. */
  inbox: { number: number; message: Message; epoch: number }[] = [];
  /** By Channel Memory. */
  up: Frame[][];

  constructor(
    readonly task: TaskId,
    private readonly tasks: number,
    private readonly logs: number,
    private readonly random: (below: number) => number,
  ) {
    this.memory = this.blank();
    this.up = Array.from({ length: logs }, () => []);
  }

  private blank(): Memory {
    const counts = (): number[] => new Array<number>(this.tasks).fill(0);
    const lists = (): string[][] => counts().map(() => []);
    return {
      sends: counts(),
      receives: counts(),
      received: lists(),
      sent: lists(),
      outputs: [],
      arrivals: 0,
      steps: 0,
    };
  }

  /** A new incarnation. */
  restart(epoch: number, image: Memory | undefined): void {
    this.forget(epoch);
    this.ended = false;
    this.memory = image ? structuredClone(image) : this.blank();
  }

  /** What was under way is gone. */
  forget(epoch: number): void {
    this.epoch = epoch;
    this.runs = false;
    this.asked = 0;
    this.cut = undefined;
    this.inbox = [];
    this.up = this.up.map(() => []);
  }

  /** Consumes what came next. */
  receive(): { epoch: number } | undefined {
    const next = this.inbox.shift();
    if (!next) return undefined;
    const { number, message } = next;
    const m = this.memory;
    m.arrivals = number;
    m.receives[message.src]!++;
    m.received[message.src]!.push(message.content);
    this.sendHome({ k: 'credit', arrivals: number });
    return next;
  }

  /** Sends or writes; false: it has done all that it does. */
  act(write: boolean): boolean {
    const m = this.memory;
    if (m.steps >= STEPS) return false;
    m.steps++;
    const content = `${this.task}.${this.epoch}.${m.steps}.${this.random(1e6)}`;
    if (write) {
      m.outputs.push(content);
      this.sendHome({ k: 'out', n: m.outputs.length, content });
      return true;
    }
    const dst = taskId((this.task + 1 + this.random(this.tasks - 1)) % this.tasks);
    m.sent[dst]!.push(content);
    const channel = ++m.sends[dst]!;
    this.send(home(dst, this.logs), { k: 'data', dst, message: { src: this.task, channel, content } });
    return true;
  }

  /** An end that needs what others sent: it has heard of each what that one sends in its life here. */
  mayEnd(all: readonly ModelTask[]): boolean {
    const { memory: m, task } = this;
    return all.every((o) => o.memory.steps >= STEPS && o.memory.sends[task] === m.receives[o.task]);
  }

  end(): void {
    this.ended = true;
    this.sendHome({ k: 'exit', n: this.memory.outputs.length });
  }

  image(): Memory {
    const m = this.memory;
    const pairs = (counts: readonly number[]): [TaskId, number][] => counts.map((n, task) => [taskId(task), n]);
    this.cut = {
      arrivals: m.arrivals,
      sends: [...pairs(m.sends), [WORLD, m.outputs.length]],
      receives: pairs(m.receives),
      held: [],
    };
    for (let cm = 0; cm < this.logs; cm++) this.send(cm, { k: 'cut', wave: this.asked, cut: this.cut });
    return structuredClone(m);
  }

  /** A broken connection: CUT first, then what the Channel Memory lacks. */
  again(cm: number, log: ModelLog): void {
    if (log.epoch !== this.epoch) return;
    const m = this.memory;
    this.up[cm] = [];
    if (this.cut) this.send(cm, { k: 'cut', wave: this.asked, cut: this.cut });
    for (let dst = taskId(0); dst < this.tasks; dst = taskId(dst + 1)) {
      if (home(dst, this.logs) !== cm) continue;
      const has = log.has(this.task, dst);
      m.sent[dst]!.forEach((content, i) => {
        if (i >= has) this.send(cm, { k: 'data', dst, message: { src: this.task, channel: i + 1, content } });
      });
    }
    if (home(this.task, this.logs) !== cm) return;
    const has = log.output[this.task]!.length + log.held[this.task]!.length;
    m.outputs.forEach((content, i) => {
      if (i >= has) this.sendHome({ k: 'out', n: i + 1, content });
    });
    if (this.ended) this.sendHome({ k: 'exit', n: m.outputs.length });
    this.sendHome({ k: 'credit', arrivals: m.arrivals });
  }

  private sendHome(f: Content<Frame>): void {
    this.send(home(this.task, this.logs), f);
  }

  private send(cm: number, f: Content<Frame>): void {
    this.up[cm]!.push({ ...f, epoch: this.epoch, from: this.task } as Frame);
  }
}
