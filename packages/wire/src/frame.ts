/**
 * Frames of the data plane: a fixed binary header, a block of determinants, a raw body.
 *
 *   offset size field
 *        0   u8 kind          {@link Kind}
 *        1   u8 version       {@link FRAME_VERSION}
 *        2   u8 flags         {@link Flag}
 *        3   u8 mode          opaque to the Channel Memory: what the MPI layer (or the world) makes of the body
 *        4  u32 bytes         length of the body part in this frame
 *        8  u32 src           task
 *       12  u32 dst           task (WORLD = 0xffffffff)
 *       16  u32 incarnation   of the task that speaks (src on the way up, dst on the way down)
 *       20  u32 epoch         rollback epoch (0 for `pessimistic`)
 *       24  u64 channel       number of the message on its channel (src, dst), from 1
 *       32  u64 arrival       number of the message in dst's arrival order, from 1; 0 before it is given
 *       40  u32 offset        of this part in the whole body
 *       44  u32 size          of the whole body
 *       48  u32 context       MPI context id
 *       52  i32 tag           MPI tag
 *       56  u32 word          MPI layer's own (request to answer, …)
 *       60  u32 detBytes      length of the determinant block between header and body, multiple of 8
 *
 * Little endian. The same 64 bytes stand in the SharedArrayBuffer rings, on the sockets and in the logs, so a frame is
 * copied but never re-encoded. One socket message carries one or more whole frames, each padded to 8 bytes.
 */
import type { Incarnation, TaskId } from './ids.ts';
import { getU53, setU53 } from './u53.ts';

export const FRAME_VERSION = 1;
export const HEADER_BYTES = 64;
/** Bodies above this are cut into chunks of this size (the last may be shorter). */
export const CHUNK_BYTES = 64 * 1024;
/** A frame longer than this is malformed. */
export const MAX_FRAME_BYTES = 4 * 1024 * 1024;

export const Kind = {
  /** comm → CM: a task's incarnation presents itself. Body: JSON {@link import('./data-plane.ts').Attach}. */
  ATTACH: 1,
  /**
   * CM → comm: accepted. Body: JSON Attached. A first attachment gets the task's determinants before it, as
   * DETERMINANTS.
   */
  ATTACHED: 2,
  /** CM → comm: refused or closed. Body: JSON {code, message}; incarnation: the acting one. */
  REFUSED: 3,
  /** comm → CM: the task leaves this connection (exit, revoke). */
  DETACH: 4,
  /** rank → comm → CM: one chunk of message number `channel` of (src, dst). */
  DATA: 10,
  /** CM → comm → rank: one chunk; the arrival number stands on the last one. */
  ARRIVAL: 11,
  /**
   * CM → comm: what of `dst`'s own sends and determinants is logged. Body: binary
   * {@link import('./data-plane.ts').Ack}.
   */
  ACK: 12,
  /** comm → CM: `arrival` = highest arrival consumed by the rank, `size` = bytes of bodies that may be under way,
   *  flag ENVELOPE_ONLY while the rank's store of unmatched bodies is full. */
  CREDIT: 13,
  /**
   * rank → comm → CM: send `word` bytes (0: all) of the body of `arrival` from `offset` (a multiple of the chunk size)
   *  on; `offset` = its size says that it has come whole (`none` may forget it).
   */
  PULL: 14,
  /** CM → comm → rank: one chunk of a pulled body; same numbers as its ARRIVAL. */
  BODY: 15,
  /** comm → CM: an ARRIVAL chunk that a CM which lost un-synced writes has to take back, in order. */
  RESUPPLY: 16,
  /** comm → CM: everything above `received` has been resupplied. */
  RESUPPLIED: 17,
  /**
   * rank → comm → CM: determinants without a message (before an image, or when many wait). CM → comm, before ATTACHED:
   *  the determinants of `src` that this CM holds.
   */
  DETERMINANTS: 18,
  /**
   * CM → comm: send channel (src, dst) again from message `channel` + 1 on; its frames were dropped while dst
   * recovered.
   */
  RESEND: 19,
  /**
   * CM → comm: the task takes part in wave `word`: an image is wanted; under `pcl` its mark first. 0: none is under
   * way.
   */
  WAVE: 20,
  /**
   * rank → comm → every CM (`pcl`): in wave `word` the rank sends nothing more before its image. Body: JSON
   * {@link import('./data-plane.ts').Mark}.
   */
  MARK: 21,
  /** CM → comm (`pcl`): everybody has marked, and everything before the marks has come: the image may be taken. */
  FLUSHED: 22,
  /** comm → every CM: in wave `word` the rank has cut. Body: JSON {@link import('./data-plane.ts').Cut}. */
  CUT: 23,
  /** CM → comm: wave `word` is over. */
  WAVE_OVER: 24,
  /** comm → CM: in wave `word` the task cannot have an image. Body: JSON {@link import('./data-plane.ts').Cannot}. */
  CANNOT: 25,
} as const;
export type Kind = (typeof Kind)[keyof typeof Kind];
/** Kinds from here on never leave a node: records of the rings between a rank and its comm worker. */
export const FIRST_LOCAL_KIND = 128;

export const Flag = {
  /** Last chunk of its message. */
  LAST: 1,
  /** Envelope only: the body stays in the log and is pulled when matched. */
  NO_BODY: 2,
  /** On CREDIT: the receiver asks for envelopes only. */
  ENVELOPE_ONLY: 4,
  /** On DETERMINANTS: the sender waits until all that it sent before is durable. */
  SYNC: 8,
  /** The determinants are those of a whole team: team-block.ts. */
  TEAM: 16,
} as const;

/** `mode` of messages to and from {@link import('./ids.ts').WORLD}. */
export const WorldMode = {
  /** task → world, body: bytes of standard output; `word`,`context` unused. */
  STDOUT: 1,
  STDERR: 2,
  /** task → world, body: u16 name length, name (UTF-8), u64 offset, bytes. */
  FILE: 3,
  /** task → world, body: JSON ExitReport. The last message of a task. */
  EXIT: 4,
  /** world → task 0, body: bytes of standard input; an empty body is the end of input. */
  STDIN: 5,
  /**
   * task → world, body: u16 name length, name, u64 length: a result file has this length from now on; 2⁵³ − 1: there is
   * no such file.
   */
  CUT: 6,
  /**
   * task → world: an operation on a shared file (file-request.ts). Answered by ANSWER, in the order of the requests.
   */
  REQUEST: 7,
  /** FILES → task, `context`: error class (file-request.ts). */
  ANSWER: 8,
  /** task → world, body: JSON {@link import('./membership.ts').MemberRequest}. */
  MEMBER: 9,
  /** MEMBERS → task, body: JSON {@link import('./membership.ts').MemberNotice}. */
  NOTICE: 10,
} as const;

export interface Header {
  kind: number;
  flags: number;
  mode: number;
  bytes: number;
  src: TaskId;
  dst: TaskId;
  incarnation: Incarnation;
  epoch: number;
  channel: number;
  arrival: number;
  offset: number;
  size: number;
  context: number;
  tag: number;
  word: number;
  detBytes: number;
}

export const pad8 = (n: number): number => (n + 7) & ~7;
/** Length on the wire of the frame with this header, padding included. */
export const frameBytes = (h: Pick<Header, 'bytes' | 'detBytes'>): number => pad8(HEADER_BYTES + h.detBytes + h.bytes);

export function writeHeader(v: DataView, o: number, h: Header): void {
  v.setUint8(o, h.kind);
  v.setUint8(o + 1, FRAME_VERSION);
  v.setUint8(o + 2, h.flags);
  v.setUint8(o + 3, h.mode);
  v.setUint32(o + 4, h.bytes, true);
  v.setUint32(o + 8, h.src, true);
  v.setUint32(o + 12, h.dst, true);
  v.setUint32(o + 16, h.incarnation, true);
  v.setUint32(o + 20, h.epoch, true);
  setU53(v, o + 24, h.channel);
  setU53(v, o + 32, h.arrival);
  v.setUint32(o + 40, h.offset, true);
  v.setUint32(o + 44, h.size, true);
  v.setUint32(o + 48, h.context, true);
  v.setInt32(o + 52, h.tag, true);
  v.setUint32(o + 56, h.word, true);
  v.setUint32(o + 60, h.detBytes, true);
}

/** Reads without checking: for frames that this side wrote, or that {@link readFrame} has passed. */
export function readHeader(v: DataView, o: number): Header {
  return {
    kind: v.getUint8(o),
    flags: v.getUint8(o + 2),
    mode: v.getUint8(o + 3),
    bytes: v.getUint32(o + 4, true),
    src: v.getUint32(o + 8, true) as TaskId,
    dst: v.getUint32(o + 12, true) as TaskId,
    incarnation: v.getUint32(o + 16, true) as Incarnation,
    epoch: v.getUint32(o + 20, true),
    channel: getU53(v, o + 24),
    arrival: getU53(v, o + 32),
    offset: v.getUint32(o + 40, true),
    size: v.getUint32(o + 44, true),
    context: v.getUint32(o + 48, true),
    tag: v.getInt32(o + 52, true),
    word: v.getUint32(o + 56, true),
    detBytes: v.getUint32(o + 60, true),
  };
}

/**
 * Turns a DATA frame in place into the ARRIVAL that its receiver gets: no copy on the way through the Channel Memory.
 */
export function patchArrival(v: DataView, o: number, arrival: number, receiver: Incarnation): void {
  v.setUint8(o, Kind.ARRIVAL);
  v.setUint32(o + 16, receiver, true);
  setU53(v, o + 32, arrival);
}

export const emptyHeader = (kind: number): Header => ({
  kind,
  flags: 0,
  mode: 0,
  bytes: 0,
  src: 0 as TaskId,
  dst: 0 as TaskId,
  incarnation: 0 as Incarnation,
  epoch: 0,
  channel: 0,
  arrival: 0,
  offset: 0,
  size: 0,
  context: 0,
  tag: 0,
  word: 0,
  detBytes: 0,
});

export interface Frame {
  header: Header;
  /** The determinant block, undecoded (empty when there is none). A view, not a copy. */
  determinants: Uint8Array;
  /** A view, not a copy. */
  body: Uint8Array;
}

export class MalformedFrame extends Error {
  override readonly name = 'MalformedFrame';
}

/**
 * Checks and reads the frame at `offset` of a socket message.
 * @throws MalformedFrame when the bytes are no whole frame of this version within the limits.
 */
export function readFrame(bytes: Uint8Array, view: DataView, offset: number): Frame {
  if (bytes.length - offset < HEADER_BYTES) throw new MalformedFrame('shorter than a header');
  const version = view.getUint8(offset + 1);
  if (version !== FRAME_VERSION) throw new MalformedFrame(`version ${version}, this side speaks ${FRAME_VERSION}`);
  const header = readHeader(view, offset);
  const end = offset + HEADER_BYTES + header.detBytes + header.bytes;
  if (end > bytes.length) throw new MalformedFrame('longer than its socket message');
  if (end - offset > MAX_FRAME_BYTES) throw new MalformedFrame(`longer than ${MAX_FRAME_BYTES} bytes`);
  if (header.detBytes % 8 !== 0) throw new MalformedFrame('determinant block not aligned');
  if (
    header.offset + header.bytes > header.size &&
    header.kind >= Kind.DATA &&
    header.kind <= Kind.RESUPPLY &&
    header.bytes > 0 &&
    header.kind !== Kind.ACK
  )
    throw new MalformedFrame('part lies outside its message');
  const d = offset + HEADER_BYTES;
  return {
    header,
    determinants: bytes.subarray(d, d + header.detBytes),
    body: bytes.subarray(d + header.detBytes, end),
  };
}

/** All frames of one socket message. @throws MalformedFrame */
export function readFrames(bytes: Uint8Array): Frame[] {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const out: Frame[] = [];
  for (let o = 0; o < bytes.length;) {
    const f = readFrame(bytes, view, o);
    out.push(f);
    o += frameBytes(f.header);
  }
  return out;
}

/**
 * Encodes one frame into a fresh buffer, padded to 8 bytes. `bytes` and `detBytes` of the header are set from the
 * arguments.
 */
export function encodeFrame(header: Header, body: Uint8Array = EMPTY, determinants: Uint8Array = EMPTY): Uint8Array {
  header.bytes = body.length;
  header.detBytes = determinants.length;
  const out = new Uint8Array(pad8(HEADER_BYTES + determinants.length + body.length));
  writeHeader(new DataView(out.buffer), 0, header);
  out.set(determinants, HEADER_BYTES);
  out.set(body, HEADER_BYTES + determinants.length);
  return out;
}

export const EMPTY = new Uint8Array(0);
