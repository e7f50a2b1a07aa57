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
import type { Dissolved } from '../contract/dissolved.ts';
import type { Evidence } from './records.ts';
import type { ChannelMemoryOptions, CmEffect, Conn, WorldMemory } from './events.ts';
import type { LogStage, StageLetter } from './stage.ts';
import type { Attachment, Channel, ConnState, Destination, Source, Stream, World } from './tasks.ts';

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
  /**
   * A new core begins where tasks go back to ({@link ChannelMemoryOptions.line}), and what the old one had in its
   * memory is void. What tasks write can be undone until the service calls it stable.
   */
  readonly goesBack?: true;
  /** The Channel Memories of a job hear of each other in one step: all of them work in the process of the service. */
  readonly inOneProcess?: true;
  /** The protocol's own steps on the way of a message (stage.ts); absent: it has none. */
  readonly stages?: {
    /** Of the stages' streams. */
    readonly letters: readonly StageLetter[];
    /** For a core that begins: no task is known yet. In the order in which a message passes them. */
    begin(s: State): readonly LogStage[];
  };
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
  /** C8: a BASE record waits; something before it is not durable. */
  baseWaits(s: State): boolean;
  /** C8: what a BASE record says of a sender. */
  outlives(source: Source): Evidence;
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
  /** In the order in which a message passes them. */
  stages: readonly LogStage[];
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
  /** C8: trims that wait until everything that was appended before them is durable. */
  onceDurable: { readonly needs: number; readonly act: () => void }[];
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
}

export const newStream = (letter: 't' | 'd' | 'w' | StageLetter, task: number, durable: boolean): Stream => ({
  name: `${letter}${task}`,
  durable,
  next: 0,
  synced: 0,
  dirty: false,
});

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

/**
 * Where the channel from a sender stands; −1: there is no such sender. Tasks that come later stand behind the others:
 * the world comes first.
 */
export const slotOf = (s: State, src: TaskId | number): number =>
  src === WORLD ? 0 : src === FILES ? 1 : src === MEMBERS ? 2 : src < s.sources.length ? src + 3 : -1;
