/**
 * Which pages manifests name.
 *
 * Owns: the pages of each manifest, how often each page is named, the pages that no manifest names.
 */
import { MayflyError } from '@mayfly/wire';

export class PageUses {
  readonly #there: (hash: string) => boolean;
  readonly #named = new Map<string, readonly string[]>();
  readonly #uses = new Map<string, number>();
  readonly #loose = new Set<string>();

  /** @param there whether the page is stored */
  constructor(there: (hash: string) => boolean) {
    this.#there = there;
  }

  /** Stored pages that no manifest names. */
  get loose(): ReadonlySet<string> {
    return this.#loose;
  }

  /** The page is stored. */
  added(hash: string): void {
    if (!this.#uses.has(hash)) this.#loose.add(hash);
  }

  /** The page is not stored any more. */
  removed(hash: string): void {
    this.#loose.delete(hash);
  }

  /** What the manifests of these names list. */
  listed(names: readonly string[]): Set<string> {
    return new Set(names.flatMap((name) => this.#named.get(name) ?? []));
  }

  count(pages: readonly string[], by: 1 | -1): void {
    for (const hash of pages) {
      const uses = (this.#uses.get(hash) ?? 0) + by;
      if (uses > 0) {
        this.#uses.set(hash, uses);
        this.#loose.delete(hash);
      } else {
        this.#uses.delete(hash);
        if (this.#there(hash)) this.#loose.add(hash);
      }
    }
  }

  /** The manifest of this name lists these pages, which are counted already, and no longer those of before. */
  replace(name: string, pages: readonly string[]): void {
    this.count(this.#named.get(name) ?? [], -1);
    if (pages.length > 0) this.#named.set(name, pages);
    else this.#named.delete(name);
  }
}

/** The pages that a manifest lists, without those of zeros. @throws MayflyError INTERNAL */
export function pagesOf(json: string): string[] {
  const { pages } = JSON.parse(json) as { pages?: unknown };
  if (!Array.isArray(pages)) throw new MayflyError('INTERNAL', 'a manifest that lists no pages');
  return [...new Set(pages.map(String))].filter((hash) => hash !== '');
}

/** Those of `hashes` that are there. */
export async function presentOf(
  store: { hasPages(hashes: readonly string[]): Promise<boolean[]> },
  hashes: readonly string[],
): Promise<Set<string>> {
  const there = await store.hasPages(hashes);
  return new Set(hashes.filter((_, i) => there[i]));
}
