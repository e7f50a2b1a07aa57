export { CORES, type Cores, type Implementation } from './implementation.ts';
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
