/** The socket.io namespace /dashboard: what a viewer of jobs and nodes is sent, and asks for. */
import type { Patch } from './delta.ts';
import type { JobView, NodeView } from './job.ts';
import type { ErrorBody } from './schema.ts';

/** What a task has written behind its final output (coordinated checkpointing): a loss takes it back. */
export interface ProvisionalOutput {
  task: number;
  stream: 'stdout' | 'stderr';
  /** Bytes of it before `bytes` that are not sent. */
  omitted: number;
  bytes: Uint8Array;
}

/** Events of the socket.io namespace /dashboard (server → client). */
export interface DashboardEvents {
  /** While no job is watched: the list, and later every change. Without tasks' fast counters. */
  jobs: (jobs: JobView[]) => void;
  /**
   * The watched job, at most 5 per second; of many ranks less often (1 per second at 256). With `deltas` only the first
   * after a watch is whole.
   */
  job: (job: JobView) => void;
  /** With `deltas`: what has changed of the watched job since the last that was sent (delta.ts). */
  change: (change: { job: string; patch: Patch }) => void;
  /** While no job is watched. */
  nodes: (nodes: NodeView[]) => void;
  /** New output of the watched job: bytes at an offset of one stream of one task. */
  output: (o: { job: string; task: number; stream: 'stdout' | 'stderr'; offset: number; bytes: Uint8Array }) => void;
  /** With `provisional`: whole each time, whenever it has changed; none: everything that was written is final. */
  provisional: (o: { job: string; streams: ProvisionalOutput[] }) => void;
  /** A result file of the watched job grew or changed. */
  file: (f: { job: string; path: string; bytes: number }) => void;
  /** The last message before the server closes: TOO_MANY. */
  closing: (e: ErrorBody) => void;
}
/** client → server. Needs the submitter's token in `auth.token`. */
export interface DashboardRequests {
  /**
   * Replaces what this socket watches; undefined: lists only. `from` = bytes of output already shown, per
   * `${task}:${stream}`. `deltas`: after the first view, changes of it only. A stream that is not in `from` begins at
   * most `tail` bytes before its present end (absent: at its start). `provisional`: also output that is not final.
   */
  watch: (
    req: { job?: string; from?: Record<string, number>; tail?: number; deltas?: boolean; provisional?: boolean },
    ack: (r: { ok: true } | { error: ErrorBody }) => void,
  ) => void;
}
