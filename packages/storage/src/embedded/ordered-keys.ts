/**
 * Keys in the order of their bytes in UTF-8, for prefix scans: blocks of at most MOST keys. An insertion costs a binary
 * search and a short move.
 */

/**
 * The order of UTF-8 bytes is that of code points; JavaScript's own is that of UTF-16 units, which puts surrogates
 * before U+E000.
 */
export function compareKeys(a: string, b: string): number {
  const n = Math.min(a.length, b.length);
  for (let i = 0; i < n; i++) {
    const [x, y] = [a.charCodeAt(i), b.charCodeAt(i)];
    if (x === y) continue;
    const [sx, sy] = [x >= 0xd800 && x < 0xe000, y >= 0xd800 && y < 0xe000];
    return sx === sy ? x - y : sx ? 1 : -1;
  }
  return a.length - b.length;
}

const MOST = 512;

export class OrderedKeys {
  #blocks: string[][] = [];

  /** From keys in any order. */
  fill(keys: Iterable<string>): void {
    const all = [...keys].sort(compareKeys);
    this.#blocks = [];
    for (let i = 0; i < all.length; i += MOST / 2) this.#blocks.push(all.slice(i, i + MOST / 2));
  }

  add(key: string): void {
    if (this.#blocks.length === 0) {
      this.#blocks.push([key]);
      return;
    }
    const b = Math.max(0, this.#blockOf(key));
    const block = this.#blocks[b]!;
    const at = firstFrom(block, key);
    if (block[at] === key) return;
    block.splice(at, 0, key);
    if (block.length > MOST) this.#blocks.splice(b + 1, 0, block.splice(MOST / 2));
  }

  delete(key: string): void {
    const b = this.#blockOf(key);
    const block = this.#blocks[b];
    if (!block) return;
    const at = firstFrom(block, key);
    if (block[at] !== key) return;
    block.splice(at, 1);
    if (block.length === 0) this.#blocks.splice(b, 1);
  }

  /** Keys that begin with `prefix`, in order. */
  *withPrefix(prefix: string): Generator<string> {
    for (let b = Math.max(0, this.#blockOf(prefix)); b < this.#blocks.length; b++) {
      const block = this.#blocks[b]!;
      for (let i = firstFrom(block, prefix); i < block.length; i++) {
        if (!block[i]!.startsWith(prefix)) return;
        yield block[i]!;
      }
    }
  }

  /** The last block whose first key is not behind `key`; -1 when all are. */
  #blockOf(key: string): number {
    let low = 0;
    let high = this.#blocks.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (compareKeys(this.#blocks[middle]![0]!, key) <= 0) low = middle + 1;
      else high = middle;
    }
    return low - 1;
  }
}

/** Index of the first key that is not before `key`. */
function firstFrom(block: readonly string[], key: string): number {
  let low = 0;
  let high = block.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (compareKeys(block[middle]!, key) < 0) low = middle + 1;
    else high = middle;
  }
  return low;
}
