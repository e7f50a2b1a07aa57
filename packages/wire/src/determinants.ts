/**
 * Determinants: the logged outcomes of a task's non-deterministic events, numbered per task from 0.
 *
 * Block (little endian, padded to 8): u64 first | u64 consumed | u32 openPolls | u32 count | entries.
 * Entry: u8 type, then POLLS: u32 vain, u32 consumed — CLOCK: f64 milliseconds — VALUE: u16 length, UTF-8 — CLOCKS: f64
 * milliseconds, u32 count: so many readings in a row that gave the same (a program that spins on the clock would fill
 * the log otherwise) — LOCAL: u32 src, u32 count, u64 after. `first` is the number of the first entry; `openPolls`
 * counts the vain polls since the last entry of the block; `consumed` is the number of arrivals that the task had
 * consumed. The head alone is the *evidence*: what a message depends on. It stays with the message in the log and at
 * the receiver, so that a loss beyond `behind` is noticed.
 */
import type { TaskId } from './ids.ts';
import { getU53, setU53 } from './u53.ts';
export type Determinant =
  /** `vain` polls that consumed nothing, then (when `consumed` > 0) one that consumed that many arrivals. */
  | { readonly type: 'polls'; readonly vain: number; readonly consumed: number }
  /** A reading of the job's clock, in milliseconds since the epoch. */
  | {
      readonly type: 'clock';
      readonly ms: number;
      /** Readings in a row with this value; absent: one. */ readonly count?: number;
    }
  /** A value that depends on the place (processor name, engine). */
  | { readonly type: 'value'; readonly value: string }
  /** `count` messages of teammate `src` in a row, consumed after `after` arrivals. */
  | LocalDeterminant;

export interface LocalDeterminant {
  readonly type: 'local';
  readonly src: TaskId;
  readonly count: number;
  readonly after: number;
}

export interface DeterminantBlock {
  first: number;
  consumed: number;
  openPolls: number;
  entries: readonly Determinant[];
}

const TYPE = { polls: 1, clock: 2, value: 3, clocks: 4, local: 5 } as const;
/** Length of a block without entries. */
export const BLOCK_HEAD_BYTES = 24;
const POLLS_BYTES = 9;
const CLOCK_BYTES = 9;
const CLOCKS_BYTES = 13;
const VALUE_HEAD_BYTES = 3;
const LOCAL_BYTES = 17;
const text = new TextEncoder();
/** Where a block is put together. What is handed out is a copy: engines make short ones without a buffer, quickly. */
let room = new Uint8Array(4096);
let view = new DataView(room.buffer);
const read = new TextDecoder('utf-8', { fatal: true });

export class MalformedDeterminants extends Error {
  override readonly name = 'MalformedDeterminants';
}

/** Length of a block with these entries. */
export function blockBytes(entries: readonly Determinant[]): number {
  let length = BLOCK_HEAD_BYTES;
  for (const e of entries) length += entryBytes(e);
  return (length + 7) & ~7;
}

function entryBytes(e: Determinant): number {
  switch (e.type) {
    case 'local':
      return LOCAL_BYTES;
    case 'polls':
      return POLLS_BYTES;
    case 'clock':
      return e.count === undefined ? CLOCK_BYTES : CLOCKS_BYTES;
    case 'value':
      return VALUE_HEAD_BYTES + text.encode(e.value).length;
  }
}

export function encodeDeterminants(block: DeterminantBlock): Uint8Array {
  const length = blockBytes(block.entries);
  if (length > room.length) {
    room = new Uint8Array(2 * length);
    view = new DataView(room.buffer);
  }
  writeDeterminants(view, 0, block);
  return room.slice(0, length);
}

/** Writes a block at `at`; there are {@link blockBytes} of room. */
export function writeDeterminants(
  v: DataView,
  at: number,
  { first, consumed, openPolls, entries }: DeterminantBlock,
): void {
  setU53(v, at, first);
  setU53(v, at + 8, consumed);
  v.setUint32(at + 16, openPolls, true);
  v.setUint32(at + 20, entries.length, true);
  let o = at + BLOCK_HEAD_BYTES;
  for (const e of entries) o = writeEntry(v, o, e);
  for (; ((o - at) & 7) !== 0; o++) v.setUint8(o, 0);
}

/** @returns the end of the entry */
function writeEntry(v: DataView, o: number, e: Determinant): number {
  if (e.type === 'local') {
    v.setUint8(o, TYPE.local);
    v.setUint32(o + 1, e.src, true);
    v.setUint32(o + 5, e.count, true);
    setU53(v, o + 9, e.after);
    return o + LOCAL_BYTES;
  }
  if (e.type === 'polls') {
    v.setUint8(o, TYPE.polls);
    v.setUint32(o + 1, e.vain, true);
    v.setUint32(o + 5, e.consumed, true);
    return o + POLLS_BYTES;
  }
  if (e.type === 'clock') {
    v.setUint8(o, e.count === undefined ? TYPE.clock : TYPE.clocks);
    v.setFloat64(o + 1, e.ms, true);
    if (e.count === undefined) return o + CLOCK_BYTES;
    v.setUint32(o + 9, e.count, true);
    return o + CLOCKS_BYTES;
  }
  const s = text.encode(e.value);
  v.setUint8(o, TYPE.value);
  v.setUint16(o + 1, s.length, true);
  new Uint8Array(v.buffer, v.byteOffset + o + VALUE_HEAD_BYTES, s.length).set(s);
  return o + VALUE_HEAD_BYTES + s.length;
}

/** @throws MalformedDeterminants */
export function decodeDeterminants(bytes: Uint8Array): DeterminantBlock {
  if (bytes.length === 0) return { first: 0, consumed: 0, openPolls: 0, entries: [] };
  return readDeterminants(new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength), 0, bytes.length);
}

/** The block of `length` bytes at `at`, which another thread may be changing. @throws MalformedDeterminants */
export function readDeterminants(v: DataView, at: number, length: number): DeterminantBlock {
  if (length < BLOCK_HEAD_BYTES) throw new MalformedDeterminants('shorter than its head');
  const first = getU53(v, at);
  const consumed = getU53(v, at + 8);
  const openPolls = v.getUint32(at + 16, true);
  const count = v.getUint32(at + 20, true);
  if (count > length) throw new MalformedDeterminants('count exceeds the block');
  const entries: Determinant[] = [];
  const end = at + length;
  let o = at + BLOCK_HEAD_BYTES;
  const next = (bytes: number): number => {
    const from = o;
    o += bytes;
    if (o > end) throw new MalformedDeterminants('entry runs over the end');
    return from;
  };
  for (let i = 0; i < count; i++) {
    const type = o < end ? v.getUint8(o) : 0;
    if (type === TYPE.local) {
      const e = next(LOCAL_BYTES);
      const messages = v.getUint32(e + 5, true);
      if (messages === 0) throw new MalformedDeterminants('no message of a teammate');
      const src = v.getUint32(e + 1, true) as TaskId;
      entries.push({ type: 'local', src, count: messages, after: getU53(v, e + 9) });
    } else if (type === TYPE.polls) {
      const e = next(POLLS_BYTES);
      entries.push({ type: 'polls', vain: v.getUint32(e + 1, true), consumed: v.getUint32(e + 5, true) });
    } else if (type === TYPE.clock) entries.push({ type: 'clock', ms: v.getFloat64(next(CLOCK_BYTES) + 1, true) });
    else if (type === TYPE.clocks) {
      const e = next(CLOCKS_BYTES);
      const clocks = v.getUint32(e + 9, true);
      if (clocks === 0) throw new MalformedDeterminants('no reading of the clock');
      entries.push({ type: 'clock', ms: v.getFloat64(e + 1, true), count: clocks });
    } else if (type === TYPE.value) {
      const n = v.getUint16(next(VALUE_HEAD_BYTES) + 1, true);
      entries.push({ type: 'value', value: textAt(v, next(n), n) });
    } else if (o >= end) throw new MalformedDeterminants('entry runs over the end');
    else throw new MalformedDeterminants(`unknown type ${type}`);
  }
  return { first, consumed, openPolls, entries };
}

/** A copy is decoded: engines decode no shared memory. @throws MalformedDeterminants */
function textAt(v: DataView, at: number, length: number): string {
  try {
    return read.decode(new Uint8Array(v.buffer, v.byteOffset + at, length).slice());
  } catch {
    throw new MalformedDeterminants('entry runs over the end');
  }
}
