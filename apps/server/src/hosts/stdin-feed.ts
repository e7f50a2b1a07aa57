/**
 * Standard input for a job's rank 0: gives its Channel Memory, message by message, what the log of typed lines has and
 * the core's own log has not. A core that has recovered is asked anew how far it is.
 */
import type { ChannelMemory } from '@mayfly/protocols';
import { WORLD, taskId } from '@mayfly/wire';
import type { StdinLog } from '../jobs/stdin-log.ts';

export class StdinFeed {
  readonly #log: StdinLog;
  /** Messages given to this core; what it had logged before counts. */
  #fed = 0;
  #fedTo: ChannelMemory | undefined;

  constructor(log: StdinLog) {
    this.#log = log;
  }

  /** Ends early when a step breaks the core (`current` is another one then). */
  feed(
    core: ChannelMemory,
    current: () => ChannelMemory | undefined,
    give: (channel: number, body: Uint8Array) => void,
  ): void {
    if (this.#fedTo !== core) this.#fed = core.logged(WORLD, taskId(0));
    this.#fedTo = core;
    while (this.#fed < this.#log.messages && current() === core) {
      const channel = ++this.#fed;
      give(channel, this.#log.message(channel));
    }
  }
}
