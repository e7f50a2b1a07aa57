/** What the node daemon needs from its host: a page with frames, or a Node process with worker threads. */
import type { LocalImages } from '@mayfly/checkpoint';
import type { BoardName, JobId, NodeId, ProgramKind } from '@mayfly/wire';
import type { CommToDaemon, DaemonToComm } from '../messages.ts';
import type { Channel } from '../thread-ports.ts';

/** The place where the workers of one job run: a sandboxed frame, or worker threads. */
export interface JobFrame {
  channel: Channel<DaemonToComm, CommToDaemon>;
  /** Once, unless `close` was called before. */
  onDeath(handler: (why: string) => void): void;
  /**
   * The host reports every death (worker threads do). A browser does not report that the process of a frame was killed:
   * only silence shows it.
   */
  tells: boolean;
  close(): void;
}

export interface Identity {
  node: NodeId;
  secret: string;
}

export interface DaemonSeams {
  openFrame(): Promise<JobFrame>;
  /** A node without ranks keeps one frame open for the next job: its start is half of a rank's way into a tab. */
  spareFrame: boolean;
  /**
   * Keeps the host from being frozen while the job is here, as far as its browser offers that; returns how to end it.
   */
  holdAwake?(job: JobId): () => void;
  images: LocalImages;
  /** ms since the epoch. */
  now(): number;
  after(ms: number, run: () => void): () => void;
  /** e.g. 'Chromium 156', 'Node 20.20'. */
  engine: string;
  /** How fast a core is (speed.ts); takes a few hundredths of a second of this thread. */
  speed?(): number;
  loadIdentity(): Identity | undefined;
  /** undefined: forget it. */
  saveIdentity(identity: Identity | undefined): void;
  /** Drawn once per daemon. It distinguishes a reconnection from a reload and from a duplicated tab. */
  session: string;
}

export interface DaemonOptions {
  /** Base URL of the server. */
  server: string;
  name: string;
  slots: number;
  room?: string | undefined;
  /** Under which name the board of the room counts what this node gives. */
  board?: BoardName | undefined;
  /** Percent of a processor that each rank may use; default 100. */
  share?: number | undefined;
  /** Kinds of programs that this node runs; absent: all, as a browser's sandbox can. */
  runs?: readonly ProgramKind[] | undefined;
  /** Any certificate of the server will do; of a headless node only. */
  insecure?: boolean | undefined;
  /** Processor cores of this machine. */
  cores?: number | undefined;
}
