/** What the page shows of this node. Plain data; a new object at each change, at most about five per second. */
import type { ErrorBody, Incarnation, JobId, NodeId, RankActivity, TaskId } from '@mayfly/wire';

/** Work of this node since it started, for people. */
export interface Gave {
  /** Rank time in which something new was computed (or waited for), and in which logged messages were replayed. */
  readonly usefulMs: number;
  readonly replayedMs: number;
  /** Ranks that ended here, and jobs that had a rank here. */
  readonly finished: number;
  readonly jobs: number;
}

/**
 * `off`: not started. `connecting`: no control connection (it retries automatically). `idle`: connected, no rank here.
 * `working`: ranks are here. `leaving`: the last images of its ranks are taken; then `off` or `paused`. `paused`: no
 * rank runs; `reason` has the cause. `refused`: the server rejected this node; `error` has the reason, and it does not
 * retry until `start`.
 */
export type VolunteerPhase = 'off' | 'connecting' | 'idle' | 'working' | 'leaving' | 'paused' | 'refused';

export interface RankSnapshot {
  readonly job: JobId;
  readonly jobName?: string;
  /** The purpose of the job, in its owner's words. */
  readonly about?: string;
  readonly task: TaskId;
  readonly incarnation: Incarnation;
  readonly size: number;
  /** File that the program starts with. */
  readonly program: string;
  /** `loading`: program, image or log on the way. `running`. `ending`: exit not yet durable. */
  readonly state: 'loading' | 'running' | 'ending';
  readonly activity?: RankActivity;
  /** Bytes of its linear memory; absent: not known (a script). */
  readonly memory?: number;
  readonly messagesIn: number;
  readonly bytesIn: number;
  readonly messagesOut: number;
  readonly bytesOut: number;
  /** ms since the epoch, by this machine's clock. */
  readonly since: number;
  /** When its newest image was complete; absent: none from here yet. */
  readonly imageAt?: number;
  /** Images of it can be taken. */
  readonly canImage: boolean;
}

export interface VolunteerEvent {
  readonly at: number;
  readonly kind:
    | 'connected'
    | 'disconnected'
    | 'started'
    | 'finished'
    | 'failed'
    | 'revoked'
    | 'crashed'
    | 'checkpoint'
    | 'refused'
    | 'paused'
    | 'resumed';
  readonly job?: JobId;
  readonly jobName?: string;
  readonly task?: TaskId;
  /** A sentence for people. */
  readonly text: string;
}

export interface VolunteerSnapshot {
  readonly phase: VolunteerPhase;
  /** Why it is paused or cannot run, in plain words. */
  readonly reason?: string;
  readonly error?: ErrorBody;
  readonly nodeId?: NodeId;
  readonly name: string;
  readonly slots: number;
  readonly ranks: readonly RankSnapshot[];
  readonly gave: Gave;
  /** Round trip to the server, ms. */
  readonly rttMs?: number;
  /**
   * The connection stands, but the server has owed an answer since then (ms since the epoch, by this machine's clock).
   */
  readonly silentSince?: number;
  /** Newest last, at most 100. */
  readonly history: readonly VolunteerEvent[];
}
