/**
 * The comm worker's end of one rank: drains its up ring in fair portions, delivers into its down ring, serves its file
 * reads, collects its images.
 *
 * Invariants
 *  R1 Frames reach the core in ring order, each copied out of the ring once (that copy is what is retained and sent).
 *  R2 Deliveries keep their order: while something is queued, nothing goes past it.
 *  R3 A part of a message is visible to a rank that looks, and wakes one that sleeps only when parts fill a quarter of
 *     its ring or something waits for space in it: it can do nothing with a part but copy it.
 *  R4 While `blocked()` holds, the up ring is not drained; the rank then waits in its send.
 *  R5 What was consumed behind an image is not reported before the image has come: it stands in the ring, and the rank
 *     has raised its flag before it went on.
 */
import {
  CHUNK_BYTES,
  EMPTY,
  emptyHeader,
  encodeFrame,
  FIRST_LOCAL_KIND,
  Flag,
  HEADER_BYTES,
  Kind,
  readHeader,
  type Assignment,
} from '@mayfly/wire';
import { HEAD, Local, type ImageHead } from '../local-frames.ts';
import { CommSide, createRankMemory, type Doorbell, type WaitAsync } from '../ring/index.ts';
import { consumedWord, envelopeOnly } from '../status.ts';

/** Bytes drained from one rank before the others have their turn. */
const PORTION_BYTES = 256 * 1024;
/** Frames are copied out in batches of about this size. */
const BATCH_BYTES = 64 * 1024;
export const MAX_IMAGE_BYTES = 4 * 1024 ** 3;

export interface RankLinkEvents {
  /** Whole wire frames, one after the other, in a buffer of their own. */
  onFrames(bytes: Uint8Array): void;
  onImage(head: ImageHead, sections: Map<string, Uint8Array>): void;
  /** The channel state of its image of this wave. */
  onChannels(wave: number, section: Uint8Array): void;
  /** It takes no image of this wave of its team. */
  onDeclined(wave: number): void;
  /** It wants an image of its team soon. */
  /** `call`: of checkpoint.here, at which it waits. */
  onWish(call: number | undefined): void;
  /** The program has ended, and writes no EXIT. */
  onEnd(): void;
  onRead(path: string): void;
  onNote(text: string): void;
  /** The rank woke this side. */
  onWake(): void;
  blocked(): boolean;
}

export class RankLink {
  readonly memory: SharedArrayBuffer;
  readonly side: CommSide;
  private readonly queue: Uint8Array[] = [];
  private queuedBytes = 0;
  private dirty = false;
  /** Something was written that is worth waking the rank. */
  private urgent = false;
  private consumed = 0;
  private wasFull = false;
  private image:
    { head: ImageHead; parts: Map<string, Uint8Array>; order: Uint8Array[]; at: number; offset: number } | undefined;
  /** Where the rank puts the sections of an image that do not come through the ring. */
  imageBuffer: SharedArrayBuffer | undefined;

  /** R5: the image that the rank hands over has come whole. */
  private imageCame = false;

  constructor(
    readonly assignment: Assignment,
    waitAsync: WaitAsync | undefined,
    /** Where the rank sleeps, if it has teammates. */
    bell: Doorbell | undefined,
    private readonly events: RankLinkEvents,
  ) {
    this.memory = createRankMemory();
    this.side = new CommSide(this.memory, () => this.events.onWake(), waitAsync, bell);
  }

  /** Takes a portion of the up ring. 'more': call again soon. 'empty': nothing left. 'blocked': back-pressure. */
  drain(): 'more' | 'empty' | 'blocked' {
    const up = this.side.up;
    let taken = 0;
    while (taken < PORTION_BYTES) {
      if (this.events.blocked()) return 'blocked';
      const at = up.peek();
      if (at < 0) return 'empty';
      if (up.bytes[at]! >= FIRST_LOCAL_KIND) {
        taken += up.length;
        this.local(at);
        up.take();
        up.release();
        continue;
      }
      // Neighbouring frames go out in one copy.
      let end = at + up.length;
      up.take();
      for (
        let next = up.peek();
        next === end && end - at < BATCH_BYTES && up.bytes[next]! < FIRST_LOCAL_KIND;
        next = up.peek()
      ) {
        end += up.length;
        up.take();
      }
      const bytes = up.bytes.slice(at, end);
      up.release();
      taken += bytes.length;
      this.events.onFrames(bytes);
    }
    return 'more';
  }

  private local(at: number): void {
    const up = this.side.up;
    const h = readHeader(up.view, at);
    const body = up.bytes.subarray(at + HEADER_BYTES, at + HEADER_BYTES + h.bytes);
    switch (h.kind) {
      case Local.IMAGE:
        if (h.word === HEAD) {
          const head = JSON.parse(new TextDecoder().decode(body.slice())) as ImageHead;
          const total = head.sections.reduce((n, s) => n + s.bytes, 0);
          if (!(total <= MAX_IMAGE_BYTES)) throw new Error('an image that is too large');
          if (head.sections.some((s) => s.shared && !(s.bytes <= (this.imageBuffer?.byteLength ?? 0))))
            throw new Error('an image longer than its buffer');
          const parts = new Map(
            head.sections.map((s) => [
              s.name,
              s.shared ? new Uint8Array(this.imageBuffer!, 0, s.bytes) : new Uint8Array(s.bytes),
            ]),
          );
          this.image = {
            head,
            parts,
            order: head.sections.filter((s) => !s.shared).map((s) => parts.get(s.name)!),
            at: 0,
            offset: 0,
          };
        } else this.imagePart(body);
        if ((h.flags & Flag.LAST) !== 0 && this.image) {
          const { head, parts } = this.image;
          this.image = undefined;
          if (head.closes) {
            this.events.onChannels(head.wave ?? 0, parts.get(head.sections[0]?.name ?? '') ?? EMPTY);
          } else {
            this.imageCame = true;
            this.events.onImage(head, parts);
          }
        }
        break;
      case Local.DECLINED:
        this.events.onDeclined(h.word);
        break;
      case Local.WISH:
        this.events.onWish(h.mode === 1 ? h.word | 0 : undefined);
        break;
      case Local.ENDED:
        this.events.onEnd();
        break;
      case Local.READ:
        this.events.onRead(new TextDecoder().decode(body.slice()));
        break;
      case Local.NOTE:
        this.events.onNote(new TextDecoder().decode(body.slice()));
        break;
      default:
        throw new Error(`a record of kind ${h.kind} in a ring`);
    }
  }

  private imagePart(body: Uint8Array): void {
    const i = this.image;
    if (!i) throw new Error('a part of no image');
    for (let n = 0; n < body.length;) {
      const section = i.order[i.at];
      if (!section) throw new Error('an image longer than it said');
      const k = Math.min(body.length - n, section.length - i.offset);
      section.set(body.subarray(n, n + k), i.offset);
      n += k;
      i.offset += k;
      if (i.offset === section.length) {
        i.at++;
        i.offset = 0;
      }
    }
  }

  /** A frame for the rank; `settle` makes it visible. */
  deliver(frame: Uint8Array): void {
    if (this.queue.length > 0 || !this.write(frame)) {
      this.queue.push(frame);
      this.queuedBytes += frame.length;
    }
  }

  private write(frame: Uint8Array): boolean {
    const down = this.side.down;
    const at = down.reserve(frame.length);
    if (at < 0) return false;
    down.bytes.set(frame, at);
    down.commit(frame.length);
    this.dirty = true;
    this.urgent ||= frame[0] !== Kind.ARRIVAL || (frame[2]! & Flag.LAST) !== 0;
    return true;
  }

  /** Writes what waits for space, and wakes the rank if anything was written. True: it slept. */
  settle(): boolean {
    let n = 0;
    while (n < this.queue.length && this.write(this.queue[n]!)) this.queuedBytes -= this.queue[n++]!.length;
    if (n > 0) this.queue.splice(0, n);
    if (!this.dirty) return false;
    this.dirty = false;
    if (!this.urgent && this.queue.length === 0 && this.side.down.used < this.side.down.maxRecord) {
      this.side.down.show();
      return false;
    }
    this.urgent = false;
    return this.side.down.publish();
  }

  /** Sleeps until the rank has something or takes something; false: there is something now. */
  sleep(blocked: boolean): boolean {
    const first = this.queue[0];
    return this.side.sleep(first !== undefined, first?.length ?? 0, !blocked);
  }

  /** Arrivals consumed, when that has changed since the last call. */
  progress(): { arrivals: number; envelopeOnly: boolean } | undefined {
    const word = consumedWord(this.side.words);
    const full = envelopeOnly(this.side.words);
    const step = (word - (this.consumed % 2 ** 32) + 2 ** 32) % 2 ** 32;
    // Backward or absurd: the restart has not set its position yet.
    if (step >= 2 ** 31) return undefined;
    if (step === 0 && full === this.wasFull) return undefined;
    // R5
    if (this.side.imageUnderWay && !this.imageCame) return undefined;
    this.consumed += step;
    this.wasFull = full;
    return { arrivals: this.consumed, envelopeOnly: full };
  }

  /** The image that came last is gone from this side. */
  imageDone(): void {
    this.imageCame = false;
    this.side.imageDone();
  }

  /** Answers a READ. */
  content(bytes: Uint8Array | undefined, error?: string): void {
    const all = bytes ?? new TextEncoder().encode(error ?? 'not found');
    let offset = 0;
    do {
      const part = all.subarray(offset, offset + CHUNK_BYTES);
      const h = emptyHeader(Local.CONTENT);
      h.mode = bytes ? 0 : 1;
      h.offset = offset;
      h.size = all.length;
      offset += part.length;
      if (offset >= all.length) h.flags = Flag.LAST;
      this.deliver(encodeFrame(h, part));
    } while (offset < all.length);
    this.settle();
  }

  get waitingBytes(): number {
    return this.queuedBytes;
  }

  close(): void {
    this.side.close();
    this.queue.length = 0;
  }
}
