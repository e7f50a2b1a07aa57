/** Storage: its ports, and the embedded adapters, which keep everything in one data directory. */
export type {
  Archive,
  ArchiveName,
  BackupInfo,
  Durability,
  Expectation,
  ImageStore,
  JobFileName,
  JobFiles,
  JobOutput,
  Lease,
  LogStream,
  Lsn,
  MessageLog,
  Registry,
  StdinLog,
  Storage,
  StorageUsage,
  Watch,
} from './ports/index.ts';
export { openEmbeddedStorage, restoreDirectory, type EmbeddedStorageOptions } from './embedded/index.ts';
export { openFileMessageLog, type FileMessageLogOptions } from './embedded/message-log.ts';
export { FolderArchive } from './embedded/archive.ts';
export { FolderJobOutput } from './embedded/output/job-output.ts';
export { FolderJobFiles } from './embedded/job-files.ts';
export { RECORD, readRecord, sumOf, type JobFolderRecord } from './embedded/job-record.ts';
export { readStdinRecord } from './embedded/stdin-log.ts';
export { openFileImageStore } from './embedded/image-store.ts';
export type { LeaseClock } from './embedded/registry-leases.ts';
export { openFileRegistry, type FileRegistry, type FileRegistryOptions } from './embedded/registry.ts';
export { fewOpenFiles } from './open-files.ts';
export { MORE_FILES, stopsStorage, storageError, storageStop, whyStopped } from './storage-error.ts';
export { LOCK_FOLDER, lockDirectory, type DirectoryLock } from './embedded/directory-lock.ts';
export { jobsOf, unknownData, type UnknownData } from './embedded/unknown-data.ts';
export { seal, unseal } from './sealed-text.ts';
export { checkImages, type ImagesCheck } from './embedded/check/images.ts';
export { checkLogs } from './embedded/check/logs.ts';
export { unreadable, type CheckProgress, type Problem } from './embedded/check/problem.ts';
export { checkIndex } from './embedded/check/task-output.ts';
export { checkRegistry, rebuildRegistry, type RegistryCheck } from './embedded/check/registry.ts';
