/**
 * ImageStore over a directory: pages in packs (page-packs.ts), manifests by name.
 *
 *   packs/   page-packs.ts      manifests/<percent-encoded name>.json      temporary/<n>  manifests that are being
 *   written
 *
 * A manifest comes into being by: write under a temporary name, fdatasync, rename, sync of the directory. Puts that run
 * at the same time share the sync of the directory, and pages that come at the same time that of their pack.
 *
 * I1  A manifest under its final name is whole, and has a checksum. A page is checked when it is read; one that is
 *     damaged in one place is mended and written again, one that cannot be mended counts as missing, so that it can be
 *     stored again.
 * I2  A put resolves only when it is durable, also when the page was there already.
 * I3  `collect` takes its choice within one step of the event loop: pages that no manifest names, that are not pinned,
 *     and whose put is not under way. A page counts as named from before its manifest is written until after it is
 *     removed.
 * I4  Where a manifest is missing or cannot be read, its pages are unknown: none of the pages that no manifest named at
 *     the start is collected.
 */
import { mkdir, readdir, readFile, rm, unlink } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { createBLAKE3 } from 'hash-wasm';
import { MayflyError } from '@mayfly/wire';
import { PageUses, pagesOf, presentOf } from '../page-uses.ts';
import type { ImageStore } from '../ports/index.ts';
import { seal, unseal } from '../sealed-text.ts';
import { PagePacks, type HashOf } from './page-packs.ts';
import { replaceFile, syncDirectory } from './durable-file.ts';
import { storageError } from './segment.ts';
import { sharedSync } from './shared-sync.ts';

const HASH = /^[0-9a-f]{64}$/;

export interface FileImageStoreOptions {
  /** A pack that is longer is followed by a new one. */
  packBytes?: number;
  /** Images that are known to be complete (I4). */
  expected?: readonly string[];
}

export interface FileImageStore extends ImageStore {
  /** Damage that was found at the start. */
  readonly notices: readonly string[];
}

export async function openFileImageStore(
  directory: string,
  options: FileImageStoreOptions = {},
): Promise<FileImageStore> {
  const hasher = await createBLAKE3();
  const store = new Store(directory, (bytes) => hasher.init().update(bytes).digest('hex'), options.packBytes);
  await store.prepare(options.expected ?? []);
  return store;
}

class Store implements FileImageStore {
  readonly notices: string[] = [];
  readonly #packs: PagePacks;
  readonly #directory: string;
  readonly #manifests: string;
  readonly #temporary: string;
  readonly #hash: HashOf;
  /** Manifests by their path. */
  readonly #uses = new PageUses((hash) => this.#packs.has(hash));
  /** I4: what no manifest named at the start. */
  #held: ReadonlySet<string> = new Set();
  #collecting: Promise<unknown> = Promise.resolve();
  #serial = 0;

  constructor(directory: string, hash: HashOf, packBytes?: number) {
    this.#packs = new PagePacks(directory, hash, packBytes);
    this.#directory = directory;
    this.#manifests = join(directory, 'manifests');
    this.#temporary = join(directory, 'temporary');
    this.#hash = hash;
  }

  async prepare(expected: readonly string[]): Promise<void> {
    await rm(this.#temporary, { recursive: true, force: true });
    for (const d of [this.#manifests, this.#temporary]) await mkdir(d, { recursive: true, mode: 0o700 });
    await this.#packs.open();
    // A rename by a process that was killed may stand in the kernel's cache only (I2).
    await syncDirectory(this.#manifests);
    await syncDirectory(this.#directory);
    for (const hash of this.#packs.hashes()) this.#uses.added(hash);
    let doubtful = false;
    const files = await readdir(this.#manifests);
    for (const file of files) {
      try {
        const path = join(this.#manifests, file);
        const pages = pagesOf(unseal(await readFile(path, 'utf8'), file));
        this.#uses.count(pages, 1);
        this.#uses.replace(path, pages);
      } catch {
        doubtful = true;
        this.notices.push(`images/manifests/${file} cannot be read: no page that lay there at the start is removed`);
      }
    }
    const there = new Set(files);
    for (const image of expected) {
      const file = basename(this.#manifestPath(image));
      if (there.has(file)) continue;
      doubtful = true;
      this.notices.push(`images/manifests/${file} is missing: no page that lay there at the start is removed`);
    }
    if (doubtful) this.#held = new Set(this.#uses.loose);
  }

  async hasPages(hashes: readonly string[]): Promise<boolean[]> {
    // A page that another put has only just written must not be promised before it is durable.
    if (hashes.some((h) => this.#packs.has(h) && !this.#packs.isDurable(h))) await this.#packs.durable();
    return hashes.map((h) => this.#packs.isDurable(h));
  }

  async ownPages(hashes: readonly string[], images: readonly string[]): Promise<Set<string>> {
    const listed = this.#uses.listed(images.map((image) => this.#manifestPath(image)));
    return presentOf(
      this,
      hashes.filter((hash) => listed.has(hash)),
    );
  }

  /**
   * Not asynchronous itself: the page is written before it returns, so its bytes need not be kept until they are
   * durable. One that is there is written and synced like any other: how long that takes must not tell its sender that
   * somebody else has it.
   */
  putPage(hash: string, raw: Uint8Array): Promise<void> {
    try {
      if (!HASH.test(hash))
        throw new MayflyError('BAD_REQUEST', `"${hash.slice(0, 80)}" is no BLAKE3-256 hash in hexadecimal`);
      const actual = this.#hash(raw);
      if (actual !== hash)
        throw new MayflyError('BAD_REQUEST', `a page that was announced as ${hash} hashes to ${actual}`);
      this.#packs.add(hash, raw);
      this.#uses.added(hash);
      return this.#durable(hash);
    } catch (error) {
      return Promise.reject(error as Error);
    }
  }

  async #durable(hash: string): Promise<void> {
    await this.#packs.durable();
    if (!this.#packs.isDurable(hash))
      throw new MayflyError('STORAGE_FAILED', `page ${hash} was lost: the disk could not be synced`);
  }

  async getPage(hash: string): Promise<Uint8Array | undefined> {
    return this.#packs.get(hash);
  }

  async putManifest(image: string, json: string): Promise<void> {
    const path = this.#manifestPath(image);
    const pages = pagesOf(json);
    this.#uses.count(pages, 1);
    try {
      await this.#write(path, seal(json));
    } catch (error) {
      this.#uses.count(pages, -1);
      throw error;
    }
    this.#uses.replace(path, pages);
  }

  async getManifest(image: string): Promise<string | undefined> {
    try {
      return unseal(await readFile(this.#manifestPath(image), 'utf8'), `the manifest of image ${image}`);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
      throw storageError(error, `cannot read manifest ${image}`);
    }
  }

  async removeManifest(image: string): Promise<void> {
    const path = this.#manifestPath(image);
    try {
      await unlink(path);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT')
        throw storageError(error, `cannot remove manifest ${image}`);
    }
    await this.#syncManifests();
    this.#uses.replace(path, []);
  }

  async list(prefix: string): Promise<string[]> {
    const names = (await readdir(this.#manifests)).flatMap((file) =>
      file.endsWith('.json') ? [decoded(file.slice(0, -5))] : [],
    );
    return names.filter((name): name is string => name?.startsWith(prefix) ?? false).sort();
  }

  collect(pinned: ReadonlySet<string>): Promise<{ pages: number; bytes: number }> {
    const gone = { pages: 0, bytes: 0 };
    for (const hash of this.#uses.loose) {
      if (pinned.has(hash) || this.#held.has(hash) || (this.#packs.has(hash) && !this.#packs.isDurable(hash))) continue;
      this.#uses.removed(hash);
      const bytes = this.#packs.remove(hash);
      if (bytes === 0) continue;
      gone.pages++;
      gone.bytes += bytes;
    }
    const compacted = this.#collecting.then(() => this.#packs.compact());
    this.#collecting = compacted.catch(() => undefined);
    return compacted.then(() => gone);
  }

  async close(): Promise<void> {
    await this.#collecting;
    await this.#packs.close();
  }

  #manifestPath(image: string): string {
    const encoded = encodeURIComponent(image).replaceAll('.', '%2E');
    if (encoded.length === 0 || encoded.length > 200)
      throw new MayflyError('BAD_REQUEST', `"${image.slice(0, 80)}" cannot name an image`);
    return join(this.#manifests, `${encoded}.json`);
  }

  async #write(path: string, text: string): Promise<void> {
    const temporary = join(this.#temporary, String(this.#serial++));
    try {
      await replaceFile(path, temporary, (handle) => handle.writeFile(text));
    } catch (error) {
      throw storageError(error, `cannot store ${path}`);
    }
    await this.#syncManifests();
  }

  readonly #syncManifests = sharedSync(() => syncDirectory(this.#manifests));
}

/** The image that a manifest's file is named after; undefined when it is none. */
function decoded(name: string): string | undefined {
  try {
    return decodeURIComponent(name);
  } catch {
    return undefined;
  }
}
