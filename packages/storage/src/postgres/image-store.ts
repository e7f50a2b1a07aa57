/**
 * ImageStore over PostgreSQL: pages in packs of about 1 MiB, a row each; manifests by name.
 *
 * Owns: which pages are stored, and where; which of them manifests name (page-uses.ts); the pages that wait for a pack.
 *
 *  I1  A page is checked by its BLAKE3 hash when it is read. One that is damaged counts as missing, so that it can be
 *      stored again. A manifest has a CRC-32.
 *  I2  Writes come one after the other, in the order of their calls. Pages that come meanwhile share the next packs.
 *  I3  `collect` takes its choice within one step of the event loop, and a page that it took is missing from then on. A
 *      page counts as named from before its manifest is written until after it is removed.
 *  I4  Where a manifest is damaged, its pages are unknown: none of the pages that no manifest named at the start is
 *      collected.
 *  I5  A pack of which less than half is used is replaced by one with the pages that are.
 */
import { crc32 } from 'node:zlib';
import { createBLAKE3 } from 'hash-wasm';
import { MayflyError } from '@mayfly/wire';
import { PageUses, pagesOf, presentOf } from '../page-uses.ts';
import type { ImageStore } from '../ports/index.ts';
import type { Database, Query } from './database.ts';

const HASH = /^[0-9a-f]{64}$/;
const PACK_BYTES = 1024 * 1024;
/** Packs of one transaction. */
const PACKS = 8;
/** Packs that one `collect` replaces at most (I5). */
const REPLACED = 64;

type HashOf = (bytes: Uint8Array) => string;

interface Page {
  pack: string;
  length: number;
}

interface Waiting {
  bytes: Buffer;
  stored: Promise<void>;
}

export interface PostgresImageStore extends ImageStore {
  /** Damage that was found at the start. */
  readonly notices: readonly string[];
}

export async function openPostgresImageStore(database: Database): Promise<PostgresImageStore> {
  const hasher = await createBLAKE3();
  const store = new Store(database, (bytes) => hasher.init().update(bytes).digest('hex'));
  await store.load();
  return store;
}

class Store implements PostgresImageStore {
  readonly notices: string[] = [];
  readonly #database: Database;
  readonly #hash: HashOf;
  readonly #pages = new Map<string, Page>();
  /** Bytes of each pack, and how many of them are pages that are there. */
  readonly #packs = new Map<string, { bytes: number; used: number }>();
  readonly #waiting = new Map<string, Waiting>();
  readonly #uses = new PageUses((hash) => this.#pages.has(hash));
  #held: ReadonlySet<string> = new Set();
  /** I2. */
  #writing: Promise<unknown> = Promise.resolve();
  /** The pages that are packed next, and when that is done. */
  #next: { pages: Map<string, Buffer>; done: Promise<void> } | undefined;
  #closed = false;

  constructor(database: Database, hash: HashOf) {
    this.#database = database;
    this.#hash = hash;
  }

  async load(): Promise<void> {
    const { schema } = this.#database;
    const packs = await this.#database.query(`SELECT id, size FROM ${schema}.image_pack`);
    for (const row of packs.rows) this.#packs.set(row.id as string, { bytes: row.size as number, used: 0 });
    const pages = await this.#database.query(`SELECT hash, pack, length FROM ${schema}.image_page`);
    for (const row of pages.rows)
      this.#enter(row.hash as string, { pack: row.pack as string, length: row.length as number });
    const manifests = await this.#database.query(`SELECT name, json, sum FROM ${schema}.image_manifest`);
    for (const row of manifests.rows) {
      const name = row.name as string;
      try {
        const listed = pagesOf(checked(name, row));
        this.#uses.count(listed, 1);
        this.#uses.replace(name, listed);
      } catch {
        this.notices.push(`the manifest of image ${name} is damaged: no page that was there at the start is removed`);
      }
    }
    if (this.notices.length > 0) this.#held = new Set(this.#uses.loose);
  }

  #enter(hash: string, page: Page): void {
    this.#pages.set(hash, page);
    this.#packs.get(page.pack)!.used += page.length;
    this.#uses.added(hash);
  }

  /** It is missing from now on. */
  #drop(hash: string): Page | undefined {
    const page = this.#pages.get(hash);
    if (!page) return undefined;
    this.#pages.delete(hash);
    this.#packs.get(page.pack)!.used -= page.length;
    this.#uses.removed(hash);
    return page;
  }

  #write<T>(work: (query: Query) => Promise<T>): Promise<T> {
    const done = this.#writing.then(() => this.#database.write(work));
    this.#writing = done.catch(() => undefined);
    return done;
  }

  async hasPages(hashes: readonly string[]): Promise<boolean[]> {
    // A page that another put has announced must not be promised before it is durable.
    await Promise.allSettled(hashes.map((hash) => this.#waiting.get(hash)?.stored));
    return hashes.map((hash) => this.#pages.has(hash));
  }

  async ownPages(hashes: readonly string[], images: readonly string[]): Promise<Set<string>> {
    const listed = this.#uses.listed(images);
    return presentOf(
      this,
      hashes.filter((hash) => listed.has(hash)),
    );
  }

  /**
   * One that is there is written like any other: how long that takes must not tell its sender that somebody else has
   * it.
   */
  putPage(hash: string, raw: Uint8Array): Promise<void> {
    try {
      if (this.#closed) throw new MayflyError('CONFLICT', 'the image store is closed');
      if (!HASH.test(hash))
        throw new MayflyError('BAD_REQUEST', `"${hash.slice(0, 80)}" is not a BLAKE3-256 hash in hexadecimal`);
      const actual = this.#hash(raw);
      if (actual !== hash)
        throw new MayflyError('BAD_REQUEST', `a page that was announced as ${hash} hashes to ${actual}`);
    } catch (error) {
      return Promise.reject(error as Error);
    }
    const next = (this.#next ??= this.#begin());
    const waiting = this.#waiting.get(hash);
    if (waiting && next.pages.has(hash)) return waiting.stored;
    const bytes = Buffer.from(raw);
    next.pages.set(hash, bytes);
    const mine: Waiting = {
      bytes,
      stored: next.done.finally(() => {
        if (this.#waiting.get(hash) === mine) this.#waiting.delete(hash);
      }),
    };
    this.#waiting.set(hash, mine);
    return mine.stored;
  }

  /** I2. */
  #begin(): { pages: Map<string, Buffer>; done: Promise<void> } {
    const pages = new Map<string, Buffer>();
    const done = this.#writing.then(async () => {
      this.#next = undefined;
      await this.#pack([...pages]);
    });
    this.#writing = done.catch(() => undefined);
    return { pages, done };
  }

  async #pack(pages: readonly (readonly [string, Buffer])[]): Promise<void> {
    for (let rest = pages; rest.length > 0;) {
      let packs: (readonly [string, Buffer])[][] = [];
      [packs, rest] = cut(rest);
      const stored = await this.#database.write((query) => this.#insert(query, packs));
      this.#entered(packs, stored);
    }
  }

  /** @returns the ids of the packs */
  async #insert(query: Query, packs: readonly (readonly (readonly [string, Buffer])[])[]): Promise<string[]> {
    const { schema } = this.#database;
    const ids: string[] = [];
    for (const pages of packs) {
      const bytes = Buffer.concat(pages.map(([, page]) => page));
      const { rows } = await query(`INSERT INTO ${schema}.image_pack (bytes, size) VALUES ($1, $2) RETURNING id`, [
        bytes,
        bytes.length,
      ]);
      const id = rows[0]!.id as string;
      ids.push(id);
      let at = 0;
      const offsets = pages.map(([, page]) => (at += page.length) - page.length);
      await query(
        `INSERT INTO ${schema}.image_page (hash, pack, at, length)
         SELECT hash, $1::bigint, at, length FROM unnest($2::text[], $3::integer[], $4::integer[]) AS p (hash, at, length)
         ON CONFLICT (hash) DO UPDATE SET pack = EXCLUDED.pack, at = EXCLUDED.at, length = EXCLUDED.length`,
        [id, pages.map(([hash]) => hash), offsets, pages.map(([, page]) => page.length)],
      );
    }
    return ids;
  }

  #entered(packs: readonly (readonly (readonly [string, Buffer])[])[], ids: readonly string[]): void {
    packs.forEach((pages, i) => {
      const pack = ids[i]!;
      this.#packs.set(pack, { bytes: pages.reduce((n, [, page]) => n + page.length, 0), used: 0 });
      for (const [hash, page] of pages) {
        const before = this.#pages.get(hash);
        if (before) this.#packs.get(before.pack)!.used -= before.length;
        this.#enter(hash, { pack, length: page.length });
      }
    });
  }

  /** I1. */
  async getPage(hash: string): Promise<Uint8Array | undefined> {
    if (!HASH.test(hash)) return undefined;
    const waiting = this.#waiting.get(hash);
    if (waiting) return new Uint8Array(waiting.bytes);
    const page = this.#pages.get(hash);
    if (!page) return undefined;
    const { schema } = this.#database;
    const { rows } = await this.#database.query(
      `SELECT substring(k.bytes FROM p.at + 1 FOR p.length) AS bytes FROM ${schema}.image_page p
       JOIN ${schema}.image_pack k ON k.id = p.pack WHERE p.hash = $1`,
      [hash],
    );
    const bytes = rows[0]?.bytes as Buffer | undefined;
    if (bytes && this.#hash(bytes) === hash) return new Uint8Array(bytes);
    // Unless it was stored again meanwhile.
    if (this.#pages.get(hash) === page) this.#drop(hash);
    return undefined;
  }

  async putManifest(image: string, json: string): Promise<void> {
    needImage(image);
    const pages = pagesOf(json);
    this.#uses.count(pages, 1);
    try {
      await this.#write((query) =>
        query(
          `INSERT INTO ${this.#database.schema}.image_manifest (name, json, sum) VALUES ($1, $2, $3)
           ON CONFLICT (name) DO UPDATE SET json = EXCLUDED.json, sum = EXCLUDED.sum`,
          [image, json, crc32(json)],
        ),
      );
    } catch (error) {
      this.#uses.count(pages, -1);
      throw error;
    }
    this.#uses.replace(image, pages);
  }

  async getManifest(image: string): Promise<string | undefined> {
    needImage(image);
    const { rows } = await this.#database.query(
      `SELECT json, sum FROM ${this.#database.schema}.image_manifest WHERE name = $1`,
      [image],
    );
    return rows.length === 0 ? undefined : checked(image, rows[0]!);
  }

  async removeManifest(image: string): Promise<void> {
    needImage(image);
    await this.#write((query) => query(`DELETE FROM ${this.#database.schema}.image_manifest WHERE name = $1`, [image]));
    this.#uses.replace(image, []);
  }

  async list(prefix: string): Promise<string[]> {
    const { rows } = await this.#database.query(
      `SELECT name FROM ${this.#database.schema}.image_manifest WHERE starts_with(name, $1) ORDER BY name`,
      [prefix],
    );
    return rows.map((row) => row.name as string);
  }

  /** I3. */
  async collect(pinned: ReadonlySet<string>): Promise<{ pages: number; bytes: number }> {
    const gone: [hash: string, page: Page][] = [];
    for (const hash of this.#uses.loose) {
      if (pinned.has(hash) || this.#held.has(hash) || this.#waiting.has(hash)) continue;
      const page = this.#drop(hash);
      if (page) gone.push([hash, page]);
    }
    if (gone.length > 0)
      await this.#write((query) =>
        // Not those that were stored again before.
        query(
          `DELETE FROM ${this.#database.schema}.image_page p
           USING unnest($1::text[], $2::bigint[]) AS g (hash, pack) WHERE p.hash = g.hash AND p.pack = g.pack`,
          [gone.map(([hash]) => hash), gone.map(([, page]) => page.pack)],
        ),
      );
    await this.#reclaim();
    return { pages: gone.length, bytes: gone.reduce((n, [, page]) => n + page.length, 0) };
  }

  /** I5. */
  async #reclaim(): Promise<void> {
    const done = this.#writing.then(async () => {
      const poor = [...this.#packs].filter(([, p]) => p.used * 2 < p.bytes).slice(0, REPLACED);
      if (poor.length === 0) return;
      const ids = new Set(poor.map(([id]) => id));
      const { schema } = this.#database;
      const moved: [string, Buffer][] = [];
      for (const [hash, page] of [...this.#pages]) {
        if (!ids.has(page.pack)) continue;
        const bytes = await this.getPage(hash);
        // One that is damaged was dropped.
        if (bytes) moved.push([hash, Buffer.from(bytes)]);
      }
      const packs: (readonly [string, Buffer])[][] = [];
      for (let rest: readonly (readonly [string, Buffer])[] = moved; rest.length > 0;) {
        const [some, others] = cut(rest);
        packs.push(...some);
        rest = others;
      }
      const stored = await this.#database.write(async (query) => {
        const fresh = await this.#insert(query, packs);
        // The pages that were damaged go along.
        await query(`DELETE FROM ${schema}.image_pack WHERE id = ANY($1::bigint[])`, [[...ids]]);
        return fresh;
      });
      this.#entered(packs, stored);
      for (const id of ids) this.#packs.delete(id);
    });
    this.#writing = done.catch(() => undefined);
    await done;
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.#writing;
  }
}

/** The first few packs of pages, and the pages that are left. */
function cut<P extends readonly [string, Buffer]>(pages: readonly P[]): [packs: P[][], rest: readonly P[]] {
  const packs: P[][] = [];
  let [i, bytes] = [0, Infinity];
  for (; i < pages.length; i++) {
    const { length } = pages[i]![1];
    if (bytes + length > PACK_BYTES) {
      if (packs.length === PACKS) break;
      packs.push([]);
      bytes = 0;
    }
    packs.at(-1)!.push(pages[i]!);
    bytes += length;
  }
  return [packs, pages.slice(i)];
}

function needImage(image: string): void {
  if (image.length === 0 || image.length > 200 || image.includes('\0'))
    throw new MayflyError('BAD_REQUEST', `"${image.slice(0, 80)}" cannot name an image`);
}

/** @throws MayflyError DAMAGED_DATA */
function checked(image: string, { json, sum }: Record<string, unknown>): string {
  if (crc32(json as string) !== Number(sum))
    throw new MayflyError('DAMAGED_DATA', `The manifest of image ${image} is damaged in the database.`);
  return json as string;
}
