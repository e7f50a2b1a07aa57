/** MPI semantics over a Device: synchronous, without I/O. DESIGN.md of this package says what is where. */
export type * from './device.ts';
export * from './constants.ts';
export * from './errors.ts';
export * from './datatypes.ts';
export * from './buffers.ts';
export { copyBytes } from './copy-bytes.ts';
export * from './ops.ts';
export * from './layout.ts';
export * from './packing.ts';
export { PREDEFINED_TYPES, type PredefinedType } from './predefined-types.ts';
export * as types from './types/index.ts';
export { f90Integer, f90Real } from './f90-types.ts';
export { externalSize, fromExternal, toExternal } from './external32.ts';
export * from './codec.ts';
export { createLayer, commOf, requestOf, scratch, type Counters, type Layer } from './layer.ts';
export type * from './state.ts';
export * as p2p from './p2p.ts';
export * as requests from './requests.ts';
export * as partitioned from './partitioned.ts';
export type { Outcome } from './requests.ts';
export * as collectives from './collectives/index.ts';
export * as comms from './comm.ts';
export * as intercomms from './intercomm.ts';
export * as ports from './ports.ts';
export { CONNECT_SECONDS } from './connect-timeout.ts';
export * as spawns from './spawn.ts';
export * as groups from './groups.ts';
export * as topology from './topology.ts';
export * as neighbours from './neighbours.ts';
export * as toolVariables from './tool-variables.ts';
export * as ckpt from './ckpt/service.ts';
export * as failures from './failure/index.ts';
export * as windows from './windows/index.ts';
export * as files from './files/index.ts';
export * as world from './outside-world.ts';
export { Interrupted } from './progress.ts';
export { stateProgress } from './stated-progress.ts';
export { combine, inSeries, newSeries, type Series } from './schedule.ts';
export * as bundles from './bundle.ts';
export type { Bundle } from './bundle.ts';
export { heldArrivals, pendingRequests, restore, snapshot } from './snapshot.ts';
export {
  createMayfly,
  runProgram,
  type CheckpointImage,
  type MayflyModule,
  type RestoredImage,
  type Runtime,
} from './api/index.ts';
