/**
 * JobFiles: what was submitted, the program that nodes fetch, its source map, the input files, and the standard input
 * of each job. Files never change; standard input grows.
 */

import type { JobSpec } from '@mayfly/protocols';

/**
 *   submission.json      the submission
 *   program.js, program.wasm, each with .map     the program and its source map
 *   program-<n>.…        those of part n of a job with several programs, from 1; part 0 is program.…
 *   in/<BLAKE3 in hex>   an input file
 */
export type ProgramFileName = `program${'' | `-${number}`}.${'js' | 'wasm'}`;
export type JobFileName = 'submission.json' | ProgramFileName | `${ProgramFileName}.map` | `in/${string}`;

export interface JobNote {
  job: JobSpec;
  /** All that the registry has of the job, once it has ended. */
  records?: [string, unknown][];
}

/**
 *   submitted   the files that never change
 *   ended       all but statistics, which come some seconds after the end
 *   all         all
 */
export type SealedFiles = 'submitted' | 'ended' | 'all';

export interface JobFiles {
  /**
   * Stores the files of a new job: all of them, durably, or none. A crash may leave a part that no reader sees, and
   * that `remove` takes away.
   * @throws MayflyError CONFLICT when the job has files, BAD_REQUEST for a bad name, DISK_FULL, STORAGE_FAILED
   */
  create(job: string, files: ReadonlyMap<JobFileName, string | Uint8Array>): Promise<void>;
  /**
   * Undefined: the job has no such file.
   * @throws MayflyError DAMAGED_DATA; what the medium says of one that cannot be read
   */
  read(job: string, name: JobFileName): Promise<Uint8Array | undefined>;
  /**
   * What can be read without waiting, for the text of an error. Undefined: it is missing, cannot be read, or is not at
   * hand.
   */
  readNow(job: string, name: JobFileName): Uint8Array | undefined;
  /** Its bytes in parts, for one reader, who reads to the end or leaves the loop. As `read` otherwise. */
  stream(job: string, name: JobFileName): Promise<AsyncIterable<Uint8Array> | undefined>;
  /**
   * Opens standard input; that of a job without any is empty. One at a time may append.
   * @throws MayflyError DAMAGED_DATA; what the medium says of one that cannot be read
   */
  stdin(job: string): Promise<StdinLog>;
  /**
   * Keeps with the files, durably, the `note` on the job, and a checksum of each of them, so that they can be verified,
   * and the job be taken in again from them alone. Replaces the note before. @throws the error of the medium
   */
  seal(job: string, note: JobNote, of: SealedFiles): Promise<void>;
  /** What was sealed last: `ended` as well when statistics came since. Damaged: the note cannot be read. */
  sealed(job: string): Promise<SealedFiles | 'nothing' | 'damaged'>;
  /** All of a job, standard input as well. */
  remove(job: string): Promise<void>;
}

/** Standard input as messages, each of which keeps its boundaries. */
export interface StdinLog {
  readonly messages: number;
  readonly bytes: number;
  /** Its end was appended. */
  readonly ended: boolean;
  /** Body of message `n`, from 1: those up to `messages`, of which the last is empty when it has ended. Synchronous. */
  message(n: number): Uint8Array;
  /**
   * Adds bytes that begin at `offset` of the stream (absent: at its end), and its end when `end`. Durable when it
   * resolves; when it rejects, nothing was added. Bytes that are there already count once.
   * @throws MayflyError CONFLICT behind the end of input, or when bytes in between are missing; DISK_FULL,
   * STORAGE_FAILED
   */
  append(bytes: Uint8Array, end: boolean, offset?: number): Promise<void>;
  close(): void;
}
