/**
 * A simulated rank's end of its team: what it publishes to rings and to its comm worker, in order, and what has come
 * from its teammates. Stands for packages/node/src/rank/teammates.ts.
 *
 * Owns: what waits to be published, messages whose parts are coming, and what was moved out of the rings and is not
 * consumed. A rank that waits for anything moves what has come for it, so a full ring always drains. What is moved is
 * not consumed.
 */
import { Backlog, ImageCut } from '@mayfly/protocols';
import type { TaskId } from '@mayfly/wire';
import type { Agenda } from './agenda.ts';
import type { Rule } from './planted.ts';
import { ANY, type Action, type ProgramState } from './program.ts';
import type { Random } from './random.ts';
import type { InTeamRing, LocalMessage, TeamMemory, TeamPart } from './team-memory.ts';

/** What a rank does where others can see it. Others may act between two of them. */
export type Step =
  | { readonly type: 'put'; readonly dst: TaskId; readonly item: InTeamRing }
  | { readonly type: 'run'; readonly run: () => void };

/** H3: between two times at which a rank that waits lets in more, ms. */
const HELD_MS = 40;

/** What it needs of its simulation. */
interface World {
  readonly agenda: Agenda;
  readonly undone: Rule | undefined;
  count(what: string, n?: number): void;
}

export class Teammates {
  readonly cut: ImageCut<LocalMessage>;
  readonly backlog: Backlog;
  /** It is to look again. */
  private looking = false;
  private steps: Step[] = [];
  private readonly received = new Map<TaskId, number>();
  private readonly sent = new Map<TaskId, number>();
  /** Messages whose parts are coming, by sender. */
  private readonly parts = new Map<TaskId, number[]>();
  /** Planted: markers that were passed. */
  private passed: { src: TaskId; marker: number }[] = [];

  constructor(
    private readonly task: TaskId,
    readonly memory: TeamMemory,
    private readonly random: Random,
    private readonly chunkBytes: number,
    /** The last wave of the team. */
    wave: number,
    private readonly world: World,
    backlogBytes: number,
  ) {
    const limits = { held: backlogBytes, more: backlogBytes / 2, most: Infinity, everyMs: HELD_MS };
    this.backlog = new Backlog({ bytes: 0 }, limits);
    this.cut = new ImageCut<LocalMessage>(memory.members, wave);
    // Every ring is there from the start: all of them get the markers.
    for (const dst of memory.members) this.cut.writes(dst);
  }

  /** The route of a channel (T2): fixed for the life of the incarnation. */
  isLocal(dst: number): boolean {
    return this.memory.members.includes(dst as TaskId);
  }

  /** It begins with an image. */
  restores({ channels }: TeamPart, regrouped: boolean): void {
    const ours = channels?.filter(([src]) => !regrouped && this.isLocal(src)) ?? [];
    this.cut.restore(new Map(ours));
    for (const [, messages] of ours) for (const { body } of messages) this.backlog.moves(1, body.length);
  }

  /** …and stands where the image was taken. */
  counts({ received, sent }: TeamPart): void {
    this.received.clear();
    this.sent.clear();
    for (const [src, n] of received ?? []) this.received.set(src, n);
    for (const [dst, n] of sent ?? []) this.sent.set(dst, n);
  }

  /** Members whose next message is here, with its number. */
  heads(): { readonly src: TaskId; readonly number: number }[] {
    return this.memory.members.flatMap((src) => {
      const head = this.cut.head(src);
      return head ? [{ src, number: head.number }] : [];
    });
  }

  /** Messages consumed of each member, by its own count, and of `sent` those to each. */
  account(sent: readonly [TaskId, number][]): { received: [TaskId, number][]; sent: [TaskId, number][] } {
    return { received: [...this.received], sent: sent.filter(([dst]) => this.isLocal(dst)) };
  }

  take(src: TaskId): LocalMessage {
    const m = this.cut.head(src)!;
    this.received.set(src, m.number);
    this.cut.take(src);
    this.backlog.moves(-1, -m.body.length);
    return m;
  }

  /** A message was consumed that came by another way. */
  took(src: TaskId, number: number): void {
    this.received.set(src, number);
  }

  // ---- what it publishes ----

  does(run: () => void): void {
    this.steps.push({ type: 'run', run });
  }

  sends(dst: TaskId, number: number, tag: number, body: Uint8Array): void {
    const size = body.length;
    this.sent.set(dst, number);
    for (let offset = 0; offset === 0 || offset < size; offset += this.chunkBytes) {
      const part = [...body.subarray(offset, offset + this.chunkBytes)];
      this.steps.push({ type: 'put', dst, item: { number, tag, size, offset, body: part } });
    }
  }

  marks(dst: TaskId, wave: number): void {
    this.steps.push({ type: 'put', dst, item: { marker: wave } });
  }

  get publishes(): boolean {
    return this.steps.length > 0;
  }

  /** `full`: the next has no room. `later`: others go first. */
  publish(): 'done' | 'full' | 'later' {
    for (let step = this.steps[0]; step; step = this.steps[0]) {
      if (step.type === 'run') step.run();
      else if (!this.memory.put(this.task, step.dst, step.item)) return 'full';
      this.steps.shift();
      if (this.steps.length > 0 && this.random.chance(0.2)) return 'later';
    }
    return 'done';
  }

  // ---- what comes ----

  /** Moves what lies in its rings: all of it, or what a moment finds. True: something was moved. */
  moves(all: boolean): boolean {
    let moved = false;
    for (const src of this.memory.members) {
      const ring = this.memory.ring(src, this.task);
      if (ring.empty) continue;
      while (!ring.empty && !this.holds(src) && (all || this.random.chance(0.6))) {
        this.stage(src, ring.take()!);
        moved = true;
      }
      // there may be room
      this.memory.wakes(src);
    }
    return moved;
  }

  /** What it does now, and so whose messages it takes, however many it has not received. `queue`: those. */
  awaits(a: Action, replaying: boolean, queue: ProgramState['queue']): void {
    const local = queue.filter((q) => q.arrival === 0);
    const from = a.type === 'receive' && a.src !== ANY ? (a.src as TaskId) : 'any';
    const whom = a.type === 'receive' || a.type === 'poll' ? from : 'nothing';
    this.backlog.awaits = replaying ? 'all' : whom;
    this.backlog.keeps(
      local.length,
      local.reduce((n, q) => n + q.size, 0),
    );
  }

  /** It waits: looks whether it lets in more of those that it holds back (H3), and moves what it may. */
  looks(): boolean {
    const { agenda, undone } = this.world;
    if (undone !== 'held-for-ever') this.backlog.waits(this.holding, () => agenda.now);
    if (!this.looking && this.holding()) {
      this.looking = true;
      this.world.count('senders held back');
      agenda.after(HELD_MS, () => {
        this.looking = false;
        this.memory.wakes(this.task);
      });
    }
    return this.moves(true);
  }

  private holds(src: TaskId): boolean {
    return !this.parts.has(src) && this.backlog.holds(src) && !this.cut.records(src);
  }

  private readonly holding = (): boolean =>
    this.memory.members.some((src) => !this.memory.ring(src, this.task).empty && this.holds(src));

  private stage(src: TaskId, item: InTeamRing): void {
    if ('marker' in item) {
      if (this.world.undone !== 'marker-passed' || item.marker <= this.cut.wave) return this.cut.stage(src, item);
      return void this.passed.push({ src, marker: item.marker });
    }
    const came = this.parts.get(src) ?? [];
    if (item.offset !== came.length)
      throw new Error(`task ${this.task}: a part of a message of task ${src} is not the next`);
    const body = [...came, ...item.body];
    if (body.length < item.size) return void this.parts.set(src, body);
    this.parts.delete(src);
    this.cut.stage(src, { message: { number: item.number, tag: item.tag, body } });
    this.backlog.moves(1, body.length);
  }

  // ---- T6 ----

  /** It has waited long enough for what does not stand behind a marker. */
  tires(): boolean {
    return this.random.chance(0.1);
  }

  /** The rank takes its image of `wave`. Returns the rings into which the marker goes. */
  cutAt(wave: number): TaskId[] {
    const rings = this.cut.cut(wave);
    for (const { src, marker } of this.passed.splice(0)) this.cut.stage(src, { marker });
    return rings;
  }

  /** A member that has ended writes no more markers. */
  closesEnded(): void {
    for (const src of this.memory.ended)
      if (this.cut.records(src) && this.memory.ring(src, this.task).empty) this.cut.noRing(src);
  }

  /** Its program is over. */
  leaves(): void {
    this.memory.ended.add(this.task);
    for (const mate of this.memory.members) this.memory.wakes(mate);
  }
}
