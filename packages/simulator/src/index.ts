export { FAULTS, drawFaults, type Fault, type FaultKind } from './faults.ts';
export { DamagedLog, DiskFull, FaultyLog } from './faulty-log.ts';
export { hunt, type Found } from './hunt.ts';
export { PLANTED, type Held, type Planted, type Rule } from './planted.ts';
export type { ProgramSpec, ScriptStep } from './program.ts';
export { draw, run, type RunOptions, type RunReport } from './run.ts';
export { shrink, type Shrunk } from './shrink.ts';
export type { Setup, World } from './world.ts';
export { Random } from './random.ts';
