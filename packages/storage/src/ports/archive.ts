/**
 * Archive: what people may want to know of a job later. Best effort, and never synced: who loses it loses statistics,
 * so nothing waits for it, and no job fails because of it.
 */

/** history: columns of time and traffic; run: times and places of the ranks. Each has a checksum of its own. */
export type ArchiveName = 'history' | 'run';

export interface Archive {
  /**
   * Replaces what the job has under this name; a reader gets the one or the other, whole. One at a time for each name
   * of a job.
   * @throws what the medium says; nothing is stored for a job that has no files
   */
  put(job: string, name: ArchiveName, bytes: Uint8Array): Promise<void>;
  /** Undefined: there is nothing, or it cannot be read. */
  get(job: string, name: ArchiveName): Promise<Uint8Array | undefined>;
}
