/**
 * How an operation travels (modes RMA and RMA_ANSWER): `tag` says what it is, `word` is the byte offset in the target's
 * window (of a dynamic window the address), the body is data with, where needed, a head. The common operation, a put or
 * an accumulate on contiguous memory, has no head: its data goes from where it lies, and into the window, without a
 * copy in between.
 *
 * Heads: 'short' (u32 reply, u32 bytes) of operations that want an answer; 'described' (tag bit) with the target's
 * layout.
 */
import { BUILTIN_OPS, type BuiltinOp } from '../ops.ts';
import type { Layout } from '../layout.ts';

export const Act = {
  PUT: 0,
  GET: 1,
  ACCUMULATE: 2,
  GET_ACCUMULATE: 3,
  COMPARE_AND_SWAP: 4,
  FLUSH: 5,
  UNLOCK: 6,
  COMPLETE: 7,
} as const;
/** Which kind of epoch of the origin an operation belongs to. */
export const Under = { FENCE: 0, START: 1, LOCK: 2 } as const;

/** Fence epochs are told apart by their numbers modulo this; an origin is at most a few ahead of a target. */
export const FENCES = 1 << 12;

// Bits of the tag: act 0–3, epoch kind 4–5, lock 6–7, described 8, operation 9–12, element type 13–18, fence 19–30.
const DESCRIBED = 1 << 8;

export const actOf = (tag: number): number => tag & 15;
export const underOf = (tag: number): number => (tag >> 4) & 3;
export const lockOf = (tag: number): number => (tag >> 6) & 3;
export const isDescribed = (tag: number): boolean => (tag & DESCRIBED) !== 0;
export const opOf = (tag: number): BuiltinOp => BUILTIN_OPS[(tag >> 9) & 15] ?? 'MPI_NO_OP';
export const elementOf = (tag: number): number => (tag >> 13) & 63;
export const fenceOf = (tag: number): number => (tag >> 19) & (FENCES - 1);

export const epochBits = (under: number, lock: number, fence: number): number =>
  (under << 4) | (lock << 6) | ((fence & (FENCES - 1)) << 19);
export const combineBits = (op: BuiltinOp, element: number): number => (BUILTIN_OPS.indexOf(op) << 9) | (element << 13);

export const SHORT_HEAD = 8;
const FIXED = 6;

export const describedHead = (l: Layout): number => 8 * (FIXED + l.segments.length);

/** A body with a head and room for data; `data` is a view of that room. */
export function described(
  reply: number,
  layout: Layout,
  count: number,
  bytes: number,
): { body: Uint8Array; data: Uint8Array } {
  const head = describedHead(layout);
  const body = new Uint8Array(head + bytes);
  const numbers = new Float64Array(body.buffer, 0, head / 8);
  numbers.set([reply, count, layout.size, layout.lb, layout.extent, layout.segments.length]);
  numbers.set(layout.segments, FIXED);
  return { body, data: body.subarray(head) };
}

export function short(reply: number, wanted: number, bytes: number): { body: Uint8Array; data: Uint8Array } {
  const body = new Uint8Array(SHORT_HEAD + bytes);
  const view = new DataView(body.buffer);
  view.setUint32(0, reply, true);
  view.setUint32(4, wanted, true);
  return { body, data: body.subarray(SHORT_HEAD) };
}

export function readShort(body: Uint8Array): { reply: number; wanted: number; data: Uint8Array } {
  if (body.length < SHORT_HEAD) return { reply: 0, wanted: 0, data: body };
  const view = new DataView(body.buffer, body.byteOffset, SHORT_HEAD);
  return { reply: view.getUint32(0, true), wanted: view.getUint32(4, true), data: body.subarray(SHORT_HEAD) };
}

export function readDescribed(body: Uint8Array): { reply: number; layout: Layout; count: number; data: Uint8Array } {
  const segments = new DataView(body.buffer, body.byteOffset, 8 * FIXED).getFloat64(8 * (FIXED - 1), true);
  const head = 8 * (FIXED + segments);
  const numbers = new Float64Array(body.slice(0, head).buffer);
  const [reply, count, size, lb, extent] = numbers as unknown as [number, number, number, number, number];
  return {
    reply,
    layout: { size, lb, extent, segments: Array.from(numbers.subarray(FIXED)) },
    count,
    data: body.subarray(head),
  };
}
