/**
 * The bytes of the registry's files. Pure: no I/O.
 *
 *   head    32 bytes   'MREG' | u32 version | u64 base | u32 salt | u32 0 | u32 0 | u32 crc of the 28 bytes before
 *   record  as in a segment of the message log (segment-format.ts): a length, a checksum that starts from the salt, a
 *   number, a watermark of what was synced payload per change: u32 length of the key | u32 length of the value,
 *   0xffffffff: the key is deleted | key, UTF-8 | value, JSON in UTF-8
 *
 * A log holds one record per commit; the number of a record is that of its commit, from `base` on. A snapshot holds the
 * state before commit `base` in records of about 256 KB, whose numbers count from `base` too; its last record is a
 * seal. Base and salt also stand in the name of the file: a damaged head does not make the records behind it
 * unreadable.
 */
import { crc32 } from 'node:zlib';
import { finishRecord, HEAD_BYTES, readRecord, recordBytes, RECORD_HEAD_BYTES } from './segment-format.ts';

/** 2: that of Mayfly 0.2.0, the first that later versions read. */
export const REGISTRY_VERSION = 2;
const MAGIC = 0x4745524d; // 'MREG'
const DELETED = 0xffff_ffff;

export type FileKind = 'log' | 'twin' | 'snap';
export interface RegistryFileName {
  base: number;
  salt: number;
  kind: FileKind;
}

export const fileName = ({ base, salt, kind }: RegistryFileName): string =>
  `${base.toString(16).padStart(14, '0')}-${salt.toString(16).padStart(8, '0')}.${kind}`;

export function parseFileName(name: string): RegistryFileName | undefined {
  const m = /^([0-9a-f]{14})-([0-9a-f]{8})\.(log|twin|snap)$/.exec(name);
  return m ? { base: Number.parseInt(m[1]!, 16), salt: Number.parseInt(m[2]!, 16), kind: m[3] as FileKind } : undefined;
}

export function encodeRegistryHead(base: number, salt: number): Uint8Array {
  const out = new Uint8Array(HEAD_BYTES);
  const v = new DataView(out.buffer);
  v.setUint32(0, MAGIC, true);
  v.setUint32(4, REGISTRY_VERSION, true);
  v.setUint32(8, base >>> 0, true);
  v.setUint32(12, Math.floor(base / 4294967296), true);
  v.setUint32(16, salt, true);
  v.setUint32(28, crc32(out.subarray(0, 28)), true);
  return out;
}

/** 'other': a whole head of a version that this code does not know. */
export function judgeHead(bytes: Uint8Array, { base, salt }: RegistryFileName): 'whole' | 'other' | 'damaged' {
  if (bytes.length < HEAD_BYTES) return 'damaged';
  const v = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (v.getUint32(0, true) !== MAGIC || crc32(bytes.subarray(0, 28)) !== v.getUint32(28, true)) return 'damaged';
  if (v.getUint32(4, true) !== REGISTRY_VERSION) return 'other';
  return v.getUint32(8, true) + v.getUint32(12, true) * 4294967296 === base && v.getUint32(16, true) === salt
    ? 'whole'
    : 'damaged';
}

/** A change as it is kept: the value is JSON text; undefined deletes. */
export type Change = readonly [key: string, text: string | undefined];

export function encodeChanges(changes: readonly Change[]): Buffer {
  const parts: Buffer[] = [];
  for (const [key, text] of changes) {
    const head = Buffer.allocUnsafe(8);
    const k = Buffer.from(key, 'utf8');
    head.writeUInt32LE(k.length, 0);
    if (text === undefined) {
      head.writeUInt32LE(DELETED, 4);
      parts.push(head, k);
    } else {
      const t = Buffer.from(text, 'utf8');
      head.writeUInt32LE(t.length, 4);
      parts.push(head, k, t);
    }
  }
  return Buffer.concat(parts);
}

/** @throws RangeError when the bytes, whose checksum was right, are no changes */
export function decodeChanges(payload: Uint8Array): Change[] {
  const b = Buffer.from(payload.buffer, payload.byteOffset, payload.byteLength);
  const out: Change[] = [];
  for (let at = 0; at < b.length;) {
    const keyLength = b.readUInt32LE(at);
    const word = b.readUInt32LE(at + 4);
    const length = word === DELETED ? 0 : word;
    const key = at + 8;
    const end = key + keyLength + length;
    if (end > b.length) throw new RangeError('a change that is longer than its record');
    out.push([
      b.toString('utf8', key, key + keyLength),
      word === DELETED ? undefined : b.toString('utf8', key + keyLength, end),
    ]);
    at = end;
  }
  return out;
}

/**
 * Records one after the other, as they are written at once.
 * @param first number of the first; everything below `synced` is durable
 */
export function encodeRecords(
  payloads: readonly Uint8Array[],
  salt: number,
  first: number,
  synced: number,
  seal = false,
): Uint8Array {
  const bytes = new Uint8Array(payloads.reduce((n, p) => n + recordBytes(p.length), seal ? RECORD_HEAD_BYTES : 0));
  const view = new DataView(bytes.buffer);
  let at = 0;
  payloads.forEach((p, i) => {
    bytes.set(p, at + RECORD_HEAD_BYTES);
    at = finishRecord(bytes, view, at, p.length, salt, first + i, first + i - synced);
  });
  if (seal) finishRecord(bytes, view, at, 0, salt, first + payloads.length, first + payloads.length - synced, true);
  return bytes;
}

export interface FoundRecords {
  /** Payloads of undamaged records by their number. */
  records: Map<number, Uint8Array>;
  /** Number of the seal, where there is one. */
  seal: number | undefined;
  /** Every record below was durable when a record that was found was written. */
  watermark: number;
  /** Bytes stand there that belong to no undamaged record. */
  torn: boolean;
  /** How many undamaged records stand from the front on without a gap, and where they end. */
  front: number;
  end: number;
}

/** Finds every undamaged record; behind a tear it looks at each multiple of 8. */
export function findRecords(bytes: Uint8Array, base: number, salt: number): FoundRecords {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const found: FoundRecords = {
    records: new Map(),
    seal: undefined,
    watermark: base,
    torn: bytes.length < HEAD_BYTES,
    front: 0,
    end: HEAD_BYTES,
  };
  let next = base;
  for (let at = HEAD_BYTES; at + RECORD_HEAD_BYTES <= bytes.length;) {
    // Numbers only grow, by no more than what fits between.
    const ahead = (view.getUint32(at + 8, true) - (next >>> 0)) >>> 0;
    const most = found.torn ? (at - HEAD_BYTES) / RECORD_HEAD_BYTES + 1 : 0;
    const r = ahead <= most ? readRecord(bytes, view, at, salt, next + ahead) : undefined;
    if (!r) {
      found.torn = true;
      at += 8;
      continue;
    }
    found.watermark = Math.max(found.watermark, r.watermark);
    if (r.seal) found.seal = r.lsn;
    else {
      found.records.set(r.lsn, bytes.subarray(at + RECORD_HEAD_BYTES, at + RECORD_HEAD_BYTES + r.length));
      next = r.lsn + 1;
    }
    at = r.end;
    if (found.torn) continue;
    found.end = at;
    if (!r.seal) found.front++;
  }
  if (!found.torn && found.end !== bytes.length) found.torn = true;
  return found;
}
