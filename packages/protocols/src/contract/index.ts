/**
 * A V-protocol: "the V-protocol" of MPICH-V is what a fault-tolerance protocol decides behind MPI. It is a value of
 * small policies, one per participant. Each policy is declared by the code that asks it; what has one copy of a rule
 * for all protocols (sessions, channels, credit, placement) knows none of them.
 *
 * table.ts is the only file that names every protocol.
 */
import type { Position, TaskId } from '@mayfly/wire';
import type { LogPolicy } from '../channel-memory/state.ts';
import type { CommdPolicy, TeamPolicy } from '../comm/policy.ts';
import type { RecoveryPolicy } from '../dispatcher/policy.ts';
import type { ImagePolicy } from '../images/policy.ts';
import type { Endpoint, EndpointStart } from '../endpoint.ts';
import type { Manifest } from './manifest.ts';
import type { ServicePolicy } from '../service/part.ts';

/**
 * The rank's side: its numbers, its events and their replay, and what travels with a frame.
 * @throws MalformedPosition
 */
export type RankPolicy = (
  task: TaskId,
  size: number,
  position: Position,
  start: EndpointStart,
  /** Its team, ascending, itself included; absent: it has none. */
  team?: readonly TaskId[],
) => Endpoint;

export interface VProtocol {
  /** What a job may ask for under it, and what people read about it. */
  readonly manifest: Manifest;
  /** Asked by the rank worker. */
  readonly rank: RankPolicy;
  /** Asked by the comm worker. */
  readonly commd: CommdPolicy;
  /** …for ranks that exchange messages in the memory of their node; absent: it needs nothing for that. */
  readonly teams?: TeamPolicy;
  /** Asked by a Channel Memory. */
  readonly log: LogPolicy;
  /** Asked by the Checkpoint Server. */
  readonly images: ImagePolicy;
  /** Asked by the dispatcher. */
  readonly recovery: RecoveryPolicy;
  /** Asked by the service; absent: the dispatcher alone deals with losses. */
  readonly service?: ServicePolicy;
}

export type { Manifest } from './manifest.ts';
export { MalformedPosition, type Replays } from './position.ts';
export type { CommdPolicy, CommdTask, CommdTeam, TeamPolicy } from '../comm/policy.ts';
export type { LogPolicy } from '../channel-memory/state.ts';
export type { CheckpointFigures, PartHost, ServicePart, ServicePolicy, WaveNews } from '../service/part.ts';
export type { CheckpointScheduler, WaveRecord } from './waves.ts';
export type { ImagePolicy, ImageTable } from '../images/policy.ts';
export type { RecoveryPolicy, RecoveryTable } from '../dispatcher/policy.ts';
