/**
 * Archive: what people may want to know of a job later. Best effort, and never synced: only statistics are lost with
 * it, so nothing waits for it, and no job fails because of it.
 */

/**
 *   history   columns of time and traffic
 *   run       times and places of the ranks
 *   final     counters of the tasks and the list of outputs, when the job ended
 * Each has a checksum of its own.
 */
export type ArchiveName = 'history' | 'run' | 'final';

export interface Archive {
  /**
   * Replaces what the job has under this name; a reader gets the one or the other, whole. One at a time for each name
   * of a job.
   * @throws the error of the medium; nothing is stored for a job that has no files
   */
  put(job: string, name: ArchiveName, bytes: Uint8Array): Promise<void>;
  /** Undefined: there is nothing, or it cannot be read. */
  get(job: string, name: ArchiveName): Promise<Uint8Array | undefined>;
  /** What can be read without waiting. Undefined: as `get`, or it is not at hand. */
  getNow(job: string, name: ArchiveName): Uint8Array | undefined;
}
