/**
 * The bytes of a segment file of a message stream. Pure: no I/O.
 *
 *   head   32 bytes   'MFLG' | u32 version | u64 base LSN | u32 salt | u32 0 | u32 0 | u32 crc of the 28 bytes before
 *   record 16 bytes   u32 length (top bit: seal) | u32 crc | u32 low half of the LSN | u32 unsynced
 *                     then `length` bytes, padded with zeros to a multiple of 8
 *
 * `crc` covers the last 8 bytes of the record's head, its length and its payload, and starts from the salt of the file:
 * what a node sends can therefore not be made to look like a record (a salt is drawn per segment and never leaves the
 * server). `unsynced` is how many records before this one were not known to be durable when it was written, so LSN −
 * unsynced is a watermark: everything below it had been synced. This tells a torn tail (cut) from damage (error): see
 * {@link judgeTear}. A seal is the last record of a segment that has a successor; its LSN is the base of that
 * successor.
 */
import { crc32 } from 'node:zlib';
import type { Lsn } from '../ports/index.ts';

export const SEGMENT_VERSION = 1;
export const HEAD_BYTES = 32;
export const RECORD_HEAD_BYTES = 16;
/** Longest payload of a record. */
export const MAX_RECORD_BYTES = 0x0fff_ffff;
const MAGIC = 0x474c464d; // 'MFLG'
const SEAL = 0x8000_0000;

export const recordBytes = (length: number): number => RECORD_HEAD_BYTES + ((length + 7) & ~7);

export interface SegmentHead {
  base: Lsn;
  salt: number;
}

export function encodeHead(head: SegmentHead): Uint8Array {
  const out = new Uint8Array(HEAD_BYTES);
  const v = new DataView(out.buffer);
  v.setUint32(0, MAGIC, true);
  v.setUint32(4, SEGMENT_VERSION, true);
  v.setUint32(8, head.base >>> 0, true);
  v.setUint32(12, Math.floor(head.base / 4294967296), true);
  v.setUint32(16, head.salt, true);
  v.setUint32(28, crc32(out.subarray(0, 28)), true);
  return out;
}

/** undefined: torn or damaged. A version that this code does not know is 'version', which is never cut away. */
export function decodeHead(bytes: Uint8Array): SegmentHead | 'version' | undefined {
  if (bytes.length < HEAD_BYTES) return undefined;
  const v = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (v.getUint32(0, true) !== MAGIC || crc32(bytes.subarray(0, 28)) !== v.getUint32(28, true)) return undefined;
  if (v.getUint32(4, true) !== SEGMENT_VERSION) return 'version';
  return { base: v.getUint32(8, true) + v.getUint32(12, true) * 4294967296, salt: v.getUint32(16, true) };
}

/**
 * Finishes a record whose payload already stands at `offset + RECORD_HEAD_BYTES` of `bytes`: writes head, checksum and
 * padding.
 * @returns the offset behind it
 */
export function finishRecord(
  bytes: Uint8Array,
  view: DataView,
  offset: number,
  length: number,
  salt: number,
  lsn: Lsn,
  unsynced: number,
  seal = false,
): number {
  const end = offset + recordBytes(length);
  bytes.fill(0, offset + RECORD_HEAD_BYTES + length, end);
  // The length goes through the checksum in the crc's own place, so that one pass over contiguous bytes covers all.
  const word = (length | (seal ? SEAL : 0)) >>> 0;
  view.setUint32(offset, word, true);
  view.setUint32(offset + 4, word, true);
  view.setUint32(offset + 8, lsn >>> 0, true);
  view.setUint32(offset + 12, Math.min(unsynced, 0xffff_ffff), true);
  const crc = crc32(bytes.subarray(offset + 4, offset + RECORD_HEAD_BYTES + length), salt);
  view.setUint32(offset + 4, crc, true);
  return end;
}

export interface RecordHead {
  length: number;
  lsn: Lsn;
  seal: boolean;
  /** Every LSN below was durable when this record was written. */
  watermark: Lsn;
  /** Offset behind the record. */
  end: number;
}

/**
 * Reads and checks the record with the given LSN at `offset`; undefined when no whole, undamaged record stands there.
 */
export function readRecord(
  bytes: Uint8Array,
  view: DataView,
  offset: number,
  salt: number,
  lsn: Lsn,
): RecordHead | undefined {
  if (offset + RECORD_HEAD_BYTES > bytes.length) return undefined;
  const word = view.getUint32(offset, true);
  const length = word & ~SEAL;
  const end = offset + recordBytes(length);
  if (length > MAX_RECORD_BYTES || end > bytes.length || view.getUint32(offset + 8, true) !== lsn >>> 0)
    return undefined;
  const crc = view.getUint32(offset + 4, true);
  view.setUint32(offset + 4, word, true);
  const sum = crc32(bytes.subarray(offset + 4, offset + RECORD_HEAD_BYTES + length), salt);
  view.setUint32(offset + 4, crc, true);
  if (sum !== crc) return undefined;
  return { length, lsn, seal: word >= SEAL, watermark: lsn - view.getUint32(offset + 12, true), end };
}

/** What a pass over one segment found. */
export interface SegmentScan {
  /** Offset of every whole record from the front on, the first being the record `base`. */
  offsets: Uint32Array;
  /** LSN behind the last whole record. */
  next: Lsn;
  /** Offset behind the last whole record (or the seal). */
  end: number;
  /** True: a seal says that nothing is missing at the end. */
  sealed: boolean;
  /** Highest watermark of the whole records. */
  watermark: Lsn;
  /** Bytes stand behind `end` which are no whole record. */
  torn: boolean;
  /** Highest watermark of undamaged records behind a tear (0 when there is none). */
  beyond: Lsn;
}

/**
 * Walks the records of a segment; behind a tear (or a head that is not whole) it looks for undamaged records, at every
 * multiple of 8.
 */
export function scanSegment(bytes: Uint8Array, head: SegmentHead, headWhole = true): SegmentScan {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let offsets = new Uint32Array(1024);
  let count = 0;
  let o = HEAD_BYTES;
  let watermark = 0;
  let sealed = false;
  while (headWhole && o < bytes.length && !sealed) {
    const r = readRecord(bytes, view, o, head.salt, head.base + count);
    if (!r) break;
    watermark = Math.max(watermark, r.watermark);
    if (r.seal) sealed = true;
    else {
      if (count === offsets.length) {
        const larger = new Uint32Array(count * 2);
        larger.set(offsets);
        offsets = larger;
      }
      offsets[count++] = o;
    }
    o = r.end;
  }
  const next = head.base + count;
  const torn = !headWhole || (!sealed && o < bytes.length);
  let beyond = 0;
  if (torn)
    for (let p = o; p + RECORD_HEAD_BYTES <= bytes.length; p += 8) {
      const low = view.getUint32(p + 8, true);
      const ahead = (low - (next >>> 0)) >>> 0;
      // A record behind the tear has a higher LSN, by no more than what fits between.
      if (ahead > (p - o) / RECORD_HEAD_BYTES + 1) continue;
      const r = readRecord(bytes, view, p, head.salt, next + ahead);
      if (r) beyond = Math.max(beyond, r.watermark);
    }
  return { offsets: offsets.slice(0, count), next, end: o, sealed, watermark, torn, beyond };
}

/**
 * A tear at `lsn` may be cut when nothing that stands behind it claims that `lsn` had been synced: then it is the tail
 * of un-synced writes, of which a power loss keeps any subset of pages. Else synced bytes were damaged, and cutting
 * would lose them.
 */
export const judgeTear = (lsn: Lsn, watermark: Lsn): 'cut' | 'damaged' => (watermark > lsn ? 'damaged' : 'cut');
