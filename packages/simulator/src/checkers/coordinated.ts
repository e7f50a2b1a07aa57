/**
 * The kit of coordinated checkpointing: what a wave that counts must have, and what the world may see. Shares no code
 * with the cores.
 *
 *  Q1, Q2, Q3, Q5, Q19: surviving.ts. Q7, Q9: epochs.ts. Q8, Q10, Q11: wave-course.ts.
 *  `pcl`: Q20, Q21: blocking.ts.
 *  Q1 The cuts of a committed wave are consistent: no task has consumed what its sender's image has not sent.
 *  Q2 Every message that a sender's image has sent and its receiver's has not consumed is in a wave stream, once,
 *     durably, with the content that its sender gave it; so is the body of every arrival that an image has without it.
 *  Q4 Every image that a committed wave names is complete; of a wave of which images are with the nodes, when all tasks
 *     go back to it.
 *  Q6 The world, and with it every file, sees of a task nothing behind its cut in the older of the two waves that are
 *     kept and have all their images at the server.
 *  Q7 What a task had written to the world before its cut is durable when the wave counts.
 *  Q8 Two waves are kept, and no image or record of theirs goes; one more, if images of some are with the nodes.
 *
 * Owns: the committed waves as the registry has them, messages in wave streams and on their way to the world.
 */
import { WORLD, type Frame, type Header } from '@mayfly/wire';
import { Violation } from '../violation.ts';
import type { Blocking } from './blocking.ts';
import { Epochs } from './epochs.ts';
import { Records, messageKey, type Place } from './records.ts';
import { Surviving } from './surviving.ts';
import { incarnationOf, name, type Histories, type ProtocolCheckers, type Stores, type Trim } from './universal.ts';
import { WaveCourse } from './wave-course.ts';
import { consumedBefore, sentBefore, shownBefore, type Line, type Member, type Wave } from './wave-records.ts';
import type { WaveWitness } from './wave-witness.ts';
import { WithoutLog } from './without-log.ts';

export class Coordinated extends WithoutLog implements ProtocolCheckers {
  private readonly records = new Records();
  private readonly committed = new Map<number, Wave>();
  /** Q6: messages of each task to the world before its cut in a wave that was the older of two. */
  private readonly stable = new Map<number, number>();
  private parity = false;
  private readonly surviving = new Surviving();
  private readonly course: WaveCourse;
  private readonly epochs: Epochs;
  readonly waves: WaveWitness;

  constructor(
    private readonly histories: Histories,
    private readonly stores: Stores,
    private readonly blocking?: Blocking,
  ) {
    super();
    const { surviving } = this;
    const course = (this.course = new WaveCourse(() => stores.now()));
    const epochs = (this.epochs = new Epochs({
      logs: () => stores.disks.length,
      raised: (task) => stores.raised(task),
      before: () => surviving.incarnations(),
      isDone: (task) => stores.isDone(task),
      wave: (number) => this.committed.get(number),
    }));
    this.waves = {
      serverBegins() {
        course.serverBegins();
        epochs.serverBegins();
        blocking?.ends();
      },
      begins(wave) {
        course.begins(wave);
        blocking?.begins(wave);
      },
      ends(wave) {
        course.ends(wave);
        blocking?.ends();
      },
      rollsBack() {
        course.rollsBack();
        epochs.rollsBack();
      },
      wentBack: (cm, epoch) => epochs.wentBack(cm, epoch),
      goesOn() {
        course.goesOn();
        epochs.goesOn(surviving.incarnations());
      },
      imageTaken: (task, incarnation, image, held) => surviving.imageTaken(task, incarnation, image, held),
      assigned: (task, incarnation, image) => epochs.assigned(task, incarnation, image),
      writes: (task, bytes) => blocking?.writes(task, bytes),
      leaves: (bytes) => blocking?.leaves(bytes),
      holdsBack: (cm, messages) => course.holdsBack(cm, messages),
    };
  }

  /** The later life of a task is the one that counts: whatever an earlier one did behind the line is undone. */
  supersedes(life: number, known: number): boolean {
    return life >= known;
  }

  // ---- what is committed ----

  registered(key: string, value: unknown): void {
    const [kind, , number] = key.split('/');
    if (kind === 'task') return this.surviving.raised(Number(number), (value as { incarnation: number }).incarnation);
    if (kind === 'line' && value !== undefined) return this.goBack(value as Line);
    if (kind !== 'wave') return;
    if (value === undefined) return void this.committed.delete(Number(number));
    const wave = value as Wave;
    if (!this.committed.get(wave.wave)?.near) return this.counts(wave);
    // All its images have come to the server.
    this.committed.set(wave.wave, wave);
    this.imagesOf(wave);
  }

  private counts(wave: Wave): void {
    this.committed.set(wave.wave, wave);
    this.consistent(wave);
    this.surviving.committed(wave);
    this.blocking?.committed(wave);
    this.whole(wave);
    if (!wave.near) this.imagesOf(wave);
    for (const m of wave.tasks) this.durable(wave.wave, m);
    if (wave.epoch !== this.epochs.epoch)
      throw new Violation(`Q19: wave ${wave.wave} of epoch ${wave.epoch} counts in epoch ${this.epochs.epoch}`);
    this.parity ||= wave.near ?? false;
    if (this.committed.size > (this.parity ? 3 : 2)) throw new Violation(`Q8: ${this.committed.size} waves are kept`);
    const kept = [...this.committed.values()].sort((a, b) => a.wave - b.wave);
    if (kept.slice(0, -1).some((w) => w.near)) throw new Violation('Q8: a wave is kept that no checksum has any more');
    const older = kept.filter((w) => !w.near).at(-2);
    if (older)
      for (const t of older.tasks) this.stable.set(t.task, Math.max(this.stable.get(t.task) ?? 0, shownBefore(t)));
  }

  private goBack(line: Line): void {
    this.epochs.drawn(line);
    const to = this.committed.get(line.wave);
    if (to) this.imagesOf(to);
    this.surviving.back(to);
  }

  /** Q1. */
  private consistent({ wave, tasks }: Wave): void {
    for (const p of tasks)
      for (const [src, received] of p.cut?.receives ?? []) {
        const sent = sentBefore(tasks[src], p.task);
        if (tasks[src] && received > sent)
          throw new Violation(
            `Q1: wave ${wave}: ${p.task} has consumed ${received} messages of ${src}, which sent ${sent}`,
          );
      }
  }

  /** Q4. */
  private imagesOf(w: Wave): void {
    for (const p of w.tasks)
      if (p.state === 'image' && !this.stores.kept(p.task).some((i) => i.image === p.image))
        throw new Violation(`Q4: wave ${w.wave} names image ${p.image} of task ${p.task}, which is not complete`);
  }

  /** Q2. */
  private whole(w: Wave): void {
    const recorded = this.recordedIn(w);
    for (const p of w.tasks) {
      if (p.state === 'ended') continue;
      const lacks = (src: number, n: number, wrote: number | undefined): void => {
        const digest = recorded.get(messageKey(src, p.task, n));
        if (digest === undefined)
          throw new Violation(`Q2: wave ${w.wave} lacks message ${n} of ${name(src)} → ${p.task}`);
        if (wrote !== undefined && wrote !== digest)
          throw new Violation(`Q2: wave ${w.wave} has another message ${n} of ${name(src)} → ${p.task}`);
      };
      for (const q of w.tasks) {
        const sends = this.surviving.sentTo(q.task, p.task);
        const sent = Math.min(sends.length, sentBefore(q, p.task));
        for (let n = consumedBefore(p, q.task) + 1; n <= sent; n++) lacks(q.task, n, sends[n - 1]);
      }
      for (const held of p.image === undefined ? [] : this.surviving.heldBy(p.image)) {
        const m = this.histories.arrival(p.task, held);
        if (m) lacks(m.src, m.channel, this.histories.sentBy(m.src, p.task, m.channel)?.digest);
      }
    }
  }

  /** Durable messages of the wave streams, by channel and number. */
  private recordedIn({ wave, epoch }: Wave): Map<string, number> {
    const found = new Map<string, number>();
    this.stores.disks.forEach((disk, cm) => {
      for (const stream of this.streams.get(cm) ?? []) {
        let mine = false;
        this.records.of(cm, stream).forEach((m, lsn) => {
          if (!m || lsn >= disk.syncedTo(stream)) return;
          if (m.type === 'wave') mine = m.wave === wave && m.epoch === epoch;
          else if (mine && m.type === 'message' && m.digest !== undefined) {
            const key = messageKey(m.src, m.dst, m.channel);
            if (found.has(key))
              throw new Violation(`Q2: wave ${wave} has message ${m.channel} of ${name(m.src)} → ${m.dst} twice`);
            found.set(key, m.digest);
          }
        });
      }
    });
    return found;
  }

  /** Q7: of a task that has ended, everything. */
  private durable(wave: number, m: Member): void {
    const wrote = this.surviving.sentTo(m.task, WORLD);
    const due = Math.min(wrote.length, shownBefore(m));
    const has = new Map<number, number>();
    let out = this.out.get(m.task) ?? 0;
    const stream = `w${m.task}`;
    this.stores.disks.forEach((disk, cm) =>
      this.records.of(cm, stream).forEach((r, lsn) => {
        if (lsn >= disk.syncedTo(stream)) return;
        if (r?.type === 'base') out = Math.max(out, r.count);
        else if (r?.type === 'message' && r.digest !== undefined) has.set(r.channel, r.digest);
      }),
    );
    for (let n = out + 1; n <= due; n++)
      if (has.get(n) !== wrote[n - 1])
        throw new Violation(`Q7: wave ${wave} counts, and message ${n} of task ${m.task} to the world is not durable`);
  }

  // ---- what passes through the server ----

  private readonly streams = new Map<number, Set<string>>();

  /** Messages of a task to the world that are in the files for good. */
  private readonly out = new Map<number, number>();

  logged(at: Place, frame: Frame): void {
    if (at.stream.startsWith('w')) this.records.append(at, frame);
    if (!at.stream.startsWith('v')) return;
    const known = this.streams.get(at.cm) ?? new Set();
    this.streams.set(at.cm, known.add(at.stream));
    this.records.append(at, frame);
  }

  cut(cm: number, stream: string, next: number): void {
    this.records.cut(cm, stream, next);
  }

  /** Q8. */
  trims(cm: number, { stream, to }: Trim): void {
    const task = Number(stream.slice(1));
    if (stream.startsWith('w'))
      this.records.of(cm, stream).forEach((m, lsn) => {
        if (m?.type === 'message' && lsn < to) this.out.set(task, Math.max(m.channel, this.out.get(task) ?? 0));
      });
    if (!stream.startsWith('v')) return;
    for (const w of this.committed.values())
      this.records.of(cm, stream).forEach((m, lsn) => {
        if (m?.type === 'wave' && m.wave === w.wave && m.epoch === w.epoch && lsn < to)
          throw new Violation(`Q8: what task ${task} lacks in wave ${w.wave} goes, and the wave is kept`);
      });
  }

  /** Q6. */
  shows(_cm: number, task: number, channel: number): void {
    this.surviving.shows(task, channel);
    if ([...this.committed.values()].some((w) => w.tasks.every((t) => t.state === 'ended'))) return;
    const most = this.stable.get(task) ?? 0;
    if (channel > most)
      throw new Violation(`Q6: the world sees message ${channel} of task ${name(task)}; ${most} can never be undone`);
  }

  // ---- what ranks do ----

  began(task: number, life: number): void {
    this.epochs.began(task, incarnationOf(life));
  }

  sent(task: number, life: number, dst: number, channel: number, digest: number): void {
    this.surviving.sent(task, incarnationOf(life), dst, channel, digest);
  }

  consumed(
    task: number,
    life: number,
    _arrival: number,
    src: number,
    channel: number,
    digest: number | undefined,
  ): void {
    this.surviving.consumed(task, incarnationOf(life), src, channel, digest);
  }

  /** Q9. */
  pushed(cm: number, header: Header): void {
    this.epochs.pushed(cm, header);
  }
}
