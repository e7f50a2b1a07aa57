/** What the page shows of this node. Plain data; a new object at each change, at most about five per second. */
import type { ErrorBody, Incarnation, JobId, NodeId, RankActivity, TaskId } from '@mayfly/wire';

/**
 * `off`: not started. `connecting`: no control connection (it tries again by itself). `idle`: connected, no rank here.
 * `working`: ranks are here. `paused`: nothing moves and `reason` says why. `refused`: the server will not have this node; `error`
 * says why and nothing is tried again until `start`.
 */
export type VolunteerPhase = 'off' | 'connecting' | 'idle' | 'working' | 'paused' | 'refused';

export interface RankSnapshot {
  readonly job: JobId;
  readonly jobName?: string;
  readonly task: TaskId;
  readonly incarnation: Incarnation;
  readonly size: number;
  /** `loading`: program, image or log on the way. `running`. `ending`: exit not yet durable. */
  readonly state: 'loading' | 'running' | 'ending';
  readonly activity?: RankActivity;
  readonly messagesIn: number;
  readonly bytesIn: number;
  readonly messagesOut: number;
  readonly bytesOut: number;
  /** ms since the epoch, by this machine's clock. */
  readonly since: number;
}

export interface VolunteerEvent {
  readonly at: number;
  readonly kind: 'connected' | 'disconnected' | 'started' | 'finished' | 'revoked' | 'crashed' | 'checkpoint' | 'refused';
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
  /** Newest last, at most 100. */
  readonly history: readonly VolunteerEvent[];
}
