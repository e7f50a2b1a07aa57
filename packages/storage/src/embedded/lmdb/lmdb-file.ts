/**
 * Reads a data file of LMDB (data format 2, as lmdb-js writes it) from memory: no mapping, so that a damaged file ends
 * in an error and never in a signal. Pure.
 *
 *   page      u64 number | u64 transaction | u16 | u16 flags | u16 lower, u16 upper (of an overflow: u32 pages) | u16
 *   places of the nodes …
 *   meta      pages 0 and 1: u32 magic | u32 version | u64 | u64 map size | two trees: free pages, main | u64 last page
 *   | u64 transaction
 *   tree      u32 | u16 flags | u16 depth | u64 branch, u64 leaf, u64 overflow pages | u64 entries | u64 root
 *   node      u32 length of the value (branch: page) | u16 flags | u16 length of the key | key | value, or where it
 *   lies: u64 page | u64 | u64 pages
 *
 * There are no checksums in it. What holds it together is checked: numbers and kinds of pages, their order, bounds,
 * depth, the order of the keys, and the counts that the meta page has of all that. The newest meta page counts; where
 * its tree does not stand all this, the other one may, which is the state before the last commit.
 */
import { readMsgpack } from './msgpack.ts';

const MAGIC = 0xbeefc0de;
const VERSION = 2;
const HEAD = 24;
const [BRANCH, LEAF, OVERFLOW, META] = [1, 2, 4, 8];
const BIG = 1;
const NO_PAGE = 0xffff_ffff_ffff_ffffn;
const DEEPEST = 32;
const utf8 = new TextDecoder('utf-8', { fatal: true });

export class DamagedLmdb extends Error {
  override readonly name = 'DamagedLmdb';
}

interface Meta {
  pageBytes: number;
  transaction: number;
  lastPage: number;
  depth: number;
  branches: number;
  leaves: number;
  overflows: number;
  entries: number;
  root: number | undefined;
}

/**
 * All entries, in the order of their keys.
 * @returns also why it is the state before the last commit, if it is
 * @throws DamagedLmdb with a sentence
 */
export function readLmdb(bytes: Uint8Array): { entries: [string, unknown][]; older: string | undefined } {
  if (bytes.length === 0) throw new DamagedLmdb('is empty (0 bytes)');
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const metas: Meta[] = [];
  let why: string | undefined;
  // The second one stands one page behind the first, whose size only a meta page contains.
  const sizes = [4096, 8192, 16384, 32768, 65536, 512, 1024, 2048];
  const first = readMeta(view, 0, 0);
  if (typeof first === 'string') why = first;
  else metas.push(first);
  for (const size of typeof first === 'string' ? sizes : [first.pageBytes]) {
    const second = readMeta(view, size, 1);
    if (typeof second !== 'string' && second.pageBytes === size) {
      metas.push(second);
      break;
    }
    // It is unknown then which of the two was the newer one.
    if (typeof first !== 'string') why = 'the second meta page is damaged';
  }
  if (metas.length === 0) throw new DamagedLmdb(`has no readable meta page (${why})`);
  // A commit writes the page of its number's parity: the two are those of the last two commits.
  if (
    metas.length === 2 &&
    (Math.abs(metas[0]!.transaction - metas[1]!.transaction) > 1 || metas[0]!.transaction % 2 !== 0)
  )
    why = 'its two meta pages do not belong together';
  metas.sort((a, b) => b.transaction - a.transaction);
  for (const [i, meta] of metas.entries())
    try {
      return { entries: new Tree(bytes, view, meta).read(), older: why };
    } catch (error) {
      why = error instanceof Error ? error.message : String(error);
      if (i === metas.length - 1) throw new DamagedLmdb(why);
    }
  throw new DamagedLmdb(why ?? 'has no entries');
}

const number = (view: DataView, at: number): number => {
  const n = view.getBigUint64(at, true);
  if (n > BigInt(Number.MAX_SAFE_INTEGER))
    throw new DamagedLmdb(`a number of its file is far too large (at byte ${at})`);
  return Number(n);
};

/** @returns why it is none */
function readMeta(view: DataView, at: number, page: number): Meta | string {
  const m = at + HEAD;
  const tree = m + 24 + 48;
  if (tree + 48 + 16 > view.byteLength) return 'the file is too short';
  if (
    view.getUint32(m, true) !== MAGIC ||
    view.getBigUint64(at, true) !== BigInt(page) ||
    (view.getUint16(at + 18, true) & META) === 0
  )
    return 'it is not an LMDB file, or its first page is damaged';
  if (view.getUint32(m + 4, true) !== VERSION) return `its data format is ${view.getUint32(m + 4, true)}`;
  const pageBytes = view.getUint32(m + 24, true);
  if (pageBytes < 512 || pageBytes > 65536 || (pageBytes & (pageBytes - 1)) !== 0) return `pages of ${pageBytes} bytes`;
  try {
    const root = view.getBigUint64(tree + 40, true);
    return {
      pageBytes,
      depth: view.getUint16(tree + 6, true),
      branches: number(view, tree + 8),
      leaves: number(view, tree + 16),
      overflows: number(view, tree + 24),
      entries: number(view, tree + 32),
      root: root === NO_PAGE ? undefined : number(view, tree + 40),
      lastPage: number(view, tree + 48),
      transaction: number(view, tree + 56),
    };
  } catch (error) {
    return (error as Error).message;
  }
}

class Tree {
  readonly #bytes: Uint8Array;
  readonly #view: DataView;
  readonly #meta: Meta;
  readonly #seen = new Set<number>();
  readonly #entries: [string, unknown][] = [];
  readonly #counts = { branches: 0, leaves: 0, overflows: 0 };
  #lastKey: Uint8Array | undefined;

  constructor(bytes: Uint8Array, view: DataView, meta: Meta) {
    this.#bytes = bytes;
    this.#view = view;
    this.#meta = meta;
  }

  read(): [string, unknown][] {
    const m = this.#meta;
    if (m.depth > DEEPEST) throw new DamagedLmdb('its tree is too deep');
    if (m.root !== undefined) this.#page(m.root, m.depth);
    for (const what of ['branches', 'leaves', 'overflows'] as const)
      if (this.#counts[what] !== m[what])
        throw new DamagedLmdb(`its tree has ${this.#counts[what]} pages of the kind “${what}” where ${m[what]} belong`);
    if (this.#entries.length !== m.entries)
      throw new DamagedLmdb(`it holds ${this.#entries.length} records where ${m.entries} belong`);
    return this.#entries;
  }

  /** Where the page begins. */
  #claim(page: number, pages = 1): number {
    const at = page * this.#meta.pageBytes;
    if (page < 2 || page + pages - 1 > this.#meta.lastPage || at + pages * this.#meta.pageBytes > this.#bytes.length)
      throw new DamagedLmdb(`page ${page} lies outside the file`);
    for (let p = page; p < page + pages; p++) {
      if (this.#seen.has(p)) throw new DamagedLmdb(`page ${p} is used twice`);
      this.#seen.add(p);
    }
    if (this.#view.getBigUint64(at, true) !== BigInt(page)) throw new DamagedLmdb(`page ${page} is damaged`);
    if (number(this.#view, at + 8) > this.#meta.transaction)
      throw new DamagedLmdb(`page ${page} is newer than its tree`);
    return at;
  }

  #page(page: number, depth: number): void {
    const at = this.#claim(page);
    const { pageBytes } = this.#meta;
    const kind = this.#view.getUint16(at + 18, true) & (BRANCH | LEAF | OVERFLOW | META);
    const lower = this.#view.getUint16(at + 20, true);
    const upper = this.#view.getUint16(at + 22, true);
    if (kind !== (depth === 1 ? LEAF : BRANCH) || lower % 2 !== 0 || lower > upper || upper > pageBytes - HEAD)
      throw new DamagedLmdb(`page ${page} is damaged`);
    this.#counts[kind === LEAF ? 'leaves' : 'branches']++;
    for (let i = 0; i < lower / 2; i++) {
      const node = at + HEAD + this.#view.getUint16(at + HEAD + 2 * i, true);
      if (node < at + HEAD + upper || node + 8 > at + pageBytes)
        throw new DamagedLmdb(`page ${page} is damaged: entry ${i} lies outside`);
      const keyBytes = this.#view.getUint16(node + 6, true);
      const flags = this.#view.getUint16(node + 4, true);
      const low = this.#view.getUint32(node, true);
      const data = node + 8 + keyBytes;
      if (data > at + pageBytes) throw new DamagedLmdb(`page ${page} is damaged: a key of ${keyBytes} bytes`);
      if (kind === BRANCH) {
        this.#page(low + flags * 4294967296, depth - 1);
        continue;
      }
      const key = this.#bytes.subarray(node + 8, data);
      if (this.#lastKey && Buffer.compare(this.#lastKey, key) >= 0)
        throw new DamagedLmdb(`page ${page} is damaged: its keys are not in order`);
      this.#lastKey = key;
      this.#entry(
        page,
        key,
        flags === BIG ? this.#big(page, data, low) : flags === 0 ? this.#inside(page, at, data, low) : undefined,
      );
    }
  }

  #inside(page: number, at: number, data: number, length: number): Uint8Array {
    if (data + length > at + this.#meta.pageBytes)
      throw new DamagedLmdb(`page ${page} is damaged: a value of ${length} bytes`);
    return this.#bytes.subarray(data, data + length);
  }

  #big(page: number, data: number, length: number): Uint8Array {
    if (data + 24 > (page + 1) * this.#meta.pageBytes)
      throw new DamagedLmdb(`page ${page} is damaged: a value that lies nowhere`);
    const [first, pages] = [number(this.#view, data), number(this.#view, data + 16)];
    if (pages < 1 || length > pages * this.#meta.pageBytes - HEAD)
      throw new DamagedLmdb(`page ${first} is damaged: a value of ${length} bytes in ${pages} pages`);
    const at = this.#claim(first, pages);
    if ((this.#view.getUint16(at + 18, true) & OVERFLOW) === 0 || this.#view.getUint32(at + 20, true) !== pages)
      throw new DamagedLmdb(`page ${first} is damaged`);
    this.#counts.overflows += pages;
    return this.#bytes.subarray(at + HEAD, at + HEAD + length);
  }

  #entry(page: number, key: Uint8Array, value: Uint8Array | undefined): void {
    if (!value) throw new DamagedLmdb(`page ${page} is damaged: an entry of an unknown kind`);
    let name: string;
    try {
      name = utf8.decode(key);
    } catch {
      throw new DamagedLmdb(`page ${page} is damaged: a key is not text`);
    }
    try {
      this.#entries.push([name, readMsgpack(value)]);
    } catch (error) {
      throw new DamagedLmdb(
        `page ${page} is damaged: the value of ${JSON.stringify(name)} cannot be read (${(error as Error).message})`,
      );
    }
  }
}
