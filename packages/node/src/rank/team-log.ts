/**
 * What a rank owes the log of its team (packages/protocols/DESIGN.md, *Teams under the pessimistic log*): reports, and
 * its part in the images of the team. Synchronous; the device does the waiting.
 *
 * Invariants
 *  L1 (T4) A report stands in the ring of reports before what depends on it is published. That wakes nobody: the comm
 *     worker reads reports when it has taken a frame, and is woken when half of their ring is full.
 *  L2 (T6) The image of a wave is taken before anything behind one of its markers is consumed; a rank that cannot take
 *     it declines. Its markers stand in all rings behind everything that it sent before.
 *  L3 (T6) The channel state of an image follows it in the up ring, as soon as it is whole. Meanwhile the rank goes on.
 *  L4 (T12) A rank that has ended takes no images. It hands the state of its last one over, and declines what comes.
 *  L5 (T6) A script (rounds.ts) takes the image of a wave at its call of checkpoint.here that the wave names. If it
 *     waits for a message and something has come behind a marker, that stays there for its {@link patience}; then it
 *     declines. Its next call is often near, and it need not be that message for which it waits.
 *  L6 (T6) What a script consumes of teammates before checkpoint.open goes into its images. With an image it begins
 *     with these messages (prologue.ts) and the state of its channels in its memory: teammates that are past their
 *     `open` already send behind that.
 *  L7 (T6) A script declines when too much has come for the channel state of its image.
 *  L8 (T6) A script that asks for an image at this call waits there until it has an answer: a wave may name a call that
 *     some have reached, if they wait. It does not while a wave is under way, which may need what it sends next.
 *  L9 (T9) What is left of the channels from members of an earlier, larger team is part of an image's channel state.
 */
import { atHere, PrologueCopies, type Batch, type LocalEvents } from '@mayfly/protocols';
import { EMPTY, emptyHeader, type Header, type TaskId } from '@mayfly/wire';
import { Local, reportBytes, writeReport, type ImageHead } from '../local-frames.ts';
import { SAFETY_MS, type RankSide } from '../ring/index.ts';
import type { RingWriter } from '../ring/rings.ts';
import { Carried } from './carried.ts';
import { channelsSection, readChannels, type ChannelState } from './channel-state.ts';
import { writeImage } from './image-buffer.ts';
import { prologueSection, type Prologue } from './prologue.ts';
import type { LocalMessage, Teammates, Wait } from './teammates.ts';

/** So often a program may poll in front of a marker before the wave is declined: it never lets its stack unwind. */
const POLLS = 8;

/** L5: least and most, ms. */
const LEAST_MS = 20;
const MOST_MS = 1000;
/** L7. */
const MOST_RECORDED = 64 * 1024 * 1024;

/** What a rank needs to know to be a script. */
export interface Script {
  /** The engine's own clock, ms. */
  now(): number;
  /** Between two images, ms. */
  readonly intervalMs: number;
}

export class TeamLog {
  private readonly reports: RingWriter;
  /** The image whose channel state has not been handed over. */
  private open: (Omit<ImageHead, 'sections'> & { wave: number }) | undefined;
  /** L9; and what was left of it at that image. */
  carried: Carried | undefined;
  private left: readonly Batch<LocalMessage>[] = [];
  /** Polls since a marker was met. */
  private polls = 0;
  /** Of a script (L6). */
  private copies = new PrologueCopies<LocalMessage>();
  private prologue: Uint8Array | undefined;
  /** Since when something waits behind a marker (L5). */
  private since: number | undefined;
  /** Its last call of checkpoint.here, and the time from the one before to it, ms. */
  private called = 0;
  private gap = 0;
  /** The wave before the one that this script wishes for. */
  private wished: number | undefined;

  constructor(
    private readonly team: Teammates,
    readonly events: LocalEvents,
    private readonly side: RankSide,
    /** Writes one frame into the up ring and publishes it. */
    private readonly write: (h: Header, body: Uint8Array) => void,
    /** Blocks for room, and moves what has come (teammates.ts, N2). */
    private readonly wait: Wait,
    /** Absent: images are transparent. */
    readonly script?: Script,
  ) {
    this.reports = team.memory.reportWriter(team.me, side.comm);
  }

  readonly accepts = (src: TaskId, channel: number): boolean => this.events.isNext(src, channel);

  /** Consumes the next message of a teammate that may be consumed now. @throws ReplayDiverged */
  take(src?: TaskId): LocalMessage | undefined {
    const m = this.team.take(src, this.accepts);
    if (!m) return undefined;
    this.events.consumeLocal(m.src, m.channel);
    if (this.script) this.copies.consumed(m.src, m.size, () => ({ ...m, body: m.body?.slice() }));
    return m;
  }

  /** The body of a message in parts has come whole. */
  pulled(number: number, body: Uint8Array): void {
    if (this.script && this.copies.records)
      this.copies.completes(
        (m) => m.number === number,
        (m) => ({ ...m, body: body.slice() }),
      );
  }

  /** L1. Not in the middle of a poll. */
  report(): void {
    const r = this.events.report(this.team.memory.count);
    if (!r) return;
    const { reports } = this;
    const length = reportBytes(r);
    let at = reports.reserve(length);
    if (at < 0) {
      // In vain while the comm worker is awake: it does not sleep before it has read (CommSide.wanted).
      this.side.nudge();
      this.wait(() => reports.hasRoom(length));
      at = reports.reserve(length);
    }
    writeReport(reports.view, at, r);
    reports.commit(length);
    reports.show();
    if (reports.crowded) this.side.nudge();
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
    this.left = this.carried?.left ?? [];
    this.team.recorded = 0;
    bodies.record();
    for (const dst of cut.cut(head.wave)) this.team.mark(dst, head.wave, this.wait);
    this.settle();
  }

  /** L2: no image can be taken here. */
  decline(wave = this.wanted): void {
    if (wave > this.team.cut.wave) this.drops(wave);
  }

  private drops(wave: number): void {
    this.polls = 0;
    this.forget();
    this.team.cut.decline(wave);
    this.word(Local.DECLINED, wave);
  }

  private forget(): void {
    this.open = undefined;
    this.team.bodies.forget();
  }

  private word(kind: number, word: number, mode = 0): void {
    const h = emptyHeader(kind);
    h.word = word;
    h.mode = mode;
    this.write(h, EMPTY);
  }

  /** A poll is over: one that meets the same marker again and again ends the wave for this rank. */
  polled(): void {
    if (this.team.cut.met === 0) return;
    if (this.script) this.passes();
    else if (++this.polls > POLLS) this.decline();
  }

  /** Nothing else is here. True: what stands behind a marker may be taken now. */
  passes(): boolean {
    const { cut, memory } = this.team;
    if (cut.met === 0 || (!this.script && this.side.imageUnderWay)) return false;
    if (this.script && memory.dropped >= cut.met) cut.decline(cut.met);
    else if (!this.script || this.tired) this.decline();
    else return false;
    return true;
  }

  /** L5. */
  get tired(): boolean {
    const { script, team } = this;
    if (!script) return false;
    if (team.cut.met === 0 || !team.heldBack) {
      if (this.since !== undefined) this.side.nap = SAFETY_MS;
      this.since = undefined;
      return false;
    }
    const now = script.now();
    this.since ??= now;
    const left = this.since + this.patience - now;
    this.side.nap = Math.max(1, Math.min(left, SAFETY_MS));
    return left <= 0 || team.memory.dropped >= team.cut.met;
  }

  private get patience(): number {
    const { intervalMs } = this.script!;
    const most = Math.min(MOST_MS, intervalMs);
    return Math.max(LEAST_MS, Math.min(most, Math.max(2 * this.gap, intervalMs / 20)));
  }

  // ── scripts ────────────────────────────────────────────────────────────────────────────────────────────────────────

  /**
   * At checkpoint.here: the wave whose image is to be taken here (L5); 0: none. `may`: one can be. `force`: it wants
   * one (L8).
   */
  here(may: boolean, force: boolean): number {
    const { memory, me, cut } = this.team;
    const last = memory.wave(me);
    const waits = force && may && this.copies.all !== undefined && Math.max(memory.dropped, memory.complete) >= last;
    if (waits) memory.offer(me, true);
    const call = memory.call(me);
    const now = this.script!.now();
    this.gap = now - this.called;
    this.called = now;
    if (waits) {
      this.word(Local.WISH, call, 1);
      this.wait(() => memory.wave(me) > last || memory.refused(me) === call);
      memory.offer(me, false);
    }
    const wave = memory.wave(me);
    if (wave <= cut.wave) return 0;
    const what = memory.dropped >= wave ? 'dropped' : atHere((call - memory.round) | 0, 0);
    if (what === 'later') return 0;
    if (what === 'dropped') cut.decline(wave);
    else if (what === 'image' && may && this.copies.all) return wave;
    else this.decline(wave);
    return 0;
  }

  /** It began with an image, with so many calls of checkpoint.here before that. */
  began(calls: number): void {
    this.team.memory.began(this.team.me, calls);
  }

  /** The program wants an image soon. */
  wish(): void {
    const wave = this.team.memory.wave(this.team.me);
    if (this.wished === wave) return;
    this.wished = wave;
    this.word(Local.WISH, 0);
  }

  /** At checkpoint.open (L6). */
  opened(): void {
    this.copies.opened();
  }

  /** Too much was received before checkpoint.open: this rank has no images. */
  get hasImages(): boolean {
    return this.copies.all !== undefined;
  }

  /** The section of an image with what was received before checkpoint.open. */
  get prologueSection(): Uint8Array {
    return (this.prologue ??= prologueSection(this.copies.all ?? new Map<never, never>()));
  }

  /** L6, of a script. Absent: it had no teammates then, or nothing lies in its channels. @throws MalformedValue */
  begins(prologue: Prologue | undefined, channels: Uint8Array | undefined, place: number | undefined): void {
    this.copies = new PrologueCopies(prologue?.received ?? new Map<never, never>());
    this.prologue = prologue?.section;
    this.team.resume(prologue?.lowest ?? 0);
    if (channels) this.restore(readChannels(channels), place);
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
    if (!this.open) return;
    if (!this.whole) {
      if (this.script && this.team.recorded > MOST_RECORDED) this.drops(this.open.wave);
      return;
    }
    const { cut, memory, bodies } = this.team;
    const head = this.open;
    if (memory.dropped >= head.wave) {
      this.forget();
      return cut.decline(head.wave);
    }
    this.open = undefined;
    const section = channelsSection({ bodies: bodies.take(), channels: cut.state, carried: this.left });
    writeImage({ ...head, closes: true }, [section], undefined, this.write);
  }

  /**
   * Puts the channel state of an image back. Returns what it has of regroupings (L9). `place`: so many arrivals come
   * before the state of its channels, where its team was regrouped since.
   */
  restore({ bodies, channels, carried = [] }: ChannelState, place?: number): Carried {
    const { team } = this;
    team.bodies.restore(bodies);
    // Where logs may have what was sent since, all of it has its place among that.
    const stays = (src: TaskId): boolean => place === undefined && team.placeOf(src) !== undefined;
    const ours = [...channels].filter(([src]) => stays(src));
    team.restore(new Map(ours));
    const numbers = [
      ...bodies.keys(),
      ...[channels, ...carried.map((b) => b.channels)].flatMap((c) => [...c.values()].flat().map((m) => m.number)),
    ];
    team.resume(numbers.reduce((a, b) => Math.min(a, b), 0));
    const others = [...channels].filter(([src]) => !stays(src));
    this.carried = new Carried({ bodies: new Map(), channels: new Map(others), carried }, place);
    this.events.carries(this.carried.counts);
    return this.carried;
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
