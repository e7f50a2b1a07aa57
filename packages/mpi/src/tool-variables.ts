/**
 * What the tool information interface shows (MPI 4.1 §15.3): limits as control variables, which are constants of a
 * build, and counts as performance variables.
 *
 * A program may print them, so they must not differ in a replay: the counts are functions of the calls and of what they
 * have consumed. Images are taken, and incarnations begun, when the place decides, so their numbers are determinants: a
 * replay reads what was read.
 */
import * as collectives from './collectives/index.ts';
import type { Layer } from './layer.ts';

export interface ControlVariable {
  name: string;
  text: string;
  read(layer: Layer): number;
}
const bytes = (name: string, text: string, read: ControlVariable['read']): ControlVariable => ({ name, text, read });

export const CONTROL: readonly ControlVariable[] = [
  bytes(
    'unexpected_buffer_bytes',
    'Bytes of unmatched messages that a rank keeps; beyond it their bodies stay in the log until a receive matches',
    (l) => l.device.unexpectedBytes,
  ),
  bytes(
    'bcast_long_bytes',
    'Length from which a broadcast is a scatter and an allgather',
    () => collectives.LONG.bcast,
  ),
  bytes(
    'reduce_long_bytes',
    'Length from which a reduction by a commutative operation is a reduce-scatter and a gather',
    () => collectives.LONG.reduce,
  ),
  bytes(
    'allgather_long_bytes',
    'Length of the result from which an allgather goes round a ring',
    () => collectives.LONG.allgather,
  ),
  bytes(
    'alltoall_long_bytes',
    'Length of a block from which an all-to-all goes pair by pair',
    () => collectives.LONG.alltoall,
  ),
];

export interface PerformanceVariable {
  name: string;
  text: string;
  /** MPI_T_PVAR_CLASS_… */
  kind: 'counter' | 'aggregate' | 'level';
  /** Counted from the start of a handle; others are levels, which are always there and cannot be written. */
  counts: boolean;
  /** @param images taken of this rank until now */
  read(layer: Layer, images: number): number;
}

const queued = (layer: Layer, f: (size: number) => number): number => {
  let n = 0;
  for (const queue of layer.state.unexpected.values()) for (const e of queue) n += f(e.size);
  return n;
};

export const PERFORMANCE: readonly PerformanceVariable[] = [
  {
    name: 'messages_sent',
    text: 'Messages of point to point and collective operations that this rank has sent',
    kind: 'counter',
    counts: true,
    read: (l) => l.state.traffic.sent,
  },
  {
    name: 'bytes_sent',
    text: 'Bytes in them',
    kind: 'aggregate',
    counts: true,
    read: (l) => l.state.traffic.sentBytes,
  },
  {
    name: 'messages_received',
    text: 'Messages of point to point and collective operations that have entered this rank',
    kind: 'counter',
    counts: true,
    read: (l) => l.state.traffic.received,
  },
  {
    name: 'bytes_received',
    text: 'Bytes in them',
    kind: 'aggregate',
    counts: true,
    read: (l) => l.state.traffic.receivedBytes,
  },
  {
    name: 'unexpected_messages',
    text: 'Messages that have entered this rank and that no receive has matched yet',
    kind: 'level',
    counts: false,
    read: (l) => queued(l, () => 1),
  },
  {
    name: 'unexpected_bytes',
    text: 'Bytes in them, kept here or in the log',
    kind: 'level',
    counts: false,
    read: (l) => queued(l, (size) => size),
  },
  {
    name: 'images_taken',
    text: 'Checkpoint images of this rank that its present state has behind it',
    kind: 'level',
    counts: false,
    read: (l, images) => Number(l.device.place(() => String(images))),
  },
  {
    name: 'incarnation',
    text:
      'How often this rank has restarted after a loss; a program that reads it gets results that depend on the ' +
      'losses',
    kind: 'level',
    counts: false,
    read: (l) => Number(l.device.place(() => String(l.device.incarnation ?? 0))),
  },
];

export const CATEGORIES: readonly {
  name: string;
  text: string;
  control: readonly string[];
  performance: readonly string[];
}[] = [
  {
    name: 'messages',
    text: 'Messages and where they wait',
    control: ['unexpected_buffer_bytes'],
    performance: PERFORMANCE.slice(0, 6).map((v) => v.name),
  },
  { name: 'collectives', text: 'Choice of algorithms', control: CONTROL.slice(1).map((v) => v.name), performance: [] },
  {
    name: 'checkpoints',
    text: 'Images and incarnations of the rank',
    control: [],
    performance: ['images_taken', 'incarnation'],
  },
];
