/**
 * Registry over LMDB. An awaited put or transaction of `lmdb` is committed but not yet on the disk: `flushed` is waited for too.
 * Key order is the order of the bytes in UTF-8.
 */
import { open, type RootDatabase } from 'lmdb';
import { MayflyError } from '@mayfly/wire';
import type { Registry } from '../ports.ts';
import { storageError } from './segment.ts';

const LONGEST_KEY = 1000;

export async function openLmdbRegistry(directory: string): Promise<LmdbRegistry> {
  // A directory even when its name has a dot in it (lmdb would make a file of that name).
  return new LmdbRegistry(open<unknown, string>({ path: directory, noSubdir: false, encoding: 'msgpack', mapSize: 64 * 1024 * 1024 }));
}

export class LmdbRegistry implements Registry {
  readonly #db: RootDatabase<unknown, string>;
  #closed = false;

  constructor(db: RootDatabase<unknown, string>) {
    this.#db = db;
  }

  async get(key: string): Promise<unknown> {
    this.#check(key);
    return this.#db.get(key);
  }

  async entries(prefix: string): Promise<[string, unknown][]> {
    this.#check(prefix);
    const out: [string, unknown][] = [];
    const range = prefix === '' ? this.#db.getRange({}) : this.#db.getRange({ start: prefix });
    for (const { key, value } of range) {
      if (!key.startsWith(prefix)) break;
      out.push([key, value]);
    }
    return out;
  }

  /** Every record committed so far, within this step of the event loop (backup.ts). */
  entriesNow(): [string, unknown][] {
    this.#check('');
    return [...this.#db.getRange({})].map(({ key, value }) => [key, value]);
  }

  async commit(changes: readonly (readonly [key: string, value: unknown])[]): Promise<void> {
    for (const [key] of changes) {
      this.#check(key);
      if (key === '') throw new MayflyError('BAD_REQUEST', 'an empty key');
    }
    try {
      await this.#db.transaction(() => {
        // The promises of the single operations are those of the whole transaction.
        for (const [key, value] of changes) void (value === undefined ? this.#db.remove(key) : this.#db.put(key, value));
      });
      await this.#db.flushed;
    } catch (error) {
      throw storageError(error, 'registry: commit failed');
    }
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    await this.#db.flushed;
    await this.#db.close();
  }

  #check(key: string): void {
    if (this.#closed) throw new MayflyError('CONFLICT', 'the registry is closed');
    if (key.length > LONGEST_KEY) throw new MayflyError('BAD_REQUEST', `a key of ${key.length} characters; the longest is ${LONGEST_KEY}`);
  }
}
