/** What a process knows of failures (protocol `app`). Plain data, as all of the layer's state. */
export interface FailuresState {
  /** Lost tasks in the order of their notices, which is the same at all processes. */
  lost: number[];
  /** Point-to-point contexts of revoked communicators; one may have been revoked before it was made here. */
  revoked: number[];
  /** Requests of agreements under way, by context and number. */
  agreements: Map<string, number>;
}

export const noFailures = (): FailuresState => ({ lost: [], revoked: [], agreements: new Map() });

/** What the members of a communicator have agreed on. */
export interface Agreed {
  flag: number;
  lost: number[];
}
