/**
 * What stands in a page's file: the page and the parity of its stripes, so that damage within one stripe (a flipped bit, a bad sector) is mended.
 * Both images that are kept of a task may name the same page; without this one bit would take both of them.
 *
 *   page (up to 64 KiB) | parity: the exclusive or of its stripes of 4 KiB, the last one filled up with zeros; of a page of one stripe, its copy
 *
 * Which stripe is damaged needs no checksum: the page's name is its hash, so each is tried. Files of before there was parity hold the page alone.
 * Cost: a sixteenth of the disk, some microseconds a page.
 */
const STRIPE = 4096;

type Named = (bytes: Uint8Array) => boolean;

export function parityOf(page: Uint8Array): Uint8Array {
  const parity = new Uint8Array(page.subarray(0, STRIPE));
  for (let at = STRIPE; at < page.length; at += STRIPE) exclusiveOr(parity, page.subarray(at, at + STRIPE));
  return parity;
}

function exclusiveOr(into: Uint8Array, from: Uint8Array): void {
  let i = 0;
  if (((into.byteOffset | from.byteOffset) & 3) === 0) {
    const words = from.length >> 2;
    const [a, b] = [new Uint32Array(into.buffer, into.byteOffset, words), new Uint32Array(from.buffer, from.byteOffset, words)];
    for (let w = 0; w < words; w++) a[w]! ^= b[w]!;
    i = words * 4;
  }
  for (; i < from.length; i++) into[i]! ^= from[i]!;
}

/** Length of the page in a file of this length. */
export const pageBytes = (file: number): number => (file >= 2 * STRIPE ? file - STRIPE : Math.floor(file / 2));

/** The page in a file, mended if need be; undefined when it is not there any more. `isPage` tells by the name. */
export function readPageFile(file: Uint8Array, isPage: Named): { page: Uint8Array; mended: boolean } | undefined {
  const page = file.subarray(0, pageBytes(file.length));
  if (isPage(page)) return { page, mended: false };
  if (isPage(file)) return { page: file, mended: false };
  // What differs between the stripes as they are and as they were: all of it stands in the damaged one.
  const damage = new Uint8Array(file.subarray(page.length));
  exclusiveOr(damage, parityOf(page));
  for (let at = 0; at < page.length; at += STRIPE) {
    const mended = new Uint8Array(page);
    exclusiveOr(mended.subarray(at, at + STRIPE), damage.subarray(0, Math.min(STRIPE, page.length - at)));
    if (isPage(mended)) return { page: mended, mended: true };
  }
  return undefined;
}
