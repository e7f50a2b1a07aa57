/** What a page may have of the toolchain: archives and manifests, without a compiler and without Node. */
export { archiveKind, unpack } from './archive.ts';
export { ARCHIVE_LIMITS } from './limits.ts';
export { MANIFEST, isNativeSource, isUnit, programOfFiles, type PlainProgram } from './project.ts';
