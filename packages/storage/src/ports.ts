/**
 * The three ports of storage. Adapters are interchangeable: one acceptance suite per port runs against each of them and
 * against the simulator's faulty store.
 */

/** Number of a record within its stream, from 0. Given by the stream, never reused. */
export type Lsn = number;

/**
 * MessageLog: append-only streams of records (one per receiver, one per source of determinants).
 * `append` reaches the kernel before it returns, so `kill -9` loses nothing; `sync` makes it survive power loss.
 */
export interface MessageLog {
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

/** ImageStore: pages by hash, manifests by name. What `putPage`/`putManifest` resolved is durable. */
export interface ImageStore {
  hasPages(hashes: readonly string[]): Promise<boolean[]>;
  /** @throws MayflyError BAD_REQUEST when the bytes do not hash to `hash` (BLAKE3-256), DISK_FULL. */
  putPage(hash: string, raw: Uint8Array): Promise<void>;
  getPage(hash: string): Promise<Uint8Array | undefined>;
  putManifest(image: string, json: string): Promise<void>;
  getManifest(image: string): Promise<string | undefined>;
  removeManifest(image: string): Promise<void>;
  /** Names of the images that have a manifest and begin with `prefix`, in order. */
  list(prefix: string): Promise<string[]>;
  /** Removes pages that no manifest names and nobody pins. */
  collect(pinned: ReadonlySet<string>): Promise<{ pages: number; bytes: number }>;
  close(): Promise<void>;
}

/** Registry: small records by key, ordered; a `commit` is atomic and durable when it resolves. */
export interface Registry {
  get(key: string): Promise<unknown>;
  /** Entries whose key begins with prefix, in key order. */
  entries(prefix: string): Promise<[string, unknown][]>;
  /** `undefined` as a value deletes. All or nothing. */
  commit(changes: readonly (readonly [key: string, value: unknown])[]): Promise<void>;
  close(): Promise<void>;
}
