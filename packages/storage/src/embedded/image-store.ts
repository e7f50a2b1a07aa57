/**
 * ImageStore over a directory: pages named by their BLAKE3-256 hash, manifests by name.
 *
 *   pages/<hash>     page-file.ts      manifests/<percent-encoded name>.json      temporary/<n>  files that are being written
 *
 * A file comes into being by: write under a temporary name, fdatasync, rename, sync of the directory. Puts that run at the same
 * time share the sync of the directory.
 *
 * I1  What stands under its final name is whole. A page is also checked when it is read; one that is damaged in one place is mended and
 *     written anew, one that cannot be is put aside and counts as missing, so that it can be stored again.
 * I2  A put resolves only when file and directory entry are durable, also when the file was there already.
 * I3  `collect` spares pages that were put, or reported as present, since it began.
 */
import { unlinkSync } from 'node:fs';
import { open, mkdir, readdir, readFile, rename, rm, stat, unlink, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { createBLAKE3, type IHasher } from 'hash-wasm';
import { MayflyError } from '@mayfly/wire';
import type { ImageStore } from '../ports.ts';
import { pageBytes, parityOf, readPageFile } from './page-file.ts';
import { storageError, syncDirectory } from './segment.ts';

const HASH = /^[0-9a-f]{64}$/;
/** Files written at the same time: more only lengthen the queue of the disk. */
const WRITERS = 8;
/** Files looked for at the same time. */
const LOOKS = 64;

export async function openFileImageStore(directory: string): Promise<ImageStore> {
  const store = new FileImageStore(directory, await createBLAKE3());
  await store.prepare();
  return store;
}

class FileImageStore implements ImageStore {
  readonly #pages: string;
  readonly #manifests: string;
  readonly #temporary: string;
  readonly #hasher: IHasher;
  readonly #storing = new Map<string, Promise<void>>();
  readonly #directorySyncs = new Map<string, Promise<void>>();
  /** For each collection that was asked for and has not ended: the pages that it must spare (I3). */
  readonly #spared = new Set<Set<string>>();
  /** Questions of `hasPages` that are being answered. */
  readonly #asked = new Set<readonly string[]>();
  #collecting: Promise<unknown> = Promise.resolve();
  #serial = 0;
  #writers = 0;
  readonly #waiting: (() => void)[] = [];

  constructor(directory: string, hasher: IHasher) {
    this.#pages = join(directory, 'pages');
    this.#manifests = join(directory, 'manifests');
    this.#temporary = join(directory, 'temporary');
    this.#hasher = hasher;
  }

  async prepare(): Promise<void> {
    await rm(this.#temporary, { recursive: true, force: true });
    for (const d of [this.#pages, this.#manifests, this.#temporary]) await mkdir(d, { recursive: true, mode: 0o700 });
    // A rename by a process that was killed may stand in the kernel's cache only (I2).
    await syncDirectory(this.#pages);
    await syncDirectory(this.#manifests);
    await syncDirectory(join(this.#pages, '..'));
  }

  async hasPages(hashes: readonly string[]): Promise<boolean[]> {
    // Spared before looked for: a collection checks and deletes in one step of the event loop.
    for (const spared of this.#spared) for (const hash of hashes) spared.add(hash);
    this.#asked.add(hashes);
    try {
      const out: boolean[] = [];
      for (let i = 0; i < hashes.length; i += LOOKS) out.push(...(await Promise.all(hashes.slice(i, i + LOOKS).map(async (hash) => HASH.test(hash) && (await exists(join(this.#pages, hash)))))));
      // A page that another put has only just renamed must not be promised before its directory entry is durable.
      await Promise.all(hashes.map((h) => this.#storing.get(h)));
      return out;
    } finally {
      this.#asked.delete(hashes);
    }
  }

  async putPage(hash: string, raw: Uint8Array): Promise<void> {
    if (!HASH.test(hash)) throw new MayflyError('BAD_REQUEST', `"${hash.slice(0, 80)}" is no BLAKE3-256 hash in hexadecimal`);
    const actual = this.#hash(raw);
    if (actual !== hash) throw new MayflyError('BAD_REQUEST', `a page that was announced as ${hash} hashes to ${actual}`);
    for (const spared of this.#spared) spared.add(hash);
    const already = this.#storing.get(hash);
    if (already) return already;
    const storing = this.#storePage(hash, raw).finally(() => this.#storing.delete(hash));
    this.#storing.set(hash, storing);
    return storing;
  }

  async #storePage(hash: string, raw: Uint8Array): Promise<void> {
    const path = join(this.#pages, hash);
    if (!(await exists(path))) await this.#write(path, this.#pages, [raw, parityOf(raw)]);
  }

  async getPage(hash: string): Promise<Uint8Array | undefined> {
    if (!HASH.test(hash)) return undefined;
    const path = join(this.#pages, hash);
    const bytes = await readIfThere(path);
    if (!bytes) return undefined;
    const found = readPageFile(new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.length), (page) => this.#hash(page) === hash);
    if (found) {
      // Should the disk be full, it is mended again by the next reader.
      if (found.mended) await this.#write(path, this.#pages, [found.page, parityOf(found.page)]).catch(() => undefined);
      return found.page;
    }
    await rename(path, `${path}.damaged`).catch(() => undefined);
    return undefined;
  }

  async putManifest(image: string, json: string): Promise<void> {
    await this.#write(this.#manifestPath(image), this.#manifests, [new TextEncoder().encode(json)]);
  }

  async getManifest(image: string): Promise<string | undefined> {
    const bytes = await readIfThere(this.#manifestPath(image));
    return bytes && new TextDecoder().decode(bytes);
  }

  async removeManifest(image: string): Promise<void> {
    try {
      await unlink(this.#manifestPath(image));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw storageError(error, `cannot remove manifest ${image}`);
    }
    await this.#syncDirectory(this.#manifests);
  }

  collect(pinned: ReadonlySet<string>): Promise<{ pages: number; bytes: number }> {
    const spared = new Set([...pinned, ...this.#storing.keys(), ...[...this.#asked].flat()]);
    this.#spared.add(spared);
    const result = this.#collecting.then(() => this.#collectNow(spared)).finally(() => this.#spared.delete(spared));
    this.#collecting = result.catch(() => undefined);
    return result;
  }

  async #collectNow(spared: ReadonlySet<string>): Promise<{ pages: number; bytes: number }> {
    const named = new Set<string>();
    for (const name of await readdir(this.#manifests)) {
      const text = await readIfThere(join(this.#manifests, name));
      if (!text) continue;
      const manifest = JSON.parse(text.toString('utf8')) as { pages?: unknown };
      if (!Array.isArray(manifest.pages)) throw new MayflyError('INTERNAL', `manifest ${name} lists no pages; nothing is collected`);
      for (const page of manifest.pages) named.add(String(page));
    }
    const gone = { pages: 0, bytes: 0 };
    for (const file of await readdir(this.#pages)) {
      if (named.has(file) || spared.has(file)) continue;
      const path = join(this.#pages, file);
      const size = pageBytes((await stat(path)).size);
      if (spared.has(file)) continue;
      unlinkSync(path);
      gone.pages++;
      gone.bytes += size;
    }
    return gone;
  }

  async close(): Promise<void> {
    await Promise.allSettled([...this.#storing.values(), this.#collecting]);
  }

  #hash(bytes: Uint8Array): string {
    this.#hasher.init();
    this.#hasher.update(bytes);
    return this.#hasher.digest('hex');
  }

  #manifestPath(image: string): string {
    const encoded = encodeURIComponent(image).replaceAll('.', '%2E');
    if (encoded.length === 0 || encoded.length > 200) throw new MayflyError('BAD_REQUEST', `"${image.slice(0, 80)}" cannot name an image`);
    return join(this.#manifests, `${encoded}.json`);
  }

  async #write(path: string, directory: string, parts: readonly Uint8Array[]): Promise<void> {
    const temporary = join(this.#temporary, String(this.#serial++));
    while (this.#writers >= WRITERS) await new Promise<void>((go) => this.#waiting.push(go));
    this.#writers++;
    try {
      const handle = await open(temporary, 'wx', 0o600);
      try {
        await writeAll(handle, parts);
        await handle.datasync();
      } finally {
        await handle.close();
      }
      await rename(temporary, path);
    } catch (error) {
      await unlink(temporary).catch(() => undefined);
      throw storageError(error, `cannot store ${path}`);
    } finally {
      this.#writers--;
      this.#waiting.shift()?.();
    }
    await this.#syncDirectory(directory);
  }

  /** Joins the next sync of the directory, never one that has begun: it might miss the caller's rename. */
  async #syncDirectory(directory: string): Promise<void> {
    await this.#directorySyncs.get(directory);
    let next = this.#directorySyncs.get(directory);
    if (!next) {
      next = syncDirectory(directory).finally(() => this.#directorySyncs.delete(directory));
      this.#directorySyncs.set(directory, next);
    }
    await next;
  }
}

/** `writev` may write less than it was given. */
async function writeAll(handle: FileHandle, parts: readonly Uint8Array[]): Promise<void> {
  const bytes = parts.reduce((n, p) => n + p.length, 0);
  const { bytesWritten } = await handle.writev(parts);
  if (bytesWritten < bytes) await handle.write(Buffer.concat(parts), bytesWritten, bytes - bytesWritten, bytesWritten);
}

async function exists(path: string): Promise<boolean> {
  try {
    await stat(path);
    return true;
  } catch {
    return false;
  }
}

async function readIfThere(path: string): Promise<Buffer | undefined> {
  try {
    return await readFile(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw storageError(error, `cannot read ${path}`);
  }
}
