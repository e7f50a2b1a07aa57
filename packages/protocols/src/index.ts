export { Dispatcher } from './dispatcher/dispatcher.ts';
export * from './dispatcher/effects.ts';
export * from './dispatcher/events.ts';
export * from './dispatcher/keys.ts';
export { reputationKey } from './dispatcher/reputation.ts';
export type { ReputationRecord } from './dispatcher/suspicions.ts';
export { partOfTask, partsOf } from './dispatcher/parts.ts';
export { ownerOf } from './dispatcher/quotas.ts';
export { roomOf, roomsOf } from './dispatcher/rooms-of-job.ts';
export { groupIn, regroupedAt, teamsBefore, type Dissolved, type Regrouped } from './contract/dissolved.ts';
export { goesBackNow, groupOf } from './dispatcher/state.ts';
export {
  jobIds,
  jobView,
  nodeViews,
  reasonOf,
  slotsByOwner,
  slotsFor,
  spawnedSlots,
  type JobCounters,
  type TaskCounters,
} from './dispatcher/views.ts';
export { beginsAt } from './images/begins-at.ts';
export { ImageCost } from './images/image-cost.ts';
export { CheckpointServer } from './images/checkpoint-server.ts';
export * from './images/events.ts';
export { TeamSets, type ImageSet } from './images/team-sets.ts';
export * from './deadlock.ts';
export * from './contract/index.ts';
export type { Provisional } from './channel-memory/census.ts';
export {
  countOf,
  isWhole,
  type GateCounts,
  type WaveEffect,
  type WaveEvent,
  type WaveOptions,
} from './contract/waves.ts';
export { memberService } from './app/members-of-job.ts';
export { Membership } from './app/membership.ts';
export { Recovery, type StateOf } from './app/recovery.ts';
export { SlotWait } from './app/slot-wait.ts';
export { protocols } from './table.ts';
export * from './manifests.ts';
export * from './endpoint.ts';
export { Freeze } from './coordinated/freeze.ts';
export { Gate } from './coordinated/gate.ts';
export { waveLog, waveRules } from './coordinated/log.ts';
export type { WaveRules } from './coordinated/wave-stage.ts';
export { Waves } from './coordinated/waves.ts';
export { waveService } from './coordinated/waves-of-job.ts';
export { Clusters } from './hc3i/clusters.ts';
export { clusterService } from './hc3i/clusters-of-job.ts';
export { Federation } from './hc3i/federation.ts';
export { garbageLine } from './hc3i/garbage.ts';
export { clusterLog } from './hc3i/log.ts';
export { Intake, type Logged as LoggedByIntake } from './hc3i/intake.ts';
export { Links } from './hc3i/links.ts';
export type { Line as RecoveryLine, Stored as StoredCheckpoints } from './hc3i/recovery-line.ts';
export { Stamps } from './hc3i/stamps.ts';
export { ClusterGates, type GateEffect as ClusterGateEffect } from './hc3i/gates.ts';
export type {
  ClcRecord,
  Cuts as ClusterCuts,
  FederationEffect,
  FederationEvent,
  Rolled as RolledCluster,
} from './hc3i/records.ts';
export type { Stamped as StampedMessage } from './hc3i/stamps.ts';
export { WaveStatistics } from './units/wave-statistics.ts';
export * from './ownership/takeover.ts';
export { Backlog, type Awaited, type BacklogLimits } from './backlog.ts';
export { LoggedEndpoint } from './pessimistic/endpoint.ts';
export { TeamEndpoint } from './pessimistic/teams/endpoint.ts';
export { ImageCut, type InRing } from './pessimistic/teams/image-cut.ts';
export { CarriedOver, type Batch } from './pessimistic/teams/carried-over.ts';
export { carriedOver } from './pessimistic/teams/regroup.ts';
export { startInTeam } from './pessimistic/teams/position.ts';
export { PrologueCopies, RepeatedPrologue } from './pessimistic/teams/prologue.ts';
export { atHere, nextRound, offeredRound, roundOfCall, type Caller } from './pessimistic/teams/rounds.ts';
export { fromTheStart, positionOf, replayOf, zeroLine, type Line, type ReplayFrom } from './pessimistic/position.ts';
export { ChannelMemory } from './channel-memory/channel-memory.ts';
export { DEFAULT_WINDOW } from './channel-memory/initial.ts';
export * from './channel-memory/events.ts';
export { readWorldBody } from './channel-memory/world.ts';
export { asArrival, patchFromLog } from './channel-memory/records.ts';
export { coversDeterminants } from './channel-memory/ranges.ts';
export { Comm } from './comm/comm.ts';
export * from './comm/events.ts';
export type { Reports } from './comm/reports.ts';
export type { AnswerSource } from './files/answer-feed.ts';
export { FileService } from './files/file-service.ts';
export {
  FileError,
  GONE,
  type Fatal,
  type FileAnswer,
  type FileEffect,
  type FileSnapshot,
  type JobFile,
  type Outcome,
} from './files/effects.ts';
export { MemoryFiles } from './files/memory-files.ts';
export { readSegments, writeSegments, type RangeIo } from './files/segments.ts';
export { Buckets, type BucketOptions, type BucketsRecord, type Window as BucketWindow } from './history/buckets.ts';
export { JobService, type DispatcherInput, type ImagesInput } from './service/job-service.ts';
export { Inbox } from './service/inbox.ts';
export type { DispatcherIo, ImagesIo, ServiceHost } from './service/service-host.ts';
export {
  ServedLog,
  streamsBetween,
  type LogAnswers,
  type LogCore,
  type LogHost,
  type LogIo,
  type LogOrder,
  type ServedLogOptions,
  type StreamRecords,
} from './service/served-log.ts';
export type { InputRoom, StdinSource } from './service/input-feed.ts';
