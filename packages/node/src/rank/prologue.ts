/**
 * The section of a script's image with what it received of teammates before `checkpoint.open` (T6). A rank that is
 * alone has it too, if it had teammates then.
 */
import { decodeValue, encodeValue, MalformedValue } from '@mayfly/mpi';
import { RepeatedPrologue, type Endpoint } from '@mayfly/protocols';
import type { TaskId } from '@mayfly/wire';
import type { LocalMessage } from './teammates.ts';

const FORMAT = 1;

export type Received = ReadonlyMap<TaskId, readonly LocalMessage[]>;

interface Section {
  format: typeof FORMAT;
  messages: Received;
}

export const prologueSection = (messages: Received): Uint8Array =>
  encodeValue({ format: FORMAT, messages } satisfies Section, 'prologue');

/** What the image has with which a script begins. Bodies that it had not looked for lie with its channels. */
export class Prologue {
  readonly received: Received;
  private readonly again: RepeatedPrologue<LocalMessage>;

  /** @throws MalformedValue */
  constructor(
    readonly section: Uint8Array,
    endpoint: Endpoint,
  ) {
    const { format, messages } = decodeValue(section) as Section;
    if (format !== FORMAT || !(messages instanceof Map))
      throw new MalformedValue(`prologue of format ${String(format)}, this build reads ${FORMAT}`);
    this.received = messages;
    this.again = new RepeatedPrologue(messages, endpoint, (m) => m.channel);
  }

  /** Numbers of messages down to this one are in use. */
  get lowest(): number {
    return [...this.received.values()].flat().reduce((n, m) => Math.min(n, m.number), 0);
  }

  /** Consumes the next message, if it is one of a teammate of then. @throws ReplayDiverged */
  take(): LocalMessage | undefined {
    return this.again.take()?.message;
  }
}
