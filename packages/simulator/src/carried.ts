/** What a simulated rank begins with of those that are not its teammates any more: its team was dissolved (T9). */
import { CarriedOver, carriedOver, type Batch, type LocalEvents } from '@mayfly/protocols';
import type { TaskId } from '@mayfly/wire';
import type { LocalMessage, TeamPart } from './team-memory.ts';
import type { Teammates } from './teammates.ts';

export class Carried {
  private readonly left: CarriedOver<LocalMessage>;

  /** @param mates its teammates now, if any */
  constructor(
    { channels = [], carried = [] }: TeamPart = {},
    private readonly mates?: Teammates,
    private readonly events?: LocalEvents,
    place?: number,
  ) {
    const others = channels.filter(([src]) => place !== undefined || mates?.isLocal(src) !== true);
    const batch: Batch<LocalMessage> = { place: place ?? 0, channels: new Map(others) };
    this.left = new CarriedOver([...carried, batch]);
    events?.carries(carriedOver(this.left.state, (m) => m.number));
  }

  due(arrivals: number): boolean {
    return this.left.due(arrivals);
  }

  take(): [src: TaskId, message: LocalMessage] {
    const { src, message } = this.left.take()!;
    this.events?.consumeCarried(src, message.number);
    this.mates?.took(src, message.number);
    return [src, message];
  }

  /** For the next image. */
  get part(): TeamPart {
    return this.left.empty ? {} : { carried: this.left.state };
  }
}
