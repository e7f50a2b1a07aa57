/** The C and C++ side of the toolchain, in process: no limits on time or memory here. What strangers submit goes through createCompiler(). */
export { buildModule, type BuiltModule } from './build-module.ts';
export { instrument, SECTION, SECTION_VERSION, type InstrumentOptions, type ModuleInfo } from './instrument.ts';
export { DiskFiles, FileError, MemoryFiles, MountedFiles, type FileStat, type FileTree } from './files.ts';
