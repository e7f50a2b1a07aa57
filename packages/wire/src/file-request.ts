/**
 * Bodies of messages between a task and the file service (WorldMode REQUEST, and ANSWER back from {@link FILES}). No
 * logic.
 *
 *   request: u8 operation | u8 flags | u16 name bytes | u32 segments | u64 session | u64 value | name, padded to 8 |
 *            segments × (u64 offset, u64 bytes, u64 count, u64 stride) | data, to the end
 * READ, SIZE, MKDIR and RMDIR with session 0 are about the file or directory of that name.
 *
 *   answer:  the frame's `context` is the error class of MPI (0: none); body: READ the bytes, OPEN (u64 session, u64
 *   size), else u64 value
 *
 * A segment is `count` pieces of `bytes` bytes, `stride` apart, the first at `offset`; data lies piece after piece.
 */
import { checkedLength } from './checked-length.ts';
import { pad8 } from './frame.ts';
import { getU53, setU53 } from './u53.ts';

export const FileOp = {
  /** name, value: amode. Answer: session, size. */
  OPEN: 1,
  CLOSE: 2,
  /** name */
  DELETE: 3,
  /** segments. Answer: the bytes, up to the end of the file. */
  READ: 4,
  /** segments, data. Answer: bytes written. */
  WRITE: 5,
  /** value: to be added to the shared pointer. Answer: what it was. */
  ADVANCE: 6,
  /** value: the new shared pointer. */
  SEEK: 7,
  /** Answer: the length of the file. */
  SIZE: 8,
  /** value: the new length. */
  RESIZE: 9,
  /** value: the least length. */
  PREALLOCATE: 10,
  /**
   * Not of files: start more tasks; data: {@link SpawnRequest} as JSON. Answer: the first new task; with an error, why
   * ({@link SpawnRefusal}).
   */
  SPAWN: 11,
  /** name. A directory is made: error FILE_EXISTS, NO_SUCH_FILE (its parent), BAD_FILE (a part is a file). */
  MKDIR: 12,
  /** name. An empty directory is removed: error FILE_IN_USE where it is not empty. */
  RMDIR: 13,
} as const;
export type FileOp = (typeof FileOp)[keyof typeof FileOp];

/** offset, bytes, count, stride of each segment, one behind the other. */
export type Segments = readonly number[];
export const SEGMENT_WORDS = 4;
const SEGMENT_BYTES = 32;
/** The head of a request: before its name. */
export const FILE_HEAD_BYTES = 24;

/** An offset of FILE: where the file ends when the service takes the message (O_APPEND). */
export const AT_END = Number.MAX_SAFE_INTEGER - 1;

/** Of one READ or WRITE: bytes, which the server holds in memory, and pieces, which cost its time. */
export const FILE_BYTES = 16 << 20;
export const FILE_PIECES = 1 << 17;

export interface FileRequest {
  op: number;
  name: string;
  session: number;
  value: number;
  segments: Segments;
  data: Uint8Array;
}

const text = new TextEncoder();
const utf8 = new TextDecoder();
const EMPTY = new Uint8Array(0);

export function encodeFileRequest(
  op: FileOp,
  r: { name?: string; session?: number; value?: number; segments?: Segments; bytes?: number },
): { body: Uint8Array; data: Uint8Array } {
  const name = r.name === undefined ? EMPTY : text.encode(r.name);
  const segments = r.segments ?? [];
  const at = FILE_HEAD_BYTES + pad8(name.length);
  const head = at + segments.length * 8;
  const body = new Uint8Array(head + checkedLength(r.bytes ?? 0, FILE_BYTES));
  const v = new DataView(body.buffer);
  v.setUint8(0, op);
  v.setUint16(2, name.length, true);
  v.setUint32(4, segments.length / SEGMENT_WORDS, true);
  setU53(v, 8, r.session ?? 0);
  setU53(v, 16, r.value ?? 0);
  body.set(name, FILE_HEAD_BYTES);
  for (let i = 0; i < segments.length; i++) setU53(v, at + i * 8, segments[i]!);
  return { body, data: body.subarray(head) };
}

/** Where the segments of a request begin, and its data. */
function placesOf(head: Uint8Array): { segments: number; data: number } {
  const v = new DataView(head.buffer, head.byteOffset, head.byteLength);
  const segments = FILE_HEAD_BYTES + pad8(v.getUint16(2, true));
  return { segments, data: segments + v.getUint32(4, true) * SEGMENT_BYTES };
}

/** Is this the beginning of a request of so many bytes? {@link FILE_HEAD_BYTES} of it suffice. */
export const fitsFileRequest = (head: Uint8Array, size: number): boolean =>
  head.length >= FILE_HEAD_BYTES && placesOf(head).data <= size;

/**
 * Undefined: not a request ({@link fitsFileRequest}). Numbers above 2⁵³ − 1
 * are NaN, and bytes of a name that are no text are U+FFFD: the file service refuses both.
 */
export function decodeFileRequest(body: Uint8Array): FileRequest | undefined {
  if (!fitsFileRequest(body, body.length)) return undefined;
  const v = new DataView(body.buffer, body.byteOffset, body.byteLength);
  const { segments: at, data } = placesOf(body);
  const segments: number[] = [];
  for (let i = at; i < data; i += 8) segments.push(safe(getU53(v, i)));
  return {
    op: v.getUint8(0),
    name: utf8.decode(body.subarray(FILE_HEAD_BYTES, FILE_HEAD_BYTES + v.getUint16(2, true))),
    session: safe(getU53(v, 8)),
    value: safe(getU53(v, 16)),
    segments,
    data: body.subarray(data),
  };
}

const safe = (n: number): number => (Number.isSafeInteger(n) ? n : NaN);

/** Values of an answer's body. */
export function encodeFileValues(...values: number[]): Uint8Array {
  const body = new Uint8Array(values.length * 8);
  const v = new DataView(body.buffer);
  values.forEach((x, i) => setU53(v, i * 8, x));
  return body;
}
export const fileValue = (body: Uint8Array, i: number): number =>
  getU53(new DataView(body.buffer, body.byteOffset, body.byteLength), i * 8);
