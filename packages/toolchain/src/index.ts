/**
 * From a submitted TypeScript program to one checked, bundled script (and, later, from C to checkpointable WebAssembly).
 *
 * What it guarantees: nothing of a submitted program runs here; no file outside of the submission is ever read for it; a program
 * that hangs or blows up the tools ends with an answer, and the next one is compiled as if nothing had been.
 */
export * from './types.ts';
export { createCompiler } from './compiler.ts';
export { declarations, templateFiles } from './dist-files.ts';
export { mapStack } from './map-stack.ts';
export { readProgram } from './read-program.ts';
export { BUNDLE_NAME } from './bundle-name.ts';
