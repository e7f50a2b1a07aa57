/** Registry: small records by key, ordered; a `commit` is atomic and durable when it resolves. */

export interface Registry {
  get(key: string): Promise<unknown>;
  /** Entries whose key begins with prefix, in key order. */
  entries(prefix: string): Promise<[string, unknown][]>;
  /** `undefined` as a value deletes. All or nothing. */
  commit(changes: readonly (readonly [key: string, value: unknown])[]): Promise<void>;
  close(): Promise<void>;
}
