/**
 * A Channel Memory of the model (job-model.ts): a gate, arrivals by number, wave streams, output that is held until the
 * outside has cut.
 */
import { taskId, type TaskId } from '@mayfly/wire';
import type { WaveRecord } from '../../src/contract/waves.ts';
import { Gate } from '../../src/coordinated/gate.ts';
import { restoreGate, type Recorded } from '../../src/coordinated/rollback.ts';

export interface Message {
  readonly src: TaskId;
  readonly channel: number;
  readonly content: string;
}

type StreamRecord = Recorded & { readonly content: string };

/** Records of a receiver in a wave, and how many of them are durable. */
interface Stream {
  records: StreamRecord[];
  synced: number;
}

export interface LogHost {
  /** Later, unless the server is killed. */
  soon(f: () => void): void;
  push(dst: TaskId, number: number, message: Message): void;
  recorded(dst: TaskId, wave: number): void;
  /** This is the Channel Memory that acts. */
  acts(log: ModelLog): boolean;
  count(what: 'recorded' | 'late'): void;
  lost(what: string): never;
  /** Planted: wave streams are not synced. */
  readonly unsynced: boolean;
}

export class ModelLog {
  readonly gate: Gate;
  /** Of each receiver: arrivals that are here, by number. */
  readonly arrivals: Map<number, Message>[];
  readonly #last: number[];
  late = new Map<string, Message>();
  /** Durable. By epoch, wave and receiver. */
  streams = new Map<string, Stream>();
  /** Durable. By sender: output that came; and what is held until the outside has cut. */
  output: string[][];
  readonly held: string[][];

  constructor(
    readonly tasks: number,
    private readonly isHome: (task: TaskId) => boolean,
    public epoch: number,
    private readonly host: LogHost,
  ) {
    this.gate = new Gate(tasks, isHome);
    const each = <T>(make: () => T): T[] => Array.from({ length: tasks }, make);
    this.arrivals = each(() => new Map<number, Message>());
    this.#last = each(() => 0);
    this.output = each(() => []);
    this.held = each(() => []);
  }

  /** Messages of a channel that have come. */
  has(src: TaskId, dst: TaskId): number {
    return this.gate.state.seen[src + 2]![dst] ?? 0;
  }

  ended(task: TaskId): boolean {
    return this.gate.state.doors[task]!.ended;
  }

  comes(dst: TaskId, message: Message): void {
    const { src, channel } = message;
    if (!this.ended(dst) && channel !== this.has(src, dst) + 1) return;
    if (!this.gate.comes(src, dst, channel)) return this.number(dst, message);
    this.host.count('late');
    this.late.set(`${src}>${dst}#${channel}`, message);
  }

  number(dst: TaskId, message: Message): void {
    const number = ++this.#last[dst]!;
    this.arrivals[dst]!.set(number, message);
    this.gate.numbered(dst, number, message.src, message.channel);
    this.host.push(dst, number, message);
  }

  consumed(task: TaskId, arrivals: number): void {
    this.gate.consumed(task, arrivals);
    for (const n of [...this.arrivals[task]!.keys()]) if (n <= arrivals) this.arrivals[task]!.delete(n);
  }

  letOut(): void {
    this.held.forEach((held, t) => this.output[t]!.push(...held.splice(0)));
  }

  /** Performs what the gate wants. */
  obey(): void {
    const { gate } = this;
    for (let effects = gate.take(); effects.length > 0; effects = gate.take())
      for (const e of effects)
        if (e.type === 'release') {
          const key = `${e.message.src}>${e.dst}#${e.message.channel}`;
          this.number(e.dst, this.late.get(key)!);
          this.late.delete(key);
        } else if (e.type === 'record') this.#record(e.dst, e.number, e.body);
        else if (e.type === 'recorded') this.host.recorded(e.dst, e.wave);
  }

  #record(dst: TaskId, number: number, body: boolean): void {
    const { wave } = this.gate.state;
    this.host.count('recorded');
    const message = this.arrivals[dst]!.get(number);
    if (!message) return this.host.lost(`arrival ${number} of task ${dst} is to be recorded, and it is gone`);
    const key = `${this.epoch}/${wave}/${dst}`;
    const s = this.streams.get(key) ?? { records: [], synced: 0 };
    this.streams.set(key, s);
    s.records.push({ ...message, body });
    const n = s.records.length;
    this.host.soon(() => {
      if (!this.host.unsynced) s.synced = Math.max(s.synced, n);
      if (!this.host.acts(this)) return;
      this.gate.synced(dst, wave, n);
      this.obey();
    });
  }

  /** The process is gone: what comes after it finds what was durable. */
  killed(): ModelLog {
    for (const s of this.streams.values()) s.records.length = s.synced;
    const next = new ModelLog(this.tasks, this.isHome, -1, this.host);
    next.streams = this.streams;
    next.output = this.output;
    return next;
  }

  /** G7. `marks`: output of each task before the mark of the wave. `stay`: planted, what was under way stays. */
  back(epoch: number, to: WaveRecord | undefined, marks: readonly number[], stay: boolean): ModelLog {
    const next = new ModelLog(this.tasks, this.isHome, epoch, this.host);
    next.streams = this.streams;
    next.output = this.output.map((o, t) => (this.isHome(taskId(t)) ? o.slice(0, marks[t]) : []));
    const mine = to?.tasks.filter((t) => this.isHome(t.task) || t.state === 'ended') ?? [];
    for (const t of mine) if (t.state === 'image') next.#last[t.task] = t.cut.arrivals;
    const records = (task: TaskId): StreamRecord[] =>
      this.streams.get(`${to?.epoch}/${to?.wave}/${task}`)?.records ?? [];
    restoreGate(next.gate, mine, records, (dst, number, record) => {
      next.#last[dst] = number;
      next.arrivals[dst]!.set(number, record as StreamRecord);
    });
    if (stay)
      this.arrivals.forEach((arrivals, dst) => {
        for (const message of arrivals.values()) next.number(taskId(dst), message);
      });
    return next;
  }
}
