/**
 * A node's own copies of its ranks' images, so that a reload restarts from the local disk. A cache: the server's copy
 * is the truth, a loss costs a download, and every page is hashed again when it is used.
 *
 * The new pages of an image form one pack, because one large value costs a store much less than hundreds of small ones.
 * A pack stays as long as a manifest names a page of it; when most of it is waste, what is left moves to the next pack
 * that is written.
 *
 * Owns: the index of the packs in memory. Other tabs use the same shelf; what they did is seen when a page is missed,
 * and before each change.
 */
import type { ImageId, JobId, Manifest, TaskId } from '@mayfly/wire';

export interface LocalImage {
  job: JobId;
  task: TaskId;
  image: ImageId;
}

/** Pages, one behind the other. */
export interface PagePack {
  readonly pages: readonly PackedPage[];
  readonly bytes: Uint8Array<ArrayBuffer>;
}
export type PackedPage = readonly [hash: string, length: number];

/** Where packs and manifests lie. */
export interface Shelf {
  manifests(): Promise<Manifest[]>;
  putManifest(manifest: Manifest): Promise<void>;
  removeManifest(image: ImageId): Promise<void>;
  packs(): Promise<{ name: string; pages: readonly PackedPage[] }[]>;
  putPack(name: string, pack: PagePack): Promise<void>;
  removePack(name: string): Promise<void>;
  /** Part of a pack's bytes, in a buffer of its own; undefined when the pack is gone. */
  read(name: string, at: number, length: number): Promise<Uint8Array<ArrayBuffer> | undefined>;
  close(): Promise<void>;
}

/** Images kept per task, as at the Checkpoint Server. */
export const KEPT = 2;

/** One copy of these pages. */
export function packPages(pages: ReadonlyMap<string, Uint8Array>): PagePack {
  let length = 0;
  for (const page of pages.values()) length += page.length;
  const bytes = new Uint8Array(length);
  let at = 0;
  for (const page of pages.values()) {
    bytes.set(page, at);
    at += page.length;
  }
  return { pages: [...pages].map(([hash, page]) => [hash, page.length]), bytes };
}

/** Which images a task's newest ones supersede. */
function superseded(manifests: readonly Manifest[], newest: Manifest, pinned: ReadonlySet<ImageId>): Manifest[] {
  const mine = manifests.filter((m) => m.job === newest.job && m.task === newest.task && m.image !== newest.image);
  mine.push(newest);
  mine.sort((a, b) => b.incarnation - a.incarnation || b.serial - a.serial);
  return mine.slice(KEPT).filter((m) => !pinned.has(m.image));
}

interface Place {
  pack: string;
  at: number;
  length: number;
}

export class LocalImages {
  readonly #shelf: Shelf;
  readonly #packs = new Map<string, readonly PackedPage[]>();
  readonly #places = new Map<string, Place>();
  /** One change at a time. */
  #changes: Promise<unknown> = Promise.resolve();

  constructor(shelf: Shelf) {
    this.#shelf = shelf;
  }

  async list(): Promise<LocalImage[]> {
    return (await this.#shelf.manifests()).map((m) => ({ job: m.job, task: m.task, image: m.image }));
  }

  /** In a buffer of its own, which may move to another thread. */
  async page(hash: string): Promise<Uint8Array<ArrayBuffer> | undefined> {
    const known = this.#places.get(hash);
    if (!known) await this.#look();
    const place = known ?? this.#places.get(hash);
    return place && this.#shelf.read(place.pack, place.at, place.length);
  }

  /**
   * `fresh` holds what the store may not have yet, and belongs to it. Keeps the newest {@link KEPT} images of a task;
   * an older serial is ignored. `pinned`: older images that stay all the same.
   */
  put(manifest: Manifest, fresh: PagePack, pinned: ReadonlySet<ImageId> = new Set()): Promise<void> {
    return this.#alone(async () => {
      await this.#look();
      const before = await this.#shelf.manifests();
      const old = superseded(before, manifest, pinned);
      const kept = [...before.filter((m) => m.image !== manifest.image), manifest].filter((m) => !old.includes(m));
      const live = new Set(kept.flatMap((m) => m.pages));
      const known = new Set(fresh.pages.map(([hash]) => hash));
      const rescued = new Map<string, Uint8Array>();
      const gone: string[] = [];
      for (const [name, pages] of this.#packs) {
        const here = pages.filter(
          ([hash]) => live.has(hash) && this.#places.get(hash)?.pack === name && !known.has(hash),
        );
        if (2 * size(here) >= size(pages)) continue;
        for (const [hash] of here) {
          const page = await this.page(hash);
          if (page) rescued.set(hash, page);
        }
        gone.push(name);
      }
      const pack = rescued.size === 0 ? fresh : joined(fresh, packPages(rescued));
      if (pack.pages.length > 0) {
        await this.#shelf.putPack(manifest.image, pack);
        this.#shelve(manifest.image, pack.pages);
      }
      await this.#shelf.putManifest(manifest);
      for (const m of old) await this.#shelf.removeManifest(m.image);
      for (const name of gone) if (name !== manifest.image) await this.#remove(name);
    });
  }

  /** The job, or a task of it, is over here. */
  forget(job: JobId, task?: TaskId): Promise<void> {
    return this.#alone(async () => {
      await this.#look();
      const all = await this.#shelf.manifests();
      const over = all.filter((m) => m.job === job && (task === undefined || m.task === task));
      for (const m of over) await this.#shelf.removeManifest(m.image);
      const live = new Set(all.filter((m) => !over.includes(m)).flatMap((m) => m.pages));
      for (const [name, pages] of this.#packs) if (!pages.some(([hash]) => live.has(hash))) await this.#remove(name);
    });
  }

  async close(): Promise<void> {
    await this.#changes;
    await this.#shelf.close();
  }

  #alone(work: () => Promise<void>): Promise<void> {
    const done = this.#changes.then(work);
    this.#changes = done.catch(() => undefined);
    return done;
  }

  /** Packs of before this session, and of other tabs. */
  async #look(): Promise<void> {
    const there = await this.#shelf.packs();
    const names = new Set(there.map((p) => p.name));
    for (const name of this.#packs.keys()) if (!names.has(name)) this.#unshelve(name);
    for (const { name, pages } of there) if (!this.#packs.has(name)) this.#shelve(name, pages);
  }

  #shelve(name: string, pages: readonly PackedPage[]): void {
    this.#unshelve(name);
    this.#packs.set(name, pages);
    let at = 0;
    for (const [hash, length] of pages) {
      this.#places.set(hash, { pack: name, at, length });
      at += length;
    }
  }

  #unshelve(name: string): void {
    for (const [hash] of this.#packs.get(name) ?? [])
      if (this.#places.get(hash)?.pack === name) this.#places.delete(hash);
    this.#packs.delete(name);
  }

  async #remove(name: string): Promise<void> {
    this.#unshelve(name);
    await this.#shelf.removePack(name);
  }
}

const size = (pages: readonly PackedPage[]): number => pages.reduce((n, [, length]) => n + length, 0);

function joined(a: PagePack, b: PagePack): PagePack {
  const bytes = new Uint8Array(a.bytes.length + b.bytes.length);
  bytes.set(a.bytes);
  bytes.set(b.bytes, a.bytes.length);
  return { pages: [...a.pages, ...b.pages], bytes };
}
