/**
 * What an archive or a dropped folder may come to. By itself, so that a page knows it without the code that unpacks.
 */
export const ARCHIVE_LIMITS = { bytes: 64 << 20, files: 4000, entries: 20_000, pathBytes: 1024 };
