/**
 * A stage for the dispatcher: answers its effects at once, keeps a registry that survives its death, and remembers what
 * it did.
 */
import {
  incarnation,
  jobId,
  nodeId,
  taskId,
  type ExitReport,
  type Hold,
  type ImageId,
  type Incarnation,
  type JobId,
  type NodeId,
  type Position,
  type RankActivity,
  type TaskId,
} from '@mayfly/wire';
import {
  Dispatcher,
  jobView,
  protocols,
  type DispatcherEffect,
  type DispatcherEvent,
  type DispatcherSettings,
  type Holdings,
  type JobSpec,
  type KnownImage,
} from '../../src/index.ts';

type EventOf<T extends DispatcherEvent['type']> = Omit<Extract<DispatcherEvent, { type: T }>, 'now' | 'type'>;
export type EffectOf<T extends DispatcherEffect['type']> = Extract<DispatcherEffect, { type: T }>;

export const J = (n = 0): JobId => jobId(`job${String(n).padStart(9, '0')}`);
export const N = (n: number): NodeId => nodeId(`node${String(n).padStart(4, '0')}`);
export const T = taskId;
export const I = incarnation;

export const job = (size: number, over: Partial<JobSpec> = {}): JobSpec => ({
  id: J(),
  name: 'job',
  size,
  protocol: 'pessimistic',
  durability: 'behind',
  program: { language: 'typescript', entry: 'main.ts', hash: '0'.repeat(64) },
  args: [],
  files: [],
  seed: 1,
  channelMemories: 2,
  checkpointMs: 1000,
  interactive: false,
  limits: { memoryBytes: 1, fileBytes: 1 },
  submittedAt: 0,
  ...over,
});

const noCounters = { messagesIn: 0, bytesIn: 0, messagesOut: 0, bytesOut: 0, images: 0, imageBytes: 0 };

/** A log in which nothing is missing, since nobody depends on anything. */
export const NOTHING: Holdings = { arrivals: 0, consumed: 0, determinants: 0, held: [], sent: [] };

export class Stage {
  now = 1_000_000;
  dispatcher: Dispatcher;
  readonly registry = new Map<string, unknown>();
  /** Everything done so far, in order. */
  readonly effects: DispatcherEffect[] = [];
  /** What the Checkpoint Server would choose, by `${job}/${task}`. */
  readonly images = new Map<string, KnownImage>();
  /** Where these lie, if it matters. */
  readonly positions = new Map<TaskId, Position>();
  /** What the CMs answer at a fence: messages logged and arrivals consumed, by task. */
  readonly logged = new Map<TaskId, { sends: number; consumed: number }>();
  /** …and what there is for a restart. */
  readonly logs = new Map<TaskId, Holdings>();
  /** Members of teams that had ended where their team goes back to. */
  readonly endedBefore = new Set<TaskId>();
  /** Effects of these types are held back until {@link release}. */
  readonly hold = new Set<DispatcherEffect['type']>();
  #held: DispatcherEffect[] = [];
  readonly #settings: Partial<DispatcherSettings>;

  constructor(
    settings: Partial<DispatcherSettings> = {},
    table: ConstructorParameters<typeof Dispatcher>[1] = protocols,
  ) {
    this.#settings = settings;
    this.dispatcher = new Dispatcher(settings, table);
    this.send('recover', { entries: [], images: [] });
  }

  send<K extends DispatcherEvent['type']>(type: K, e: EventOf<K>): DispatcherEffect[] {
    const out: DispatcherEffect[] = [];
    const queue: DispatcherEvent[] = [{ type, now: this.now, ...e } as unknown as DispatcherEvent];
    for (let next = queue.shift(); next; next = queue.shift())
      for (const effect of this.dispatcher.step(next)) {
        out.push(effect);
        this.effects.push(effect);
        if (this.hold.has(effect.type)) this.#held.push(effect);
        else queue.push(...this.answer(effect));
      }
    return out;
  }

  answer(e: DispatcherEffect): DispatcherEvent[] {
    const { now } = this;
    if (e.type === 'persist') {
      for (const [k, v] of e.changes) {
        if (v === undefined) this.registry.delete(k);
        else this.registry.set(k, structuredClone(v));
      }
      return [{ type: 'persisted', now, token: e.token }];
    }
    if (e.type === 'fenceCs') {
      const image = this.images.get(`${e.job}/${e.task}`)?.image;
      return [
        {
          type: 'imageChosen',
          now,
          job: e.job,
          task: e.task,
          incarnation: e.incarnation,
          ...(image === undefined ? {} : { image }),
          ...(this.positions.has(e.task) && { position: this.positions.get(e.task)! }),
          ...(this.endedBefore.has(e.task) ? { ended: true as const } : {}),
        },
      ];
    }
    if (e.type === 'fenceCm') {
      const l = this.logged.get(e.task);
      return [
        {
          type: 'fencedCm',
          now,
          job: e.job,
          task: e.task,
          incarnation: e.incarnation,
          cm: e.cm,
          sends: e.cm === 0 ? (l?.sends ?? 0) : 0,
          consumed: l?.consumed ?? 0,
          logs: this.logs.get(e.task) ?? NOTHING,
        },
      ];
    }
    return [];
  }

  release(): void {
    this.hold.clear();
    const held = this.#held;
    this.#held = [];
    for (const e of held) for (const event of this.answer(e)) this.send(event.type, event as never);
  }

  /** kill -9 and a new start on the same registry. */
  crash(pause = 500): void {
    this.now += pause;
    this.#held = [];
    this.dispatcher = new Dispatcher(this.#settings);
    this.send('recover', {
      entries: [...this.registry].map(([k, v]) => [k, structuredClone(v)] as const),
      images: [...this.images.values()],
    });
  }

  /** Lets time pass, with ticks, and heartbeats of the connections given. */
  pass(ms: number, alive: Record<string, EventOf<'heartbeat'>['tasks']> = {}): void {
    for (let t = 0; t < ms; t += 250) {
      this.now += 250;
      for (const [connection, tasks] of Object.entries(alive)) this.send('heartbeat', { connection, tasks });
      this.send('tick', {});
    }
  }

  /** Node n comes on connection `c<n>` (or another). */
  come(n: number, slots = 1, more: Partial<EventOf<'hello'>> = {}): void {
    this.send('hello', {
      connection: `c${n}`,
      fresh: N(n),
      session: `s${n}`,
      name: `tab ${n}`,
      engine: 'test',
      slots,
      holds: [],
      images: [],
      ...more,
    });
  }

  beat(
    task: number,
    inc: number,
    activity: Partial<RankActivity> = {},
    id = J(),
  ): EventOf<'heartbeat'>['tasks'][number] {
    return {
      job: id,
      task: T(task),
      incarnation: I(inc),
      started: true,
      activity: { state: 'computing', arrivals: 0, sends: 0, ...activity },
    };
  }

  /** `sentBy`: not the acting incarnation. */
  exit(task: number, report: ExitReport = { code: 0 }, id = J(), sentBy?: number): void {
    const acting = this.dispatcher.core.find(id, T(task))?.incarnation ?? 0;
    this.send('exit', { job: id, task: T(task), incarnation: I(sentBy ?? acting), report });
  }

  of<K extends DispatcherEffect['type']>(type: K): EffectOf<K>[] {
    return this.effects.filter((e): e is EffectOf<K> => e.type === type);
  }

  /** The assignments so far, as 'task.incarnation@node'. */
  assigned(): string[] {
    return this.of('assign').map((a) => `${a.task}.${a.incarnation}@${Number(a.node.slice(4))}`);
  }

  view(id = J()) {
    return jobView(this.dispatcher, id, { task: () => noCounters, outputs: [], outputBytes: 0 })!;
  }

  record(task: number, id = J()): { incarnation: Incarnation; node: NodeId } {
    return this.registry.get(`task/${id}/${task}`) as never;
  }
}

export const held = (task: number, inc: number, id = J()): Hold => ({ job: id, task: T(task), incarnation: I(inc) });
export const image = (task: number, serial: number, id = J()): KnownImage => ({
  job: id,
  task: T(task),
  image: `${id}-${task}-0-${serial}` as ImageId,
  serial,
});
