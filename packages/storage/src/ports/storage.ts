/** All ports of one server's storage, as `createServer({ storage })` takes them. */
import type { Archive } from './archive.ts';
import type { ImageStore } from './image-store.ts';
import type { JobFiles } from './job-files.ts';
import type { JobOutput } from './job-output.ts';
import type { MessageLog } from './message-log.ts';
import type { Registry } from './registry.ts';

export interface BackupInfo {
  format: number;
  version: string;
  /** ms since the epoch. */
  at: number;
  files: number;
  bytes: number;
}

/** Bytes that each part takes. */
export interface StorageUsage {
  log: number;
  images: number;
  jobs: number;
  registry: number;
  /** All of it, with what belongs to none of these. */
  total: number;
}

/** A server process of a storage that several share. */
export interface Peer {
  /** 'process 123 on host' */
  who: string;
  /** host:port at which the others reach it; '': unknown. */
  address: string;
  /** It has the storage; otherwise it stands by. */
  owns: boolean;
}

/** A storage that several server processes share: one has it, the others stand by to take it over. */
export interface Sharing {
  /** Of this opening: other processes of the storage prove with it that they are such. */
  readonly secret: string;
  /** What another process needs to write for this opening (joinPostgresLog). */
  readonly joining: { application: string; epoch: string };
  /** What an earlier process left on this machine and must not be used any more, for the operator to know. */
  readonly discarded: readonly string[];
  /** This one first. @throws MayflyError */
  peers(): Promise<Peer[]>;
}

export interface Storage {
  readonly log: MessageLog;
  readonly images: ImageStore;
  readonly registry: Registry;
  readonly files: JobFiles;
  readonly output: JobOutput;
  readonly archive: Archive;
  readonly sharing?: Sharing;
  /**
   * Aborts when another process has taken it: nothing can be written any more, for good. Its reason is a MayflyError
   * CONFLICT.
   */
  readonly lost: AbortSignal;
  /** Damage that was found at the start and cost nothing, for the operator to know. */
  readonly notices: readonly string[];
  usage(): Promise<StorageUsage>;
  /** Bytes that go when the job is removed. */
  usageOf(job: string): Promise<number>;
  /**
   * Takes a backup of everything as it is at this moment into the folder `target`, which is made.
   * @param about.at ms since the epoch
   * @returns also for how long everything else stood still
   * @throws MayflyError CONFLICT when `target` exists, DISK_FULL
   */
  backup(target: string, about: { version: string; at: number }): Promise<BackupInfo & { pauseMs: number }>;
  /** Resolves when something can be stored now. @throws MayflyError why not */
  writable(): Promise<void>;
  /** Syncs and closes all ports. */
  close(): Promise<void>;
}
