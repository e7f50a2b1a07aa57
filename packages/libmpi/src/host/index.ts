/** The program host: a wasm module as one rank. */
export { IncarnationDies } from './ending.ts';
export type { ProcessImage } from './image.ts';
export type { ProcessHost, ProcessOptions, Waits } from './options.ts';
export { runProcess } from './process.ts';
export { readSection, UnfitModule, type ModuleSection } from './section.ts';
export { describeTrap, wasmFrames } from './trap.ts';
