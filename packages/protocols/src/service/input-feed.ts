/**
 * Gives the core of one Channel Memory what comes from outside for the tasks whose home it is: standard input, and
 * answers of the file service.
 *
 * Owns: how much of it the present core has, and which tasks have more that waits. Does not own: the input, which stays
 * where it comes from until the core has it.
 *
 *  I1  Each message is given to a core once, in order. Another core, after a recovery, starts from what its log has.
 *  I2  Input is read when it can leave: it is read for a task as long as less than `ahead` of what the log has for the
 *      task has not left (P5 of push.ts), and for all tasks up to `perTick` from one tick to the next. So a task
 *      that asks for much and takes nothing makes the server read, log and hold no more than `ahead` and one message.
 *  I3  A task whose input never leaves gets a message every {@link PATIENCE} ticks: a receiver need not tell that it
 *      has consumed an envelope.
 */
import { FILES, MayflyError, WORLD, WorldMode, taskId, type ErrorBody, type TaskId } from '@mayfly/wire';
import type { ChannelMemory } from '../channel-memory/channel-memory.ts';
import type { CmEvent } from '../channel-memory/events.ts';
import { AnswerFeed, type AnswerSource } from '../files/answer-feed.ts';

/** The core, as far as it is asked here. */
type InputCore = Pick<ChannelMemory, 'logged' | 'inputAhead'>;

/** Bytes of input. */
export interface InputRoom {
  readonly ahead: number;
  readonly perTick: number;
}

const ROOM: InputRoom = { ahead: 4 << 20, perTick: 16 << 20 };
/** I3. */
const PATIENCE = 40;
const FIRST = taskId(0);

/** Lines of standard input, which are durable where they come from. Numbered from 1. */
export interface StdinSource {
  readonly messages: number;
  message(n: number): Uint8Array;
}

export interface InputHost {
  readonly core: InputCore | undefined;
  /** This is the home of the task, and it is not done. */
  takes(task: TaskId): boolean;
  give(event: Extract<CmEvent, { type: 'world' }>): void;
  /** What cannot be read may be readable later, so that nothing is lost. */
  mayPass(error: unknown): boolean;
  failed(error: ErrorBody): void;
}

export class InputFeed {
  readonly #stdin: StdinSource | undefined;
  readonly #room: InputRoom;
  readonly #host: InputHost;
  readonly #answers: AnswerFeed;
  /** Lines of standard input that this core has. */
  #typed = 0;
  /** I2: tasks whose input waits, and ticks since they got some. */
  readonly #waiting = new Map<TaskId, number>();
  /** Bytes since the last tick. */
  #given = 0;

  constructor(
    from: { readonly stdin?: StdinSource | undefined; readonly files: AnswerSource; readonly input?: InputRoom },
    host: InputHost,
  ) {
    this.#stdin = from.stdin;
    this.#room = from.input ?? ROOM;
    this.#host = host;
    this.#answers = new AnswerFeed(from.files);
  }

  /** The core serves from now on. */
  begin(core: InputCore): void {
    this.#typed = core.logged(WORLD, FIRST);
    const stdin = this.#stdin;
    // Lines that the log has were durable where they come from: with fewer there, the next line would be lost as well.
    if (!stdin || !this.#host.takes(FIRST) || this.#typed <= stdin.messages) return;
    const message =
      `The record of standard input is damaged: it has ${stdin.messages} messages, and rank 0 was sent ` +
      `${this.#typed}. Submit the job again.`;
    this.#host.failed({ code: 'DAMAGED_DATA', message });
  }

  /** The core is gone. */
  drop(): void {
    this.#waiting.clear();
  }

  /** Standard input that the log lacks. */
  stdin(): void {
    if (this.#lines() && !this.#waiting.has(FIRST)) this.#waiting.set(FIRST, 0);
  }

  /** Answers of the file service that the log of the task lacks. */
  answers(task: TaskId): void {
    if (this.#answersOf(task) && !this.#waiting.has(task)) this.#waiting.set(task, 0);
  }

  /** Who still waits stands behind the others. */
  tick(): void {
    this.#given = 0;
    for (const [task, ticks] of [...this.#waiting]) {
      this.#waiting.set(task, ticks + 1);
      const waits = [task === FIRST && this.#lines(), this.#answersOf(task)].includes(true);
      const since = this.#waiting.get(task);
      this.#waiting.delete(task);
      if (waits && since !== undefined) this.#waiting.set(task, since);
    }
  }

  // I2, I3

  #hasRoom(core: InputCore, task: TaskId): boolean {
    if (this.#given >= this.#room.perTick) return false;
    return core.inputAhead(task) < this.#room.ahead || (this.#waiting.get(task) ?? 0) >= PATIENCE;
  }

  #give(event: Extract<CmEvent, { type: 'world' }>): void {
    this.#given += event.body.length;
    if (this.#waiting.has(event.task)) this.#waiting.set(event.task, 0);
    this.#host.give(event);
  }

  /** @returns whether some wait */
  #lines(): boolean {
    const stdin = this.#stdin;
    const { core } = this.#host;
    if (!core || !stdin || !this.#host.takes(FIRST)) return false;
    while (this.#typed < stdin.messages && this.#host.core === core) {
      if (!this.#hasRoom(core, FIRST)) return true;
      const channel = ++this.#typed;
      this.#give({ type: 'world', task: FIRST, channel, mode: WorldMode.STDIN, body: stdin.message(channel) });
    }
    return false;
  }

  /** @returns whether some wait */
  #answersOf(task: TaskId): boolean {
    const { core } = this.#host;
    if (!core || !this.#host.takes(task)) return false;
    try {
      return this.#answers.feed(
        core,
        task,
        () => this.#host.core,
        (channel, { error, body }) =>
          this.#give({ type: 'world', task, src: FILES, channel, mode: WorldMode.ANSWER, context: error, body }),
        () => this.#hasRoom(core, task),
      );
    } catch (error) {
      if (this.#host.mayPass(error)) return false;
      const code = error instanceof MayflyError ? error.code : 'INTERNAL';
      this.#host.failed({ code, message: (error as Error).message });
      return false;
    }
  }
}
