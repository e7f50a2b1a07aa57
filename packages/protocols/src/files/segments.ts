/**
 * Segments of a request (offset, bytes, count, stride): how much, how far, and in which portions storage should be
 * touched.
 */
import { FILE_BYTES, FILE_PIECES, SEGMENT_WORDS, checkedLength, type Segments } from '@mayfly/wire';

export function lengthOf(s: Segments): number {
  let n = 0;
  for (let i = 0; i < s.length; i += SEGMENT_WORDS) n += s[i + 1]! * s[i + 2]!;
  return n;
}

export function piecesOf(s: Segments): number {
  let n = 0;
  for (let i = 0; i < s.length; i += SEGMENT_WORDS) n += s[i + 2]!;
  return n;
}

/** One behind the last byte; Infinity when it is no number of a file. */
export function endOf(s: Segments): number {
  let end = 0;
  for (let i = 0; i < s.length; i += SEGMENT_WORDS)
    if (s[i + 1]! > 0 && s[i + 2]! > 0) end = Math.max(end, s[i]! + (s[i + 2]! - 1) * s[i + 3]! + s[i + 1]!);
  return end;
}

/**
 * Pieces that lie close together are read and written as one, gaps and all: a call of the system costs as much as some
 * kilobytes.
 */
const GAP = 4096;
const PORTION = 1024 * 1024;
const PORTION_PIECES = 1 << 16;

/** Pieces [offset, bytes] of the file in a portion [from, to) of it; `at`: where the first of them lies in the data. */
export interface Portion {
  from: number;
  to: number;
  /** offset, bytes, place in the data; of every piece. */
  pieces: number[];
}

/**
 * Portions of at most {@link PORTION} bytes, or of one piece, in the order of the data. A piece that begins before its
 * portion begins another.
 */
export function* portions(s: Segments): Generator<Portion> {
  let p: Portion | undefined;
  let at = 0;
  for (let i = 0; i < s.length; i += SEGMENT_WORDS) {
    const bytes = s[i + 1]!;
    const count = s[i + 2]!;
    const stride = s[i + 3]!;
    if (bytes === 0) continue;
    for (let k = 0, offset = s[i]!; k < count; k++, offset += stride, at += bytes) {
      if (
        p &&
        offset >= p.from &&
        offset <= p.to + GAP &&
        offset + bytes - p.from <= PORTION &&
        p.pieces.length < 3 * PORTION_PIECES
      ) {
        p.pieces.push(offset, bytes, at);
        p.to = Math.max(p.to, offset + bytes);
        continue;
      }
      if (p) yield p;
      p = { from: offset, to: offset + bytes, pieces: [offset, bytes, at] };
    }
  }
  if (p) yield p;
}

/** What storage has to do: whole ranges. */
export interface RangeIo {
  /** Bytes read from `at`; fewer at the end of the file. */
  read(into: Uint8Array, at: number): number;
  write(from: Uint8Array, at: number): void;
}

/** Writes data piece by piece; gaps between close pieces are written back as they were. */
export function writeSegments(io: RangeIo, s: Segments, data: Uint8Array): void {
  for (const p of portions(s)) {
    if (p.pieces.length === 3) {
      io.write(data.subarray(p.pieces[2], p.pieces[2]! + p.pieces[1]!), p.from);
      continue;
    }
    const room = new Uint8Array(checkedLength(p.to - p.from, Math.max(PORTION, data.length)));
    io.read(room, p.from);
    for (let i = 0; i < p.pieces.length; i += 3)
      room.set(data.subarray(p.pieces[i + 2], p.pieces[i + 2]! + p.pieces[i + 1]!), p.pieces[i]! - p.from);
    io.write(room, p.from);
  }
}

/** Reads up to the end of the file, `size`. */
export function readSegments(io: Pick<RangeIo, 'read'>, s: Segments, size: number): Uint8Array {
  const cut = clip(s, size);
  const out = new Uint8Array(checkedLength(lengthOf(cut), FILE_BYTES));
  for (const p of portions(cut)) {
    if (p.pieces.length === 3) {
      io.read(out.subarray(p.pieces[2], p.pieces[2]! + p.pieces[1]!), p.from);
      continue;
    }
    const room = new Uint8Array(checkedLength(p.to - p.from, Math.max(PORTION, out.length)));
    io.read(room, p.from);
    for (let i = 0; i < p.pieces.length; i += 3)
      out.set(room.subarray(p.pieces[i]! - p.from, p.pieces[i]! - p.from + p.pieces[i + 1]!), p.pieces[i + 2]);
  }
  return out;
}

/** The segments up to the first byte that lies at or behind `size`. */
export function clip(s: Segments, size: number): number[] {
  const out: number[] = [];
  for (let i = 0; i < s.length; i += SEGMENT_WORDS) {
    const [offset, bytes, count, stride] = [s[i]!, s[i + 1]!, s[i + 2]!, s[i + 3]!];
    if (bytes === 0 || count === 0) continue;
    if (offset + (count - 1) * stride + bytes <= size) {
      out.push(offset, bytes, count, stride);
      continue;
    }
    const whole =
      stride === 0
        ? offset + bytes <= size
          ? count
          : 0
        : Math.min(count, Math.max(0, Math.floor((size - bytes - offset) / stride) + 1));
    if (whole > 0) out.push(offset, bytes, whole, stride);
    const rest = Math.min(bytes, size - (offset + whole * stride));
    if (whole < count && rest > 0) out.push(offset + whole * stride, rest, 1, 0);
    break;
  }
  return out;
}

/** What one READ or WRITE may name. */
export function oneAccess(s: Segments): boolean {
  const length = lengthOf(s);
  return (
    Number.isSafeInteger(length) && Number.isSafeInteger(endOf(s)) && length <= FILE_BYTES && piecesOf(s) <= FILE_PIECES
  );
}
