/** What a simulated rank begins with alone, after its team was dissolved (T9). */
import { CarriedOver } from '@mayfly/protocols';
import type { TaskId } from '@mayfly/wire';
import type { LocalMessage, TeamPart } from './team-memory.ts';

export class Carried {
  private readonly left: CarriedOver<LocalMessage>;
  /** Messages of each member that were consumed: by its own count, for the checkers. */
  private readonly received: Map<TaskId, number>;

  constructor({ channels, received }: TeamPart = {}) {
    this.left = new CarriedOver(channels);
    this.received = new Map(received);
  }

  get empty(): boolean {
    return this.left.empty;
  }

  take(): [src: TaskId, message: LocalMessage] {
    const { src, message } = this.left.take()!;
    this.received.set(src, message.number);
    return [src, message];
  }

  /** For the next image. */
  get part(): TeamPart {
    return this.empty ? {} : { channels: [...this.left.state], received: [...this.received] };
  }
}
