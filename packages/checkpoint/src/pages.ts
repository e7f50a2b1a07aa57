/**
 * Images ↔ pages. The sections of an image are concatenated and cut into pages of 64 KiB; a page is named by its hash,
 * a page of zeros by ''. Cutting costs one hash per page and no copy when a page lies inside one section.
 */
import { MayflyError, PAGE_BYTES, type Manifest } from '@mayfly/wire';
import { createHash, type Hash } from './hash.ts';

export interface Section {
  readonly name: string;
  readonly bytes: Uint8Array;
}

export interface CutImage {
  sections: Manifest['sections'];
  /** As in the manifest. */
  pages: string[];
  bytes: number;
  /** Raw bytes by hash, each once; views into the sections where possible. Zero pages are absent. */
  data: Map<string, Uint8Array>;
}

function isZero(page: Uint8Array): boolean {
  if ((page.byteOffset & 7) !== 0) return page.every((b) => b === 0);
  const words = new BigUint64Array(page.buffer, page.byteOffset, page.length >> 3);
  for (let i = 0; i < words.length; i++) if (words[i] !== 0n) return false;
  for (let i = page.length & ~7; i < page.length; i++) if (page[i] !== 0) return false;
  return true;
}

/** `pause` is awaited between slices of about 1 MB, so that a comm worker stays responsive. */
export async function cutImage(sections: readonly Section[], pause?: () => Promise<void>): Promise<CutImage> {
  const hash = await createHash();
  const total = sections.reduce((n, s) => n + s.bytes.length, 0);
  const out: CutImage = {
    sections: sections.map((s) => ({ name: s.name, bytes: s.bytes.length })),
    pages: [],
    bytes: total,
    data: new Map(),
  };
  let section = 0;
  let offset = 0;
  for (let at = 0; at < total; at += PAGE_BYTES) {
    const length = Math.min(PAGE_BYTES, total - at);
    while (section < sections.length && offset === sections[section]!.bytes.length) {
      section++;
      offset = 0;
    }
    let page: Uint8Array;
    const here = sections[section]!.bytes;
    if (here.length - offset >= length) {
      page = here.subarray(offset, offset + length);
      offset += length;
    } else {
      page = new Uint8Array(length);
      for (let n = 0; n < length;) {
        const from = sections[section]!.bytes;
        const k = Math.min(length - n, from.length - offset);
        page.set(from.subarray(offset, offset + k), n);
        n += k;
        offset += k;
        if (offset === from.length && n < length) {
          section++;
          offset = 0;
        }
      }
    }
    if (isZero(page)) out.pages.push('');
    else {
      const name = hash(page);
      out.pages.push(name);
      if (!out.data.has(name)) out.data.set(name, page);
    }
    if (pause && (at & (16 * PAGE_BYTES - 1)) === 15 * PAGE_BYTES) await pause();
  }
  return out;
}

/** Length of page number `index` of an image of `bytes` bytes. */
export const pageLength = (bytes: number, index: number): number => Math.min(PAGE_BYTES, bytes - index * PAGE_BYTES);

/**
 * The pages of an image that are not zero, each once, in the order of their first mention: what a run of pages counts.
 */
export function distinctPages(manifest: Pick<Manifest, 'pages' | 'bytes'>): { name: string; length: number }[] {
  const out = new Map<string, number>();
  for (const [i, name] of manifest.pages.entries())
    if (name !== '' && !out.has(name)) out.set(name, pageLength(manifest.bytes, i));
  return [...out].map(([name, length]) => ({ name, length }));
}

/** An image that is put together page by page, in any order; every page is checked against its hash, once. */
export class Assembly {
  /** Names of the pages, each once, in the order of their first mention. */
  readonly pages: readonly string[];
  private readonly all: Uint8Array<ArrayBuffer>;
  private readonly places = new Map<string, number[]>();

  /** @throws MayflyError BAD_REQUEST when the manifest contradicts itself. */
  constructor(
    private readonly manifest: Manifest,
    private readonly hash: Hash,
  ) {
    const total = manifest.sections.reduce((n, s) => n + s.bytes, 0);
    if (total !== manifest.bytes || manifest.pages.length !== Math.ceil(total / PAGE_BYTES))
      throw new MayflyError('BAD_REQUEST', 'the manifest contradicts itself');
    for (const [i, name] of manifest.pages.entries()) {
      if (name === '') continue;
      const places = this.places.get(name);
      if (places) places.push(i);
      else this.places.set(name, [i]);
    }
    this.pages = [...this.places.keys()];
    this.all = new Uint8Array(total);
  }

  length(name: string): number {
    return pageLength(this.manifest.bytes, this.places.get(name)?.[0] ?? 0);
  }

  /** False when these bytes are not that page. */
  place(name: string, page: Uint8Array): boolean {
    const places = this.places.get(name);
    if (!places || page.length !== this.length(name) || this.hash(page) !== name) return false;
    for (const i of places) this.all.set(page.subarray(0, pageLength(this.manifest.bytes, i)), i * PAGE_BYTES);
    return true;
  }

  /** The sections; they share one buffer. */
  sections(): Map<string, Uint8Array<ArrayBuffer>> {
    const out = new Map<string, Uint8Array<ArrayBuffer>>();
    let at = 0;
    for (const s of this.manifest.sections) {
      out.set(s.name, this.all.subarray(at, at + s.bytes));
      at += s.bytes;
    }
    return out;
  }
}

/**
 * Puts an image together again.
 * @throws MayflyError NOT_FOUND when a page cannot be had, BAD_REQUEST when one is damaged or the manifest contradicts
 * itself.
 */
export async function assembleImage(
  manifest: Manifest,
  getPage: (hash: string) => Promise<Uint8Array | undefined>,
): Promise<Map<string, Uint8Array>> {
  const assembly = new Assembly(manifest, await createHash());
  for (const name of assembly.pages) {
    const page = await getPage(name);
    if (!page) throw new MayflyError('NOT_FOUND', `page ${name} of image ${manifest.image}`);
    if (!assembly.place(name, page))
      throw new MayflyError('BAD_REQUEST', `page ${name} of image ${manifest.image} is damaged`);
  }
  return assembly.sections();
}
