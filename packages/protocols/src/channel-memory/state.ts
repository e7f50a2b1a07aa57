/**
 * What one Channel Memory knows. `HardState` of raft is here the streams alone: everything below is rebuilt from them
 * or losable.
 */
import {
  FILES,
  MEMBERS,
  WORLD,
  type ErrorCode,
  type Header,
  type ImageId,
  type Incarnation,
  type Position,
  type TaskId,
  type TeamSection,
} from '@mayfly/wire';
import type { Replays } from '../contract/position.ts';
import type { ClusterLinks, Stamped } from '../contract/clusters.ts';
import type { Dissolved } from '../contract/dissolved.ts';
import type { ChannelGate, ChannelWaves } from '../contract/waves.ts';
import type { ArrivalIndex } from './arrivals.ts';
import type { Evidence, Unheard } from './records.ts';
import type { ChannelMemoryOptions, CmEffect, Conn, StreamName, WorldBody, WorldMemory } from './events.ts';

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
  /** Coordinated checkpointing: messages up to this one can never be undone. */
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

/** A message that waits until its receiver has cut. */
export interface Held {
  readonly channel: Channel;
  readonly header: Header;
  /** The frame stands at `at` of `view`. */
  readonly view: DataView;
  readonly at: number;
  readonly frame: Uint8Array;
  readonly record: Uint8Array | undefined;
  readonly partial: Partial | undefined;
}

/** What the image of a task in a wave lacks. */
export interface WaveStream {
  readonly stream: Stream;
  /** Messages recorded in the wave under way. */
  records: number;
  /** Where the records of each wave begin, oldest first. */
  readonly begins: { readonly epoch: number; readonly wave: number; readonly lsn: number }[];
}

/** What a wave took at one Channel Memory: messages and their bytes. */
export interface GateCounts {
  recorded: number;
  recordedBytes: number;
  /** Held back at one time, at most. */
  held: number;
  heldBytes: number;
}

export interface Cutting {
  readonly gate: ChannelGate;
  /** The epoch of the waves that are recorded. */
  readonly epoch: number;
  readonly held: Map<string, Held>;
  heldBytes: number;
  /** Bytes of the whole messages; of those in chunks only the last is held in memory. */
  heldSizes: number;
  /** Of the wave under way, or the last one. */
  counts: GateCounts;
  /** Messages of each task to the world before its cut in the wave under way. */
  readonly written: Map<TaskId, number>;
  /** Recorded, and what the task has written before its cut is not known durable. */
  unreported: { readonly task: TaskId; readonly wave: number }[];
  /** By task; undefined where another Channel Memory is its home. */
  readonly streams: (WaveStream | undefined)[];
}

/** Messages from other clusters (between.ts). */
export interface Between {
  readonly links: ClusterLinks;
  /** Frames of senders that have cut (S1). */
  waiting: { readonly attachment: Attachment; readonly header: Header; readonly again: () => void }[];
  waitingBytes: number;
  /** By task; undefined where another Channel Memory is its home. */
  readonly streams: (Stream | undefined)[];
  /** By message: where its log has it. */
  readonly places: Map<string, { readonly lsns: readonly number[]; readonly size: number }>;
  /** By cluster: its CLC whose messages are here, and what is to be synced before that is reported; then nothing. */
  readonly sent: Map<number, { readonly sn: number; needs: readonly { stream: Stream; next: number }[] | undefined }>;
  /** By receiver, by sender: messages that are trimmed. */
  readonly trimmed: Map<TaskId, Map<TaskId, number>>;
  /** Until the core has recovered: what is left of the logs, in order. */
  recovered: { readonly message: Stamped; readonly lsns: readonly number[]; readonly size: number }[];
}

export interface Cover {
  readonly image: ImageId;
  readonly position: Position;
  /** JSON of the ranges in the last answer. */
  said: string | undefined;
}

/**
 * What a V-protocol decides at a Channel Memory; declared here, by who asks. Sessions, channels, chunks, credit, pulls
 * and group commit know no protocol. Each rule is a function of its own, so that a planted bug is another row of a
 * table: `{ ...pessimistic, log: { ...pessimistic.log, outranks: () => false } }`.
 */
export interface LogPolicy {
  /**
   * `durable`: what is logged outlives the server's process. `memory`: it goes once it is consumed, and no task can run
   * again.
   */
  readonly keeps: 'durable' | 'memory';
  /** The same, of messages to the world. */
  readonly keepsOutput: 'durable' | 'memory';
  /** How channels are cut for a wave; absent: they never are. */
  readonly waves?: ChannelWaves;
  /** Messages from other clusters, each of which has a Channel Memory of its own. `clusters`: by task. */
  readonly clusters?: (clusters: readonly number[], own: number) => ClusterLinks;
  /** When a receiver may be pushed an arrival: as soon as it is appended, or once it is synced. */
  visible(durability: 'behind' | 'strict'): 'appended' | 'synced';
  /** F1: incarnation `one` closes `other`. */
  outranks(one: Incarnation, other: Incarnation): boolean;
  /** Why this incarnation cannot begin here; undefined: it may. `d`: its log, where this is its home. */
  refuses(
    begins: { readonly incarnation: Incarnation; readonly epoch: number; readonly resume: boolean },
    d: Destination | undefined,
  ): { readonly code: ErrorCode; readonly message: string } | undefined;
  /** An incarnation attaches, and `source.nonce` is its nonce. */
  attached(s: State, source: Source, a: Attachment, isNew: boolean): void;
  /** F2: its answer waits until everything that was appended before is durable. */
  waitsForSync(a: Attachment): boolean;
  /** What goes out before ATTACHED. */
  answers(s: State, source: Source, a: Attachment): void;
  /** Message `channel` is logged already, of a channel of which `logged` are (C1). */
  repeated(channel: number, logged: number): boolean;
  /**
   * C2: the block between header and body at `o`, before the message that carries it. `mates`: the sections of its
   * team that came with it. @throws MalformedDeterminants
   */
  carried(
    s: State,
    source: Source,
    bytes: Uint8Array,
    v: DataView,
    o: number,
    length: number,
    mates?: readonly TeamSection[],
  ): void;
  /** A frame of one member of a team carries determinants of all of them. Absent: every task is alone. */
  readonly teams?: true;
  /** The record of the frame in [o, end), where it is not what is pushed. */
  record(h: Header, bytes: Uint8Array, o: number, end: number): Uint8Array | undefined;
  /** C3: the arrival number that a chunk from `src` gets, the last one if `whole`; 0: none yet. */
  number(d: Destination, src: TaskId, offset: number, whole: boolean): number;
  /** F4: what a receiver gives back of `source`. @throws ProtocolError */
  givenBack(s: State, source: Source, d: Destination, e: Evidence): void;
  /** The receiver has reported: its log opens. */
  reported(s: State, d: Destination): void;
  /**
   * A durable message of the task to the world may be shown. While the answer is no, it and those behind it wait; the
   * question comes again after each sync.
   */
  shows(w: Pick<World, 'stable' | 'waiting'>, channel: number, mode: number): boolean;
  /** Which arrivals an incarnation that begins there gets again. @throws MalformedPosition */
  replays(position: Position): Replays;
  /** Everything that an image of the task there needs of this Channel Memory is durable. */
  stable(s: State, task: number, position: Position): boolean;
  /** Records of `source` that an incarnation beginning there does not need: LSNs below `to`, without `keep`. */
  superfluous(source: Source, position: Position): { to: number; keep: Set<number> };
  /** C7: how many records of its stream must be durable before what the BASE record at `lsn` stands for may go. */
  trimsBehind(lsn: number): number;
}

/** All of it, and the effects of the step under way. */
export interface State {
  readonly options: ChannelMemoryOptions;
  readonly policy: LogPolicy;
  /** `policy.keeps` is `durable`; the same of `policy.keepsOutput`. */
  readonly durable: boolean;
  readonly outputDurable: boolean;
  /** Coordinated checkpointing alone. */
  readonly cutting: Cutting | undefined;
  /** Clusters alone (between.ts). */
  readonly between: Between | undefined;
  /** Arrivals are pushed once they are synced. */
  readonly strict: boolean;
  readonly window: number;
  readonly chunkBytes: number;
  readonly maxMessageBytes: number;
  readonly conns: Map<Conn, ConnState>;
  readonly sources: Source[];
  /** Undefined where another CM is the task's home. */
  readonly destinations: (Destination | undefined)[];
  readonly worlds: (World | undefined)[];
  dirtyStreams: Stream[];
  dirtyChannels: Channel[];
  /** Sources to be acknowledged at `flush`. */
  acks: Source[];
  sync: Sync | undefined;
  /** The next sync is awaited. */
  syncWanted: boolean;
  /** Bytes appended, and ticks, since the last sync began. */
  unsyncedBytes: number;
  ticks: number;
  ticket: number;
  /**
   * First attachments that wait until everything appended before them is durable: the first sync that begins after
   * them.
   */
  answers: { attachment: Attachment; needs: number }[];
  readonly covers: Map<number, Cover[]>;
  /** The members of each task's team, itself included. Tasks that are alone have none. */
  readonly teams: Map<TaskId, readonly TaskId[]>;
  dissolved: readonly Dissolved[];
  /** Tasks of which a section has come with a frame: messages of others may show where they are. */
  readonly inSections: Set<TaskId>;
  /** Until `recovered`: sections of a task that were read beside the determinants of a teammate. */
  readonly beside: { readonly source: Source; readonly block: Uint8Array }[];
  trims: { stream: Stream; needs: number; effect: CmEffect }[];
  /** Bytes of messages to WORLD in memory: bodies that wait, and parts (world.ts, W1). */
  worldBytes: number;
  readonly worldMemory: WorldMemory;
  /** Messages to WORLD that this step may still let out; some wait for the next one (world.ts, W3). */
  worldTurn: number;
  worldDue: boolean;
  serving: boolean;
  out: CmEffect[];
}

export interface Sync {
  readonly ticket: number;
  readonly marks: readonly { stream: Stream; next: number }[];
  readonly channels: readonly Channel[];
  readonly sources: readonly { source: Source; held: [number, number][] }[];
  readonly destinations: readonly Destination[];
  /** Messages of the wave under way that are in the wave streams. */
  readonly waves: readonly { readonly task: TaskId; readonly wave: number; readonly records: number }[];
}

/** It has records that are not known to be durable. */
export function markDirty(s: State, stream: Stream): void {
  if (stream.dirty) return;
  stream.dirty = true;
  s.dirtyStreams.push(stream);
}

/** After a kill the log may be in the page cache alone: the first sync makes it durable. */
export function resumeStream(s: State, stream: Stream, next: number): void {
  stream.next = next;
  if (next > 0) markDirty(s, stream);
}

export function append(s: State, stream: Stream, bytes: Uint8Array): number {
  const lsn = stream.next++;
  markDirty(s, stream);
  s.unsyncedBytes += bytes.length;
  s.out.push({ type: 'append', stream: stream.name, lsn, bytes });
  return lsn;
}

/** The channel's count has changed, or its sender wants to hear of it again. */
export function touch(s: State, c: Channel): void {
  if (c.dirty) return;
  c.dirty = true;
  s.dirtyChannels.push(c);
}

export function ackSoon(s: State, source: Source): void {
  if (source.ackDue) return;
  source.ackDue = true;
  s.acks.push(source);
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

/**
 * Where the channel from a sender stands; −1: there is no such sender. Tasks that come later stand behind the others:
 * the world comes first.
 */
export const slotOf = (s: State, src: TaskId | number): number =>
  src === WORLD ? 0 : src === FILES ? 1 : src === MEMBERS ? 2 : src < s.sources.length ? src + 3 : -1;

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
