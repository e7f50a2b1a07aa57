/**
 * Messages of several chunks on their way into a rank: chunks are collected here as they come, those of several senders
 * mixed.
 *
 * Invariants
 *  Q1 A first chunk makes void what came of its sender's message before: its connection broke, or a new incarnation of
 *  the sender began.
 *  Q2 A body that was handed out is valid until the next one is handed out; then its buffer is used again.
 */
import { copyBytes } from '@mayfly/mpi';
import { Flag, type Header, type TaskId } from '@mayfly/wire';

/** Buffers kept for the next messages, in bytes: the pages of a fresh buffer cost more than the copy into it. */
const SPARE_BYTES = 8 * 1024 * 1024;

export class Parts {
  private readonly open = new Map<TaskId, Uint8Array>();
  private readonly spare: ArrayBuffer[] = [];
  private spareBytes = 0;
  private handed: Uint8Array | undefined;

  /** Takes a chunk of a message of several. undefined: it is not the last. @throws Error */
  add(h: Header, chunk: Uint8Array): Uint8Array | undefined {
    let body = this.open.get(h.src);
    if (h.offset === 0) {
      if (body) this.recycle(body);
      this.open.set(h.src, (body = this.buffer(h.size)));
    }
    if (body?.length !== h.size) throw new Error(`a part at ${h.offset} of a message that did not begin`);
    copyBytes(body, h.offset, chunk);
    if ((h.flags & Flag.LAST) === 0) return undefined;
    this.open.delete(h.src);
    return body;
  }

  /** This body goes to the program now (Q2). */
  hand(body: Uint8Array): void {
    if (this.handed) this.recycle(this.handed);
    this.handed = body;
  }

  private buffer(size: number): Uint8Array {
    const i = this.spare.findIndex((b) => b.byteLength >= size);
    if (i < 0) return new Uint8Array(size);
    const [b] = this.spare.splice(i, 1);
    this.spareBytes -= b!.byteLength;
    return new Uint8Array(b!, 0, size);
  }

  private recycle(body: Uint8Array): void {
    const buffer = body.buffer as ArrayBuffer;
    this.spare.push(buffer);
    this.spareBytes += buffer.byteLength;
    while (this.spareBytes > SPARE_BYTES) this.spareBytes -= this.spare.shift()!.byteLength;
  }
}
