/**
 * A page on the disk, with what names it and what mends it: damage within one stripe (a flipped bit, a bad sector)
 * costs nothing. Both images that are kept of a task may name the same page; without this one bit would take both of
 * them.
 *
 *   header (48 bytes): magic (8), u32 length of the page, u32 CRC-32 of what follows and of the length, BLAKE3-256 of
 *   the page (32) page (up to 64 KiB)
 *   parity: the exclusive or of its stripes of 4 KiB, the last one filled up with zeros; of a page of one stripe, its
 *   copy
 *
 * Which stripe is damaged needs no checksum: the page's name is its hash, so each is tried. A damaged header costs
 * nothing either: the page's hash is its name.
 * Cost: a sixteenth of the disk, some microseconds a page.
 */
import { crc32 } from 'node:zlib';
import { PAGE_BYTES } from '@mayfly/wire';

const STRIPE = 4096;
export const HEADER_BYTES = 48;
const MAGIC_BYTES = 8;
/** Of the format's version in the magic. */
const VERSION_AT = 6;
const WHOLE = Buffer.from('Mayfly\x01P', 'latin1');
/** Of a record whose page could not be mended: it is skipped. */
export const SPOILT = Buffer.from('Mayfly\x01X', 'latin1');

/** Decides whether bytes are the page of a name. */
export type IsPage = (bytes: Uint8Array) => boolean;

export function parityOf(page: Uint8Array): Uint8Array {
  const parity = new Uint8Array(page.subarray(0, STRIPE));
  for (let at = STRIPE; at < page.length; at += STRIPE) exclusiveOr(parity, page.subarray(at, at + STRIPE));
  return parity;
}

function exclusiveOr(into: Uint8Array, from: Uint8Array): void {
  let i = 0;
  if (((into.byteOffset | from.byteOffset) & 3) === 0) {
    const words = from.length >> 2;
    const [a, b] = [
      new Uint32Array(into.buffer, into.byteOffset, words),
      new Uint32Array(from.buffer, from.byteOffset, words),
    ];
    for (let w = 0; w < words; w++) a[w]! ^= b[w]!;
    i = words * 4;
  }
  for (; i < from.length; i++) into[i]! ^= from[i]!;
}

const parityBytes = (page: number): number => Math.min(page, STRIPE);

/** Bytes of page and parity. */
export const bodyBytes = (page: number): number => page + parityBytes(page);

/** Bytes of a page on the disk. */
export const recordBytes = (page: number): number => HEADER_BYTES + bodyBytes(page);

/** Length of the page in a body of this length. */
const pageBytes = (body: number): number => (body >= 2 * STRIPE ? body - STRIPE : Math.floor(body / 2));

export function headerOf(hash: string, length: number): Buffer {
  const header = Buffer.alloc(HEADER_BYTES);
  header.set(WHOLE);
  header.writeUInt32LE(length, MAGIC_BYTES);
  header.write(hash, 16, 'hex');
  header.writeUInt32LE(checksum(header), 12);
  return header;
}

const checksum = (header: Buffer): number => crc32(header.subarray(16, HEADER_BYTES), header.readUInt32LE(MAGIC_BYTES));

export interface Header {
  hash: string;
  length: number;
  spoilt: boolean;
}

/** Undefined when these bytes are no header. */
export function parseHeader(bytes: Buffer): Header | undefined {
  if (bytes.length < HEADER_BYTES) return undefined;
  const magic = bytes.subarray(0, MAGIC_BYTES);
  const spoilt = SPOILT.equals(magic);
  if ((!spoilt && !WHOLE.equals(magic)) || bytes.readUInt32LE(12) !== checksum(bytes)) return undefined;
  return { hash: bytes.toString('hex', 16, HEADER_BYTES), length: bytes.readUInt32LE(MAGIC_BYTES), spoilt };
}

/** Whether a pack begins as one of a later version would. */
export const isNewer = (pack: Buffer): boolean =>
  WHOLE.subarray(0, VERSION_AT).equals(pack.subarray(0, VERSION_AT)) && pack[VERSION_AT]! > WHOLE[VERSION_AT]!;

/** Where the first header behind `from` begins in a pack's bytes; its end when there is none. */
export function nextHeader(pack: Buffer, from: number): number {
  const start = WHOLE.subarray(0, MAGIC_BYTES - 1);
  for (let at = pack.indexOf(start, from); at >= 0; at = pack.indexOf(start, at + 1))
    if (parseHeader(pack.subarray(at, at + HEADER_BYTES))) return at;
  return pack.length;
}

/**
 * The page of a record whose header, at this place, is damaged: the next header shows where it ends, or it is as long
 * as most are; its parity confirms that.
 */
export function headless(pack: Buffer, at: number): Uint8Array | undefined {
  const from = at + HEADER_BYTES;
  for (const length of [pageBytes(nextHeader(pack, at + 1) - from), PAGE_BYTES]) {
    const end = from + bodyBytes(length);
    const page = pack.subarray(from, from + length);
    if (
      length > 0 &&
      length <= PAGE_BYTES &&
      end <= pack.length &&
      Buffer.compare(parityOf(page), pack.subarray(from + length, end)) === 0
    )
      return page;
  }
  return undefined;
}

/** The page in a body, mended if need be; undefined when it is not there any more. */
export function readBody(body: Uint8Array, isPage: IsPage): { page: Uint8Array; mended: boolean } | undefined {
  const page = body.subarray(0, pageBytes(body.length));
  if (isPage(page)) return { page, mended: false };
  // What differs between the stripes as they are and as they were: all of it stands in the damaged one.
  const damage = new Uint8Array(body.subarray(page.length));
  exclusiveOr(damage, parityOf(page));
  for (let at = 0; at < page.length; at += STRIPE) {
    const mended = new Uint8Array(page);
    exclusiveOr(mended.subarray(at, at + STRIPE), damage.subarray(0, Math.min(STRIPE, page.length - at)));
    if (isPage(mended)) return { page: mended, mended: true };
  }
  return undefined;
}
