/**
 * What a rank begins with after a regrouping: messages that lay in the channels from those of its earlier team, and,
 * if it is alone, bodies of longer ones that it had consumed and not looked for (T9). No log has any of it. With
 * teammates, those bodies lie with those of the team (long-bodies.ts). Synchronous.
 *
 * Owns: what of it is not consumed. That goes into the next image, too.
 */
import { CarriedOver, carriedOver, type Batch } from '@mayfly/protocols';
import { channelsSection, type ChannelState } from './channel-state.ts';
import type { LocalMessage } from './teammates.ts';

export class Carried {
  private readonly messages: CarriedOver<LocalMessage>;
  private readonly bodies: Map<number, Uint8Array>;

  /** `place`: arrivals that come before what lay in the channels. */
  constructor({ channels, bodies, carried = [] }: ChannelState, place = 0) {
    this.messages = new CarriedOver([...carried, { place, channels }]);
    this.bodies = bodies;
  }

  /** The next message may be consumed: so many arrivals have been. */
  due(arrivals: number): boolean {
    return this.messages.due(arrivals);
  }

  /** Consumes the next message. Its body, if it is a long one, is {@link pull}ed. */
  take(): LocalMessage | undefined {
    return this.messages.take()?.message;
  }

  /** The body of a message that was consumed, here or before the image. @throws Error */
  pull(number: number, into: Uint8Array): void {
    const body = this.bodies.get(number);
    if (body?.length !== into.length) throw new Error(`there is no message ${number} of ${into.length} bytes`);
    into.set(body);
    this.bodies.delete(number);
  }

  /** Messages that are left. */
  get left(): Batch<LocalMessage>[] {
    return this.messages.state;
  }

  /** …for the endpoint. */
  get counts(): ReturnType<typeof carriedOver> {
    return carriedOver(this.left, (m) => m.channel);
  }

  /** For the next image; absent: nothing is left. */
  get section(): ReturnType<typeof channelsSection> | undefined {
    if (this.messages.empty && this.bodies.size === 0) return undefined;
    return channelsSection({ bodies: this.bodies, channels: new Map(), carried: this.left });
  }
}
