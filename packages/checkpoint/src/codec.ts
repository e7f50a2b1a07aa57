/**
 * Pages on the way: as they are, or deflated (RFC 1951) when that saves an eighth at least. A binary message per page:
 * u32 index, u32 raw length, u8 codec, 7 bytes of padding, data (wire, control.ts).
 */
import { MayflyError, PAGE_BYTES } from '@mayfly/wire';

export const Codec = { RAW: 0, DEFLATE: 1 } as const;
export const PAGE_HEADER_BYTES = 16;

export interface EncodedPage {
  index: number;
  rawLength: number;
  codec: number;
  bytes: Uint8Array;
}

async function pump(
  bytes: Uint8Array,
  through: { readable: ReadableStream; writable: WritableStream },
  limit: number,
): Promise<Uint8Array | undefined> {
  const writer = through.writable.getWriter();
  // Failures surface at the reader.
  writer.write(bytes).catch(() => undefined);
  writer.close().catch(() => undefined);
  const reader = through.readable.getReader();
  const out = new Uint8Array(limit);
  let n = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return out.subarray(0, n);
    const part = value as Uint8Array;
    if (n + part.length > limit) {
      await reader.cancel().catch(() => undefined);
      return undefined;
    }
    out.set(part, n);
    n += part.length;
  }
}

const SAMPLES = 2048;
/**
 * Bits per byte over which a page is taken for noise. Evenly distributed bytes measure 7.9 in a sample of this size.
 */
const NOISE_BITS = 7.5;

/**
 * Entropy of the single bytes of a sample, in bits per byte. Deflating runs at 20–48 MB/s, this at some GB/s: pages
 * that look like noise (random or packed data, mantissas) are not tried.
 */
export function sampledEntropy(raw: Uint8Array): number {
  const counts = new Uint16Array(256);
  // An odd stride, so that every byte of a double has its turn.
  const stride = Math.max(1, Math.floor(raw.length / SAMPLES)) | 1;
  let n = 0;
  for (let i = 0; i < raw.length; i += stride, n++) counts[raw[i]!]!++;
  let bits = 0;
  for (const c of counts) if (c > 0) bits -= c * Math.log2(c / n);
  return bits / n;
}

/** The page as it is. */
export const plainPage = (index: number, raw: Uint8Array): EncodedPage => ({
  index,
  rawLength: raw.length,
  codec: Codec.RAW,
  bytes: raw,
});

/**
 * Deflates, or returns the page as it is where that gains less than an eighth. The stall is elsewhere: nothing waits
 * for this.
 */
export async function encodePage(index: number, raw: Uint8Array): Promise<EncodedPage> {
  const packed =
    raw.length < 256 || sampledEntropy(raw) > NOISE_BITS
      ? undefined
      : await pump(raw, new CompressionStream('deflate-raw'), raw.length - (raw.length >> 3));
  return packed ? { index, rawLength: raw.length, codec: Codec.DEFLATE, bytes: packed } : plainPage(index, raw);
}

/** At once where the page is plain. @throws MayflyError BAD_REQUEST when the data is no page of `rawLength` bytes. */
export function decodePage(codec: number, rawLength: number, bytes: Uint8Array): Uint8Array | Promise<Uint8Array> {
  if (rawLength > PAGE_BYTES) throw new MayflyError('BAD_REQUEST', `a page of ${rawLength} bytes`);
  if (codec === Codec.DEFLATE) return inflate(rawLength, bytes);
  if (codec !== Codec.RAW) throw new MayflyError('BAD_REQUEST', `page codec ${codec}`);
  return ofLength(rawLength, bytes);
}

async function inflate(rawLength: number, bytes: Uint8Array): Promise<Uint8Array> {
  const raw = await pump(bytes, new DecompressionStream('deflate-raw'), rawLength).catch(() => {
    throw new MayflyError('BAD_REQUEST', 'a page that does not inflate');
  });
  return ofLength(rawLength, raw);
}

function ofLength(rawLength: number, raw: Uint8Array | undefined): Uint8Array {
  if (raw?.length !== rawLength) throw new MayflyError('BAD_REQUEST', `a page that is not ${rawLength} bytes long`);
  return raw;
}

export function packPage(p: EncodedPage): Uint8Array {
  const out = new Uint8Array(PAGE_HEADER_BYTES + p.bytes.length);
  const v = new DataView(out.buffer);
  v.setUint32(0, p.index, true);
  v.setUint32(4, p.rawLength, true);
  v.setUint8(8, p.codec);
  out.set(p.bytes, PAGE_HEADER_BYTES);
  return out;
}

/** @throws MayflyError BAD_REQUEST */
export function unpackPage(message: Uint8Array): EncodedPage {
  if (message.length < PAGE_HEADER_BYTES) throw new MayflyError('BAD_REQUEST', 'a page message without its header');
  const v = new DataView(message.buffer, message.byteOffset, message.byteLength);
  return {
    index: v.getUint32(0, true),
    rawLength: v.getUint32(4, true),
    codec: v.getUint8(8),
    bytes: message.subarray(PAGE_HEADER_BYTES),
  };
}
