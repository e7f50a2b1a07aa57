/**
 * What the dispatcher remembers against ranks and nodes, as data. What it makes of that: failures.ts (who is to blame
 * for a lost rank), comparison.ts (nodes without progress), reputation.ts (how far a node is trusted).
 */
import type { NodeId } from '@mayfly/wire';

/** What is known of a loss besides its cause. */
export interface LossDetail {
  /** Only its node reported it. */
  hearsay?: boolean | undefined;
  /** Of the error that was reported. */
  code?: string;
  /** For people: FaultRecord.error. */
  why?: string;
}

/** A rank was lost with its node, or crashed there. */
export interface Failure {
  readonly node: NodeId;
  /** As people know the node. */
  readonly name: string;
  /** Observer's time. */
  readonly at: number;
  readonly crash: boolean;
  /** Held against the node. */
  weight: number;
  /** Counts towards the end of the job: of a node that had a record then. */
  strike: number;
  /** Its node reported that the rank waits. */
  readonly waited: boolean;
  /** B5: not the rank's doing. */
  collateral: boolean;
  readonly code: string | undefined;
  readonly quarantined: boolean;
  /** Place in Job.faults. */
  readonly fault: number | undefined;
  excused: boolean;
}

/** A rank was taken from a node because it made no progress. */
export interface Comparison {
  readonly node: NodeId;
  /**
   * What its node had failed to do: start the rank, call MPI. Or it reported that the rank waits, and the other ranks
   * may have waited because of that.
   */
  readonly kind: 'start' | 'call' | 'wait';
  /** `wait`: messages to it that were logged then. */
  readonly arrivals?: number;
  /** How long it had been assigned there, ms. */
  readonly took: number;
  /** Place in Job.faults. */
  readonly fault: number | undefined;
}

/** Registry `reputation/<node>`, of nodes that have or had a record. */
export interface ReputationRecord {
  credit: number;
  /** When it last did useful work. */
  workedAt: number;
  blame: number;
  /** When `blame` was that; it halves with HALF_LIFE_MS. */
  blamedAt: number;
  /** Quarantines so far, less one for each rank that ended since: the next lasts 2^level times as long as the first. */
  level: number;
  quarantinedUntil?: number;
}

export interface Reputation extends ReputationRecord {
  address?: string;
}

/** Identities of an address since it was last quiet. */
export interface AddressReputation {
  readonly seen: Set<NodeId>;
  readonly bad: Set<NodeId>;
  /** Newcomers wait until then. */
  until: number;
  heardAt: number;
}
