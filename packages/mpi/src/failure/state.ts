/** What a process knows of failures (protocol `app`). Plain data, as all of the layer's state. */
export interface FailuresState {
  /** Lost tasks in the order of their notices, which is the same at all processes. */
  lost: number[];
  /** Point-to-point contexts of revoked communicators; one may have been revoked before it was made here. */
  revoked: number[];
  /** Requests of agreements under way, by context and number. */
  agreements: Map<string, number>;
  /** FT-MPI: it has heard of a loss, and the job has not recovered from it. */
  broken?: true;
  /** The request of the recovery that it has asked for. */
  recovering?: number;
  /** How often the job has recovered, and the ranks that were lost before, as they were numbered then. */
  epoch?: number;
  failedRanks?: number[];
  /** CONT: contexts of MPI_COMM_WORLD before, under which messages may still come, and that of now. */
  moved?: Map<number, number>;
}

export const noFailures = (): FailuresState => ({ lost: [], revoked: [], agreements: new Map() });

/** What the members of a communicator have agreed on. */
export interface Agreed {
  flag: number;
  lost: number[];
}
