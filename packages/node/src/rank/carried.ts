/**
 * What a rank begins with after its team was dissolved: messages that lay in the channels from those that are not its
 * teammates any more, and, if it is alone, bodies of longer ones that it had consumed and not looked for (T9). No log
 * has any of it. With teammates, those bodies lie with those of the team (long-bodies.ts). Synchronous.
 *
 * Owns: what of it is not consumed. That goes into the next image, too.
 */
import { CarriedOver, carriedOver } from '@mayfly/protocols';
import type { TaskId } from '@mayfly/wire';
import { channelsSection, type ChannelState } from './channel-state.ts';
import type { LocalMessage } from './teammates.ts';

export class Carried {
  private readonly messages: CarriedOver<LocalMessage>;
  private readonly bodies: Map<number, Uint8Array>;

  constructor({ channels, bodies }: ChannelState) {
    this.messages = new CarriedOver(channels);
    this.bodies = bodies;
  }

  /** No message is left. */
  get empty(): boolean {
    return this.messages.empty;
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
  get left(): Map<TaskId, LocalMessage[]> {
    return this.messages.state;
  }

  /** …for the endpoint. */
  get counts(): ReturnType<typeof carriedOver> {
    return carriedOver(this.left, (m) => m.channel);
  }

  /** For the next image; absent: nothing is left. */
  get section(): ReturnType<typeof channelsSection> | undefined {
    if (this.empty && this.bodies.size === 0) return undefined;
    return channelsSection({ bodies: this.bodies, channels: this.messages.state });
  }
}
