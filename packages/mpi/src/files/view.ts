/**
 * Views (MPI 4.1 §14.3): "tiling" a file with a filetype from a displacement on. A view is a stream of bytes; position
 * p of it is etype p. Here streams of bytes become segments of the file, and the other way round.
 */
import { LayoutBuilder, type Layout } from '../layout.ts';
import type { FileRecord } from './state.ts';

type View = Pick<FileRecord, 'disp' | 'etype' | 'filetype'>;

/** The blocks of a layout in the order of the stream: [offset, bytes]. */
function* blocksOf(l: Layout): Generator<[number, number]> {
  const s = l.segments;
  for (let k = 0; k < s.length; k += 4) for (let i = 0; i < s[k + 2]!; i++) yield [s[k]! + i * s[k + 3]!, s[k + 1]!];
}

/** Segments (offset, bytes, count, stride) of bytes [from, from + bytes) of the stream. */
export function segmentsOf(view: View, from: number, bytes: number): number[] {
  const l = view.filetype.layout;
  if (bytes <= 0 || l.size === 0) return [];
  const out = new LayoutBuilder();
  let tile = Math.floor(from / l.size);
  let skip = from - tile * l.size;
  let left = bytes;
  const partial = (): void => {
    const base = view.disp + tile * l.extent;
    for (const [offset, n] of blocksOf(l)) {
      if (skip >= n) {
        skip -= n;
        continue;
      }
      const part = Math.min(n - skip, left);
      out.block(base + offset + skip, part);
      left -= part;
      skip = 0;
      if (left === 0) return;
    }
    tile++;
  };
  if (skip > 0 || left < l.size) partial();
  const whole = Math.floor(left / l.size);
  if (whole > 0) {
    out.repeat(l, view.disp + tile * l.extent, whole, l.extent);
    tile += whole;
    left -= whole * l.size;
  }
  skip = 0;
  if (left > 0) partial();
  return forward(out.segments);
}

/** Tiles may lie into each other: joined blocks that run backwards are listed one by one. */
function forward(s: readonly number[]): number[] {
  const out: number[] = [];
  for (let k = 0; k < s.length; k += 4)
    if (s[k + 3]! >= 0) out.push(s[k]!, s[k + 1]!, s[k + 2]!, s[k + 3]!);
    else for (let i = 0; i < s[k + 2]!; i++) out.push(s[k]! + i * s[k + 3]!, s[k + 1]!, 1, 0);
  return out;
}

/** [MPI_File_get_byte_offset] Where byte `at` of the stream lies in the file. */
export function byteOffset(view: View, at: number): number {
  const s = segmentsOf(view, at, 1);
  return s.length > 0 ? s[0]! : view.disp;
}

/** Bytes of the stream that lie before `size` in the file. */
export function streamBytes(view: View, size: number): number {
  const l = view.filetype.layout;
  const length = size - view.disp;
  if (length <= 0 || l.size === 0) return 0;
  if (l.extent <= 0) return 0;
  // The first tile that can have bytes at or behind the end: those before it lie whole below.
  let reach = 0;
  for (const [offset, n] of blocksOf(l)) reach = Math.max(reach, offset + n);
  let tile = Math.max(0, Math.floor((length - reach) / l.extent) + 1);
  let bytes = tile * l.size;
  for (; tile * l.extent < length; tile++)
    for (const [offset, n] of blocksOf(l)) bytes += Math.min(n, Math.max(0, length - tile * l.extent - offset));
  return bytes;
}
