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
const text = new TextEncoder();
/** Where a block is put together. What is handed out is a copy: engines make short ones without a buffer, quickly. */
let room = new Uint8Array(4096);
let view = new DataView(room.buffer);
const read = new TextDecoder('utf-8', { fatal: true });

export class MalformedDeterminants extends Error {
  override readonly name = 'MalformedDeterminants';
}

export function encodeDeterminants(block: DeterminantBlock): Uint8Array {
  let length = BLOCK_HEAD_BYTES;
  const strings: (Uint8Array | undefined)[] = [];
  for (const e of block.entries) {
    const s = e.type === 'value' ? text.encode(e.value) : undefined;
    strings.push(s);
    length += s ? 3 + s.length : e.type === 'local' ? 17 : e.type === 'clock' && e.count !== undefined ? 13 : 9;
  }
  const padded = (length + 7) & ~7;
  if (padded > room.length) {
    room = new Uint8Array(2 * padded);
    view = new DataView(room.buffer);
  }
  const [out, v] = [room, view];
  setU53(v, 0, block.first);
  setU53(v, 8, block.consumed);
  v.setUint32(16, block.openPolls, true);
  v.setUint32(20, block.entries.length, true);
  let o = BLOCK_HEAD_BYTES;
  block.entries.forEach((e, i) => {
    v.setUint8(o, e.type === 'clock' && e.count !== undefined ? TYPE.clocks : TYPE[e.type]);
    if (e.type === 'polls') {
      v.setUint32(o + 1, e.vain, true);
      v.setUint32(o + 5, e.consumed, true);
      o += 9;
    } else if (e.type === 'clock') {
      v.setFloat64(o + 1, e.ms, true);
      if (e.count !== undefined) v.setUint32(o + 9, e.count, true);
      o += e.count === undefined ? 9 : 13;
    } else if (e.type === 'local') {
      v.setUint32(o + 1, e.src, true);
      v.setUint32(o + 5, e.count, true);
      setU53(v, o + 9, e.after);
      o += 17;
    } else {
      const s = strings[i]!;
      v.setUint16(o + 1, s.length, true);
      out.set(s, o + 3);
      o += 3 + s.length;
    }
  });
  out.fill(0, o, padded);
  return out.slice(0, padded);
}

/** @throws MalformedDeterminants */
export function decodeDeterminants(bytes: Uint8Array): DeterminantBlock {
  if (bytes.length === 0) return { first: 0, consumed: 0, openPolls: 0, entries: [] };
  if (bytes.length < BLOCK_HEAD_BYTES) throw new MalformedDeterminants('shorter than its head');
  const v = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const first = getU53(v, 0);
  const consumed = getU53(v, 8);
  const openPolls = v.getUint32(16, true);
  const count = v.getUint32(20, true);
  if (count > bytes.length) throw new MalformedDeterminants('count exceeds the block');
  const entries: Determinant[] = [];
  let o = BLOCK_HEAD_BYTES;
  try {
    for (let i = 0; i < count; i++) {
      const type = v.getUint8(o);
      if (type === TYPE.polls) {
        entries.push({ type: 'polls', vain: v.getUint32(o + 1, true), consumed: v.getUint32(o + 5, true) });
        o += 9;
      } else if (type === TYPE.clock) {
        entries.push({ type: 'clock', ms: v.getFloat64(o + 1, true) });
        o += 9;
      } else if (type === TYPE.clocks) {
        const clocks = v.getUint32(o + 9, true);
        if (clocks === 0) throw new MalformedDeterminants('no reading of the clock');
        entries.push({ type: 'clock', ms: v.getFloat64(o + 1, true), count: clocks });
        o += 13;
      } else if (type === TYPE.local) {
        const messages = v.getUint32(o + 5, true);
        if (messages === 0) throw new MalformedDeterminants('no message of a teammate');
        entries.push({
          type: 'local',
          src: v.getUint32(o + 1, true) as TaskId,
          count: messages,
          after: getU53(v, o + 9),
        });
        o += 17;
      } else if (type === TYPE.value) {
        const n = v.getUint16(o + 1, true);
        if (o + 3 + n > bytes.length) throw new MalformedDeterminants('string runs over the end');
        entries.push({ type: 'value', value: read.decode(bytes.subarray(o + 3, o + 3 + n)) });
        o += 3 + n;
      } else throw new MalformedDeterminants(`unknown type ${type}`);
    }
  } catch (e) {
    if (e instanceof MalformedDeterminants) throw e;
    throw new MalformedDeterminants('entry runs over the end');
  }
  return { first, consumed, openPolls, entries };
}
