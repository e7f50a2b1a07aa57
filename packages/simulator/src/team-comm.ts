/**
 * The comm worker of a simulated team with a log: duties of a comm core's host (comm/events.ts, number 7). It takes
 * frames out of a member's ring, then reads the counter, then the reports; ranks go on between these steps. It asks for
 * waves, and gives the images of a wave to the Checkpoint Server.
 *
 * Owns: the up rings of the members and the reports beside them, images that wait for their teammates.
 */
import {
  nextRound,
  offeredRound,
  roundOfCall,
  type Caller,
  type CommEvent,
  type Report,
  type Reports,
} from '@mayfly/protocols';
import type { Position, TaskId } from '@mayfly/wire';
import type { Held } from './held-rank.ts';
import type { Random } from './random.ts';
import type { SimImage, UpItem, UpRing } from './rank-host.ts';
import type { Simulation } from './simulation.ts';
import type { TeamMemory } from './team-memory.ts';
import type { Uploads } from './uploads.ts';

/** The node of a team. */
export interface TeamNode {
  readonly held: ReadonlyMap<TaskId, Held>;
  readonly uploads: Uploads;
  readonly world: Simulation;
  after(ms: number, f: () => void): void;
  step(event: CommEvent): void;
  /** A frame for the comm core. */
  ring(task: TaskId, bytes: Uint8Array, reports: Reports): void;
}

const WAVE_MS = 250;
/** Reports that wait to be read. */
const MANY = 6;

export class TeamComm {
  over = false;
  /** Its node leaves: the next wave has the last images. */
  private leaves = false;
  /** …which scripts take at this call of checkpoint.here, unless one is past it. */
  private atCall: number | undefined;
  private readonly ups = new Map<TaskId, UpItem[]>();
  private readonly reports = new Map<TaskId, Report[]>();
  private readonly images = new Map<TaskId, { readonly wave: number; readonly image: SimImage }>();
  private busy = false;

  constructor(
    private readonly node: TeamNode,
    private readonly memory: TeamMemory,
    private readonly random: Random,
  ) {
    this.asksForWaves();
  }

  /** A member's end of it. */
  of(task: TaskId): UpRing {
    const [items, reports]: [UpItem[], Report[]] = [[], []];
    this.ups.set(task, items);
    this.reports.set(task, reports);
    return {
      up: (item) => {
        items.push(item);
        this.wake();
      },
      report: (report) => {
        reports.push(report);
        if (reports.length > MANY) this.wake();
      },
    };
  }

  /** Bytes of frames that wait in a member's ring. */
  waiting(task: TaskId): number {
    return (this.ups.get(task) ?? []).reduce((n, i) => n + (i.type === 'frame' ? i.bytes.length : 0), 0);
  }

  // ---- T5 ----

  private wake(): void {
    if (this.busy || this.over) return;
    this.busy = true;
    this.later(() => this.takes());
  }

  private later(f: () => void): void {
    this.node.after(this.random.next() * Math.min(this.node.world.setup.turnMs, 8), () => this.over || f());
  }

  private takes(): void {
    const early = this.node.world.undone === 'reports-read-first' ? this.reads(this.memory.reports) : undefined;
    if (early) return this.later(() => this.gives(this.frames(), early));
    const taken = this.frames();
    this.later(() => {
      const upTo = this.memory.reports;
      this.later(() => this.gives(taken, this.reads(upTo)));
    });
  }

  /** From one member: frames as far as they lie there, or one other item. */
  private frames(): readonly [task: TaskId, items: UpItem[]] | undefined {
    const have = [...this.ups].filter(([, items]) => items.length > 0);
    if (have.length === 0) return undefined;
    const [task, items] = this.random.pick(have);
    const other = items.findIndex((i) => i.type !== 'frame');
    return [task, items.splice(0, Math.max(1, other < 0 ? items.length : other))];
  }

  private reads(upTo: number): Reports {
    const of = [...this.reports].map(([task, reports]) => [task, reports.splice(0)] as const);
    return { upTo, of };
  }

  private gives(taken: readonly [TaskId, readonly UpItem[]] | undefined, reports: Reports): void {
    const { node } = this;
    const task = taken?.[0] ?? this.memory.members.find((t) => node.held.get(t)?.rank);
    if (task === undefined) return;
    let left = reports;
    for (const item of taken?.[1] ?? []) {
      if (this.over) return;
      if (item.type === 'frame') node.ring(task, item.bytes, left);
      else {
        node.step({ type: 'reports', task, reports: left });
        this.item(task, item);
      }
      left = { upTo: reports.upTo, of: [] };
    }
    if (!taken) node.step({ type: 'reports', task, reports });
    this.busy = false;
    const more = [...this.ups.values()].some((i) => i.length > 0);
    if (more || [...this.reports.values()].some((r) => r.length > MANY)) this.wake();
  }

  private item(task: TaskId, item: Exclude<UpItem, { type: 'frame' }>): void {
    const { node } = this;
    switch (item.type) {
      case 'image':
        this.images.set(task, item);
        return node.step({ type: 'image', task, position: item.position, wave: item.wave });
      case 'closed': {
        const image = this.images.get(task);
        if (image?.wave === item.wave) image.image.channels = item.channels;
        return node.step({ type: 'closed', task, wave: item.wave });
      }
      case 'wish':
        return this.wish(task, item.call);
      case 'declined':
        node.world.count('waves declined');
        return node.step({ type: 'declined', task, wave: item.wave });
      case 'ended':
        return node.step({ type: 'ended', task });
    }
  }

  // ---- T6 ----

  private asksForWaves(): void {
    this.node.after(WAVE_MS, () => {
      if (this.over) return;
      this.asksForWaves();
      const { world } = this.node;
      const here = this.here;
      if (this.leaves || here.some((h) => h.asked || world.agenda.now >= h.nextCheckpoint)) this.asks(here);
    });
  }

  /** True: last images can be had. */
  lastImages(atCall?: number): boolean {
    this.atCall = atCall;
    this.leaves = this.here.some((h) => h.rank);
    if (this.leaves) this.asks(this.here);
    return this.leaves;
  }

  /** They are not wanted any more: members that have stopped go on, unless all have theirs. */
  stays(): void {
    const { last, complete } = this.memory;
    this.leaves = false;
    if (last <= complete) return;
    this.memory.last = 0;
    this.memory.dropped = Math.max(this.memory.dropped, last);
    for (const task of this.memory.members) this.memory.wakes(task);
    const asks = this.here.find((h) => h.rank);
    if (asks) this.node.step({ type: 'declined', task: asks.task, wave: last });
    this.node.world.count('scripts that go on after a last image was asked for');
  }

  private get here(): Held[] {
    return this.memory.members.flatMap((t) => this.node.held.get(t) ?? []).filter((h) => !h.finished);
  }

  private asks(here: readonly Held[]): void {
    const replaying = here.some((h) => h.rank?.endpoint.repeating !== false);
    const asks = here.find((h) => h.rank);
    if (asks) this.node.step({ type: 'wave', task: asks.task, replaying });
  }

  /** A script wants an image soon, or at the call of checkpoint.here at which it waits: a wave, or its refusal. */
  private wish(task: TaskId, call: number | undefined): void {
    const { memory, node } = this;
    const held = node.held.get(task);
    if (call === undefined) {
      if (held) held.asked = true;
      return;
    }
    node.world.count('scripts that waited at checkpoint.here');
    const { wave } = memory.round;
    if (offeredRound(this.callers()) !== undefined) this.asks(this.here);
    if (memory.round.wave > wave) return node.world.count('…and got their image there');
    if (node.world.undone === 'wish-not-answered') return;
    memory.refused.set(task, call);
    memory.wakes(task);
  }

  /** Members that have not ended. */
  private get there(): TaskId[] {
    const { members, ended } = this.memory;
    return members.filter((t) => !ended.has(t));
  }

  private callers(): Caller[] {
    const { calls, offers } = this.memory;
    return this.there.map((t) => ({ calls: calls.get(t) ?? 0, waits: offers.has(t) }));
  }

  /** An image of a member is wanted. */
  wants(h: Held, wave: number): void {
    h.asked = false;
    h.nextCheckpoint = this.node.world.agenda.now + this.node.world.setup.checkpointMs;
    const { memory } = this;
    if (memory.round.wave !== wave) {
      const callers = this.callers();
      // The quickest may be a call further meanwhile.
      const ahead = offeredRound(callers) === undefined ? this.random.between(0, 1) : 0;
      const next = nextRound(callers, 0) + ahead;
      const before = this.there.map((t) => memory.callsBefore.get(t) ?? 0);
      const named = this.leaves ? roundOfCall(this.atCall, before) : undefined;
      memory.round = { wave, at: Math.max(next, named ?? 0) };
    }
    if (this.leaves) memory.last = wave;
    this.memory.wanted.set(h.task, wave);
    this.memory.wakes(h.task);
  }

  /** An image of the wave under way goes to the Checkpoint Server; undefined: nobody waits for it. */
  offers(h: Held, position: Position | undefined): void {
    const found = this.images.get(h.task);
    this.images.delete(h.task);
    if (position === undefined) {
      this.memory.dropped = Math.max(this.memory.dropped, found?.wave ?? 0);
      for (const task of this.memory.members) this.memory.wakes(task);
      return;
    }
    if (!found) throw new Error(`no image of task ${h.task} is here`);
    this.memory.complete = Math.max(this.memory.complete, found.wave);
    this.node.uploads.give(
      h,
      found.image,
      position,
      found.wave === this.memory.last,
      () => this.over || this.node.step({ type: 'imageOver', task: h.task }),
    );
  }
}
