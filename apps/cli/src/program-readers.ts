/** The readers of the toolchain, as a part of the bundle of their own: they bring schemas along (read-program.ts). */
export { programOfFiles, readNative, readProgram } from '@mayfly/toolchain';
