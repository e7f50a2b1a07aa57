/**
 * The C and C++ side of the toolchain, in process: no limits on time or memory here. What strangers submit goes through
 * createCompiler().
 */
export { buildModule, type BuiltModule } from './build-module.ts';
export { cc, llvmTool, TOOLS } from './driver/cc.ts';
export { CallStore } from './driver/cache/call-store.ts';
export { rememberedCc } from './driver/cache/remembered.ts';
export type { DriverOptions, DriverResult } from './driver/run.ts';
export { DiskFiles, FileError, MemoryFiles, MountedFiles, type FileStat, type FileTree } from './files.ts';
export {
  instrument,
  SECTION,
  SECTION_VERSION,
  type Instrumented,
  type InstrumentOptions,
  type ModuleInfo,
  type SourceLanguage,
} from './instrument.ts';
export { symbolise } from './lines.ts';
export { ModuleError, type ModuleProblem } from './wasm-module.ts';
