/** The program host: a wasm module as one rank. */
export { IncarnationDies, runProcess, type ProcessHost, type ProcessImage, type ProcessOptions, type Waits } from './process.ts';
export { readSection, UnfitModule, type ModuleSection } from './section.ts';
export { WAITING_WASI } from './wasi.ts';
export { describeTrap, wasmFrames } from './trap.ts';
