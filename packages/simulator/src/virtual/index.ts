export { CORES, type Cores, type Implementation } from './implementation.ts';
export {
  checkFiles,
  type ApplicationFile,
  type SimulationFiles,
  type TimersFile,
  type TopologyFile,
} from './federation/files.ts';
export { simulateFederation, type CheckpointCosts, type SimulationOptions } from './federation/simulate.ts';
export type { FederationStatistics } from './federation/statistics.ts';
export { runVirtually, type VirtualJob, type VirtualRun } from './job.ts';
export { nasBt, type BtClass } from './nas-bt.ts';
export { nasCg, type CgClass } from './nas-cg.ts';
export {
  DEFAULTS,
  MB_PER_S,
  PARAMETERS,
  US,
  type Parameter,
  type ParameterName,
  type Parameters,
} from './parameters.ts';
export type { Pattern } from './pattern.ts';
export { Platform, type PlatformSpec } from './platform.ts';
