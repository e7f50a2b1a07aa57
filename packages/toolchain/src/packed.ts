/** What a page may have of the toolchain: archives and manifests, without a compiler and without Node. */
export { archiveKind, unpack } from './archive.ts';
export { ARCHIVE_LIMITS } from './limits.ts';
export { programOfFiles, type PlainProgram } from './project.ts';
export { MANIFEST, isNativeSource, isUnit } from './source-names.ts';
