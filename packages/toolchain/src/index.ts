/**
 * From a submitted program to what a rank runs: of TypeScript one checked, bundled script, of C and C++ a
 * checkpointable module.
 *
 * What it guarantees: nothing of a submitted program runs here; no file outside of the submission is ever read for it;
 * a program that hangs or blows up the tools ends with an answer, and the next one is compiled as if nothing had been.
 */
export * from './compile-request.ts';
export { createCompiler, defaultWorkers } from './compiler.ts';
export { declarations, templateFiles } from './dist-files.ts';
export { mapStack, stackMapper } from './map-stack.ts';
export { symbolise, symboliser } from './c/lines.ts';
export { archiveKind, unpack } from './archive.ts';
export { ARCHIVE_LIMITS } from './limits.ts';
export { programOfFiles, type PlainProgram } from './project.ts';
export { MANIFEST, isNativeSource, isUnit } from './source-names.ts';
export { readNative, type NativeProgram } from './read-native.ts';
export { readProgram } from './read-program.ts';
export { stackFlags } from './stack-flags.ts';
export { BUNDLE_NAME } from './bundle-name.ts';
