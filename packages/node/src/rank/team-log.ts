/**
 * What a rank owes the log of its team (packages/protocols/DESIGN.md, *Teams under the pessimistic log*): reports, and
 * its part in the images of the team. Synchronous; the device does the waiting.
 *
 * Invariants
 *  L1 (T4) A report stands in the ring of reports before what depends on it is published. That wakes nobody: the comm
 *     worker reads reports when it has taken a frame, and is woken when their ring is full.
 *  L2 (T6) The image of a wave is taken before anything behind one of its markers is consumed; a rank that cannot take
 *     it declines. Its markers stand in all rings behind everything that it sent before.
 *  L3 (T6) The channel state of an image follows it in the up ring, as soon as it is whole. Meanwhile the rank goes on.
 *  L4 (T12) A rank that has ended takes no images. It hands the state of its last one over, and declines what comes.
 */
import { decodeValue, encodeValue, MalformedValue } from '@mayfly/mpi';
import type { LocalEvents } from '@mayfly/protocols';
import { EMPTY, emptyHeader, HEADER_BYTES, writeHeader, type Header, type TaskId } from '@mayfly/wire';
import { CHANNELS, Local, type ImageHead } from '../local-frames.ts';
import type { RankSide } from '../ring/index.ts';
import type { RingWriter } from '../ring/rings.ts';
import { writeImage } from './image-buffer.ts';
import type { LocalMessage, Teammates, Wait } from './teammates.ts';

const FORMAT = 1;
/** So often a program may poll in front of a marker before the wave is declined: it never lets its stack unwind. */
const POLLS = 8;

interface ChannelState {
  format: typeof FORMAT;
  /** Long bodies, by number. */
  bodies: Map<number, Uint8Array>;
  channels: Map<TaskId, readonly LocalMessage[]>;
}

export class TeamLog {
  private readonly reports: RingWriter;
  private readonly header = emptyHeader(Local.REPORT);
  /** The image whose channel state has not been handed over. */
  private open: (Omit<ImageHead, 'sections'> & { wave: number }) | undefined;
  /** Polls since a marker was met. */
  private polls = 0;

  constructor(
    private readonly team: Teammates,
    readonly events: LocalEvents,
    private readonly side: RankSide,
    /** Writes one frame into the up ring and publishes it. */
    private readonly write: (h: Header, body: Uint8Array) => void,
    /** Blocks for room, and moves what has come (teammates.ts, N2). */
    private readonly wait: Wait,
  ) {
    this.reports = team.memory.reportWriter(team.me, side.comm);
  }

  readonly accepts = (src: TaskId, channel: number): boolean => this.events.isNext(src, channel);

  /** Consumes the next message of a teammate that may be consumed now. @throws ReplayDiverged */
  take(src?: TaskId): LocalMessage | undefined {
    const m = this.team.take(src, this.accepts);
    if (m) this.events.consumeLocal(m.src, m.channel);
    return m;
  }

  /** L1. Not in the middle of a poll. */
  report(): void {
    const r = this.events.report(this.team.memory.count);
    if (!r) return;
    const { reports, header } = this;
    const length = HEADER_BYTES + r.block.length;
    let at = reports.reserve(length);
    if (at < 0) {
      // In vain while the comm worker is awake: it does not sleep before it has read (CommSide.wanted).
      this.side.nudge();
      this.wait(() => reports.hasRoom(length));
      at = reports.reserve(length);
    }
    header.channel = r.stamp;
    header.bytes = r.block.length;
    writeHeader(reports.view, at, header);
    reports.bytes.set(r.block, at + HEADER_BYTES);
    reports.commit(length);
    reports.show();
  }

  // ── images ─────────────────────────────────────────────────────────────────────────────────────────────────────────

  /** A marker stands before the next message of a teammate. */
  get met(): boolean {
    return this.team.cut.met > 0;
  }

  /** The wave of which an image is wanted; 0: none. */
  get wanted(): number {
    const { cut, memory, me } = this.team;
    const wave = Math.max(memory.wave(me), cut.met);
    return wave > cut.wave ? wave : 0;
  }

  /** The image of this wave is the last thing that the rank does: its node leaves. */
  isLast(wave: number): boolean {
    const { last } = this.team.memory;
    return last > 0 && wave >= last;
  }

  /** The image was handed over: what lies in the channels belongs to it (L2). */
  imaged(head: Omit<ImageHead, 'sections'> & { wave: number }): void {
    const { cut, bodies } = this.team;
    this.polls = 0;
    this.open = head;
    bodies.record();
    for (const dst of cut.cut(head.wave)) this.team.mark(dst, head.wave, this.wait);
    this.settle();
  }

  /** L2: no image can be taken here. */
  decline(wave = this.wanted): void {
    if (wave <= this.team.cut.wave) return;
    this.polls = 0;
    this.forget();
    this.team.cut.decline(wave);
    this.word(Local.DECLINED, wave);
  }

  private forget(): void {
    this.open = undefined;
    this.team.bodies.forget();
  }

  private word(kind: number, word: number): void {
    const h = emptyHeader(kind);
    h.word = word;
    this.write(h, EMPTY);
  }

  /** A poll is over: one that meets the same marker again and again ends the wave for this rank. */
  polled(): void {
    if (this.team.cut.met > 0 && ++this.polls > POLLS) this.decline();
  }

  /** The channel state may be handed over now, or is of no use any more: {@link settle}. */
  get whole(): boolean {
    if (!this.open) return false;
    const { team } = this;
    team.drain();
    team.closeDone();
    return team.cut.closed || team.memory.dropped >= this.open.wave;
  }

  /** Nothing is recorded for an image any more. */
  get handedOver(): boolean {
    return this.open === undefined;
  }

  /** L3. Where the up ring may be written. */
  settle(): void {
    if (!this.open || !this.whole) return;
    const { cut, memory, bodies } = this.team;
    const head = this.open;
    if (memory.dropped >= head.wave) {
      this.forget();
      return cut.decline(head.wave);
    }
    this.open = undefined;
    const state: ChannelState = { format: FORMAT, bodies: bodies.take(), channels: new Map(cut.state) };
    const section = { name: CHANNELS, parts: [encodeValue(state, 'channel state')] };
    writeImage({ ...head, closes: true }, [section], undefined, this.write);
  }

  /** Puts the channel state of an image back. @throws MalformedValue */
  restore(section: Uint8Array): void {
    const state = decodeValue(section) as ChannelState;
    if (state.format !== FORMAT || !(state.bodies instanceof Map) || !(state.channels instanceof Map))
      throw new MalformedValue(`channel state of format ${String(state.format)}, this build reads ${FORMAT}`);
    this.team.bodies.restore(state.bodies);
    this.team.cut.restore(state.channels);
    const numbers = [...state.bodies.keys(), ...[...state.channels.values()].flat().map((m) => m.number)];
    this.team.resume(numbers.reduce((a, b) => Math.min(a, b), 0));
  }

  // ── the end ────────────────────────────────────────────────────────────────────────────────────────────────────────

  /** The EXIT of this program was sent by an incarnation before (T12). */
  exitWasSent(): void {
    this.word(Local.ENDED, 0);
  }

  /** {@link ended} has something to do. */
  get calls(): boolean {
    const { memory, me, cut } = this.team;
    return this.whole || memory.wave(me) > cut.wave;
  }

  /** L4. True: nothing is left to be done for the team, until something rings. */
  ended(): boolean {
    const { memory, me } = this.team;
    // A marker of a wave in which it has no part means nothing.
    this.decline(memory.wave(me));
    this.settle();
    return this.open === undefined;
  }
}
