/** What a page may have of the toolchain: archives and manifests, without a compiler and without Node. */
export { ARCHIVE_LIMITS, archiveKind, unpack } from './archive.ts';
export { MANIFEST, isNativeSource, isUnit, programOfFiles, type PlainProgram } from './project.ts';
