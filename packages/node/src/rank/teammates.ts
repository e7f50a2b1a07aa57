/**
 * A rank's end of its team (docs/teams.md): messages to and from teammates, and to itself, which no server sees.
 * Synchronous; the device does the waiting.
 *
 * Invariants
 *  N1 The messages of one channel are taken in the order in which they were sent: what was moved into the inbox comes
 *     before what lies in the ring.
 *  N2 A rank that waits for anything but a message moves what has come for it into its memory ({@link drain}), so a
 *     full ring always drains: two ranks that send to each other without end do not stop each other. What is moved is
 *     not consumed.
 *  N3 A message that is longer than a record is cut into parts, which follow each other in the ring. Its first part is
 *     the arrival. A receive that is posted takes the parts straight into its buffer ({@link pull}); else they are
 *     collected in a buffer of their own as soon as anything else is done, so messages behind it are reached.
 *  N4 What a teammate has written is checked as far as this thread depends on it: lengths by the ring, order here.
 *  N5 A part is visible to a receiver that looks, and wakes one that sleeps only with the last part, with a quarter of
 *     the ring, or when the ring is full: with each part, threads that share a core would change places.
 */
import type { Arrival } from '@mayfly/mpi';
import {
  EMPTY,
  Flag,
  HEADER_BYTES,
  Kind,
  emptyHeader,
  readHeader,
  writeHeader,
  type Header,
  type TaskId,
} from '@mayfly/wire';
import type { Doorbell } from '../ring/memory.ts';
import type { RingReader, RingWriter } from '../ring/rings.ts';
import { TeamMemory } from '../ring/team-memory.ts';
import { arrivalOf } from './down-frames.ts';

/** A team as its rank hears of it: tasks in ascending order, and the memory that they share. */
export interface TeamOf {
  readonly members: readonly TaskId[];
  readonly memory: SharedArrayBuffer;
}

/** A longer message is cut. */
const MOST_RECORD = 32 * 1024;

/** A message in parts. */
interface Parts {
  readonly number: number;
  readonly from: number;
  readonly size: number;
  got: number;
  /** Where the parts go; undefined: none was taken. */
  into: Uint8Array | undefined;
}

interface Peer {
  readonly task: TaskId;
  readonly writer: RingWriter | undefined;
  readonly reader: RingReader | undefined;
  readonly sent: Float64Array;
  readonly consumed: Float64Array;
  /** The message whose parts come now. */
  parts: Parts | undefined;
}

/** Blocks until `ready()`. */
export type Wait = (ready: () => boolean) => void;

export class Teammates {
  readonly bell: Doorbell;
  readonly spin: number;
  private readonly memory: TeamMemory;
  private readonly me: number;
  private readonly peers: Peer[];
  private readonly places: Map<TaskId, number>;
  /** Bytes of a body in one record. */
  private readonly chunk: number;
  /** Bytes of a message that are worth a wake-up. */
  private readonly worthWaking: number;
  private inbox: Arrival[] = [];
  private inboxHead = 0;
  /** Messages in parts that were handed out, and not pulled yet. */
  private readonly open = new Map<number, Parts>();
  /** The record that was handed out lies in this ring. */
  private held: RingReader | undefined;
  private numbers = 0;
  private turn = 0;

  constructor({ members, memory }: TeamOf, task: TaskId) {
    const m = (this.memory = new TeamMemory(memory));
    const me = (this.me = members.indexOf(task));
    if (me < 0 || m.size !== members.length) throw new Error(`task ${task} is not in its team`);
    this.bell = m.bell(me);
    this.spin = m.spin;
    this.worthWaking = m.ringBytes / 4;
    this.chunk = Math.min(MOST_RECORD, m.ringBytes / 8) - HEADER_BYTES;
    this.places = new Map(members.map((t, i) => [t, i]));
    this.peers = members.map((t, i) => ({
      task: t,
      writer: i === me ? undefined : m.writer(me, i),
      reader: i === me ? undefined : m.reader(i, me),
      sent: m.sent(me, i),
      consumed: m.consumed(i, me),
      parts: undefined,
    }));
  }

  /** Its place, if the route to this task is local. */
  placeOf(task: TaskId): number | undefined {
    return this.places.get(task);
  }

  /** Sends the message of which `h` is the header of a first frame; blocks in `wait` while the ring is full. */
  send(place: number, h: Header, body: Uint8Array, wait: Wait): void {
    const peer = this.peers[place]!;
    peer.sent[0]!++;
    peer.sent[1]! += body.length;
    const { writer } = peer;
    if (!writer) return void this.inbox.push(this.arrival(h, body.length === 0 ? EMPTY : body.slice()));
    let offset = 0;
    let rung = 0;
    do {
      const n = Math.min(this.chunk, body.length - offset);
      const length = HEADER_BYTES + n;
      let at = writer.reserve(length);
      if (at < 0) {
        writer.publish();
        wait(() => writer.hasRoom(length) || this.memory.done(place));
        at = writer.reserve(length);
        // The receiver has ended: nobody reads this.
        if (at < 0) return;
      }
      h.offset = offset;
      h.bytes = n;
      h.flags = offset + n === body.length ? Flag.LAST : 0;
      writeHeader(writer.view, at, h);
      if (n > 0) writer.bytes.set(n === body.length ? body : body.subarray(offset, offset + n), at + HEADER_BYTES);
      writer.commit(length);
      offset += n;
      // N5
      if (offset === body.length || offset - rung >= this.worthWaking) {
        writer.publish();
        rung = offset;
      } else writer.show();
    } while (offset < body.length);
  }

  /** Header of a message's first frame. */
  header(dst: TaskId, channel: number, mode: number, context: number, tag: number, word: number, size: number): Header {
    const h = this.blank;
    h.src = this.peers[this.me]!.task;
    h.dst = dst;
    h.channel = channel;
    h.mode = mode;
    h.context = context;
    h.tag = tag;
    h.word = word;
    h.size = size;
    return h;
  }
  private readonly blank = emptyHeader(Kind.DATA);

  /** Nothing lies there, not even a part. */
  get empty(): boolean {
    if (this.inboxHead < this.inbox.length) return false;
    for (const { reader } of this.peers) if (reader && !reader.empty) return false;
    return true;
  }

  /** The next message, in turn from each teammate; its body is valid until the next call. */
  take(): Arrival | undefined {
    this.release();
    const waiting = this.inbox[this.inboxHead];
    if (waiting) {
      if (++this.inboxHead === this.inbox.length) {
        this.inbox = [];
        this.inboxHead = 0;
      }
      return this.counted(waiting);
    }
    const n = this.peers.length;
    for (let i = 0; i < n; i++) {
      const place = (this.turn + i) % n;
      const a = this.first(place, false);
      if (!a) continue;
      this.turn = (place + 1) % n;
      return this.counted(a);
    }
    return undefined;
  }

  private counted(a: Arrival): Arrival {
    this.peers[this.places.get(a.src)!]!.consumed[0]!++;
    return a;
  }

  /** N2. */
  drain(): void {
    this.release();
    for (let place = 0; place < this.peers.length; place++)
      for (let a = this.first(place, true); a; a = this.first(place, true)) this.inbox.push(a);
  }

  /** The next message of one teammate, out of its ring. `copy`: its body too. */
  private first(place: number, copy: boolean): Arrival | undefined {
    const peer = this.peers[place]!;
    const { reader } = peer;
    if (!reader) return undefined;
    for (let at = reader.peek(); at >= 0; at = reader.peek()) {
      if (peer.parts) {
        this.part(peer, peer.parts, at);
        continue;
      }
      const h = readHeader(reader.view, at);
      h.src = peer.task;
      if ((h.flags & Flag.LAST) === 0) {
        const parts: Parts = { number: --this.numbers, from: place, size: h.size, got: 0, into: undefined };
        peer.parts = parts;
        this.open.set(parts.number, parts);
        return arrivalOf(h, parts.number, undefined);
      }
      const start = at + HEADER_BYTES;
      const body = h.bytes === 0 ? EMPTY : reader.bytes.subarray(start, start + h.bytes);
      const a = this.arrival(h, copy ? body.slice() : body);
      reader.take();
      if (copy) reader.release();
      else this.held = reader;
      return a;
    }
    return undefined;
  }

  /** Takes one part. N3. */
  private part(peer: Peer, parts: Parts, at: number): void {
    const reader = peer.reader!;
    const bytes = reader.view.getUint32(at + 4, true);
    if (reader.view.getUint32(at + 40, true) !== parts.got || parts.got + bytes > parts.size)
      throw new Error(`a part of a message of task ${peer.task} is not the next`);
    (parts.into ??= new Uint8Array(parts.size)).set(
      reader.bytes.subarray(at + HEADER_BYTES, at + HEADER_BYTES + bytes),
      parts.got,
    );
    parts.got += bytes;
    reader.take();
    reader.release();
    if (parts.got === parts.size) peer.parts = undefined;
  }

  /** The body of a message in parts; `into` is exactly as long. Blocks in `wait` until it has come whole. */
  pull(number: number, into: Uint8Array, wait: Wait): void {
    this.release();
    const parts = this.open.get(number);
    if (parts?.size !== into.length) throw new Error(`there is no message ${number} of ${into.length} bytes`);
    this.open.delete(number);
    const peer = this.peers[parts.from]!;
    if (parts.into) into.set(parts.got === parts.size ? parts.into : parts.into.subarray(0, parts.got));
    parts.into = into;
    const reader = peer.reader!;
    while (parts.got < parts.size) {
      const at = reader.peek();
      if (at < 0) wait(() => !reader.empty);
      else this.part(peer, parts, at);
    }
  }

  /** The message that was handed out is no longer looked at. */
  release(): void {
    this.held?.release();
    this.held = undefined;
  }

  /** This rank is done. */
  leave(): void {
    this.memory.leave(this.me);
  }

  /** Numbers of messages that no log has are negative. */
  private arrival(h: Header, body: Uint8Array): Arrival {
    return arrivalOf(h, --this.numbers, body);
  }
}
