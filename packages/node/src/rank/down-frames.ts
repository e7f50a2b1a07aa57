/** What the comm worker has brought a rank: the frames of its down ring. Keeps D1 and D5 (device.ts). Synchronous. */
import { Flag, HEADER_BYTES, Kind, readHeader, type Header } from '@mayfly/wire';
import type { Arrival } from '@mayfly/mpi';
import type { RingReader } from '../ring/rings.ts';
import { Parts } from './message-parts.ts';

/**
 * One frame of the down ring: a view while it is the ring's current record, a copy when set aside. The last chunk of a
 * message of several: all of its body.
 */
export interface Incoming {
  header: Header;
  body: Uint8Array;
}

/** What the MPI layer sees of a message. */
export const arrivalOf = (h: Header, number: number, body: Uint8Array | undefined): Arrival => ({
  number,
  src: h.src,
  mode: h.mode,
  context: h.context,
  tag: h.tag,
  word: h.word,
  size: h.size,
  body,
});

export class DownFrames {
  private readonly aside: Incoming[] = [];
  private readonly parts = new Parts();

  constructor(private readonly down: RingReader) {}

  /** There is no frame at all. */
  get empty(): boolean {
    return this.aside.length === 0 && this.down.empty;
  }

  /** The next arrival. */
  next(): Incoming | undefined {
    const kept = this.aside.shift();
    if (kept) return this.handed(kept);
    for (let f = this.peek(); f; f = this.peek()) {
      this.down.take();
      if (f.header.kind === Kind.ARRIVAL && this.whole(f)) return this.handed(f);
      // A part of a message, or a body that is no longer waited for.
      this.down.release();
    }
    return undefined;
  }

  private handed(f: Incoming): Incoming {
    if (f.header.offset > 0) this.parts.hand(f.body);
    return f;
  }

  /** The next frame that is `mine` and no arrival; arrivals before it are set aside. */
  find(mine: (h: Header) => boolean): Incoming | undefined {
    for (let f = this.peek(); f; f = this.peek()) {
      this.down.take();
      if (mine(f.header)) return f;
      if (f.header.kind === Kind.ARRIVAL && this.whole(f))
        this.aside.push({ header: f.header, body: f.header.offset > 0 ? f.body : f.body.slice() });
      this.down.release();
    }
    return undefined;
  }

  /** The next frame of the ring, or undefined. */
  private peek(): Incoming | undefined {
    const { down } = this;
    const at = down.peek();
    if (at < 0) return undefined;
    const header = readHeader(down.view, at);
    const start = at + HEADER_BYTES + header.detBytes;
    return { header, body: down.bytes.subarray(start, start + header.bytes) };
  }

  /** True: the message is here. D5. */
  private whole(f: Incoming): boolean {
    if (f.header.offset === 0 && (f.header.flags & Flag.LAST) !== 0) return true;
    const body = this.parts.add(f.header, f.body);
    if (!body) return false;
    f.body = body;
    return true;
  }
}
