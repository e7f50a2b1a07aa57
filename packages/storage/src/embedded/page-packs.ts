/**
 * Pages by hash, in packs: files that pages are appended to, so that an image of hundreds of pages costs one write per
 * page, a few syncs and, when it is superseded, one removal (a file per page cost seven system calls each, and the sync
 * of each).
 *
 *   packs/<serial>.pack   records (page-record.ts), one after the other
 *
 * Owns: these files, and the index of them in memory (about 200 bytes a page).
 *
 * P1  All packs but the two newest are synced: a pack is begun when the one before the newest is. What a power loss may
 *     have spoilt is therefore in the two newest, whose pages are hashed at the start; of the others the headers are
 *     read.
 * P2  A page counts as durable when its pack was synced up to its end, and the pack's directory entry with it.
 * P3  The index names one place of a page. Bytes that it does not name are waste: a pack that is mostly waste is copied
 *     to the newest one and removed, removed last, so that a page is always somewhere.
 * P4  What stands in a pack changes only when it is mended, or marked as spoilt.
 */
import {
  closeSync,
  fdatasync,
  fdatasyncSync,
  fstatSync,
  ftruncateSync,
  openSync,
  read,
  readSync,
  unlinkSync,
  write,
  writeSync,
  writevSync,
} from 'node:fs';
import { mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { MayflyError } from '@mayfly/wire';
import { FilePool, type PooledFile } from './file-pool.ts';
import {
  bodyBytes,
  HEADER_BYTES,
  headerOf,
  headless,
  isNewer,
  nextHeader,
  parityOf,
  parseHeader,
  readBody,
  recordBytes,
  SPOILT,
} from './page-record.ts';
import { syncDirectory } from './durable-file.ts';
import { storageError } from './segment.ts';
import { sharedSync } from './shared-sync.ts';

/** A pack that is longer is followed by a new one. */
const PACK_BYTES = 32 << 20;
const OPEN_FILES = 32;

const [readAt, writeAt, sync] = [promisify(read), promisify(write), promisify(fdatasync)];

interface Pack {
  readonly file: PooledFile;
  bytes: number;
  /** Bytes whose write is durable (P2). */
  synced: number;
  /** Bytes of records that the index names. */
  live: number;
  /** Its directory entry may not be durable yet. */
  fresh: boolean;
}

interface Place {
  readonly hash: string;
  pack: Pack;
  /** Where its body begins. */
  at: number;
  length: number;
  /** Bytes of the body. */
  body: number;
}

/** Bytes of the pack that are this page's. */
const onDisk = ({ body }: Place): number => HEADER_BYTES + body;

export type HashOf = (bytes: Uint8Array) => string;

export class PagePacks {
  readonly #directory: string;
  readonly #hash: HashOf;
  readonly #packBytes: number;
  readonly #files = new FilePool(OPEN_FILES);
  readonly #index = new Map<string, Place>();
  readonly #packs = new Set<Pack>();
  #serial = 0;
  #newest: Pack | undefined;
  #before: Pack | undefined;

  /** @param directory of the image store */
  constructor(directory: string, hash: HashOf, packBytes = PACK_BYTES) {
    this.#directory = join(directory, 'packs');
    this.#hash = hash;
    this.#packBytes = packBytes;
  }

  /** Reads what is there. @throws MayflyError VERSION_MISMATCH */
  async open(): Promise<void> {
    await mkdir(this.#directory, { recursive: true, mode: 0o700 });
    const names = (await readdir(this.#directory)).filter((n) => /^[0-9a-f]{12}\.pack$/.test(n)).sort();
    for (const [i, name] of names.entries()) {
      this.#load(join(this.#directory, name), i >= names.length - 2);
      // Scanning is synchronous.
      if (i % 16 === 15) await new Promise((go) => setImmediate(go));
    }
    this.#serial = names.length === 0 ? 0 : parseInt(names.at(-1)!, 16) + 1;
    await syncDirectory(this.#directory);
  }

  /** Lists a pack's pages; `doubtful`: each is hashed (P1). */
  #load(path: string, doubtful: boolean): void {
    const fd = openSync(path, 'r+');
    try {
      const { size } = fstatSync(fd);
      // What a process that was killed had written may stand in the kernel's cache only (P2).
      if (doubtful) fdatasyncSync(fd);
      const pack: Pack = {
        file: this.#files.file(path, () => undefined),
        bytes: size,
        synced: size,
        live: 0,
        fresh: false,
      };
      this.#packs.add(pack);
      let whole: Buffer | undefined;
      const bytes = (at: number, length: number): Buffer => {
        const out = Buffer.allocUnsafe(Math.max(0, Math.min(length, size - at)));
        readSync(fd, out, 0, out.length, at);
        return out;
      };
      for (let at = 0; at < size;) {
        let header = parseHeader(bytes(at, HEADER_BYTES));
        let end = header ? at + recordBytes(header.length) : 0;
        // Cut off by the end of a process or of the power: never acknowledged.
        if (header && end > size) break;
        if (!header) {
          // What follows may be the inside of a page.
          doubtful = true;
          whole ??= bytes(0, size);
          const page = headless(whole, at);
          end = at + (page ? recordBytes(page.length) : nextHeader(whole, at + 1) - at);
          if (!page && at === 0 && isNewer(whole))
            throw new MayflyError(
              'VERSION_MISMATCH',
              `${path} was written by a newer version of Mayfly; open the data directory with that version`,
            );
          if (page) {
            header = { hash: this.#hash(page), length: page.length, spoilt: false };
            writeSync(fd, headerOf(header.hash, page.length), 0, HEADER_BYTES, at);
          }
        }
        if (header && !header.spoilt && !this.#index.has(header.hash)) {
          const { hash, length } = header;
          const place: Place = { hash, pack, at: at + HEADER_BYTES, length, body: bodyBytes(length) };
          if (!doubtful || readBody(bytes(place.at, place.body), (page) => this.#hash(page) === hash))
            this.#name(place);
        }
        at = end;
      }
    } finally {
      closeSync(fd);
    }
  }

  #name(place: Place): void {
    this.#index.set(place.hash, place);
    place.pack.live += onDisk(place);
  }

  #unname(place: Place): void {
    this.#index.delete(place.hash);
    place.pack.live -= onDisk(place);
  }

  hashes(): Iterable<string> {
    return this.#index.keys();
  }

  has(hash: string): boolean {
    return this.#index.has(hash);
  }

  isDurable(hash: string): boolean {
    const place = this.#index.get(hash);
    return place !== undefined && this.#synced(place);
  }

  #synced = ({ pack, at, body }: Place): boolean => !pack.fresh && at + body <= pack.synced;

  /**
   * Writes a page into the newest pack. It is durable after {@link durable}. One that is there keeps its place, and the
   * new copy is waste (P3): what its sender notices is the same. @throws MayflyError DISK_FULL
   */
  add(hash: string, page: Uint8Array): void {
    const place = this.#append(hash, page);
    if (!this.#index.has(hash)) this.#name(place);
  }

  #append(hash: string, page: Uint8Array): Place {
    const pack = this.#packToWrite();
    const parts = [headerOf(hash, page.length), page, parityOf(page)];
    const at = pack.bytes;
    try {
      const fd = this.#files.use(pack.file);
      const bytes = recordBytes(page.length);
      let written = writevSync(fd, parts, at);
      // It may write less than it got.
      for (let rest: Buffer | undefined; written < bytes;)
        written += writevSync(fd, [(rest ??= Buffer.concat(parts)).subarray(written)], at + written);
      pack.bytes = at + bytes;
      pack.file.dirty = true;
    } catch (error) {
      try {
        ftruncateSync(pack.file.fd, at);
      } catch {
        // The next record overwrites what stands there.
      }
      throw storageError(error, `cannot store a page in ${pack.file.path}`);
    }
    return { hash, pack, at: at + HEADER_BYTES, length: page.length, body: bodyBytes(page.length) };
  }

  #packToWrite(): Pack {
    const newest = this.#newest;
    if (newest && (newest.bytes < this.#packBytes || (this.#before && this.#before.synced < this.#before.bytes)))
      return newest;
    const path = join(this.#directory, `${(this.#serial++).toString(16).padStart(12, '0')}.pack`);
    // Closed to make room for another, it is synced first: an error then is one of a sync.
    const pack: Pack = {
      file: this.#files.file(path, () => this.#abandon(pack)),
      bytes: 0,
      synced: 0,
      live: 0,
      fresh: true,
    };
    try {
      this.#files.use(pack.file, 'wx+');
    } catch (error) {
      throw storageError(error, `cannot make ${path}`);
    }
    this.#packs.add(pack);
    this.#before = newest;
    return (this.#newest = pack);
  }

  /**
   * Resolves when all that was added before the call is durable, or was lost with a sync that failed. @throws
   * MayflyError when its own sync failed
   */
  readonly durable = sharedSync(() => this.#sync());

  async #sync(): Promise<void> {
    for (const pack of [this.#before, this.#newest]) {
      if (!pack || pack.synced === pack.bytes) continue;
      const to = pack.bytes;
      try {
        const fd = this.#files.use(pack.file);
        pack.file.pins++;
        try {
          await sync(fd);
        } finally {
          pack.file.pins--;
        }
        pack.synced = to;
        pack.file.dirty = pack.bytes > to;
        if (pack.fresh) await syncDirectory(this.#directory);
        pack.fresh = false;
      } catch (error) {
        this.#abandon(pack);
        throw storageError(error, `cannot sync ${pack.file.path}`);
      }
    }
  }

  /**
   * After a failed sync it is unknown how much of the rest is on the disk: it is cut away, and the pack grows no more.
   */
  #abandon(pack: Pack): void {
    for (const place of [...this.#index.values()]) if (place.pack === pack && !this.#synced(place)) this.#unname(place);
    pack.bytes = pack.synced;
    pack.file.dirty = false;
    if (this.#newest === pack) this.#newest = undefined;
    if (this.#before === pack) this.#before = undefined;
    try {
      ftruncateSync(this.#files.use(pack.file), pack.synced);
    } catch {
      // Pages are hashed when they are read.
    }
  }

  /** The page, mended if need be; one that cannot be is not there any more, so that it can be stored again. */
  async get(hash: string): Promise<Uint8Array | undefined> {
    for (;;) {
      const place = this.#index.get(hash);
      if (!place) return undefined;
      const { pack, at } = place;
      const body = await this.#read(place);
      // It was copied, and its pack removed, meanwhile.
      if (place.pack !== pack || place.at !== at) continue;
      const found = body && readBody(body, (page) => this.#hash(page) === hash);
      if (!found) this.#spoil(place);
      // Should that fail, it is mended again by the next reader.
      else if (found.mended)
        await this.#write(place, Buffer.concat([found.page, parityOf(found.page)]), place.at).catch(() => undefined);
      return found?.page;
    }
  }

  async #read({ pack, at, body }: Place): Promise<Uint8Array | undefined> {
    const out = new Uint8Array(body);
    try {
      const fd = this.#files.use(pack.file);
      pack.file.pins++;
      try {
        const { bytesRead } = await readAt(fd, out, 0, body, at);
        return bytesRead === body ? out : undefined;
      } finally {
        pack.file.pins--;
        this.#release(pack);
      }
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
      throw storageError(error, `cannot read ${pack.file.path}`);
    }
  }

  async #write({ pack }: Place, bytes: Uint8Array, at: number): Promise<void> {
    const fd = this.#files.use(pack.file);
    pack.file.pins++;
    try {
      await writeAt(fd, bytes, 0, bytes.length, at);
      await sync(fd);
    } finally {
      pack.file.pins--;
      this.#release(pack);
    }
  }

  #spoil(place: Place): void {
    // Another reader was quicker, or it was removed, or stored again, meanwhile.
    if (this.#index.get(place.hash) !== place) return;
    this.#unname(place);
    void this.#write(place, SPOILT, place.at - HEADER_BYTES).catch(() => undefined);
  }

  /** A removed pack's descriptor is closed by its last reader. */
  #release(pack: Pack): void {
    if (!this.#packs.has(pack) && pack.file.pins === 0) this.#files.forget(pack.file);
  }

  /** Takes a page out of the index. Returns its length in bytes. */
  remove(hash: string): number {
    const place = this.#index.get(hash);
    if (!place) return 0;
    this.#unname(place);
    return place.length;
  }

  /** Gives the space of removed pages back to the disk (P3). */
  async compact(): Promise<void> {
    // A page that is being written to a pack counts there already: only packs that nothing is added to.
    const wasteful = [...this.#packs].filter(
      (p) =>
        p !== this.#newest &&
        p !== this.#before &&
        (p.live === 0 || p.live < Math.max(p.bytes, this.#packBytes / 4) / 2),
    );
    if (wasteful.length === 0) return;
    // Where the disk is full, nothing can be copied before something is removed.
    wasteful.sort((a, b) => a.live - b.live);
    const places = new Map<Pack, Place[]>(wasteful.map((p) => [p, []]));
    if (wasteful.some((p) => p.live > 0)) for (const place of this.#index.values()) places.get(place.pack)?.push(place);
    for (const [pack, here] of places) {
      const copies: [Place, Place][] = [];
      for (const place of here) {
        const page = await this.get(place.hash);
        if (page && this.#index.get(place.hash) === place) copies.push([place, this.#append(place.hash, page)]);
      }
      if (copies.length > 0) await this.durable();
      for (const [place, copy] of copies) {
        // Removed meanwhile; or its copy went with a sync that failed.
        if (this.#index.get(place.hash) !== place || !this.#synced(copy)) continue;
        this.#unname(place);
        Object.assign(place, { pack: copy.pack, at: copy.at });
        this.#name(place);
      }
      if (pack.live > 0) continue;
      this.#packs.delete(pack);
      this.#release(pack);
      unlinkSync(pack.file.path);
    }
  }

  async close(): Promise<void> {
    await this.durable().catch(() => undefined);
    for (const pack of this.#packs) this.#files.close(pack.file);
  }
}
