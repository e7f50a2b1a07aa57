/**
 * A rank's end of its team (docs/teams.md): messages to and from teammates, and to itself, which no server sees.
 * Synchronous; the device does the waiting.
 *
 * Invariants
 *  N1 The messages of one channel are taken in the order in which they were sent: what was moved out of its ring (and
 *     lies in {@link cut}) comes before what lies in the ring.
 *  N2 A rank that waits for anything but a message moves what has come for it into its memory ({@link drain}), so a
 *     full ring drains (N7): two ranks that send to each other without end do not stop each other. What is moved is
 *     not consumed. Markers are moved in their places.
 *  N3 A message that is longer than a record is cut into parts, which follow each other in the ring. Its first part is
 *     the arrival. A receive that is posted takes the parts straight into its buffer ({@link pull}); else they are
 *     collected in a buffer of their own as soon as anything else is done, so messages behind it are reached.
 *  N4 What a teammate has written is checked as far as this thread depends on it: lengths by the ring, order here.
 *  N5 A part is visible to a receiver that looks, and wakes one that sleeps only with the last part, with a quarter of
 *     the ring, or when the ring is full: with each part, threads that share a core would change places.
 *  N6 Nothing behind a marker is taken before the image of its wave (T6, image-cut.ts). While the image records a
 *     channel, each of its messages is moved before it is taken.
 *  N7 Whose messages lie here unreceived in great number is held back in its ring (H1–H5, protocols/src/backlog.ts),
 *     but in the middle of a message.
 *  N8 In the middle of a long message the other side is at work: who waits for it looks for the time of some parts
 *     before it waits in earnest, which takes some microseconds.
 */
import { copyBytes, type Arrival } from '@mayfly/mpi';
import { Backlog, ImageCut } from '@mayfly/protocols';
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
import { Local } from '../local-frames.ts';
import type { Doorbell } from '../ring/memory.ts';
import type { RingReader, RingWriter } from '../ring/rings.ts';
import { TeamMemory } from '../ring/team-memory.ts';
import { LongBodies, type Parts } from './long-bodies.ts';

/** A team as its rank hears of it: tasks in ascending order, and the memory that they share. */
export interface TeamOf {
  readonly members: readonly TaskId[];
  readonly memory: SharedArrayBuffer;
}

/** A longer message is cut. */
const MOST_RECORD = 32 * 1024;

/** N8: 20 microseconds, about. */
const MOST_LOOKS = 1000;

/** A message of a teammate. Numbers of messages that no log has are negative. */
export interface LocalMessage extends Arrival {
  readonly src: TaskId;
  /** Its number in its channel (T2). */
  readonly channel: number;
}

const messageOf = (h: Header, number: number, body: Uint8Array | undefined): LocalMessage => ({
  number,
  src: h.src,
  mode: h.mode,
  context: h.context,
  tag: h.tag,
  word: h.word,
  size: h.size,
  body,
  channel: h.channel,
});

/** May this message of a teammate be consumed? */
export type Accepts = (src: TaskId, channel: number) => boolean;

interface Peer {
  readonly place: number;
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
  /** N8: how often. */
  private readonly looks: number;
  readonly memory: TeamMemory;
  /** What was moved out of the rings. Without a log there are no markers. */
  readonly cut: ImageCut<LocalMessage>;
  readonly bodies = new LongBodies();
  readonly backlog = new Backlog(this.bodies);
  readonly me: number;
  private readonly peers: Peer[];
  private readonly places: Map<TaskId, number>;
  /** Bytes of a body in one record. */
  private readonly chunk: number;
  /** Bytes of a message that are worth a wake-up. */
  private readonly worthWaking: number;
  /** The record that was handed out lies in this ring. */
  private held: RingReader | undefined;
  /** Bytes that have come for the image that records channels. */
  recorded = 0;
  private numbers = 0;
  private turn = 0;

  constructor({ members, memory }: TeamOf, task: TaskId) {
    this.cut = new ImageCut(members, 0);
    // There is a ring to each from the start.
    for (const dst of members) this.cut.writes(dst);
    const m = (this.memory = new TeamMemory(memory));
    const me = (this.me = members.indexOf(task));
    if (me < 0 || m.size !== members.length) throw new Error(`task ${task} is not in its team`);
    this.bell = m.bell(me);
    this.spin = m.spin;
    this.looks = Math.min(m.spin, MOST_LOOKS);
    this.worthWaking = m.ringBytes / 4;
    this.chunk = Math.min(MOST_RECORD, m.ringBytes / 8) - HEADER_BYTES;
    this.places = new Map(members.map((t, i) => [t, i]));
    this.peers = members.map((t, i) => ({
      place: i,
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
    if (!writer)
      return this.stage(peer.task, {
        message: messageOf(h, --this.numbers, body.length === 0 ? EMPTY : body.slice()),
      });
    h.kind = Kind.DATA;
    let offset = 0;
    let rung = 0;
    do {
      const n = Math.min(this.chunk, body.length - offset);
      const length = HEADER_BYTES + n;
      let at = writer.reserve(length);
      if (at < 0) {
        writer.publish();
        const goesOn = (): boolean => writer.hasRoom(length) || this.memory.done(place);
        if (!this.soon(goesOn)) wait(goesOn);
        at = writer.reserve(length);
        // The receiver has ended: nobody reads this.
        if (at < 0) return;
      }
      h.offset = offset;
      h.bytes = n;
      h.flags = offset + n === body.length ? Flag.LAST : 0;
      writeHeader(writer.view, at, h);
      if (n > 0)
        copyBytes(writer.bytes, at + HEADER_BYTES, n === body.length ? body : body.subarray(offset, offset + n));
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

  /** Writes the marker of a wave behind everything sent to this member (T6). */
  mark(task: TaskId, wave: number, wait: Wait): void {
    const place = this.places.get(task)!;
    const { writer } = this.peers[place]!;
    if (!writer) return this.cut.stage(task, { marker: wave });
    let at = writer.reserve(HEADER_BYTES);
    if (at < 0) {
      writer.publish();
      wait(() => writer.hasRoom(HEADER_BYTES) || this.memory.done(place));
      at = writer.reserve(HEADER_BYTES);
      if (at < 0) return;
    }
    const h = emptyHeader(Local.MARKER);
    h.flags = Flag.LAST;
    h.word = wave;
    writeHeader(writer.view, at, h);
    writer.commit(HEADER_BYTES);
    writer.publish();
  }

  /** Nothing lies there that may be taken, not even a part. `src`: of this teammate; absent: of any. */
  empty(src?: TaskId, accepts?: Accepts): boolean {
    if (src !== undefined) return this.nothing(this.peerOf(src), accepts);
    for (const peer of this.peers) if (!this.nothing(peer, accepts)) return false;
    return true;
  }

  private nothing(peer: Peer, accepts?: Accepts): boolean {
    const { task, reader } = peer;
    if (!this.cut.lies(task)) return reader === undefined || reader.empty || this.holds(peer);
    const head = this.cut.head(task);
    return head === undefined || accepts?.(task, head.channel) === false;
  }

  private peerOf(task: TaskId): Peer {
    const peer = this.peers[this.places.get(task) ?? -1];
    if (!peer) throw new Error(`task ${task} is not in the team`);
    return peer;
  }

  /** The next message, in turn from each teammate, or that of `src`; its body is valid until the next call. */
  take(src?: TaskId, accepts?: Accepts): LocalMessage | undefined {
    this.release();
    if (src !== undefined) return this.takeOf(this.peerOf(src), accepts);
    const n = this.peers.length;
    for (let i = 0; i < n; i++) {
      const place = (this.turn + i) % n;
      const m = this.takeOf(this.peers[place]!, accepts);
      if (!m) continue;
      this.turn = (place + 1) % n;
      return m;
    }
    return undefined;
  }

  /** N1, N6. */
  private takeOf(peer: Peer, accepts: Accepts | undefined): LocalMessage | undefined {
    const { cut } = this;
    const { task } = peer;
    while (!cut.lies(task)) {
      const records = cut.records(task);
      const next = this.first(peer, records);
      if (next === undefined) return undefined;
      if (typeof next === 'number') cut.stage(task, { marker: next });
      else if (records || accepts?.(task, next.channel) === false) this.stage(task, { message: next });
      else {
        peer.consumed[0]!++;
        return next;
      }
    }
    const head = cut.head(task);
    if (head === undefined || accepts?.(task, head.channel) === false) return undefined;
    cut.take(task);
    this.backlog.moves(-1, -(head.body?.length ?? 0));
    peer.consumed[0]!++;
    return head;
  }

  /** N2. */
  drain(): void {
    this.release();
    for (const peer of this.peers) this.drainOf(peer);
  }

  private drainOf(peer: Peer): void {
    for (let m = this.first(peer, true); m !== undefined; m = this.first(peer, true))
      if (typeof m === 'number') this.cut.stage(peer.task, { marker: m });
      else this.stage(peer.task, { message: m });
  }

  private stage(src: TaskId, item: { readonly message: LocalMessage }): void {
    this.backlog.moves(1, item.message.body?.length ?? 0);
    this.cut.stage(src, item);
  }

  /** What lay in the channels of an image. */
  restore(state: ReadonlyMap<TaskId, readonly LocalMessage[]>): void {
    for (const [src, messages] of state) for (const message of messages) this.stage(src, { message });
  }

  /** N7. */
  private holds({ task, parts }: Peer): boolean {
    return parts === undefined && this.backlog.holds(task) && !this.cut.records(task);
  }

  /** Something of a teammate has come, and is held back. */
  readonly holding = (): boolean =>
    this.peers.some((peer) => peer.reader !== undefined && !peer.reader.empty && this.holds(peer));

  /** Something of a teammate has come behind a marker, and waits for the image of its wave. */
  get heldBack(): boolean {
    const { cut } = this;
    return this.peers.some(
      ({ task, reader }) => cut.meets(task) && (cut.heldBack(task) || (reader !== undefined && !reader.empty)),
    );
  }

  /** Channels whose senders are done are closed: nothing follows what lies in their rings (T12). */
  closeDone(): void {
    this.release();
    for (const peer of this.peers)
      if (this.cut.records(peer.task) && this.memory.done(peer.place)) {
        this.drainOf(peer);
        this.cut.noRing(peer.task);
      }
  }

  /** The next of one teammate, out of its ring: a message, or the wave of a marker. `copy`: its body too. */
  private first(peer: Peer, copy: boolean): LocalMessage | number | undefined {
    const { reader } = peer;
    if (!reader || this.holds(peer)) return undefined;
    for (let at = reader.peek(); at >= 0; at = reader.peek()) {
      if (peer.parts) {
        this.part(peer, peer.parts, at);
        if (this.holds(peer)) return undefined;
        continue;
      }
      const h = readHeader(reader.view, at);
      h.src = peer.task;
      if (this.cut.records(peer.task)) this.recorded += HEADER_BYTES + h.size;
      if (h.kind === Local.MARKER) {
        reader.take();
        reader.release();
        return h.word;
      }
      if ((h.flags & Flag.LAST) === 0) {
        const parts = this.bodies.begin(--this.numbers, peer.place, h.size, this.cut.records(peer.task));
        peer.parts = parts;
        return messageOf(h, parts.number, undefined);
      }
      const start = at + HEADER_BYTES;
      const body = h.bytes === 0 ? EMPTY : reader.bytes.subarray(start, start + h.bytes);
      const m = messageOf(h, --this.numbers, copy ? body.slice() : body);
      reader.take();
      if (copy) reader.release();
      else this.held = reader;
      return m;
    }
    return undefined;
  }

  /** Takes one part. N3. */
  private part(peer: Peer, parts: Parts, at: number): void {
    const reader = peer.reader!;
    const bytes = reader.view.getUint32(at + 4, true);
    if (reader.view.getUint32(at + 40, true) !== parts.got || parts.got + bytes > parts.size)
      throw new Error(`a part of a message of task ${peer.task} is not the next`);
    const into = (parts.into ??= new Uint8Array(parts.size));
    const start = at + HEADER_BYTES;
    copyBytes(into, parts.got, reader.bytes.subarray(start, start + bytes));
    parts.got += bytes;
    reader.take();
    reader.release();
    if (parts.got === parts.size) peer.parts = undefined;
  }

  /** The body of a message in parts; `into` is exactly as long. Blocks in `wait` until it has come whole. */
  pull(number: number, into: Uint8Array, wait: Wait): void {
    this.release();
    const parts = this.bodies.pulled(number, into);
    while (parts.got < parts.size) {
      const peer = this.peers[parts.from]!;
      const reader = peer.reader!;
      const at = reader.peek();
      const comes = (): boolean => !reader.empty;
      if (at >= 0) this.part(peer, parts, at);
      else if (!this.soon(comes)) wait(comes);
    }
    this.bodies.whole(parts);
  }

  /** N8. */
  private soon(ready: () => boolean): boolean {
    for (let i = 0; i < this.looks; i++) if (ready()) return true;
    return false;
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

  /** Channels go on where they were: what was sent and consumed of each, for people who look at counts. */
  countFrom(sent: (task: TaskId) => number, consumed: (task: TaskId) => number): void {
    for (const peer of this.peers) {
      peer.sent[0] = sent(peer.task);
      peer.consumed[0] = consumed(peer.task);
    }
  }

  /** Numbers of messages down to this one are in use. */
  resume(number: number): void {
    this.numbers = Math.min(this.numbers, number);
  }
}
