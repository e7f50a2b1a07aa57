/**
 * Messages that lay in the channels of the image with which a task begins after its team was dissolved, from those that
 * are not its teammates any more. No log has them, and the logs have only what stands behind them in their channels: so
 * all of them are next at once, and go before everything else.
 *
 * Owns: those that are not consumed. They go into the next image, too.
 *
 *  T9 "Channel state is then consumed without a record, each message as soon as its number is next." A poll consumes
 *     all of it before anything else, and its record does not count it: when the poll is repeated, nothing may be left.
 */
import type { TaskId } from '@mayfly/wire';

export class CarriedOver<Message> {
  readonly #left: { readonly src: TaskId; readonly message: Message }[];

  constructor(state: Iterable<readonly [src: TaskId, messages: readonly Message[]]> = []) {
    this.#left = [...state].flatMap(([src, messages]) => messages.map((message) => ({ src, message })));
  }

  get empty(): boolean {
    return this.#left.length === 0;
  }

  /** The next message is consumed. */
  take(): { readonly src: TaskId; readonly message: Message } | undefined {
    return this.#left.shift();
  }

  /** For the next image. */
  get state(): Map<TaskId, Message[]> {
    const state = new Map<TaskId, Message[]>();
    for (const { src, message } of this.#left) {
      const channel = state.get(src);
      if (channel) channel.push(message);
      else state.set(src, [message]);
    }
    return state;
  }
}
