/** MessageLog: append-only streams of records (one per receiver, one per source of determinants). */

/** Number of a record within its stream, from 0. Assigned by the stream, never reused. */
export type Lsn = number;

/**
 * What the death of a process (`kill -9`) leaves of appended records. The loss of power leaves what was synced.
 *   kernel     all of them, for the next process on this machine: `append` gives the record to the kernel before it
 *   returns. Elsewhere (a database that several machines share) it leaves what was synced, as a loss of power does.
 *   sync-only  those that were synced: the adapter keeps the others in memory of its own
 */
export type Durability = 'kernel' | 'sync-only';

export interface MessageLog {
  /**
   * A Channel Memory on a `sync-only` log runs every job as `strict`: nothing is visible before it is synced, because
   * an append alone does not survive the server's process.
   */
  readonly durability: Durability;
  /** Opens or creates. A damaged or torn tail is cut at the last whole record (checksums) before this resolves. */
  open(stream: string): Promise<LogStream>;
  /** Names of existing streams that begin with `prefix`. */
  list(prefix: string): Promise<string[]>;
  /** Closes (if open) and deletes. */
  remove(stream: string): Promise<void>;
  close(): Promise<void>;
}

export interface LogStream {
  readonly name: string;
  /** LSN that the next append will get. */
  readonly next: Lsn;
  /** Bytes on disk. */
  readonly bytes: number;
  /**
   * One record made of several parts. Synchronous; the parts may be reused afterwards. @throws MayflyError DISK_FULL
   */
  append(...parts: Uint8Array[]): Lsn;
  /** The record, or undefined when trimmed. Synchronous (page cache or disk); recent records come from memory. */
  read(lsn: Lsn): Uint8Array | undefined;
  /** Resolves when everything appended before the call is durable. Concurrent calls share one fdatasync. */
  sync(): Promise<void>;
  /** Records in [from, to) except those of `keep` may go; they go when a whole segment can. */
  trim(from: Lsn, to: Lsn, keep?: ReadonlySet<Lsn>): void;
  /** All records that are left, in order. Used at recovery. */
  scan(): Iterable<{ lsn: Lsn; bytes: Uint8Array }>;
  close(): Promise<void>;
}
