/**
 * A simulated volunteer: a node daemon with one comm core and its ranks. Plays the parts of packages/node's daemon and
 * comm worker: performs the comm core's effects, reconnects, sends heartbeats, uploads images (uploads.ts), gives its
 * ranks turns (turns.ts).
 *
 * Owns: everything on the node. All of it is gone when the node crashes; a frozen node keeps it and continues later as
 * a zombie.
 */
import { Comm, type CommEffect, type CommEvent, type Reports } from '@mayfly/protocols';
import { readFrames, type JobId, type NodeId, type Position, type TaskId, type TaskReport } from '@mayfly/wire';
import { describeHeld, heldOf, holdsOf, tasksOf, type Held } from './held-rank.ts';
import { Hostile, type Hostility } from './hostile.ts';
import type { Link, LinkEnds } from './link.ts';
import type { ControlDown, ControlUp } from './messages.ts';
import { bypassesHold, changedDown, changedRing, inventedAnswers, sendUp } from './mutate-comm.ts';
import { kindsOf } from './node-kinds.ts';
import { rankOf } from './rank-of.ts';
import { Random } from './random.ts';
import type { Server } from './server.ts';
import { describe } from './trace.ts';
import { TeamsHere } from './teams-here.ts';
import { Turns } from './turns.ts';
import { Uploads } from './uploads.ts';
import { Violation } from './violation.ts';
import type { Simulation } from './simulation.ts';

/** What a node asks of the run that it is part of. */
export interface NodeSimulation extends Simulation {
  readonly server: Pick<Server, 'acceptControl' | 'cms' | 'cs' | 'up'>;
  /** Tasks whose program takes every worker down soon. */
  readonly poisoned: ReadonlySet<TaskId>;
  /** A connection with the delays of its own that its name draws. */
  link<U, D>(name: string, ends: LinkEnds<U, D>): Link<U, D>;
  pageHash(text: string): string;
  /** The node is gone. */
  gone(node: Volunteer): void;
}

const HEARTBEAT_MS = 1000;
const RECONNECT_MS = 300;

export class Volunteer {
  alive = true;
  frozen = false;
  offline = false;
  isClone = false;
  /** It has been asked to leave. */
  leaves = false;
  id: NodeId | undefined;
  /** It runs none of its ranks. */
  readonly hostile: Hostile | undefined;
  readonly held = new Map<TaskId, Held>();
  readonly random: Random;
  readonly comm: Comm;
  private control: Link<ControlUp, ControlDown> | undefined;
  readonly data: (Link<Uint8Array, Uint8Array> | undefined)[];
  readonly uploads: Uploads;
  private readonly turns: Turns;
  readonly teams: TeamsHere;
  /** What came while the node was frozen or deaf: it happens afterwards. */
  private missed: (() => void)[] = [];
  private deaf = false;
  private session: string;
  private links = 0;
  private imagePosition: Position | undefined;
  readonly skew: number;

  constructor(
    readonly world: NodeSimulation,
    readonly name: string,
    readonly slots: number,
    /** The node that it says it is, and its room. */
    readonly place: { readonly id?: NodeId | undefined; readonly room?: string | undefined } = {},
    /** Kinds of programs that it runs; default: the job's, perhaps with others, or untold. */
    private readonly runs = kindsOf(world, name),
    hostility?: Hostility,
  ) {
    const { spec, channelMemories, clusters: homes, window, chunkBytes } = world.setup;
    this.random = Random.named(world.seed, name);
    const { commd: policy, teams } = world.protocol;
    this.comm = new Comm({ size: spec.size, channelMemories, homes, policy, teams, window, chunkBytes });
    this.data = Array.from({ length: channelMemories });
    this.session = `s-${name}-${this.random.between(0, 1e9)}`;
    this.skew = spec.script ? 0 : this.random.between(-300, 300);
    this.uploads = new Uploads(this);
    this.turns = new Turns(this);
    this.teams = new TeamsHere(this, (task) => {
      const h = this.held.get(task);
      if (h?.rank) this.turns.wake(h);
    });
    this.hostile = hostility && new Hostile(this, hostility);
    this.connectControl();
    if (this.runsIt) for (let cm = 0; cm < channelMemories; cm++) this.connectData(cm);
    this.beat();
  }

  get job(): JobId {
    return this.world.setup.job;
  }

  private get runsIt(): boolean {
    return this.runs?.includes(this.world.setup.kind) ?? true;
  }

  get here(): boolean {
    return this.alive && !this.offline && this.world.server.up;
  }

  /**
   * Runs `f` now, after waking, or never: what reaches a node that is frozen waits, what reaches a dead one is gone.
   */
  live(f: () => void): () => void {
    return () => {
      if (!this.alive) return;
      if (this.frozen || this.deaf) this.missed.push(f);
      else f();
    };
  }

  after(ms: number, f: () => void): void {
    this.world.agenda.after(ms, this.live(f));
  }

  link<U, D>(ends: LinkEnds<U, D>): Link<U, D> {
    return this.world.link(`${this.name}/${this.links++}`, ends);
  }

  /** Every connection that it has: the control link, the image link, one per Channel Memory. */
  connections(): (Link<ControlUp, ControlDown> | Link<Uint8Array, Uint8Array> | Uploads)[] {
    return [this.control, this.uploads, ...this.data].filter((l) => l !== undefined);
  }

  // ---- connections ----

  private connectControl(): void {
    if (!this.alive) return;
    if (!this.here || this.frozen) return this.after(RECONNECT_MS, () => this.connectControl());
    const link = this.world.server.acceptControl((ends) =>
      this.link<ControlUp, ControlDown>({
        up: ends.up,
        upClosed: ends.closed,
        down: (m) => this.live(() => this.onControl(m))(),
        downClosed: this.live(() => {
          if (this.control === link) this.control = undefined;
          this.after(RECONNECT_MS, () => this.connectControl());
        }),
      }),
    );
    this.control = link;
    link.up({
      type: 'hello',
      hello: {
        version: 1,
        name: this.name,
        engine: 'simulated',
        slots: this.slots,
        session: this.session,
        ...(this.runs ? { runs: [...this.runs] } : {}),
        holds: [...(this.hostile?.holds() ?? []), ...holdsOf(this.job, this.held.values())],
        images: [],
        ...((this.id ?? this.place.id) ? { node: (this.id ?? this.place.id)! } : {}),
        ...(this.place.room === undefined ? {} : { room: this.place.room }),
      },
    });
  }

  private connectData(cm: number): void {
    if (!this.alive) return;
    if (!this.here || this.frozen || !this.world.server.cms[cm]!.up)
      return this.after(RECONNECT_MS, () => this.connectData(cm));
    const link = this.world.server.cms[cm]!.accept((ends) =>
      this.link<Uint8Array, Uint8Array>({
        up: ends.up,
        upClosed: ends.closed,
        down: (bytes) => this.live(() => this.data[cm] === link && this.received(cm, bytes))(),
        downClosed: this.live(() => {
          if (this.data[cm] !== link) return;
          this.data[cm] = undefined;
          this.perform(this.comm.step({ type: 'disconnected', cm }));
          this.after(RECONNECT_MS * this.random.next(), () => this.connectData(cm));
        }),
      }),
    );
    this.data[cm] = link;
    this.perform(this.comm.step({ type: 'connected', cm }));
  }

  private received(cm: number, bytes: Uint8Array): void {
    if (this.world.trace) for (const f of readFrames(bytes)) this.world.trace(`  → ${this.name}   ${describe(f)}`);
    const invented = inventedAnswers(this.world, bytes, cm, (t) => this.held.get(t)?.started === false);
    this.perform(this.comm.step({ type: 'received', cm, bytes: changedDown(this.world.undone, bytes) }));
    for (const a of invented) this.perform(this.comm.step({ type: 'received', cm: a.cm, bytes: a.bytes }));
    // room may have become free
    for (const h of this.held.values()) if (h.rank && !h.finished) this.turns.wake(h);
  }

  /** Its ranks and what the Channel Memories have for them, for the report of a run that does not end. */
  describe(): string {
    const cms = (task: TaskId): string => this.world.server.cms.map((c) => c.describe(task)).join(' ');
    const data = this.data.map((d) => d?.alive);
    const links = `${this.offline ? ' offline' : ''} control ${this.control?.alive} data ${data}`;
    const ranks = [...this.held.values()].map((h) => `${describeHeld(h)} log ${cms(h.task)}`);
    return [`${this.name}${this.frozen ? ' frozen' : ''}${links}`, ...ranks].join('\n');
  }

  // ---- what happens to a node ----

  /** The tab is gone. The server hears of it by the closed sockets, or, half-open, by silence only. */
  crash(halfOpen: boolean): void {
    if (!this.alive) return;
    this.alive = false;
    this.breakAll(halfOpen ? undefined : this.random.between(1, 40), undefined);
    this.world.gone(this);
  }

  private wantsImage(h: Held, last?: boolean, atCall?: number): void {
    if (last === false) return this.teams.stays(h);
    h.nextCheckpoint = 0;
    if (last) this.teams.stops(h, atCall);
    if (h.rank) this.turns.wake(h);
  }

  /** Leaves, with last images if its ranks come to a place for them. Returns the time of `ms` that its teams take. */
  goodbye(ms = 0): number {
    this.leaves = true;
    for (const h of this.held.values()) this.wantsImage(h);
    const more = ms > 0 && this.teams.lastImages() ? ms : 0;
    const last = Math.max(more, this.world.setup.turnMs);
    this.after(last, () => this.control?.up({ type: 'goodbye', reason: 'closed' }));
    this.after(last + this.world.setup.maxDelay + 1, () => {
      this.alive = false;
      this.breakAll(this.random.between(1, 20), undefined);
      this.world.gone(this);
    });
    return more;
  }

  /** Frozen for `ms`. A zombie acts on with what it has for a while after it woke, before it hears what it missed. */
  freeze(ms: number, zombieMs: number): void {
    this.frozen = true;
    this.world.agenda.after(ms, () => {
      if (!this.alive) return;
      this.frozen = false;
      this.deaf = zombieMs > 0;
      for (const h of this.held.values()) this.turns.wake(h);
      this.world.agenda.after(zombieMs, () => {
        this.deaf = false;
        const missed = this.missed;
        this.missed = [];
        for (const f of missed) this.live(f)();
        for (const h of this.held.values()) this.turns.wake(h);
      });
    });
  }

  cutOff(ms: number, serverHears: boolean): void {
    this.offline = true;
    this.breakAll(serverHears ? 20 : undefined, 30);
    this.world.agenda.after(ms, () => (this.offline = false));
  }

  breakData(cm: number): boolean {
    const link = this.data[cm];
    link?.break(this.random.between(0, 50), this.random.between(0, 50));
    return link !== undefined;
  }

  readonly dataLink = (cm: number): Link<Uint8Array, Uint8Array> | undefined => this.data[cm];

  /**
   * Opens a second connection while the old socket lives on at the server and still delivers what is under way: same
   * incarnation, same nonce.
   */
  connectTwice(cm: number): boolean {
    if (!this.data[cm]?.alive || !this.here || this.frozen || this.held.size === 0 || !this.world.server.cms[cm]!.up)
      return false;
    this.data[cm] = undefined;
    this.perform(this.comm.step({ type: 'disconnected', cm }));
    this.connectData(cm);
    return true;
  }

  /** Is made a copy of another tab: its name, what it held, its capabilities — and nonces of its own. */
  becomeCloneOf(other: Volunteer): void {
    this.isClone = true;
    for (const h of other.held.values()) {
      if (h.finished) continue;
      const mine = { ...h, nonce: `clone-${this.name}-${h.task}-${h.incarnation}`, rank: undefined, started: false };
      this.held.set(h.task, mine);
      this.start(mine);
    }
  }

  /** Out of memory in one rank's worker: the daemon lives and reports it. */
  crashRank(task: TaskId): void {
    const h = this.held.get(task);
    if (!h || h.finished) return;
    this.drop(task);
    this.report({
      job: this.job,
      task,
      incarnation: h.incarnation,
      event: 'crashed',
      error: { code: 'KEEPS_CRASHING', message: 'out of memory' },
    });
  }

  /** A node that lies: it reports that the logs lost what its rank needs, and computes on. */
  claimsLoss(task: TaskId): boolean {
    const h = this.held.get(task);
    if (!h || h.finished || !this.control?.alive) return false;
    this.report({
      job: this.job,
      task,
      incarnation: h.incarnation,
      event: 'refused',
      error: { code: 'LOST_LOG', message: 'the logs lost everything' },
    });
    return true;
  }

  private breakAll(tellServer: number | undefined, tellMe: number | undefined): void {
    for (const l of this.connections()) l.break(tellServer, tellMe);
  }

  // ---- control ----

  private beat(): void {
    this.after(HEARTBEAT_MS, () => {
      this.beat();
      this.control?.up({
        type: 'heartbeat',
        heartbeat: {
          tasks: this.hostile?.heartbeat() ?? tasksOf(this.job, this.held.values(), (h) => this.turns.has(h)),
        },
      });
    });
  }

  report(report: TaskReport): void {
    this.control?.up({ type: 'report', report });
  }

  private onControl(m: ControlDown): void {
    switch (m.type) {
      case 'welcome':
        this.id = m.node;
        for (const d of m.drop) if (this.held.get(d.task)?.incarnation === d.incarnation) this.drop(d.task);
        return;
      case 'revoke':
        this.hostile?.revoked(m.task, m.incarnation);
        if (this.held.get(m.task)?.incarnation === m.incarnation) this.drop(m.task);
        return;
      case 'checkpoint':
        return this.held.has(m.task) ? this.wantsImage(this.held.get(m.task)!, m.last, m.atCall) : undefined;
      case 'assign': {
        if (this.hostile) return this.hostile.assigned(m.task, m.incarnation);
        if (!this.runsIt)
          throw new Violation(
            `K20: task ${m.task}.${m.incarnation}, ${this.world.setup.kind}, is given to ${this.name}, which ` +
              'does not run it',
          );
        const old = this.held.get(m.task);
        if (old && old.incarnation >= m.incarnation) return;
        if (old) this.drop(m.task);
        const h = heldOf(m, this.name, this.world.agenda.now + this.world.setup.checkpointMs);
        this.held.set(m.task, h);
        this.teams.prepare(h, () => this.start(h));
      }
    }
  }

  private start(h: Held): void {
    const mine = { ended: this.teams.endedOf(h), capability: `${h.task}.${h.incarnation}` };
    this.perform(this.comm.step({ type: 'start', ...h, ...mine }));
  }

  private drop(task: TaskId): void {
    if (this.forget(task)) this.step({ type: 'stop', task });
  }

  private forget(task: TaskId): Held | undefined {
    const h = this.held.get(task);
    if (h) this.teams.leave(h);
    this.held.delete(task);
    return h;
  }

  // ---- the comm core's host ----

  private perform(effects: readonly CommEffect[]): void {
    for (const e of effects)
      switch (e.type) {
        case 'send':
          sendUp(this.world, this.data[e.cm], e.cm, e.bytes.slice());
          break;
        case 'drop':
          this.world.note(`${this.name} drops its link to CM ${e.cm}: ${e.error.message}`);
          this.data[e.cm]?.break(5, 5);
          break;
        case 'deliver': {
          const h = this.held.get(e.task);
          if (!h?.rank) throw new Error(`a frame for task ${e.task} before it began`);
          h.rank.deliver(e.bytes);
          this.turns.wake(h);
          break;
        }
        case 'ready':
          this.begin(e.task, e.start);
          break;
        case 'refused': {
          this.world.note(`${this.name}: task ${e.task} refused: ${e.error.code} ${e.error.message}`);
          const { task, error } = e;
          if (error.code === 'INTERNAL') throw new Violation(`K26: ${this.name} cannot begin: ${error.message}`);
          const h = this.forget(task);
          if (h) this.report({ job: this.job, task, incarnation: h.incarnation, event: 'refused', error });
          break;
        }
        case 'revoked':
          this.forget(e.task);
          break;
        case 'finished':
        case 'mark':
        case 'checkpoint': {
          const h = this.held.get(e.task);
          if (h && e.type === 'checkpoint' && e.wave !== undefined) this.teams.commOf(h)?.wants(h, e.wave);
          else if (h) h[e.type === 'finished' ? 'finished' : e.type === 'mark' ? 'toMark' : 'asked'] = true;
          if (h?.rank) this.turns.wake(h);
          break;
        }
        case 'image': {
          const h = this.held.get(e.task);
          const team = this.teams.commOf(h);
          if (h && team) team.offers(h, e.position);
          else this.imagePosition = e.position;
          break;
        }
      }
  }

  step(event: CommEvent): void {
    this.perform(this.comm.step(event));
  }

  /** An image stands in the ring; where it lies. Undefined: nobody waits for it. */
  image(task: TaskId, position: Position): Position | undefined {
    this.imagePosition = undefined;
    this.perform(this.comm.step({ type: 'image', task, position }));
    return this.imagePosition;
  }

  private begin(task: TaskId, start: Extract<CommEffect, { type: 'ready' }>['start']): void {
    const h = this.held.get(task)!;
    const { world } = this;
    h.started = true;
    world.trace?.(
      `${this.name} begins task ${task}.${h.incarnation}: limits ` +
        `${start.limits.map(([d, n]) => `${n > 1e15 ? 'all' : n} to ${d > 1e9 ? 'world' : d}`).join(', ') || 'none'}; ` +
        `replays ${start.consumed} arrivals, ${start.determinants.length} determinants, ${start.openPolls} ` +
        'open polls',
    );
    const life = world.checkers.began(task, h.incarnation, start.limits);
    h.rank = rankOf(this, h, start, life);
    this.report({ job: this.job, task, incarnation: h.incarnation, event: 'started' });
    if (!h.rank.endpoint.repeating)
      this.report({ job: this.job, task, incarnation: h.incarnation, event: 'recovered' });
    if (world.poisoned.has(task))
      this.after(this.random.between(1, 40), () => this.held.get(task) === h && this.crashRank(task));
    this.turns.wake(h);
  }

  /** A whole frame of its up-ring. */
  ring(task: TaskId, bytes: Uint8Array, reports?: Reports): void {
    const { world } = this;
    const cm = bypassesHold(world, task, bytes);
    if (cm !== undefined) return void this.data[cm]?.up(bytes);
    world.checkers.kit.waves?.writes(task, bytes);
    this.perform(this.comm.step({ type: 'ring', task, bytes: changedRing(world.undone, bytes), reports }));
    const { spec, retainBytes, chunkBytes } = world.setup;
    // one send may pass the limit, and an exit does not ask; each chunk has a header and may have a block of
    // determinants
    const frames = Math.ceil(Math.max(spec.maxBody, 4000) / chunkBytes) + 2;
    world.checkers.bound(
      `what the comm worker retains for task ${task}`,
      this.comm.retained(task),
      retainBytes + frames * (chunkBytes + 72) + 4096,
    );
  }

  consumed(h: Held, arrivals: number, envelopeOnly: boolean): void {
    this.perform(this.comm.step({ type: 'consumed', task: h.task, arrivals, envelopeOnly }));
  }
}
