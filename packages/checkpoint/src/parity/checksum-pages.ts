/**
 * The bytes around the cores: which pages an image changes, and what a holder keeps of a checksum. Pages are
 * {@link PAGE_BYTES} long, shorter ones are filled with zeros; a page that is not there is zero.
 */
import { PAGE_BYTES } from '@mayfly/wire';
import { kernel } from '../codes/kernel.ts';

/** Pages of a change or of a checksum, by place in the image. */
export type PagesAt = ReadonlyMap<number, Uint8Array>;

/** Where two images differ, by the names of their pages; undefined: an image without pages. */
export function changedPages(before: readonly string[] | undefined, after: readonly string[]): number[] {
  const out: number[] = [];
  for (let i = 0; i < Math.max(before?.length ?? 0, after.length); i++)
    if ((before?.[i] ?? '') !== (after[i] ?? '')) out.push(i);
  return out;
}

/** Σ coefficient · page; a page that is absent is zero. */
export function sumOf(terms: readonly { coefficient: number; page: Uint8Array | undefined }[]): Uint8Array {
  const there = terms.flatMap(({ coefficient, page }) => (page ? [{ coefficient, page }] : []));
  const out = new Uint8Array(PAGE_BYTES);
  if (there.length > 0)
    kernel().combine(
      [there.map((t) => t.coefficient)],
      there.map((t) => t.page),
      [out],
    );
  return out;
}

/** A checksum and the changes that are prepared for it. */
export class ChecksumPages {
  readonly #pages = new Map<number, Uint8Array>();
  readonly #prepared = new Map<number, PagesAt>();
  #bytes = 0;

  /** Of all pages here. */
  get bytes(): number {
    return this.#bytes;
  }

  store(member: number, pages: PagesAt): void {
    this.discard(member);
    this.#prepared.set(member, pages);
    this.#bytes += pages.size * PAGE_BYTES;
  }

  discard(member: number): void {
    this.#bytes -= (this.#prepared.get(member)?.size ?? 0) * PAGE_BYTES;
    this.#prepared.delete(member);
  }

  /** Adds the prepared change to the checksum. */
  fold(member: number): void {
    for (const [index, change] of this.#prepared.get(member) ?? []) {
      const page = this.#pages.get(index);
      if (page === undefined) this.#bytes += PAGE_BYTES;
      this.#pages.set(index, page ? sumOf([one(page), one(change)]) : change.slice());
    }
    this.discard(member);
  }

  page(index: number): Uint8Array | undefined {
    return this.#pages.get(index);
  }

  prepared(member: number, index: number): Uint8Array | undefined {
    return this.#prepared.get(member)?.get(index);
  }
}

const one = (page: Uint8Array): { coefficient: number; page: Uint8Array } => ({ coefficient: 1, page });
