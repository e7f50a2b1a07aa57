/**
 * The oracle: executes the programs of a job without any protocol, from the final histories as the checkers have them —
 * which message each arrival was, and how each poll, clock reading and local value came out. What a program sends is
 * computed here, never taken from the run. So a run that ends has to be *one* legal execution of its programs, whose
 * outputs are those that the world saw.
 *
 * An ordered program needs no history: its messages are matched in the order of each channel, and the result is the
 * fault-free answer.
 */
import { FILES, WORLD, WorldMode } from '@mayfly/wire';
import { FileModel } from './file-model.ts';
import {
  advance,
  answered,
  digestOf,
  happened,
  initialState,
  matched,
  matching,
  nextAction,
  requested,
  sent,
  stdinMessage,
  type Action,
  type ProgramSpec,
  type ProgramState,
} from './program.ts';

export type Outcome = number | string;

export interface History {
  /** The k-th message that a task consumed, from 1; undefined: not reported. */
  consumed(task: number, k: number): { src: number; channel: number } | undefined;
  /** The answer to request r of a task that its program took; undefined: not reported. */
  answer(task: number, r: number): Uint8Array | undefined;
  /** Outcome of the n-th event of a task: arrivals that a poll consumed, ms, a name. */
  event(task: number, n: number): Outcome | undefined;
}

interface Message {
  readonly tag: number;
  readonly body: Uint8Array;
}

/** Digest of a message to the world, as the checkers have it. */
export const outputDigest = (mode: number, body: ArrayLike<number>): number => digestOf(0, mode, body);

/** Per task the digests of all that it writes to the world; or where the histories contradict the programs. */
export function execute(
  spec: ProgramSpec,
  history: History | undefined,
  modes: { output: number; exit: number },
): number[][] | string {
  const files = new FileModel(spec.spawn?.first ?? spec.size);
  const tasks = Array.from({ length: spec.size }, (_, task) => new Task(spec, task, history, modes, files));
  for (;;) {
    let moved = false;
    for (const t of tasks) {
      while (t.step(tasks)) moved = true;
      if (t.error !== undefined) return t.error;
    }
    if (tasks.every((t) => t.state.stage === 'over')) return tasks.map((t) => t.outputs);
    if (!moved)
      return `no legal execution: ${tasks
        .filter((t) => t.state.stage !== 'over')
        .map((t) => t.where())
        .join('; ')}`;
  }
}

class Task {
  readonly state: ProgramState;
  readonly outputs: number[] = [];
  error: string | undefined;
  private readonly sends = new Map<number, Message[]>();
  private readonly taken = new Map<number, number>();
  private readonly answers: Uint8Array[] = [];
  private consumed = 0;
  private polling = 0;
  private lastClock = 0;

  constructor(
    private readonly spec: ProgramSpec,
    private readonly task: number,
    private readonly history: History | undefined,
    private readonly modes: { output: number; exit: number },
    private readonly files: FileModel,
  ) {
    this.state = initialState(spec, task);
  }

  where(): string {
    return (
      `task ${this.task} waits in ${this.state.stage} of round ${this.state.round} after ${this.consumed} ` + 'arrivals'
    );
  }

  /** One action; false: it waits, or is over. */
  step(all: readonly Task[]): boolean {
    const s = this.state;
    if (s.stage === 'over') return false;
    const a = nextAction(this.spec, this.task, s);
    if (!a) {
      advance(this.spec, this.task, s);
      return true;
    }
    return this.perform(a, all);
  }

  private perform(a: Action, all: readonly Task[]): boolean {
    const s = this.state;
    switch (a.type) {
      case 'open':
        advance(this.spec, this.task, s);
        return true;
      case 'send': {
        const channel = this.sends.get(a.dst) ?? [];
        channel.push({ tag: a.tag, body: a.body });
        this.sends.set(a.dst, channel);
        sent(s);
        return true;
      }
      case 'request':
        this.outputs.push(outputDigest(WorldMode.REQUEST, a.body));
        // without a history each task has a file of its own, and asks in its own time
        if (!this.history) this.answers.push(this.files.apply(a.body)!);
        requested(s, a.op);
        return true;
      case 'receive':
      case 'answer':
      case 'read': {
        const src = a.type === 'read' ? WORLD : a.type === 'answer' ? FILES : a.src;
        const tag = a.type === 'receive' ? a.tag : 0;
        for (;;) {
          const i = matching(s, src, tag);
          if (i >= 0) {
            if (a.type === 'answer') answered(s, i, Uint8Array.from(s.queue[i]!.body!));
            else matched(s, i, s.queue[i]!.body!);
            return true;
          }
          if (!this.consume(all, src)) return false;
        }
      }
      case 'poll': {
        const n = this.outcome();
        if (typeof n !== 'number') return this.fail(`poll ${s.events} has no outcome`);
        while (this.polling < n) {
          if (!this.consume(all, a.src)) return false;
          this.polling++;
        }
        this.polling = 0;
        happened(s, matching(s, a.src, a.tag) >= 0 ? 1 : 2);
        return true;
      }
      case 'clock': {
        const ms = this.outcome();
        if (typeof ms !== 'number') return this.fail(`clock reading ${s.events} has no outcome`);
        if (ms < this.lastClock) return this.fail(`its clock goes back from ${this.lastClock} to ${ms}`);
        this.lastClock = ms;
        happened(s, ms);
        return true;
      }
      case 'place': {
        const name = this.outcome();
        if (typeof name !== 'string') return this.fail(`local value ${s.events} has no outcome`);
        happened(s, name);
        return true;
      }
      case 'output':
        this.outputs.push(outputDigest(this.modes.output, a.body));
        s.outputs++;
        s.at++;
        return true;
      case 'checkpoint':
        s.at++;
        return true;
      case 'exit':
        this.outputs.push(outputDigest(this.modes.exit, new TextEncoder().encode('{"code":0}')));
        advance(this.spec, this.task, s);
        return true;
    }
  }

  private outcome(): Outcome | undefined {
    return this.history?.event(this.task, this.state.events);
  }

  /** The next message of its history; without one, the next message of the source that is asked for. */
  private consume(all: readonly Task[], wanted: number): boolean {
    const k = this.consumed + 1;
    const told = this.history?.consumed(this.task, k);
    const src = this.history ? told?.src : wanted;
    if (src === undefined) return false;
    const channel = (this.taken.get(src) ?? 0) + 1;
    if (told && told.channel !== channel)
      return this.fail(`arrival ${k} is message ${told.channel} of ${src}, after ${channel - 1}`);
    const m =
      src === WORLD
        ? { tag: 0, body: stdinMessage(this.spec, channel) }
        : src === FILES
          ? this.answer(channel)
          : all[src]?.sends.get(this.task)?.[channel - 1];
    if (!m) return false;
    this.taken.set(src, channel);
    this.consumed = k;
    this.state.queue.push({ src, tag: m.tag, arrival: k, size: m.body.length, body: m.body as unknown as number[] });
    return true;
  }

  private answer(r: number): Message | undefined {
    const body = this.history ? this.history.answer(this.task, r) : this.answers[r - 1];
    return body && { tag: 0, body };
  }

  private fail(what: string): false {
    this.error = `no legal execution: task ${this.task}: ${what}`;
    return false;
  }
}
