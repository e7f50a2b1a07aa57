/** What a seed draws once for a whole run. Times are in simulated ms, sizes in bytes. */
import type { DispatcherSettings } from '@mayfly/protocols';
import type { FtModes, Homes, JobId, MapBy, ProgramKind, ProtocolName } from '@mayfly/wire';
import type { ProgramSpec } from './program.ts';

export interface Setup {
  readonly job: JobId;
  readonly program: string;
  readonly spec: ProgramSpec;
  readonly channelMemories: number;
  /** By task: its cluster, and by cluster the room whose nodes run it (null: none), where each has its own (`hc3i`). */
  readonly clusters?: readonly number[] | undefined;
  readonly rooms?: readonly (string | null)[] | undefined;
  readonly protocol: ProtocolName;
  /** FT-MPI's modes, under `app`: what a loss makes of the world. */
  readonly ft?: (FtModes & { readonly slotMs: number }) | undefined;
  readonly durability: 'behind' | 'strict';
  readonly chunkBytes: number;
  readonly window: number;
  /** A comm worker takes no more from a rank whose un-synced messages are this much. */
  readonly retainBytes: number;
  /** Bodies that a Channel Memory may hold in memory. */
  readonly memoryBytes: number;
  readonly checkpointMs: number;
  /** Images have parity: of so many waves, or images of a task, one has all its pages at the server. */
  readonly wholeEvery?: number | undefined;
  readonly graceMs: number;
  /** The job has no grace of its own, and the server's is shorter where another slot is free. */
  readonly briefGraceMs?: number | undefined;
  readonly maxDelay: number;
  readonly turnMs: number;
  readonly syncMs: number;
  /** Ticks between syncs of a Channel Memory that nothing waits for. */
  readonly lazyTicks: number;
  /** Longest time that a sync or commit takes. */
  readonly diskMs: number;
  /** Ranks of a team at most, and how ranks are spread over nodes, if that is chosen. */
  readonly team: number;
  readonly mapBy?: MapBy | undefined;
  /** Bytes that the ring from one teammate to another holds. */
  readonly ringBytes: number;
  /** Bytes of unreceived messages of teammates at which a rank holds their senders back. */
  readonly backlogBytes: number;
  readonly nodes: number;
  readonly slots: number;
  /** Nodes with few slots, besides, where not every team has room; and how many slots each has, 1 by default. */
  readonly spare?: number | undefined;
  readonly spareSlots?: number | undefined;
  /** Who takes the place of a node that has gone comes within this time; absent: 3 s. */
  readonly replaceMs?: number | undefined;
  /** What the job's program is, and how many nodes there are besides that do not run it. */
  readonly kind: ProgramKind;
  readonly others: number;
  readonly dispatcher: Partial<DispatcherSettings>;
}

/** Which Channel Memory is the home of a task. */
export const homesOf = ({ clusters, channelMemories }: Pick<Setup, 'clusters' | 'channelMemories'>): Homes =>
  clusters ?? channelMemories;
