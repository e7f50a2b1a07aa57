/** State of partitioned communication, as plain data; partitioned.ts says what it means and keeps Q1 to Q3. */
import { table, type Table } from './handle-table.ts';
import type { Buf } from './buffers.ts';
import type { Envelope } from './envelope.ts';

export interface PartitionedSend {
  handle: number;
  comm: number;
  peer: number;
  context: number;
  channel: number;
  partitions: number;
  /** Bytes of one partition. */
  bytes: number;
  /** Of the active round; 0: none. */
  request: number;
  /** 1 per partition that is ready in this round. */
  ready: Uint8Array;
  missing: number;
}

export interface PartitionedReceive {
  handle: number;
  comm: number;
  source: number;
  context: number;
  tag: number;
  partitions: number;
  bytes: number;
  into: Buf;
  /** The sender's channel; 0: not announced yet. */
  channel: number;
  request: number;
  /** Length of the sender's partitions, known with the first one of a round. */
  block: number;
  came: Uint8Array;
  left: number;
  /** Bytes of all the sender's partitions of the round, known with the first one. */
  total?: number;
  /** MPI_Request_free was called: no round starts any more. */
  freed: boolean;
}

/** What a sender has announced. */
export interface PartitionedChannel {
  src: number;
  context: number;
  tag: number;
  channel: number;
  /** Handle of the receive; 0: none yet. */
  receive: number;
  /** Their tag is the number of partitions of the round. */
  queue: Envelope[];
}

export interface PartitionedState {
  sends: Table<PartitionedSend>;
  receives: Table<PartitionedReceive>;
  /** Announced channels, in arrival order. */
  channels: PartitionedChannel[];
  /** Receives that no channel has met, in the order of their calls. */
  waiting: number[];
  lastChannel: number;
}

export const noPartitions = (): PartitionedState => ({
  sends: table(),
  receives: table(),
  channels: [],
  waiting: [],
  lastChannel: 0,
});
