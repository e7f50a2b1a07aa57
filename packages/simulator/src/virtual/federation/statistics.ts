/**
 * What a run of the federation simulator reports: "statistical data, as messages count in clusters …" (section 5.1).
 */

export interface Garbage {
  /** Stored CLCs, by cluster. */
  readonly before: readonly number[];
  readonly after: readonly number[];
}

export interface FederationStatistics {
  /** Application messages: of cluster i to cluster j. */
  readonly messages: readonly (readonly number[])[];
  /** CLCs that were committed, by cluster; the one at the start is none of them. */
  readonly forced: readonly number[];
  readonly timed: readonly number[];
  /** CLCs stored at the end, by cluster. */
  readonly stored: readonly number[];
  readonly garbage: readonly Garbage[];
  /** The most messages that were logged at a time, of one node and of one cluster. */
  readonly loggedByNode: number;
  readonly loggedByCluster: number;
  /** Messages of the protocol between clusters: alerts, acknowledgements, garbage collection; and within clusters. */
  readonly protocolBetween: number;
  readonly protocolWithin: number;
  /** Messages between clusters that waited for a forced CLC, and for how long on average, ms. */
  readonly waited: number;
  readonly waitedMs: number;
  readonly failures: number;
  /** Clusters that went back, the failed ones included. */
  readonly rolled: number;
  /** Work that was undone, and what message logging would have undone: the work of the lost node; node-hours. */
  readonly lostHours: number;
  readonly lostAloneHours: number;
}
