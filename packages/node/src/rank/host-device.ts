/**
 * What the host of a rank does with its device besides MPI: files, sleep, images, the end (host.ts, rank-images.ts).
 * Keeps the invariants of device.ts. Synchronous.
 */
import { CHUNK_BYTES, emptyHeader, EMPTY, Flag, MayflyError, WORLD, WorldMode, type ExitReport } from '@mayfly/wire';
import { CHANNELS, Local, PROLOGUE, type ImageHead } from '../local-frames.ts';
import { Ask } from '../ring/index.ts';
import { RankState } from '../status.ts';
import { Carried } from './carried.ts';
import { readChannels } from './channel-state.ts';
import { RingDevice } from './device.ts';
import { writeImage, type ImageSection } from './image-buffer.ts';
import { Prologue } from './prologue.ts';

const text = new TextEncoder();

/** Of a sleep that was stopped at its end. */
const LEAST_LEFT_MS = 0.001;

export class RankDevice extends RingDevice {
  /** Reads an input file, blocking. Files never change, so this is no event. @throws MayflyError NOT_FOUND */
  read(path: string): Uint8Array {
    this.side.down.release();
    this.write(emptyHeader(Local.READ), EMPTY, text.encode(path));
    let all: Uint8Array | undefined;
    for (;;) {
      const f = this.awaited((h) => h.kind === Local.CONTENT, 'file');
      all ??= new Uint8Array(f.header.size);
      all.set(f.body, f.header.offset);
      this.side.down.release();
      if ((f.header.flags & Flag.LAST) === 0) continue;
      if (f.header.mode === 1) throw new MayflyError('NOT_FOUND', new TextDecoder().decode(all));
      return all;
    }
  }

  /**
   * Does nothing for `ms`, or until `stop()`; returns what is left. A replay does not wait. What stops it is asked for
   * once only, so something is left then, however late it is.
   */
  sleep(ms: number, stop: () => boolean, now: () => number): number {
    if (this.endpoint.replaying) return 0;
    const end = now() + ms;
    let stopped = false;
    const over = (): boolean => {
      this.mark();
      return (stopped = stop());
    };
    this.side.pause(ms, over, now);
    return stopped ? Math.max(LEAST_LEFT_MS, end - now()) : 0;
  }

  /**
   * H4 (protocols/src/backlog.ts). The program cannot catch this: whether and when it happens is no event of the log,
   * so nothing may come of it but the end of the job.
   */
  protected override overflows(): void {
    const backlog = this.team?.backlog;
    if (!backlog?.full) return;
    backlog.close();
    const message =
      `rank ${this.task} has ${Math.floor(backlog.limits.most / 1048576)} MB of messages from ranks of its node that it ` +
      'has not received, and takes no more. They go on sending, and it does not receive them: let them wait, with ' +
      'MPI_Ssend or for an answer (docs/teams.md).';
    const report: ExitReport = { code: 1, abort: { code: 'PROGRAM_ERROR', message } };
    this.send(WORLD, WorldMode.EXIT, 0, 0, 0, text.encode(JSON.stringify(report)));
    this.flush();
    this.status.state(RankState.ENDED);
    this.leave();
  }

  /** The program has ended, and its EXIT is in the ring. The comm worker ends this thread when it is durable. */
  leave(): never {
    this.team?.leave();
    if (this.team) this.side.nudge();
    for (;;) {
      // Until the team's last image is whole, what comes for it matters.
      if (this.log && !this.log.ended())
        this.block(
          () => true,
          () => this.log!.calls,
        );
      else this.side.park();
    }
  }

  /**
   * The node leaves: the image that was handed over is the last thing that this incarnation did. Returns when the image
   * is of no use, as a teammate has none.
   */
  park(wave?: number): void {
    this.status.state(RankState.CHECKPOINTING);
    for (;;) {
      if (this.log && !this.log.handedOver)
        this.block(
          () => true,
          () => this.log!.whole,
        );
      else if (wave !== undefined && this.team!.memory.dropped >= wave) return this.status.parked(false);
      else this.side.park();
    }
  }

  /** Of a script alone, at this call of checkpoint.here: its last image is wanted here, or only at a later call. */
  stopsAt(call: number): 'here' | 'later' | undefined {
    const { side } = this;
    const left = side.wanted(Ask.LEAVE) && side.lastCall !== 0 ? (side.lastCall - call) | 0 : -1;
    return left > 0 ? 'later' : left === 0 && !side.imageUnderWay ? 'here' : undefined;
  }

  /**
   * True once after the comm worker asked for a checkpoint, and whenever `elapsed`; never while an image is still on
   * its way. Where the team has a log, its waves alone decide.
   */
  /** From one image to the next, ms, because they cost so much (ImageCost). */
  get imageSpacing(): number {
    return this.side.spacing;
  }

  checkpointDue(elapsed: boolean): boolean {
    if (this.side.imageUnderWay) return false;
    if (this.log) return this.log.wanted > 0;
    return this.side.asked(Ask.CHECKPOINT) || elapsed;
  }

  /** A script begins with this image: it runs to checkpoint.open first. @throws MalformedValue */
  begins(image: ReadonlyMap<string, Uint8Array>): void {
    const section = image.get(PROLOGUE);
    const prologue = section && new Prologue(section, this.endpoint);
    this.sources.prologue = prologue;
    if (prologue) this.unexpectedBytes = Infinity; // no log has the bodies
    this.log?.begins(prologue, image.get(CHANNELS), this.endpoint.carriedPlace);
  }

  /** What an image of a script holds of its prologue; absent: it had no teammates then. */
  get prologue(): ImageSection | undefined {
    const section = this.log?.script ? this.log.prologueSection : this.sources.prologue?.section;
    return section && { name: PROLOGUE, parts: [section] };
  }

  /** A script of a team is at checkpoint.here: the wave of the image that it takes here; 0: none. */
  here(may: boolean, force: boolean): number {
    return this.log!.here(may && !this.side.imageUnderWay, force);
  }

  /** T9, of a rank alone: what is left of what a team left behind that was dissolved. */
  get carried(): Carried['section'] {
    return this.team ? undefined : this.sources.carried?.section;
  }

  /**
   * The endpoint stands on its image's line. `channels`: what lay in the channels from teammates. A script with a team
   * has that already ({@link begins}).
   */
  jumped(channels?: Uint8Array): void {
    const { log, team } = this;
    if (team && log) {
      log.opened();
      const sent = new Map(this.endpoint.sent());
      team.countFrom(
        (dst) => sent.get(dst) ?? 0,
        (src) => log.events.received(src),
      );
      if (log.script) this.sources.carried = log.carried;
      else if (channels) this.sources.carried = log.restore(readChannels(channels), this.endpoint.carriedPlace);
    } else if (channels) {
      this.sources.carried = new Carried(readChannels(channels), this.endpoint.carriedPlace);
      this.unexpectedBytes = Infinity; // no log has the bodies of what is carried over
    }
    this.moved();
  }

  /**
   * Hands an image to the comm worker, behind everything sent before it: the first section by a copy into `buffer`
   * where there is one, the others through the ring. The stall of a checkpoint is this copy. The buffer belongs to the
   * comm worker until imageUnderWay falls. True: the node leaves, {@link park} behind it.
   */
  image(
    head: Omit<ImageHead, 'sections'>,
    sections: readonly ImageSection[],
    buffer?: SharedArrayBuffer,
    /** Of a script: the call of checkpoint.here. */
    call = 0,
  ): boolean {
    const { wave } = head;
    this.side.down.release();
    this.flush();
    this.status.state(RankState.CHECKPOINTING);
    const leaving =
      wave !== undefined
        ? this.log!.isLast(wave)
        : (this.side.lastCall === 0 || this.stopsAt(call) === 'here') && this.side.asked(Ask.LEAVE);
    if (leaving) this.status.parked();
    this.side.imageUnderWay = true;
    writeImage(head, sections, buffer, (h, body) => this.write(h, EMPTY, body));
    if (wave !== undefined) this.log!.imaged({ ...head, wave });
    this.status.state(RankState.COMPUTING);
    return leaving;
  }

  /** A sentence for the node's log. */
  note(sentence: string): void {
    this.write(emptyHeader(Local.NOTE), EMPTY, text.encode(sentence).subarray(0, CHUNK_BYTES));
  }
}
