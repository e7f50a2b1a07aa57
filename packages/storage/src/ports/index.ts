/**
 * The ports of storage. Adapters are interchangeable: one acceptance suite per port runs against each of them, and
 * against the simulator's faulty store where it has the port.
 */
export type { Archive, ArchiveName } from './archive.ts';
export type { ImageStore } from './image-store.ts';
export type { JobFileName, JobFiles, JobNote, ProgramFileName, SealedFiles, StdinLog } from './job-files.ts';
export type {
  JobOutput,
  OpenOutput,
  OutputJournal,
  Place,
  Range,
  ResultFiles,
  StreamName,
  TaskOutput,
} from './job-output.ts';
export type { Durability, LogStream, Lsn, MessageLog } from './message-log.ts';
export { LONGEST_LEASE_MS, type Change, type Expectation, type Lease, type Registry, type Watch } from './registry.ts';
export type { BackupInfo, Peer, Sharing, Storage, StorageUsage } from './storage.ts';
