/**
 * The kit of `app`: beside what a relay promises (relay.ts), what FT-MPI's modes promise to those that are left.
 *
 *  Q16 All that are left see the same: epoch, ranks of the world, lost ranks, context, and the losses that they had
 *      heard of before. Nothing of a lost task comes behind the notice of its loss, nothing that follows from a notice
 *      comes before it, and nothing of a world comes before the world itself. Between tasks no message is missing.
 *  Q22 A replacement that is without a slot for the limit ends the job, and one that waits for less does not.
 *
 * Owns: what each task has heard, the world of each epoch, since when replacements wait.
 */
import { HOLE, type ErrorBody, type FtModes, type MemberNotice } from '@mayfly/wire';
import type { WorldMessage } from '../recovering-rank.ts';
import { Violation } from '../violation.ts';
import { Relay } from './relay.ts';
import { name, type Excuses, type Histories, type RecoveriesWitness, type Stores } from './universal.ts';

type Recovered = Extract<MemberNotice, { op: 'recovered' }>;

interface Heard {
  readonly lost: Set<number>;
  epoch: number;
  readonly contexts: Set<number>;
}

/** A tick of the service, and the time in which an order reaches the dispatcher, ms. */
const LATE_MS = 1000;

export class Recovering extends Relay implements RecoveriesWitness {
  readonly recoveries = this;
  finished = false;
  /** How often a task has heard of a recovery. */
  heardOf = 0;
  private readonly heard = new Map<number, Heard>();
  private readonly epochs = new Map<number, { readonly text: string; readonly ranks: readonly number[] }>();
  private readonly contexts = new Set([0]);
  private newest = 0;
  private readonly channels = new Map<string, number>();
  /** Replacements without a slot, since when. */
  private readonly waits = new Map<number, number>();
  /** Time in which the server stands still does not count. */
  private stoodStill = false;

  constructor(
    histories: Histories,
    private readonly server: Stores,
    private readonly tasks: number,
    private readonly ft: FtModes & { readonly slotMs: number },
  ) {
    super(histories, server);
  }

  private of(task: number): Heard {
    const known = this.heard.get(task) ?? { lost: new Set(), epoch: 0, contexts: new Set([0]) };
    this.heard.set(task, known);
    return known;
  }

  // ---- what ranks do ----

  override consumed(task: number, life: number, arrival: number, src: number, channel: number): void {
    super.consumed(task, life, arrival, src, channel);
    if (this.of(task).lost.has(src))
      throw new Violation(`Q16: task ${task} gets message ${channel} of ${name(src)} behind the notice of its loss`);
    const key = `${src}>${task}`;
    const before = this.channels.get(key) ?? 0;
    if (channel !== before + 1)
      throw new Violation(`Q16: task ${task} gets message ${channel} of ${name(src)} after message ${before}`);
    this.channels.set(key, channel);
  }

  receives(task: number, src: number, { context, knows }: WorldMessage): void {
    const { lost, contexts } = this.of(task);
    const early = knows.find((t) => !lost.has(t));
    if (early !== undefined)
      throw new Violation(`Q16: task ${task} hears from ${src}, which knew that ${early} is lost, before the notice`);
    if (!contexts.has(context))
      throw new Violation(`Q16: task ${task} gets a message of ${src} in a world of which it has not heard`);
  }

  hears(task: number, notice: MemberNotice): void {
    const mine = this.of(task);
    if (notice.op === 'lost') for (const t of notice.tasks) mine.lost.add(t);
    else if (notice.op === 'recovered') this.recovered(task, mine, notice);
  }

  private recovered(task: number, mine: Heard, n: Recovered): void {
    const wrong = (what: string): never => {
      throw new Violation(`Q16: recovery ${n.epoch} at task ${task}: ${what}`);
    };
    this.heardOf++;
    if (n.epoch <= mine.epoch) wrong(`it comes after recovery ${mine.epoch}`);
    mine.epoch = n.epoch;
    mine.contexts.add(n.context);
    if (!n.ranks.includes(task)) wrong('it has no rank');
    const dead = n.ranks.find((t) => mine.lost.has(t));
    if (dead !== undefined) wrong(`${dead} has a rank, and it has heard that ${dead} is lost`);
    const text = JSON.stringify([n, [...mine.lost].sort((a, b) => a - b)]);
    const known = this.epochs.get(n.epoch);
    if (known) return known.text === text ? undefined : wrong(`${text}, and another task has ${known.text}`);
    if (n.failed.length === 0) wrong('nobody has failed');
    if (this.contexts.has(n.context)) wrong('its context is that of an earlier world');
    this.contexts.add(n.context);
    if (n.epoch === this.newest + 1) this.world(n, mine.lost, wrong);
    this.newest = Math.max(this.newest, n.epoch);
    this.epochs.set(n.epoch, { text, ranks: n.ranks });
  }

  /** What the mode makes of the world before. */
  private world(n: Recovered, lost: ReadonlySet<number>, wrong: (what: string) => never): void {
    const before = this.epochs.get(this.newest)?.ranks ?? Array.from({ length: this.tasks }, (_, t) => t);
    const blank = before.map((t) => (lost.has(t) ? HOLE : t));
    if (this.ft.communicators === 'shrink') {
      if (n.ranks.join() !== blank.filter((t) => t !== HOLE).join()) wrong(`ranks ${n.ranks.join()}`);
      return;
    }
    if (n.ranks.length !== blank.length) wrong(`${n.ranks.length} ranks`);
    blank.forEach((t, rank) => {
      const now = n.ranks[rank]!;
      if (t !== HOLE ? now !== t : (now === HOLE) !== (this.ft.communicators === 'blank'))
        wrong(`rank ${rank} is task ${now}`);
      if (t === HOLE && now !== HOLE && (now < this.tasks || before.includes(now))) wrong(`task ${now} is not new`);
    });
  }

  finishes(): void {
    this.finished = true;
  }

  // ---- slots ----

  /** The job has a task more, which has no slot yet. */
  replaces(task: number): void {
    this.waits.set(task, this.server.now());
  }

  assigned(task: number): void {
    this.waits.delete(task);
  }

  standsStill(): void {
    this.stoodStill = true;
  }

  tick(): void {
    const { slotMs } = this.ft;
    if (this.stoodStill) return;
    for (const [task, since] of this.waits)
      if (slotMs > 0 && this.server.now() - since > slotMs + LATE_MS)
        throw new Violation(`Q22: task ${task} has had no slot for more than ${slotMs} ms, and the job goes on`);
  }

  // ---- how the job may end ----

  override excuses(error: ErrorBody, misfortunes: Excuses): boolean {
    const named = /rank (\d+), which was to take its place, found no slot/.exec(error.message)?.[1];
    if (named !== undefined) {
      const since = this.waits.get(Number(named));
      return since !== undefined && this.server.now() - since >= this.ft.slotMs;
    }
    return super.excuses(error, misfortunes);
  }
}
