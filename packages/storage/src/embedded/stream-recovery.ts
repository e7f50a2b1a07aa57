/**
 * What opening a stream finds on the disk, and how its tail is put in order.
 *
 * Segments are scanned from the last one backwards, until the watermark of the records seen shows that everything
 * before had been synced. The first tear in what was scanned is cut (with all that stands behind it) when nothing
 * behind it claims that it had been synced; otherwise it is damage, and an error. Segments before are checked when they
 * are read.
 *
 * What was read and is not known to be synced is written again, in place and with the very bytes that were checked.
 * After an fdatasync that failed, the kernel may call the pages clean that it could not write: a later fdatasync then
 * succeeds without writing them, and only bytes that are written again reach the disk.
 */
import { open, readdir, readFile, stat, truncate, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { MayflyError } from '@mayfly/wire';
import type { Lsn } from '../ports/index.ts';
import type { FilePool } from './file-pool.ts';
import { decodeHead, HEAD_BYTES, judgeTear, scanSegment, type SegmentScan } from './segment-format.ts';
import { syncDirectory } from './durable-file.ts';
import { damaged, parseSegmentName, type Segment } from './segment.ts';

export interface Recovered {
  /** In order of their bases. May be empty. */
  segments: Segment[];
  next: Lsn;
  /** Everything below was known to be synced. */
  synced: Lsn;
  /** Bytes that were cut from the tail. */
  cut: number;
}

interface Found {
  segment: Segment;
  scan: SegmentScan | undefined;
  /** What was scanned. */
  bytes?: Uint8Array;
}

export async function recoverStream(
  directory: string,
  stream: string,
  pool: FilePool,
  failed: (error: Error) => void,
): Promise<Recovered> {
  const found: Found[] = [];
  for (const name of await readdir(directory)) {
    const parsed = parseSegmentName(name);
    if (!parsed) continue;
    const file = pool.file(join(directory, name), failed);
    found.push({
      segment: { ...parsed, file, size: 0, count: -1, offsets: undefined, sealed: false },
      scan: undefined,
    });
  }
  found.sort((a, b) => a.segment.base - b.segment.base);

  let watermark = 0;
  let first = found.length;
  while (first > 0) {
    first--;
    const f = found[first]!;
    Object.assign(f, await scanFile(f.segment, stream));
    const scan = f.scan!;
    watermark = Math.max(watermark, scan.watermark, scan.beyond);
    // At its very base the records before it were synced, but perhaps not the seal behind them.
    if (watermark > f.segment.base && scan.next > f.segment.base) break;
  }
  for (const f of found.slice(0, first)) f.segment.size = (await stat(f.segment.file.path)).size;
  await dropEmptyTwins(found, first);

  let cut = 0;
  const kept: Segment[] = found.slice(0, first).map((f) => f.segment);
  let next = 0;
  let tear: Lsn | undefined;
  for (let i = first; i < found.length; i++) {
    const { segment, scan, bytes } = found[i]!;
    if (!scan || !bytes) continue;
    if (tear !== undefined) {
      cut += segment.size;
      pool.forget(segment.file);
      await unlink(segment.file.path);
      continue;
    }
    const last = i === found.length - 1;
    next = scan.next;
    if (scan.torn || (!last && !scan.sealed)) {
      tear = scan.next;
      if (judgeTear(tear, watermark) === 'damaged')
        throw damaged(stream, `record ${tear} in ${segment.file.path} is damaged`);
      cut += segment.size - scan.end;
      if (scan.end <= HEAD_BYTES) {
        // Nothing whole in it, perhaps not even the head: an empty successor is made by the next append.
        await unlink(segment.file.path);
        continue;
      }
      await truncateDurably(segment.file.path, scan.end);
      segment.size = scan.end;
    }
    segment.count = scan.offsets.length;
    segment.offsets = scan.offsets;
    segment.sealed = scan.sealed;
    if (scan.next >= watermark) await writeAgain(segment.file.path, bytes, scan, watermark - segment.base);
    // Perhaps only in the kernel's cache until now: the first sync makes it durable.
    segment.file.dirty = true;
    kept.push(segment);
  }
  if (tear !== undefined) await syncDirectory(directory);
  return { segments: kept, next, synced: Math.min(watermark, next), cut };
}

async function scanFile(segment: Segment, stream: string): Promise<{ scan: SegmentScan; bytes: Uint8Array }> {
  const bytes = await readFile(segment.file.path);
  segment.size = bytes.length;
  const head = decodeHead(bytes);
  if (head === 'version')
    throw new MayflyError(
      'VERSION_MISMATCH',
      `stream ${stream}: ${segment.file.path} was written by another version of Mayfly; open the data ` +
        'directory with that version',
    );
  return {
    scan: scanSegment(bytes, segment, head !== undefined && head.base === segment.base && head.salt === segment.salt),
    bytes,
  };
}

/** The bytes of a segment from its record number `from` on, once more; all of them when that is not in it. */
async function writeAgain(path: string, bytes: Uint8Array, scan: SegmentScan, from: number): Promise<void> {
  let at = from <= 0 ? 0 : (scan.offsets[from] ?? scan.end);
  const handle = await open(path, 'r+');
  try {
    while (at < scan.end) at += (await handle.write(bytes, at, scan.end - at, at)).bytesWritten;
  } finally {
    await handle.close();
  }
}

/** A creation that failed half-way may have left an empty file with the same base as the one that was made after it. */
async function dropEmptyTwins(found: Found[], first: number): Promise<void> {
  for (let i = found.length - 1; i > first; i--) {
    const a = found[i - 1]!;
    const b = found[i]!;
    if (a.segment.base !== b.segment.base) continue;
    const empty = a.scan && a.scan.next === a.segment.base ? i - 1 : i;
    const [gone] = found.splice(empty, 1);
    await unlink(gone!.segment.file.path);
  }
}

async function truncateDurably(path: string, size: number): Promise<void> {
  await truncate(path, size);
  const handle = await open(path, 'r+');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
