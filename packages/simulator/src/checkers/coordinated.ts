/**
 * The kit of coordinated checkpointing: what a wave that counts must have, and what the world may see. Shares no code
 * with the cores.
 *
 *  Q1 The cuts of a committed wave are consistent: no task has consumed what its sender's image has not sent.
 *  Q2 Every message that a sender's image has sent and its receiver's has not consumed is in a wave stream, durably,
 *     with the content that its sender gave it.
 *  Q4 Every image that a committed wave names is complete.
 *  Q6 The world sees of a task nothing behind its cut in the older of the two waves that are kept.
 *  Q8 Two waves are kept, and no image of theirs goes.
 *
 * Owns: the committed waves as the registry has them, messages in wave streams.
 */
import { WORLD, type ErrorBody, type Frame } from '@mayfly/wire';
import { Violation } from '../violation.ts';
import { Records, messageKey, type Place } from './records.ts';
import { name, type Excuses, type Histories, type ProtocolCheckers, type Stores, type Trim } from './universal.ts';

interface CutOf {
  readonly arrivals: number;
  readonly sends: readonly (readonly [number, number])[];
  readonly receives: readonly (readonly [number, number])[];
}
interface Wave {
  readonly wave: number;
  readonly epoch: number;
  readonly tasks: readonly {
    readonly task: number;
    readonly state: 'image' | 'start' | 'ended';
    readonly image?: string;
    readonly cut?: CutOf;
  }[];
}

export class Coordinated implements ProtocolCheckers {
  private readonly records = new Records();
  private readonly waves = new Map<number, Wave>();
  /** Q6: messages of each task to the world before its cut in a wave that was the older of two. */
  private readonly stable = new Map<number, number>();

  constructor(
    private readonly histories: Histories,
    private readonly stores: Stores,
  ) {}

  /** The later life of a task is the one that counts: whatever an earlier one did behind the line is undone. */
  supersedes(life: number, known: number): boolean {
    return life >= known;
  }

  // ---- what is committed ----

  registered(key: string, value: unknown): void {
    const [kind, , number] = key.split('/');
    if (kind !== 'wave') return;
    if (value === undefined) return void this.waves.delete(Number(number));
    const wave = value as Wave;
    this.waves.set(wave.wave, wave);
    this.consistent(wave);
    this.whole(wave);
    if (this.waves.size > 2) throw new Violation(`Q8: ${this.waves.size} waves are kept`);
    const kept = [...this.waves.values()].sort((a, b) => a.wave - b.wave);
    if (kept.length === 2)
      for (const t of kept[0]!.tasks) {
        const sent = t.cut?.sends.find(([dst]) => dst === WORLD)?.[1] ?? 0;
        this.stable.set(t.task, Math.max(this.stable.get(t.task) ?? 0, t.state === 'ended' ? Infinity : sent));
      }
  }

  /** Q1. */
  private consistent({ wave, tasks }: Wave): void {
    for (const p of tasks)
      for (const [src, received] of p.cut?.receives ?? []) {
        const q = tasks[src];
        if (!q || q.state === 'ended') continue;
        const sent = q.cut?.sends.find(([dst]) => dst === p.task)?.[1] ?? 0;
        if (received > sent)
          throw new Violation(
            `Q1: wave ${wave}: ${p.task} has consumed ${received} messages of ${src}, which sent ${sent}`,
          );
      }
  }

  /** Q2, Q4. */
  private whole(w: Wave): void {
    const recorded = this.recordedIn(w);
    for (const p of w.tasks) {
      if (p.state === 'image' && !this.stores.kept(p.task).some((i) => i.image === p.image))
        throw new Violation(`Q4: wave ${w.wave} names image ${p.image} of task ${p.task}, which is not complete`);
      if (p.state === 'ended') continue;
      for (const q of w.tasks) {
        if (q.state === 'start') continue;
        const received = p.cut?.receives.find(([src]) => src === q.task)?.[1] ?? 0;
        const sent = q.cut?.sends.find(([dst]) => dst === p.task)?.[1] ?? 0;
        for (let n = received + 1; n <= sent; n++) {
          const key = messageKey(q.task, p.task, n);
          const digest = recorded.get(key);
          if (digest === undefined)
            throw new Violation(`Q2: wave ${w.wave} lacks message ${n} of ${q.task} → ${p.task}`);
          const wrote = this.histories.sentBy(q.task, p.task, n);
          if (wrote && wrote.digest !== digest)
            throw new Violation(`Q2: wave ${w.wave} has another message ${n} of ${q.task} → ${p.task}`);
        }
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
          else if (mine && m.type === 'message' && m.digest !== undefined)
            found.set(messageKey(m.src, m.dst, m.channel), m.digest);
        });
      }
    });
    return found;
  }

  // ---- what passes through the server ----

  private readonly streams = new Map<number, Set<string>>();

  logged(at: Place, frame: Frame): void {
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
    if (!stream.startsWith('v')) return;
    const task = Number(stream.slice(1));
    for (const w of this.waves.values())
      this.records.of(cm, stream).forEach((m, lsn) => {
        if (m?.type === 'wave' && m.wave === w.wave && m.epoch === w.epoch && lsn < to)
          throw new Violation(`Q8: what task ${task} lacks in wave ${w.wave} goes, and the wave is kept`);
      });
  }

  /** Q6. */
  shows(_cm: number, task: number, channel: number): void {
    if ([...this.waves.values()].some((w) => w.tasks.every((t) => t.state === 'ended'))) return;
    const most = this.stable.get(task) ?? 0;
    if (channel > most)
      throw new Violation(`Q6: the world sees message ${channel} of task ${name(task)}; ${most} can never be undone`);
  }

  // ---- of no concern ----

  began(): void {
    // Everybody begins again together.
  }

  sent(): void {
    // A new life may send something else.
  }

  written(): void {
    // Every message goes out.
  }

  consumed(): void {
    // In the order in which it comes.
  }

  visible(): void {
    // Between tasks at once; to the world: shows.
  }

  pushed(): void {
    // As it came.
  }

  acknowledged(): void {
    // An ACK says that the server has a message.
  }

  attached(): void {
    // There is nothing to repeat.
  }

  refused(): void {
    // Its task goes back.
  }

  imageComplete(): void {
    // It counts with its wave: whole.
  }

  // ---- how the job may end ----

  /** What is damaged on the server's disk may end the job, with its name. */
  excuses({ code }: ErrorBody, { damagedLogs, damagedImages }: Excuses): boolean {
    return code === 'LOST_LOG' && (damagedLogs.size > 0 || damagedImages.size > 1);
  }
}
