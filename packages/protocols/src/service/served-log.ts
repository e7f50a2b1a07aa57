/**
 * One Channel Memory of an open job: the core, while there is one, and what the next core has to hear first.
 *
 * Owns: events and orders that wait for the core; the lowest incarnation of each task that may act; the tasks that are
 * done. Does not own: streams, connections and clocks (the host), what the core has of input from outside
 * (input-feed.ts), what other cores make of an answer (job-service.ts).
 *
 *  L1 The core is never entered while the effects of its last event are being performed.
 *  L2 A new core hears, in this order: its streams; the fences; that it has recovered; the tasks that are done, or
 *     have ended and run nowhere; standard input and answers that its logs lack; the orders that came while there was
 *     no core.
 *  L4 (Coordinated checkpointing) After a restart of the server there is no core before the scheduler has drawn a line,
 *     and each line begins a core of its own, where its cluster is part of it.
 *  L3 After an effect that failed, the rest of that step does not happen and the core is not used again. The host makes
 *     a new one from the streams.
 */
import { homeOf, taskId, type ErrorBody, type ImageId, type Incarnation, type TaskId } from '@mayfly/wire';
import { ChannelMemory } from '../channel-memory/channel-memory.ts';
import type { LogPolicy } from '../channel-memory/state.ts';
import type {
  ChannelMemoryOptions,
  CmEffect,
  CmEvent,
  Line,
  Progress,
  Range,
  StageEffect,
  StageEvent,
  StreamName,
  Witness,
} from '../channel-memory/events.ts';
import type { Dissolved } from '../contract/dissolved.ts';
import type { AnswerSource } from '../files/answer-feed.ts';
import { InputFeed, type InputRoom, type StdinSource } from './input-feed.ts';
import { Inbox } from './inbox.ts';
import { Witnesses } from './witnesses.ts';

/** What a stage says, and exits that are durable: for the part of the protocol (part.ts). */
export type StageAnswer = StageEffect | Extract<CmEffect, { type: 'taskEnded' }>;
/** Effects that leave the cores. The others are answers, which {@link LogAnswers} takes. */
export type LogIo = Exclude<CmEffect, StageAnswer | { type: 'fenced' | 'covered' | 'failed' }>;

export interface LogHost {
  /** Performs an effect, or throws (L3). */
  perform(effect: LogIo): void;
  /** All effects of an event are performed. */
  performed(): void;
  /** L3: the core is gone. */
  broke(error: unknown): void;
  /** L4: the core is to be dropped, with all connections and what is not durable; the next one begins at the line. */
  restart(): void;
  /**
   * An answer of the file service cannot be read. @returns whether it may be readable later, so that nothing is lost
   */
  mayPass(error: unknown): boolean;
}

/** Answers and complaints of a core, for the other cores of its job. */
export interface LogAnswers {
  fenced(cm: number, task: TaskId, incarnation: Incarnation, progress: Progress): void;
  covered(cm: number, image: ImageId, determinants: readonly Range[]): void;
  refused(cm: number, task: TaskId, incarnation: Incarnation, error: ErrorBody): void;
  failed(cm: number, error: ErrorBody): void;
  /** The first attachment of an incarnation, at its home. */
  began(task: TaskId): void;
  stage(cm: number, answer: StageAnswer): void;
  /** L4: a core is gone, with what it held, and its tasks go back. */
  coreLost(cm: number): void;
  /** L4: its core begins where all tasks of the job, or of its cluster, go back to. */
  wentBack(cm: number, epoch: number): void;
  /** What a core has to know that has recovered, before anything else; undefined: nothing. */
  recovered(): StageEvent | undefined;
}

/**
 * A core as its ServedLog sees it: of this process (ChannelMemory), or of another one. That one takes an event and
 * answers later ({@link ServedLog.answered}); what it can be asked is as it was last reported.
 */
export type LogCore = Pick<
  ChannelMemory,
  | 'tasks'
  | 'line'
  | 'flushDue'
  | 'worldDue'
  | 'step'
  | 'progress'
  | 'logged'
  | 'inputAhead'
  | 'durable'
  | 'observe'
  | 'awaiting'
  | 'memory'
  | 'unshown'
  | 'provisional'
  | 'waveCounts'
> &
  // Only in this process: the others ask it in the middle of an event.
  Partial<Pick<ChannelMemory, 'witness'>>;

export interface ServedLogOptions extends Omit<ChannelMemoryOptions, 'size'> {
  /** Tasks of the job when it is opened. */
  readonly size: number;
  readonly policy: LogPolicy;
  /** The job starts now: no rank can have received anything. */
  readonly fresh: boolean;
  /** Of rank 0; asked by the Channel Memory at its home. */
  readonly stdin?: StdinSource | undefined;
  readonly files: AnswerSource;
  /** Default 4 MiB and 16 MiB. */
  readonly input?: InputRoom;
}

/** An order that waits for a core. */
export type LogOrder = Extract<CmEvent, { type: 'cover' | 'uncover' | 'trim' }>;

/** The records of one stream that are left, and the number that its next one gets. */
export interface StreamRecords {
  readonly records: Iterable<{ lsn: number; bytes: Uint8Array }>;
  readonly next: number;
}

export class ServedLog {
  readonly index: number;
  readonly #options: ServedLogOptions;
  readonly #host: LogHost;
  readonly #answers: LogAnswers;
  readonly #fences = new Map<TaskId, Incarnation>();
  readonly #done = new Set<TaskId>();
  readonly #unattended = new Set<TaskId>();
  #teams: Pick<ChannelMemoryOptions, 'teams' | 'dissolved'> | undefined;
  /** By what they ask for: of two orders for the same, the later one counts. */
  readonly #orders = new Map<string, LogOrder>();
  readonly #input: InputFeed;
  readonly #inbox: Inbox<CmEvent>;
  /** Messages of each task to the world that can never be undone. */
  readonly #stable = new Map<TaskId, { readonly channel: number; readonly answers: number }>();
  #line: Line | undefined;
  #waitsForLine: boolean;
  #size: number;
  #fresh: boolean;
  readonly #witnesses = new Witnesses((task) => this.#core?.witness?.(task));
  #others: readonly ServedLog[] | undefined;
  #core: LogCore | undefined;
  constructor(options: ServedLogOptions, host: LogHost, answers: LogAnswers) {
    this.index = options.index;
    this.#options = options;
    this.#host = host;
    this.#answers = answers;
    this.#size = options.size;
    this.#fresh = options.fresh;
    this.#waitsForLine = options.policy.goesBack === true && !options.fresh;
    this.#inbox = new Inbox((event) => this.#take(event));
    const core = (): LogCore | undefined => this.#core;
    this.#input = new InputFeed(options, {
      get core() {
        return core();
      },
      takes: (task) => this.isHome(task) && !this.#done.has(task),
      give: (event) => this.step(event),
      mayPass: (error) => host.mayPass(error),
      failed: (error) => answers.failed(this.index, error),
    });
  }

  /** Undefined: it recovers, or has failed for good. */
  get core(): LogCore | undefined {
    return this.#core;
  }

  /** Tasks of the job. */
  get size(): number {
    return this.#size;
  }

  // Life of a core

  /** For {@link begin}: the host opens the streams that it names. */
  newCore(): ChannelMemory {
    return new ChannelMemory(this.#options.policy, {
      ...this.coreOptions(),
      others: (task) => this.#others?.map((log) => log.witness(task)) ?? [undefined],
    });
  }

  /** The other Channel Memories of the job. */
  beside(others: readonly ServedLog[]): void {
    this.#others = others;
  }

  /** What this one is sure of. */
  witness(task: TaskId): Witness | undefined {
    return this.#witnesses.of(task);
  }

  /** Of a core that begins now. */
  coreOptions(): ChannelMemoryOptions {
    const { policy: _, fresh: __, stdin: ___, files: ____, input: _____, ...options } = this.#options;
    return { ...options, ...this.#teams, size: this.#size, line: this.#line };
  }

  /** L4. */
  get waitsForLine(): boolean {
    return this.#waitsForLine;
  }

  /** L4: the core is gone, and what was in its memory: all tasks go back. Else, where logs are durable, nothing. */
  lost(): void {
    if (!this.#options.policy.goesBack || this.#waitsForLine) return;
    this.#waitsForLine = true;
    this.#answers.coreLost(this.index);
  }

  /** L4. Answered by `wentBack`. */
  goBack(line: Line): void {
    this.#line = line;
    this.#waitsForLine = false;
    this.#host.restart();
  }

  /** Tasks of others went back, its own did not: nothing of their old incarnations comes any more. */
  fenceAgain(tasks: Iterable<TaskId>): void {
    for (const task of tasks) {
      const incarnation = this.#fences.get(task);
      if (incarnation !== undefined) this.step({ type: 'fence', task, incarnation });
    }
  }

  /** What the world may see of a task, and which answers of the file service the task never needs again. */
  stable(task: TaskId, channel: number, answers: number): void {
    this.#stable.set(task, { channel, answers });
    this.step({ type: 'stable', task, channel, answers });
  }

  /**
   * L2.
   * @param read the records of a stream, all of which are consumed before the next one is asked for
   * @throws what `read` and `perform` throw, MalformedFrame: then there is no core
   */
  begin(core: ChannelMemory, read: (name: StreamName) => StreamRecords): void {
    for (const name of core.streams()) {
      const { records, next } = read(name);
      for (const effect of core.recover(name, records, next)) this.#perform(effect);
    }
    this.begun(core);
  }

  /** L2, once its streams are read. */
  begun(core: LogCore): void {
    this.#core = core;
    this.#input.begin(core);
    for (const [task, incarnation] of this.#fences) this.step({ type: 'fence', task, incarnation });
    this.step({ type: 'recovered', fresh: this.#fresh });
    this.#witnesses.begin(this.#fresh);
    this.#fresh = false;
    const first = this.#answers.recovered();
    if (first) this.step(first);
    for (const task of this.#done) this.step({ type: 'done', task });
    for (const task of this.#unattended) this.step({ type: 'unattended', task });
    for (const [task, upTo] of this.#stable) this.step({ type: 'stable', task, ...upTo });
    this.feedStdin();
    this.feedAllAnswers();
    const orders = [...this.#orders.values()];
    this.#orders.clear();
    for (const order of orders) this.order(order);
    if (core.line) this.#answers.wentBack(this.index, core.line.epoch);
  }

  /** The core is gone, by order of the host: nothing of what waits for it happens. */
  drop(): void {
    this.#witnesses.end(Array.from({ length: this.#core?.tasks ?? 0 }, (_, t) => taskId(t)));
    this.#core = undefined;
    this.#input.drop();
    this.#inbox.clear();
  }

  /** An event for the core, now or when it has finished. Without a core nothing happens: the next one recovers it. */
  step(event: CmEvent): void {
    if (this.#core) this.#inbox.put(event);
    // What it gives is in the core before the next is read.
    if (event.type === 'tick') this.#input.tick();
  }

  #take(event: CmEvent): void {
    const core = this.#core;
    if (!core) return;
    try {
      const effects = core.step(event);
      for (let i = 0; i < effects.length && this.#core === core; i++) this.#perform(effects[i]!);
      if (this.#core === core) this.#host.performed();
    } catch (error) {
      if (this.#core !== core) throw error;
      this.drop();
      this.#host.broke(error);
    }
  }

  /** An effect of a core of another process, which is not used any more after one that failed (L3). */
  answered(core: LogCore, effect: CmEffect): void {
    if (this.#core !== core) return;
    try {
      this.#perform(effect);
    } catch (error) {
      if (this.#core !== core) throw error;
      this.drop();
      this.#host.broke(error);
    }
  }

  #perform(e: CmEffect): void {
    switch (e.type) {
      case 'fenced':
        return this.#answers.fenced(this.index, e.task, e.incarnation, this.#core!.progress(e.task));
      case 'covered':
        return this.#answers.covered(this.index, e.image, e.determinants);
      case 'failed':
        return this.#answers.failed(this.index, e.error);
      case 'cut':
      case 'recorded':
      case 'cannot':
      case 'taskEnded':
      case 'force':
      case 'sent':
        return this.#answers.stage(this.index, e);
      case 'attached':
        this.#host.perform(e);
        if (!e.resume) this.#witnesses.began(e.task);
        if (!e.resume && this.isHome(e.task)) this.#answers.began(e.task);
        return;
      case 'refused':
        this.#host.perform(e);
        return this.#answers.refused(this.index, e.task, e.incarnation, e.error);
      default:
        return this.#host.perform(e);
    }
  }

  // Orders

  /** Lower incarnations of this task may not act. Answered by `fenced`, perhaps twice. */
  fence(task: TaskId, incarnation: Incarnation): void {
    this.acting(task, incarnation);
    this.step({ type: 'fence', task, incarnation });
  }

  /** What the registry has: a core that recovers hears of it. */
  acting(task: TaskId, incarnation: Incarnation): void {
    if ((this.#fences.get(task) ?? -1) >= incarnation) return;
    this.#fences.set(task, incarnation);
    this.#unattended.delete(task);
  }

  /** Teams of the job: all of them, every time. A core that recovers hears of them. */
  teams(teams: readonly (readonly TaskId[])[], dissolved: readonly Dissolved[] = []): void {
    this.#teams = { teams, dissolved };
    this.step({ type: 'teams', teams, dissolved });
  }

  order(order: LogOrder): void {
    if (this.#core) return this.step(order);
    const about = order.type === 'trim' ? `trim ${order.task}` : `cover ${order.task} ${order.image}`;
    this.#orders.delete(about);
    this.#orders.set(about, order);
  }

  done(task: TaskId): void {
    this.#done.add(task);
    this.step({ type: 'done', task });
  }

  /** The task has ended, and is at no node: its log waits for nobody, until a later incarnation may act. */
  unattended(task: TaskId): void {
    this.#unattended.add(task);
    this.step({ type: 'unattended', task });
  }

  /** Streams that a core needs for the tasks up to `size`, beyond those that it has. */
  streamsFor(size: number): StreamName[] {
    return streamsBetween(this.#core?.tasks ?? size, size, this.#options);
  }

  /** The job has more tasks. The next core has them in any case; this one, once the host has opened their streams. */
  resize(size: number): void {
    this.#size = Math.max(this.#size, size);
  }

  /** The streams of these tasks are open. */
  grown(size: number): void {
    if (this.#core && this.#core.tasks < size) this.step({ type: 'grow', size });
  }

  /** This is the home of the task. */
  isHome(task: TaskId): boolean {
    return isHome(task, this.#options);
  }

  // Input from outside (input-feed.ts)

  feedStdin(): void {
    this.#input.stdin();
  }
  feedAnswers(task: TaskId): void {
    this.#input.answers(task);
  }
  feedAllAnswers(): void {
    for (let t = 0; t < this.#size; t++) this.feedAnswers(taskId(t));
  }
  /** At each tick of the host, where the core has ticks of its own. */
  feedWaiting(): void {
    this.#input.tick();
  }
}

type Homes = Pick<ChannelMemoryOptions, 'index' | 'count' | 'homes'>;

/** The Channel Memory is the home of the task. */
const isHome = (task: TaskId, { index, count, homes }: Homes): boolean => homeOf(task, homes ?? count) === index;

/** Streams of a Channel Memory for the tasks from `from` up to `size`. */
export function streamsBetween(from: number, size: number, of: Homes & { policy: LogPolicy }): StreamName[] {
  const names: StreamName[] = [];
  for (let t = from; t < size; t++) {
    names.push(`d${t}`);
    if (!isHome(taskId(t), of)) continue;
    names.push(`t${t}`, `w${t}`);
    for (const letter of of.policy.stages?.letters ?? []) names.push(`${letter}${t}`);
  }
  return names;
}
