/**
 * A simulated volunteer: a node daemon with one comm core and the ranks that it was given. Plays the parts of packages/node's daemon
 * and comm worker: performs the comm core's effects, reconnects, sends heartbeats, uploads images.
 *
 * Owns: everything on the node. All of it is gone when the node crashes; a frozen node keeps it and goes on later as a zombie.
 */
import { Comm, type CommEffect } from '@mayfly/protocols';
import { imageIdOf, type Hello, type Incarnation, type JobId, type Manifest, type NodeId, type TaskId, type TaskReport } from '@mayfly/wire';
import type { Link } from './link.ts';
import type { ControlDown, ControlUp, ImageDown, ImageUp } from './messages.ts';
import { Rank, type SimImage } from './rank.ts';
import type { World } from './world.ts';

interface Held {
  task: TaskId;
  incarnation: Incarnation;
  serial: number;
  image: SimImage | undefined;
  rank: Rank | undefined;
  started: boolean;
  nextCheckpoint: number;
  finished: boolean;
}

const HEARTBEAT_MS = 1000;
const RECONNECT_MS = 300;

export class Volunteer {
  alive = true;
  frozen = false;
  offline = false;
  id: NodeId | undefined;
  readonly held = new Map<TaskId, Held>();
  private comm: Comm;
  private control: Link<ControlUp, ControlDown> | undefined;
  private images: Link<ImageUp, ImageDown> | undefined;
  private readonly data: (Link<Uint8Array, Uint8Array> | undefined)[];
  private readonly uploads = new Map<string, { manifest: Manifest; image: SimImage }>();
  /** What came while the node was frozen: it happens after it wakes. */
  private missed: (() => void)[] = [];
  private session: string;

  constructor(
    private readonly world: World,
    readonly name: string,
    readonly slots: number,
    private readonly claim?: NodeId,
  ) {
    const { spec, channelMemories, protocol, window } = world.setup;
    this.comm = new Comm({ size: spec.size, channelMemories, protocol, window });
    this.data = Array.from({ length: channelMemories });
    this.session = `s-${name}-${world.random.between(0, 1e9)}`;
    this.connectControl();
    for (let cm = 0; cm < channelMemories; cm++) this.connectData(cm);
    this.beat();
  }

  get job(): JobId {
    return this.world.setup.job;
  }

  private get here(): boolean {
    return this.alive && !this.offline && this.world.server.up;
  }

  /** Runs `f` now, after waking, or never: what reaches a node that is frozen waits, what reaches a dead one is gone. */
  private live(f: () => void): () => void {
    return () => {
      if (!this.alive) return;
      if (this.frozen) this.missed.push(f);
      else f();
    };
  }

  // ---- connections ----

  private connectControl(): void {
    if (!this.alive) return;
    if (!this.here || this.frozen) return this.world.agenda.after(RECONNECT_MS, this.live(() => this.connectControl()));
    const link = this.world.server.acceptControl((ends) =>
      this.world.link<ControlUp, ControlDown>({
        up: ends.up,
        upClosed: ends.closed,
        down: (m) => this.live(() => this.onControl(m))(),
        downClosed: this.live(() => {
          if (this.control === link) this.control = undefined;
          this.world.agenda.after(RECONNECT_MS, this.live(() => this.connectControl()));
        }),
      }),
    );
    this.control = link;
    const hello: Hello = {
      version: 1,
      name: this.name,
      engine: 'simulator',
      slots: this.slots,
      session: this.session,
      holds: [...this.held.values()].filter((h) => !h.finished).map((h) => ({ job: this.job, task: h.task, incarnation: h.incarnation })),
      images: [],
      ...((this.id ?? this.claim) ? { node: (this.id ?? this.claim)! } : {}),
    };
    link.up({ type: 'hello', hello });
  }

  private connectData(cm: number): void {
    if (!this.alive) return;
    if (!this.here || this.frozen) return this.world.agenda.after(RECONNECT_MS, this.live(() => this.connectData(cm)));
    const link: Link<Uint8Array, Uint8Array> = this.world.server.acceptData(cm, (ends) =>
      this.world.link<Uint8Array, Uint8Array>({
        up: ends.up,
        upClosed: ends.closed,
        down: (bytes) => this.live(() => this.data[cm] === link && this.perform(this.comm.step({ type: 'received', cm, bytes })))(),
        downClosed: this.live(() => {
          if (this.data[cm] !== link) return;
          this.data[cm] = undefined;
          this.perform(this.comm.step({ type: 'disconnected', cm }));
          this.world.agenda.after(RECONNECT_MS * this.world.random.next(), this.live(() => this.connectData(cm)));
        }),
      }),
    );
    this.data[cm] = link;
    this.perform(this.comm.step({ type: 'connected', cm }));
  }

  private imageLink(): Link<ImageUp, ImageDown> | undefined {
    if (this.images?.alive) return this.images;
    if (!this.here) return undefined;
    const link = this.world.server.acceptImages((ends) =>
      this.world.link<ImageUp, ImageDown>({
        up: ends.up,
        upClosed: ends.closed,
        down: (m) => this.live(() => this.onImage(m))(),
        downClosed: this.live(() => {
          if (this.images === link) this.images = undefined;
          this.uploads.clear();
        }),
      }),
    );
    return (this.images = link);
  }

  /** Its ranks and what the Channel Memories have for them, for the report of a run that does not end. */
  describe(): string {
    const ranks = [...this.held.values()].map((h) => `  task ${h.task}.${h.incarnation}${h.finished ? ' finished' : ''} ${h.rank?.describe() ?? 'not begun'} log ${this.world.server.logged(h.task)}`);
    return [`${this.name}${this.frozen ? ' frozen' : ''}${this.offline ? ' offline' : ''} control ${this.control?.alive} data ${this.data.map((d) => d?.alive)}`, ...ranks].join('\n');
  }

  // ---- what happens to a node ----

  /** The tab is gone. The server hears of it by the closed sockets, or, half-open, by silence only. */
  crash(halfOpen: boolean): void {
    if (!this.alive) return;
    this.alive = false;
    this.breakAll(halfOpen ? undefined : this.world.random.between(1, 40), undefined);
    this.world.gone(this);
  }

  goodbye(): void {
    this.control?.up({ type: 'goodbye', reason: 'closed' });
    const end = this.live(() => {
      this.alive = false;
      this.breakAll(this.world.random.between(1, 20), undefined);
      this.world.gone(this);
    });
    this.world.agenda.after(this.world.setup.maxDelay + 1, end);
  }

  freeze(ms: number): void {
    this.frozen = true;
    this.world.agenda.after(ms, () => {
      this.frozen = false;
      const missed = this.missed;
      this.missed = [];
      for (const f of missed) this.live(f)();
      for (const h of this.held.values()) this.wake(h);
    });
  }

  cutOff(ms: number): void {
    this.offline = true;
    this.breakAll(this.world.random.chance(0.5) ? undefined : 20, 30);
    this.world.agenda.after(ms, () => (this.offline = false));
  }

  breakData(cm: number): void {
    this.data[cm]?.break(this.world.random.between(0, 50), this.world.random.between(0, 50));
  }

  /** Out of memory in one rank's worker: the daemon lives and says so. */
  crashRank(task: TaskId): void {
    const h = this.held.get(task);
    if (!h || h.finished) return;
    this.drop(task);
    this.report({ job: this.job, task, incarnation: h.incarnation, event: 'crashed', error: { code: 'KEEPS_CRASHING', message: 'out of memory' } });
  }

  private breakAll(tellServer: number | undefined, tellMe: number | undefined): void {
    for (const l of [this.control, this.images, ...this.data]) l?.break(tellServer, tellMe);
  }

  // ---- control ----

  private beat(): void {
    this.world.agenda.after(HEARTBEAT_MS, this.live(() => {
      this.beat();
      this.control?.up({
        type: 'heartbeat',
        heartbeat: {
          tasks: [...this.held.values()].filter((h) => !h.finished).map((h) => ({
            job: this.job,
            task: h.task,
            incarnation: h.incarnation,
            started: h.started,
            activity: {
              state: h.rank?.endpoint.replaying ? 'replaying' : 'computing',
              arrivals: h.rank?.endpoint.consumed ?? 0,
              sends: h.rank?.endpoint.line().sends.reduce((n, [, c]) => n + c, 0) ?? 0,
            },
          })),
        },
      });
    }));
  }

  private report(report: TaskReport): void {
    this.control?.up({ type: 'report', report });
  }

  private onControl(m: ControlDown): void {
    switch (m.type) {
      case 'welcome':
        this.id = m.node;
        for (const d of m.drop) if (this.held.get(d.task)?.incarnation === d.incarnation) this.drop(d.task);
        return;
      case 'revoke':
        if (this.held.get(m.task)?.incarnation === m.incarnation) this.drop(m.task);
        return;
      case 'assign': {
        const old = this.held.get(m.task);
        if (old && old.incarnation >= m.incarnation) return;
        if (old) this.drop(m.task);
        this.held.set(m.task, {
          task: m.task, incarnation: m.incarnation, serial: m.serial, image: m.image, rank: undefined, started: false,
          nextCheckpoint: this.world.agenda.now + this.world.setup.checkpointMs, finished: false,
        });
        const { task, incarnation, replay } = m;
        const nonce = `nonce-${this.name}-${task}-${incarnation}-${this.session}`.slice(0, 64);
        this.replays.set(task, replay);
        this.perform(this.comm.step({ type: 'start', task, incarnation, capability: `${task}.${incarnation}`, nonce, replay }));
      }
    }
  }

  private readonly replays = new Map<TaskId, Extract<ControlDown, { type: 'assign' }>['replay']>();

  private drop(task: TaskId): void {
    if (!this.held.delete(task)) return;
    this.perform(this.comm.step({ type: 'stop', task }));
  }

  // ---- the comm core's host ----

  private perform(effects: readonly CommEffect[]): void {
    for (const e of effects)
      switch (e.type) {
        case 'send':
          this.data[e.cm]?.up(e.bytes.slice());
          break;
        case 'drop':
          this.world.note(`${this.name} drops its link to CM ${e.cm}: ${e.error.message}`);
          this.data[e.cm]?.break(5, 5);
          break;
        case 'deliver': {
          const h = this.held.get(e.task);
          if (!h?.rank) throw new Error(`a frame for task ${e.task} before it began`);
          h.rank.deliver(e.bytes);
          this.wake(h);
          break;
        }
        case 'ready':
          this.begin(e.task, e.start);
          break;
        case 'refused': {
          const h = this.held.get(e.task);
          this.world.note(`${this.name}: task ${e.task} refused: ${e.error.code} ${e.error.message}`);
          if (!h) break;
          this.held.delete(e.task);
          this.report({ job: this.job, task: e.task, incarnation: h.incarnation, event: 'refused', error: e.error });
          break;
        }
        case 'finished': {
          const h = this.held.get(e.task);
          if (h) h.finished = true;
          break;
        }
      }
  }

  private begin(task: TaskId, start: Extract<CommEffect, { type: 'ready' }>['start']): void {
    const h = this.held.get(task)!;
    h.started = true;
    h.rank = new Rank(
      task, this.world.setup.spec, this.replays.get(task)!, start, h.image,
      {
        chunkBytes: this.world.setup.chunkBytes,
        up: (bytes) => this.perform(this.comm.step({ type: 'ring', task, bytes })),
        checkpoint: (image) => this.checkpoint(h, image),
        recovered: () => this.report({ job: this.job, task, incarnation: h.incarnation, event: 'recovered' }),
        clock: () => this.world.agenda.now,
        place: () => this.name,
      },
      this.world.checkers,
      this.world.setup.endpoint,
    );
    this.report({ job: this.job, task, incarnation: h.incarnation, event: 'started' });
    if (!h.rank.endpoint.replaying) this.report({ job: this.job, task, incarnation: h.incarnation, event: 'recovered' });
    this.wake(h);
  }

  private readonly scheduled = new Set<Held>();

  /** Gives the rank turns, each after a little time, until it waits. */
  private wake(h: Held): void {
    if (this.scheduled.has(h) || h.finished) return;
    this.scheduled.add(h);
    this.world.agenda.after(
      this.world.random.next() * this.world.setup.turnMs,
      this.live(() => {
        this.scheduled.delete(h);
        if (this.held.get(h.task) !== h || !h.rank) return;
        const before = h.rank.endpoint.consumed;
        const more = h.rank.turn();
        if (this.held.get(h.task) !== h) return;
        const { consumed } = h.rank.endpoint;
        if (consumed !== before || more)
          this.perform(this.comm.step({ type: 'consumed', task: h.task, arrivals: consumed, envelopeOnly: h.rank.envelopeOnly }));
        if (more) this.wake(h);
      }),
    );
  }

  // ---- images ----

  private checkpoint(h: Held, take: () => SimImage): void {
    const { world } = this;
    if (world.agenda.now < h.nextCheckpoint) return;
    const link = this.imageLink();
    if (!link) return;
    h.nextCheckpoint = world.agenda.now + world.setup.checkpointMs;
    const image = take();
    const serial = ++h.serial;
    const text = JSON.stringify(image);
    const id = imageIdOf(this.job, h.task, h.incarnation, serial);
    const manifest: Manifest = {
      format: 1, image: id, job: this.job, task: h.task, incarnation: h.incarnation, program: world.setup.program, serial,
      replay: { prologue: image.prologue, image: image.endpoint.line, held: image.held },
      sections: [{ name: 'sim', bytes: text.length }],
      pages: [world.pageHash(text)],
      bytes: text.length,
    };
    this.uploads.set(id, { manifest, image });
    link.up({ type: 'offer', task: h.task, incarnation: h.incarnation, manifest, image });
  }

  private onImage(m: ImageDown): void {
    if (m.type === 'need') {
      this.images?.up({ type: 'pages', image: m.image, pages: m.pages });
      this.images?.up({ type: 'end', image: m.image });
    } else if (m.reply !== 'stored') this.uploads.delete(m.image);
  }
}
