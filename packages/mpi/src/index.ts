/** MPI semantics over a Device: synchronous, without I/O. DESIGN.md of this package says what is where. */
export type * from './device.ts';
export * from './constants.ts';
export * from './errors.ts';
export * from './datatypes.ts';
export * from './buffers.ts';
export * from './ops.ts';
export * from './codec.ts';
export { createLayer, commOf, requestOf, scratch, type Counters, type Layer } from './layer.ts';
export type * from './state.ts';
export * as p2p from './p2p.ts';
export * as requests from './requests.ts';
export * as collectives from './collectives/index.ts';
export * as comms from './comm.ts';
export * as groups from './groups.ts';
export * as topology from './topology.ts';
export * as world from './world.ts';
export { heldArrivals, pendingRequests, restore, snapshot } from './snapshot.ts';
export { createMayfly, runProgram, type CheckpointImage, type MayflyModule, type RestoredImage, type Runtime } from './api/index.ts';
