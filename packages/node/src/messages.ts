/**
 * Messages between the threads of a node. Types only.
 *
 *   daemon ── port ── comm worker ── port ── rank worker     (job traffic)
 *                      frame core ── spawns both              (life and death)
 *
 * The port to the rank is used before its program starts and, where an engine has no Atomics.waitAsync, to wake the
 * comm worker; everything else goes through the rank memory.
 */
import type { PagePack } from '@mayfly/checkpoint';
import type {
  Assignment,
  CallTime,
  PlaceTime,
  ErrorBody,
  ImageId,
  Incarnation,
  LocalChannel,
  Manifest,
  ProgramKind,
  TaskId,
  TaskReport,
} from '@mayfly/wire';
import type { EndpointStart } from '@mayfly/protocols';
import type { PortLike } from './thread-ports.ts';
import type { RankStatus } from './status.ts';
import type { TeamOf } from './rank/teammates.ts';

export type DaemonToComm =
  | {
      type: 'assign';
      assignment: Assignment;
      /** Added to this machine's clock gives the server's. */
      clockOffset: number;
      /** The image is in the local store. */
      local: boolean;
      /** Name of this node. */
      node: string;
      /** Kinds of programs that this node runs, whatever the assignment calls this one. */
      runs: readonly ProgramKind[];
    }
  | { type: 'revoke'; task: TaskId; incarnation: Incarnation }
  /** End it as crashed: it takes more memory than there is. */
  | { type: 'crash'; task: TaskId; incarnation: Incarnation; why: string }
  /**
   * Take a checkpoint soon; of one task, or of all. `leave`: and do nothing after it; false: that is not wanted any
   * more. `atCall`: a script takes it at this call of checkpoint.here of its whole program.
   */
  | { type: 'checkpoint'; task?: TaskId; leave?: boolean; atCall?: number }
  /** Percent of a processor that each rank may use, 1 to 100; also of those to come. */
  | { type: 'share'; percent: number }
  /** Channel Memory `memory` works elsewhere: connect again. */
  | { type: 'reconnect'; memory: number }
  | { type: 'ping'; n: number }
  /** Answer to `keep` with `parity` 'waits': all holders have prepared it, or it goes to the server whole. */
  | { type: 'protected'; task: TaskId; image: ImageId; holds: boolean }
  /** Answer to `page`. */
  | { type: 'page'; hash: string; bytes: Uint8Array | undefined };

export interface TaskStatus extends RankStatus {
  task: TaskId;
  incarnation: Incarnation;
  /** How long it has waited in which call. */
  calls: CallTime[];
  /** And from where in the program, as stacks have it. */
  places: PlaceTime[];
  /** What it has sent to tasks of its team; absent: nothing. */
  local?: LocalChannel[];
  /** Bytes of its linear memory; 0: not known. */
  memory: number;
}

/** How an incarnation ended: its program, well or with an error; or without its program's end. */
export type RankEnd = 'finished' | 'failed' | 'revoked' | 'refused' | 'crashed';

export type CommToDaemon =
  | { type: 'pong'; n: number }
  | { type: 'status'; tasks: TaskStatus[]; connected: boolean; lostWakeUps: number }
  | { type: 'report'; task: TaskId; incarnation: Incarnation; event: TaskReport['event']; error?: ErrorBody }
  /** The incarnation's worker is gone. Its slot is free. */
  | { type: 'ended'; task: TaskId; incarnation: Incarnation; how: RankEnd }
  /** `parity`: of a job with parity; 'waits' for `protected`, or goes to the server whole meanwhile. */
  | { type: 'keep'; manifest: Manifest; fresh: PagePack; parity?: 'waits' | 'whole' }
  /** The server has the image whole. `last`: the rank stopped behind it. */
  | { type: 'complete'; task: TaskId; image: ImageId; bytes: number; last: boolean }
  | { type: 'page'; hash: string }
  | { type: 'note'; text: string };

/** First message to a comm worker, from the frame core. */
export interface CommInit {
  type: 'init';
  /** Base URL of the server, without a slash at the end. */
  server: string;
  daemon: PortLike;
}

/** comm worker → frame core (its parent). */
export type CommToFrame =
  | { type: 'spawn'; id: number; memory: SharedArrayBuffer; port: PortLike; memoryBytes: number }
  | { type: 'kill'; id: number };
/** frame core → comm worker, after `init`. */
export type FrameToComm = CommInit | { type: 'died'; id: number; message: string };

/** First message to a rank worker, from the frame core. */
export interface RankInit {
  type: 'init';
  memory: SharedArrayBuffer;
  port: PortLike;
}

/** comm worker → rank worker over their port. */
export interface RankRun {
  type: 'run';
  assignment: Assignment;
  clockOffset: number;
  /** The bundled script, or the compiled module, which all ranks of a frame share. */
  program: string | WebAssembly.Module;
  /** Where the rank copies its memory for an image; growable. Absent: the image goes through the ring whole. */
  imageBuffer: SharedArrayBuffer | undefined;
  start: EndpointStart;
  /** Sections of the image to restart from. */
  image: Map<string, Uint8Array> | undefined;
  /** Absent: it has no teammates. */
  team?: TeamOf;
  /** What this place is called; the program sees it as a determinant. */
  place: string;
}
/** rank worker → frame core: the rank cannot go on, for no fault of its program. It waits to be ended. */
export interface FromRank {
  type: 'broken';
  why: string;
}
/** rank worker → comm worker over their port. */
export type RankToComm = { type: 'wake' };
