/**
 * Records of the Channel Memory's streams. A record is a whole frame, so that it is forwarded, replayed and resupplied
 * as it is.
 */
import {
  checkedLength,
  BLOCK_HEAD_BYTES,
  EMPTY,
  Flag,
  HEADER_BYTES,
  Kind,
  MESSAGE_JSON,
  decodeTeamBlock,
  emptyHeader,
  encodeFrame,
  getU53,
  parseJson,
  patchArrival,
  readFrame,
  setU53,
  teamHeads,
  type Frame,
  type Header,
  type Incarnation,
  type TaskId,
} from '@mayfly/wire';
import type { SendRecord } from './events.ts';

/** Kind of the record that stands for everything trimmed before it. Never on the wire. */
export const BASE_KIND = 64;
/** Kind of the record, in a stream of determinants, that names the session of an incarnation. Never on the wire. */
export const SESSION_KIND = 65;
/** Kind of the record, among messages to the world, that takes back those behind its count. Never on the wire. */
export const BACK_KIND = 66;
/** Kind of the record with which a wave (`word`) of an epoch begins in a wave stream. Never on the wire. */
export const WAVE_KIND = 67;
/**
 * `mode` of one whose body is JSON: the incarnation began before some receivers had reported (F4). Else the body is the
 * nonce.
 */
const SESSION_UNHEARD = 1;
const text = new TextEncoder();
const read = new TextDecoder();

/** What a message depends on: its sender's position when it was sent. Ordered by determinants, then openPolls. */
export interface Evidence {
  determinants: number;
  openPolls: number;
  consumed: number;
}

/**
 * Receivers that had not reported when an incarnation of a sender began, and the evidence that the incarnation got then
 * (F4 in pessimistic/unheard.ts).
 */
export interface Unheard {
  told: Evidence;
  readonly receivers: Set<TaskId>;
}

/** State that trimmed records had established (invariant C7). */
export interface Base {
  /** Arrivals of the task (t) or messages to WORLD (w). */
  readonly count: number;
  /** Highest arrival that may be missing from the log. */
  readonly trimmed: number;
  readonly channels: readonly (readonly [src: number, count: number])[];
  readonly evidence: readonly (readonly [src: number, determinants: number, openPolls: number, consumed: number])[];
}

export const encodeBase = (task: TaskId, base: Base): Uint8Array => {
  const h = emptyHeader(BASE_KIND);
  h.dst = task;
  return encodeFrame(h, text.encode(JSON.stringify(base)));
};
export const decodeBase = (body: Uint8Array): Base => JSON.parse(read.decode(body)) as Base;

/**
 * The first attachment of an incarnation: its nonce outlives the Channel Memory's process, else a clone could come
 * first after a restart.
 */
export const encodeSession = (task: TaskId, incarnation: Incarnation, nonce: string, unheard?: Unheard): Uint8Array => {
  const h = emptyHeader(SESSION_KIND);
  h.src = task;
  h.dst = task;
  h.incarnation = incarnation;
  if (unheard === undefined || unheard.receivers.size === 0) return encodeFrame(h, text.encode(nonce));
  h.mode = SESSION_UNHEARD;
  return encodeFrame(h, json({ nonce, told: unheard.told, receivers: [...unheard.receivers] }));
};
export function decodeSession(f: Frame): { nonce: string; unheard: Unheard | undefined } {
  if (f.header.mode !== SESSION_UNHEARD) return { nonce: read.decode(f.body), unheard: undefined };
  const { nonce, told, receivers } = parse(f.body) as { nonce: string; told: Evidence; receivers: TaskId[] };
  return { nonce, unheard: { told, receivers: new Set(receivers) } };
}

export const json = (value: unknown): Uint8Array => text.encode(JSON.stringify(value));
/** @throws SyntaxError */
export const parse = (body: Uint8Array): unknown => parseJson(read.decode(body), MESSAGE_JSON);

/**
 * The same bytes as a plain Uint8Array. Node's Buffers are subclasses whose `slice` is a view: what a core meant to
 * copy would be patched under it. Every border of the cores calls this.
 */
export const plain = (bytes: Uint8Array): Uint8Array =>
  bytes.constructor === Uint8Array ? bytes : new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength);

export const viewOf = (b: Uint8Array): DataView => new DataView(b.buffer, b.byteOffset, b.byteLength);

/**
 * Reads the head of the determinant block at `o` into `into`, its position moved behind its entries. Returns the number
 * of entries.
 */
export function readEvidence(v: DataView, o: number, into: Evidence): number {
  const count = v.getUint32(o + 20, true);
  into.determinants = getU53(v, o) + count;
  into.consumed = getU53(v, o + 8);
  into.openPolls = v.getUint32(o + 16, true);
  return count;
}

/** Merges what is known of a sender's position. */
export function learn(known: Evidence, e: Evidence): void {
  if (e.determinants > known.determinants) {
    known.determinants = e.determinants;
    known.openPolls = e.openPolls;
  } else if (e.determinants === known.determinants && e.openPolls > known.openPolls) known.openPolls = e.openPolls;
  if (e.consumed > known.consumed) known.consumed = e.consumed;
}

/**
 * Drops the entries of the determinant block of the frame at `o` and keeps its head, the evidence: header and head
 * slide towards the body, which stays where it is. Returns where the frame begins now.
 */
export function slideOverEntries(bytes: Uint8Array, v: DataView, o: number, h: Header): number {
  const shift = h.detBytes - BLOCK_HEAD_BYTES;
  if (shift <= 0) return o;
  closeBlock(v, o);
  h.detBytes = BLOCK_HEAD_BYTES;
  bytes.copyWithin(o + shift, o, o + HEADER_BYTES + BLOCK_HEAD_BYTES);
  return o + shift;
}

/** The frame that {@link SendRecord} asks for, made of a record, which stays as it is. One copy of what is sent. */
export function patchFromLog(
  record: Uint8Array,
  e: Pick<SendRecord, 'kind' | 'incarnation' | 'arrival' | 'envelope'>,
): Uint8Array {
  const r = viewOf(record);
  if (e.kind === Kind.DETERMINANTS && (r.getUint8(2) & Flag.TEAM) !== 0) return ownBlock(record, e.incarnation);
  const detBytes = r.getUint32(60, true);
  const block = HEADER_BYTES + detBytes;
  const team = r.getUint8(2) & Flag.TEAM;
  const heads =
    e.kind === Kind.DETERMINANTS
      ? undefined
      : team
        ? teamHeads(decodeTeamBlock(record.subarray(HEADER_BYTES, block)))
        : record.subarray(HEADER_BYTES, HEADER_BYTES + Math.min(detBytes, BLOCK_HEAD_BYTES));
  const entries = heads ? detBytes - heads.length : 0;
  const end = e.envelope ? block : record.length;
  const out = new Uint8Array(checkedLength(end - entries, record.length));
  out.set(record.subarray(0, block - entries));
  if (heads) out.set(heads, HEADER_BYTES);
  out.set(record.subarray(block, end), block - entries);
  const v = new DataView(out.buffer);
  v.setUint8(0, e.kind);
  v.setUint32(16, e.incarnation, true);
  if (entries > 0 && team) v.setUint32(60, detBytes - entries, true);
  else if (entries > 0) closeBlock(v, 0);
  if (e.kind !== Kind.DETERMINANTS) setU53(v, 32, e.arrival);
  if (e.envelope) {
    v.setUint8(2, team | Flag.LAST | Flag.NO_BODY);
    v.setUint32(4, 0, true);
    v.setUint32(40, 0, true);
  }
  return out;
}

/** A copy of a record as arrival `n` (0: a chunk that is not the last). */
export function asArrival(record: Uint8Array, n: number): Uint8Array {
  const out = new Uint8Array(record);
  patchArrival(viewOf(out), 0, n, 0 as Incarnation);
  return out;
}

/** Determinants of a member of a team, without the evidence of its teammates that stands beside them. */
function ownBlock(record: Uint8Array, incarnation: number): Uint8Array {
  const { header, determinants } = readFrame(record, viewOf(record), 0);
  return encodeFrame(
    { ...header, flags: 0, incarnation: incarnation as Incarnation },
    EMPTY,
    decodeTeamBlock(determinants)[0]!.block,
  );
}

/** The block of the frame at `o` loses its entries: its position moves behind them. */
function closeBlock(v: DataView, o: number): void {
  const block = o + HEADER_BYTES;
  setU53(v, block, getU53(v, block) + v.getUint32(block + 20, true));
  v.setUint32(block + 20, 0, true);
  v.setUint32(o + 60, BLOCK_HEAD_BYTES, true);
}
