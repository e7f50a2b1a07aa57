/**
 * The history of a job at rest, as the archive keeps it (ports/archive.ts of packages/storage). Deflated:
 *   u32 length of the head, head (JSON: version, kinds, what Buckets and JobHistory say of themselves, the gauges with
 *   their cells), cells (f32), matrix (f64 × 4 per pair).
 * Behind it: the letters MFHC, u32 CRC-32 of all before.
 * A file of another version, or a damaged one, is as good as none: the history begins anew.
 */
import { promisify } from 'node:util';
import { crc32, deflateRaw, inflateRawSync } from 'node:zlib';
import type { BucketsRecord } from '@mayfly/protocols';
import { LANE_KINDS } from '@mayfly/wire';
import type { Rows } from './columns.ts';
import type { HistoryRecord } from './job-history.ts';

const VERSION = 1;
const MOST_BYTES = 64 << 20;
const MARK = Buffer.from('MFHC');
const deflate = promisify(deflateRaw);

function sealed(bytes: Buffer): Buffer {
  const sum = Buffer.alloc(4);
  sum.writeUInt32LE(crc32(bytes));
  return Buffer.concat([bytes, MARK, sum]);
}

/** @throws Error when the file is damaged */
function unsealed(file: Buffer): Buffer {
  const end = file.length - 8;
  const bytes = file.subarray(0, end);
  if (end < 0 || !file.subarray(end, end + 4).equals(MARK) || crc32(bytes) !== file.readUInt32LE(end + 4))
    throw new Error('its checksum is wrong');
  return bytes;
}

/** @throws Error when a history at rest is damaged */
export function checkHistory(file: Buffer): void {
  const bytes = inflateRawSync(unsealed(file), { maxOutputLength: MOST_BYTES });
  JSON.parse(bytes.subarray(4, 4 + bytes.readUInt32LE(0)).toString());
}

export interface Stored {
  history: HistoryRecord;
  matrix: Rows;
}
/** `gauges`: absent in files of servers that drew no charts. */
type Head = {
  version: number;
  kinds: string[];
  buckets: Omit<BucketsRecord, 'cells'>;
  cells: number;
  gauges?: Omit<BucketsRecord, 'cells'> & { cells: number[] };
} & Omit<HistoryRecord, 'buckets' | 'gauges'>;

function encode(h: HistoryRecord, matrix: Float64Array): Buffer {
  const { cells, ...buckets } = h.buckets;
  const head = Buffer.from(
    JSON.stringify({
      version: VERSION,
      kinds: [...LANE_KINDS],
      buckets,
      cells: cells.length,
      gauges: { ...h.gauges!, cells: [...h.gauges!.cells] },
      events: h.events,
      leftOut: h.leftOut,
      ...(h.waves && { waves: h.waves }),
    } satisfies Head),
  );
  const length = Buffer.alloc(4);
  length.writeUInt32LE(head.length);
  return Buffer.concat([length, head, bytesOf(cells), bytesOf(matrix)]);
}
const bytesOf = (a: Float32Array | Float64Array): Buffer => Buffer.from(a.buffer, a.byteOffset, a.byteLength);

export async function encodeHistory(h: HistoryRecord, matrix: Float64Array): Promise<Uint8Array> {
  return sealed(await deflate(encode(h, matrix), { level: 1 }));
}

/** Undefined: of another version, or damaged. */
export function decodeHistory(file: Uint8Array, size: number): Stored | undefined {
  try {
    const bytes = inflateRawSync(unsealed(Buffer.from(file)), { maxOutputLength: MOST_BYTES });
    const length = bytes.readUInt32LE(0);
    const head = JSON.parse(bytes.subarray(4, 4 + length).toString()) as Head;
    if (head.version !== VERSION || head.kinds.join() !== LANE_KINDS.join() || head.buckets.rows > size)
      return undefined;
    const rest = new Uint8Array(bytes.subarray(4 + length));
    if (rest.length < 4 * head.cells || (rest.length - 4 * head.cells) % 32 !== 0) return undefined;
    const cells = new Float32Array(rest.buffer.slice(0, 4 * head.cells));
    const pairs = new Float64Array(rest.buffer.slice(4 * head.cells));
    const gauges = head.gauges && { ...head.gauges, cells: Float32Array.from(head.gauges.cells) };
    return {
      history: {
        buckets: { ...head.buckets, cells },
        ...(gauges ? { gauges } : {}),
        events: head.events,
        leftOut: head.leftOut,
        ...(head.waves && { waves: head.waves }),
      },
      matrix: rowsOf(pairs, size),
    };
  } catch {
    return undefined;
  }
}

/** [source, destination, messages, bytes] of every pair that has something. */
export function pairsOf(parts: readonly Rows[], size: number): Float64Array {
  const out: number[] = [];
  for (let d = 0; d < size; d++) {
    const rows = parts.map((p) => p.to(d)).filter((r) => r.length > 0);
    for (let s = 0; rows.length > 0 && s < size; s++) {
      let [messages, bytes] = [0, 0];
      for (const r of rows) {
        messages += r[2 * s]!;
        bytes += r[2 * s + 1]!;
      }
      if (messages > 0 || bytes > 0) out.push(s, d, messages, bytes);
    }
  }
  return Float64Array.from(out);
}

const NONE = new Float64Array(0);
function rowsOf(pairs: Float64Array, size: number): Rows {
  const rows = new Map<number, Float64Array>();
  for (let i = 0; i + 3 < pairs.length; i += 4) {
    const [s, d] = [pairs[i]!, pairs[i + 1]!];
    if (s >= size || d >= size) continue;
    let row = rows.get(d);
    if (!row) rows.set(d, (row = new Float64Array(2 * size)));
    row[2 * s] = pairs[i + 2]!;
    row[2 * s + 1] = pairs[i + 3]!;
  }
  return { to: (d) => rows.get(d) ?? NONE };
}
