/**
 * ImageStore: pages by hash, manifests by name. What `putPage`/`putManifest` resolved is durable.
 *
 * A page that several owners put may be kept once. No owner may notice what the others have: `ownPages` looks only at
 * what the named manifests list, and `putPage` writes and syncs also a page that is there already.
 */

export interface ImageStore {
  /** Whoever put them. */
  hasPages(hashes: readonly string[]): Promise<boolean[]>;
  /** Of `hashes`, those that one of these manifests lists and that are there. */
  ownPages(hashes: readonly string[], images: readonly string[]): Promise<Set<string>>;
  /** @throws MayflyError BAD_REQUEST when the bytes do not hash to `hash` (BLAKE3-256), DISK_FULL. */
  putPage(hash: string, raw: Uint8Array): Promise<void>;
  getPage(hash: string): Promise<Uint8Array | undefined>;
  putManifest(image: string, json: string): Promise<void>;
  getManifest(image: string): Promise<string | undefined>;
  removeManifest(image: string): Promise<void>;
  /** Names of the images that have a manifest and begin with `prefix`, in order. */
  list(prefix: string): Promise<string[]>;
  /** Removes pages that no manifest names and that are not pinned. */
  collect(pinned: ReadonlySet<string>): Promise<{ pages: number; bytes: number }>;
  close(): Promise<void>;
}
