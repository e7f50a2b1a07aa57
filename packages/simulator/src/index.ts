export { FAULTS, run, runAndCompare, type FaultKind, type RunOptions, type RunReport } from './run.ts';
export type { Setup } from './world.ts';
export type { ProgramSpec } from './program.ts';
