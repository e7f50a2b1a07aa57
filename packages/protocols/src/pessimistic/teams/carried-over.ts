/**
 * Messages that lay in the channels of the image with which a task begins after a regrouping: its team was dissolved,
 * or merged with others. No log has them.
 *
 * Owns: those that are not consumed. They go into the next image, too.
 *
 *  T9 "Channel state is then consumed without a record", in its place: behind the arrivals that the task's log had when
 *     the regrouping was committed, and before everything else. Messages of the same channels that are in the log up to
 *     there were sent before, those behind it after. What was left of an earlier regrouping keeps its own place, and
 *     stands before the rest. A poll consumes what is due before anything else, and again after each message; its
 *     record does not count it: when the poll is repeated, nothing may be left.
 */
import type { TaskId } from '@mayfly/wire';

/** What one regrouping carried over, by sender, and how many arrivals come before it. */
export interface Batch<Message> {
  readonly place: number;
  readonly channels: ReadonlyMap<TaskId, readonly Message[]>;
}

export class CarriedOver<Message> {
  readonly #left: { readonly src: TaskId; readonly message: Message; readonly place: number }[];

  /** In the order of the regroupings. */
  constructor(batches: Iterable<Batch<Message>> = []) {
    this.#left = [...batches].flatMap(({ place, channels }) =>
      [...channels].flatMap(([src, messages]) => messages.map((message) => ({ src, message, place }))),
    );
  }

  get empty(): boolean {
    return this.#left.length === 0;
  }

  /** The next message may be consumed: so many arrivals have been. */
  due(arrivals: number): boolean {
    return this.#left.length > 0 && this.#left[0]!.place <= arrivals;
  }

  /** The next message is consumed. */
  take(): { readonly src: TaskId; readonly message: Message } | undefined {
    const next = this.#left.shift();
    return next && { src: next.src, message: next.message };
  }

  /** For the next image. */
  get state(): Batch<Message>[] {
    const batches: { place: number; channels: Map<TaskId, Message[]> }[] = [];
    for (const { src, message, place } of this.#left) {
      let last = batches.at(-1);
      if (last?.place !== place) batches.push((last = { place, channels: new Map() }));
      const channel = last.channels.get(src);
      if (channel) channel.push(message);
      else last.channels.set(src, [message]);
    }
    return batches;
  }
}
