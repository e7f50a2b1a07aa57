/** One segment file of a stream: its name, and what is known of it. */
import { randomBytes } from 'node:crypto';
import { MayflyError } from '@mayfly/wire';
import type { Lsn } from '../ports/index.ts';
import type { PooledFile } from './file-pool.ts';

export interface Segment {
  readonly base: Lsn;
  readonly salt: number;
  readonly file: PooledFile;
  /** Bytes on disk. */
  size: number;
  /** Records, or -1 when the segment has not been scanned in this process. */
  count: number;
  /** Offset of each record; the first `count` entries are valid. Undefined until scanned. */
  offsets: Uint32Array | undefined;
  sealed: boolean;
}

/** The salt stands in the name, so that a damaged head does not make the records behind it unreadable. */
export const segmentName = (base: Lsn, salt: number): string =>
  `${base.toString(16).padStart(14, '0')}-${salt.toString(16).padStart(8, '0')}.seg`;

export function parseSegmentName(name: string): { base: Lsn; salt: number } | undefined {
  const m = /^([0-9a-f]{14})-([0-9a-f]{8})\.seg$/.exec(name);
  return m ? { base: Number.parseInt(m[1]!, 16), salt: Number.parseInt(m[2]!, 16) } : undefined;
}

export const drawSalt = (): number => randomBytes(4).readUInt32LE();

export { storageError } from '../storage-error.ts';

export const damaged = (stream: string, what: string): MayflyError =>
  new MayflyError(
    'DAMAGED_LOG',
    `stream ${stream}: ${what}; these bytes had been synced, so this is damage of the disk or of the file, ` +
      'and not a crash',
  );
