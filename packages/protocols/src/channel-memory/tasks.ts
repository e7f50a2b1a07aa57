/**
 * The tasks of a job as one Channel Memory sees them (senders, receivers, writers to the world), the channels between
 * them, and the streams that have them.
 */
import type { Incarnation, Position, TaskId } from '@mayfly/wire';
import type { Replays } from '../contract/position.ts';
import type { ArrivalIndex } from './arrivals.ts';
import type { Conn, StreamName, WorldBody } from './events.ts';
import type { Evidence, Unheard } from './records.ts';

/** One append-only stream, durable up to `synced`. */
export interface Stream {
  readonly name: StreamName;
  /** It outlives the server's process; else its sync takes no time. */
  readonly durable: boolean;
  next: number;
  synced: number;
  dirty: boolean;
}

/** A message of which not all chunks have come. Losable: its sender sends it again from its start. */
export interface Partial {
  readonly size: number;
  bytes: number;
  readonly lsns: number[];
  /** Reserved in the receiver's window and pushed ahead; `pushed` of its chunks went out on the present connection. */
  ahead: boolean;
  pushed: number;
  /** Bodies of a message to WORLD, as far as they are kept in memory (world.ts). */
  readonly bodies: Uint8Array[];
}

export interface Channel {
  readonly src: TaskId;
  readonly dst: TaskId;
  /** Messages logged whole. */
  count: number;
  /** …that are durable; `syncing`: will be when the sync under way ends. */
  synced: number;
  syncing: number;
  dirty: boolean;
  partial: Partial | undefined;
  /** Frames were dropped while dst recovered: ignore all until message count + 1 comes from its start. */
  resync: boolean;
}

/** A task's incarnation on a connection. `dead`: refused or replaced; its frames still under way are ignored. */
export interface Attachment {
  readonly task: TaskId;
  readonly incarnation: Incarnation;
  readonly nonce: string;
  /** The rollback epoch in which it runs: its frames carry it. */
  readonly epoch: number;
  readonly conn: Conn;
  /** Where it begins, and what it gets again from there. */
  readonly position: Position;
  readonly replays: Replays;
  readonly received: number;
  readonly resume: boolean;
  dead: boolean;
  /** ATTACHED has been sent. */
  answered: boolean;
  /** A message or determinants have come over it. */
  spoke: boolean;
}

export interface ConnState {
  readonly conn: Conn;
  readonly tasks: Map<number, Attachment>;
  congested: boolean;
}

/** A record of determinants of one task: [first, end) at `lsn`. */
export interface DeterminantRecord {
  readonly lsn: number;
  readonly first: number;
  readonly end: number;
}

/** A task as a sender. */
export interface Source {
  readonly task: TaskId;
  /** Lowest incarnation that may act. Durable in the dispatcher's registry, which gives it again at recovery. */
  fence: Incarnation;
  /**
   * Nonce of incarnation `fence`, once it has attached: distinguishes a reconnection from a clone. Durable before the
   * first answer (F1).
   */
  nonce: string | undefined;
  /** Where it is logged. */
  nonceLsn: number | undefined;
  /** Receivers that had not reported when incarnation `fence` began (F4). */
  unheard: Unheard | undefined;
  attachment: Attachment | undefined;
  readonly determinants: Stream;
  records: DeterminantRecord[];
  /** Sorted, disjoint: what this CM holds and, durable, held when the last sync began. */
  readonly held: [number, number][];
  durable: [number, number][];
  /** The latest block with entries that came: [first, end) is held whole. */
  blockFirst: number;
  blockEnd: number;
  readonly evidence: Evidence;
  /** C8: of it, what no loss of power takes; `syncing`: none will take when the sync under way has ended. */
  readonly durableEvidence: Evidence;
  readonly syncingEvidence: Evidence;
  /** For the next ACK. */
  ackDue: boolean;
  readonly ackChannels: Channel[];
}

/** What is on its way to a receiver over its present connection. All of it is losable. */
export interface Push {
  attachment: Attachment;
  /** Next arrival to push. */
  cursor: number;
  window: number;
  envelopeOnly: boolean;
  consumed: number;
  /** Bytes reserved: of whole messages under way, and of partial ones pushed ahead. P1: reserved ≤ 2¼ windows. */
  reserved: number;
  /** …of whole messages alone. */
  whole: number;
  /** Whole messages under way, in arrival order: number and cost; entries before `head` are spent. */
  readonly numbers: number[];
  readonly costs: number[];
  head: number;
  /** Chunks of an arrival behind the cursor that went out while it was partial. */
  readonly ahead: Map<number, number>;
}

/** A task as a receiver; exists at its home CM only. */
export interface Destination {
  readonly task: TaskId;
  readonly stream: Stream;
  readonly index: ArrivalIndex;
  /** By sender ({@link slotOf}). */
  readonly channels: (Channel | undefined)[];
  arrivalsSynced: number;
  arrivalsSyncing: number;
  push: Push | undefined;
  /** F3: recovering; nothing new is accepted before its comm worker has reported. */
  closed: boolean;
  done: boolean;
  /** Highest arrival that trimming may have taken. */
  trimmed: number;
  /** Messages from WORLD that came while it was closed. */
  readonly heldWorld: { src: TaskId; channel: number; mode: number; context: number; body: Uint8Array }[];
  /** P5: arrivals from outside whose bodies have not left, and their bytes. */
  readonly input: Map<number, number>;
  inputBytes: number;
  /** `none`: arrivals sent as envelopes whose bodies were not pulled yet. */
  readonly envelopes: Set<number>;
}

/** Messages of a task to WORLD; exists at its home CM only. */
export interface World {
  readonly stream: Stream;
  readonly channel: Channel;
  /** Where each message lies, by channel number. */
  readonly index: ArrivalIndex;
  /** Waiting to become durable before they come out. */
  waiting: WaitingMessage[];
  /** Messages up to this one can never be undone. */
  stable: number;
  /** …and answers of the file service to the task that are never asked for again. */
  answered: number;
  /** Its EXIT, until that is reported as durable. */
  exit: { readonly lsn: number; readonly report: Uint8Array } | undefined;
}

/** A message to WORLD that is not out. */
export interface WaitingMessage {
  readonly lsn: number;
  readonly channel: number;
  readonly incarnation: Incarnation;
  readonly mode: number;
  readonly body: WorldBody;
}

/** A task that has ended takes everything: all that anybody sends or will send to it counts as logged. */
export const EVERYTHING = Number.MAX_SAFE_INTEGER;

export const newChannel = (src: TaskId, dst: TaskId): Channel => ({
  src,
  dst,
  count: 0,
  synced: 0,
  syncing: 0,
  dirty: false,
  partial: undefined,
  resync: false,
});

/** The channel from `slot` ({@link slotOf}). */
export function channelOf(d: Destination, slot: number, src: TaskId): Channel {
  return (d.channels[slot] ??= newChannel(src, d.task));
}

/** Nothing of a partial message is on the (new) connection. */
export function forgetAhead(d: Destination): void {
  for (const c of d.channels)
    if (c?.partial) {
      c.partial.ahead = false;
      c.partial.pushed = 0;
    }
}
