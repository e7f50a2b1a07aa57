/**
 * What the server that owns a shared storage and another server that has seats for its Channel Memories say to each
 * other, over one WebSocket between them: structured clones, in order.
 *
 * The owner opens a seat for one core, gives it events, and closes it. Whatever ends their connection ends all seats of
 * it: the other server drops the cores, and the owner has them recover at itself.
 */
import type {
  ChannelMemory,
  ChannelMemoryOptions,
  CmEffect,
  CmEvent,
  GateCounts,
  Progress,
  Provisional,
} from '@mayfly/protocols';
import type { ErrorCode } from '@mayfly/wire';
import { deserialize, serialize } from 'node:v8';
import type { LinkSettings, SeatIo, SeatSpec } from '../hosts/memory-seat.ts';
import type { TrafficReport } from '../hosts/traffic.ts';

/** The path of the WebSocket. */
export const SEATS_PATH = '/seats';

/** First message of the owner. */
export interface Join {
  type: 'join';
  /** Of Mayfly: both have the same. */
  version: string;
  /** For the log that both write (joinPostgresLog). */
  joining: { application: string; epoch: string };
  /** Of capabilities. */
  key: Uint8Array;
  settings: LinkSettings;
}

/** `seat`: a number that the owner gives once. */
export type ToSeats =
  | Join
  /** `traffic`: of the cores before, which this one goes on counting from. */
  | {
      type: 'open';
      seat: number;
      spec: SeatSpec;
      options: Omit<ChannelMemoryOptions, 'authorise'>;
      traffic?: TrafficReport;
    }
  | { type: 'event'; seat: number; event: CmEvent }
  /** Its job has more tasks. Answered by `grown`. */
  | { type: 'grow'; seat: number; size: number }
  | { type: 'hold'; seat: number; on: boolean }
  /** Somebody watches single messages. */
  | { type: 'tap'; seat: number; on: boolean }
  /** Somebody reads output that is not final: so many bytes of each stream are reported. 0: nobody does. */
  | { type: 'preview'; seat: number; bytes: number }
  /** Answered by `closed`. */
  | { type: 'close'; seat: number; code: number; reason: string };

/** What leaves the message path. */
export type Answer = Exclude<CmEffect, SeatIo>;

export type ToOwner =
  | { type: 'joined' }
  | { type: 'refused'; message: string }
  | { type: 'recovered'; report: SeatReport }
  /** `progress`: of the task that is fenced. `counts`: of the wave in which the channels of a task are recorded. */
  | { type: 'answer'; seat: number; effect: Answer; progress?: Progress; counts?: Readonly<GateCounts> }
  | { type: 'grown'; seat: number; error?: { code: ErrorCode; message: string } }
  /** The core is not used again. */
  | { type: 'broke'; seat: number; code: ErrorCode; message: string }
  | { type: 'closed'; seat: number }
  | { type: 'reports'; reports: SeatReport[]; counted: Counted };

/** How a seat is. */
export interface SeatReport {
  seat: number;
  links: number;
  logBytes: number;
  memory: ReturnType<ChannelMemory['memory']>;
  unshown: ReturnType<ChannelMemory['unshown']>;
  /** Output that is not final. Absent: as reported last. */
  preview?: Provisional[];
  /** {@link REPORTED} numbers of each task, by task. */
  tasks: Float64Array;
  traffic: TrafficReport;
  /** Source, destination, bytes and tag of each message that was watched. */
  tapped: number[];
}

export const REPORTED = 8;

export interface TaskReport {
  sends: number;
  consumed: number;
  arrivals: number;
  bodiesUnderWay: number;
  /** Answers of the file service that are logged, and that are durable. */
  answers: number;
  durableAnswers: number;
  /** Lines of standard input that are logged. */
  typed: number;
  /** Bytes of both that have not left for the task. */
  inputAhead: number;
}

export const taskReport = (tasks: Float64Array, task: number): TaskReport => {
  const of = tasks.subarray(REPORTED * task, REPORTED * (task + 1));
  const [sends = 0, consumed = 0, arrivals = 0, bodiesUnderWay = 0] = of;
  const [answers = 0, durableAnswers = 0, typed = 0, inputAhead = 0] = of.subarray(4);
  return { sends, consumed, arrivals, bodiesUnderWay, answers, durableAnswers, typed, inputAhead };
};

/** Of a server since its last report. */
export interface Counted {
  dataBytesIn: number;
  dataMessagesIn: number;
  dataBytesOut: number;
  appends: number;
  appendBytes: number;
  /** Seconds of each sync of the logs of a Channel Memory. */
  syncs: number[];
  /** The error code of each link that was closed with one. */
  refused: string[];
}

export const encodeMessage = (message: ToSeats | ToOwner): Buffer => serialize(message);
/** The other side has proved that it reads the database, and has the same version. */
export const decodeMessage = <M extends ToSeats | ToOwner>(bytes: Buffer): M => deserialize(bytes) as M;
