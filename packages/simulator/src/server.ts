/**
 * The simulated server process: dispatcher, Checkpoint Server and Channel Memories over a faulty log and a registry, performing their
 * effects in order as apps/server does.
 *
 * Owns two kinds of state. Durable: `log`, `registry`, `images` (committed), which outlive the process. Losable: cores, connections,
 * effects under way. `kill` loses the second kind; `powerLoss` also what was not synced.
 */
import {
  ChannelMemory, CheckpointServer, Dispatcher, patchFromLog,
  type CheckpointServerEffect, type CmEffect, type CmEvent, type DispatcherEffect, type DispatcherEvent, type JobSpec,
} from '@mayfly/protocols';
import { Flag, Kind, WorldMode, incarnation, nodeId, readFrames, taskId, type Incarnation, type Manifest, type TaskId } from '@mayfly/wire';
import { FaultyLog } from './faulty-log.ts';
import type { Link } from './link.ts';
import type { ControlDown, ControlUp, ImageDown, ImageUp } from './messages.ts';
import type { SimImage } from './rank.ts';
import type { World } from './world.ts';

/** Longest time until a page is durable, ms. */
const MAX_STORE_MS = 20;

interface Ends<M> {
  up: (m: M) => void;
  closed: () => void;
}
type Make<U, D> = (ends: Ends<U>) => Link<U, D>;

export class Server {
  up = false;
  readonly log: FaultyLog[] = [];
  private readonly registry = new Map<string, unknown>();
  private readonly manifests = new Map<string, { manifest: Manifest; image: SimImage }>();
  /** Images whose page is durable. */
  private readonly pages = new Set<string>();

  private dispatcher = new Dispatcher();
  private cs = new CheckpointServer();
  private cms: ChannelMemory[] = [];
  private opened = false;
  /** Number of this life of the process: what an earlier one had under way does not happen. */
  private life = 0;
  private connections = 0;
  private readonly controls = new Map<string, Link<ControlUp, ControlDown>>();
  private readonly imageLinks = new Map<string, Link<ImageUp, ImageDown>>();
  private readonly dataLinks = new Map<number, Link<Uint8Array, Uint8Array>>();
  private readonly offered = new Map<string, { manifest: Manifest; image: SimImage }>();

  constructor(private readonly world: World) {
    for (let i = 0; i < world.setup.channelMemories; i++) this.log.push(new FaultyLog());
  }

  // ---- life ----

  start(): void {
    const { world } = this;
    this.up = true;
    this.life++;
    this.dispatcher = new Dispatcher({ ...world.setup.dispatcher });
    this.cs = new CheckpointServer();
    this.cms = [];
    this.opened = false;
    const entries = [...this.registry].sort(([a], [b]) => (a < b ? -1 : 1));
    this.performCs(this.cs.step({ now: this.now, type: 'recover', entries: entries.filter(([k]) => k.startsWith('image/')) }));
    const images = entries
      .filter(([k]) => k.startsWith('image/'))
      .map(([k, v]) => {
        const [, , task] = k.split('/');
        const r = v as { image: string; serial: number };
        return { job: world.setup.job, task: taskId(Number(task)), image: r.image as never, serial: r.serial };
      });
    const newest = new Map(images.map((i) => [i.task, i]));
    this.dispatch({ now: this.now, type: 'recover', entries: entries.filter(([k]) => !k.startsWith('image/')), images: [...newest.values()] });
    if (!this.registry.has(`job/${world.setup.job}`)) this.dispatch({ now: this.now, type: 'submit', job: this.spec() });
    const { life } = this;
    const every = (ms: number, f: () => void): void => {
      world.agenda.after(ms, () => {
        if (this.life !== life || !this.up) return;
        f();
        every(ms, f);
      });
    };
    every(250, () => {
      this.dispatch({ now: this.now, type: 'tick' });
      this.performCs(this.cs.step({ now: this.now, type: 'tick' }));
    });
    every(world.setup.syncMs, () => {
      for (let i = 0; i < this.cms.length; i++) this.cm(i, { type: 'tick' });
    });
  }

  /** `kill -9`: the kernel keeps what was written. */
  kill(): void {
    this.up = false;
    this.life++;
    for (const l of [...this.controls.values(), ...this.imageLinks.values(), ...this.dataLinks.values()]) l.break(undefined, this.world.random.between(1, 60));
    this.controls.clear();
    this.imageLinks.clear();
    this.dataLinks.clear();
    this.offered.clear();
  }

  powerLoss(): number {
    this.kill();
    const lost = this.log.reduce((n, l) => n + l.powerLoss(this.world.random), 0);
    if (lost > 0) this.world.checkers.forgetful = true;
    return lost;
  }

  private get now(): number {
    return this.world.epoch + this.world.agenda.now;
  }

  private spec(): JobSpec {
    const { setup } = this.world;
    return {
      id: setup.job, name: 'simulated', size: setup.spec.size, protocol: setup.protocol, durability: setup.durability,
      program: { language: 'typescript', entry: 'main.ts', hash: setup.program }, args: [], files: [], seed: setup.spec.seed,
      channelMemories: setup.channelMemories, checkpointMs: setup.checkpointMs, graceMs: setup.graceMs, interactive: false,
      limits: { memoryBytes: 1 << 30, fileBytes: 1 << 30 }, submittedAt: this.now,
    };
  }

  /** Later, unless the process has died by then. */
  private later(ms: number, f: () => void): void {
    const { life } = this;
    this.world.agenda.after(ms, () => {
      if (this.life === life && this.up) f();
    });
  }

  /** What the Channel Memories have of a task, for the report of a run that does not end. */
  logged(task: TaskId): string {
    return this.cms.map((c) => JSON.stringify(c.observe(task))).join(' ');
  }

  // ---- connections ----

  acceptControl(make: Make<ControlUp, ControlDown>): Link<ControlUp, ControlDown> {
    const connection = `c${this.connections++}`;
    const link = make({
      up: (m) => this.up && this.controls.has(connection) && this.onControl(connection, m),
      closed: () => this.up && this.controls.delete(connection) && this.dispatch({ now: this.now, type: 'disconnected', connection }),
    });
    this.controls.set(connection, link);
    return link;
  }

  acceptImages(make: Make<ImageUp, ImageDown>): Link<ImageUp, ImageDown> {
    const id = `i${this.connections++}`;
    const link = make({
      up: (m) => this.up && this.imageLinks.has(id) && this.onImage(id, m),
      closed: () => this.up && this.imageLinks.delete(id) && this.performCs(this.cs.step({ now: this.now, type: 'linkClosed', link: id })),
    });
    this.imageLinks.set(id, link);
    return link;
  }

  acceptData(cm: number, make: Make<Uint8Array, Uint8Array>): Link<Uint8Array, Uint8Array> {
    const conn = this.connections++;
    const link = make({
      up: (bytes) => {
        if (!this.up || !this.dataLinks.has(conn)) return;
        if (!this.cms[cm]) return this.closeData(conn); // the job is not open here
        this.cm(cm, { type: 'frames', conn, bytes });
        if (this.up && this.cms[cm]) this.cm(cm, { type: 'flush' });
      },
      closed: () => this.up && this.dataLinks.delete(conn) && this.cms[cm] && this.cm(cm, { type: 'closed', conn }),
    });
    this.dataLinks.set(conn, link);
    return link;
  }

  private closeData(conn: number): void {
    this.dataLinks.get(conn)?.break(undefined, 10);
    this.dataLinks.delete(conn);
  }

  private onControl(connection: string, m: ControlUp): void {
    const at = { now: this.now, connection };
    switch (m.type) {
      case 'hello': {
        const { hello } = m;
        this.dispatch({
          ...at, type: 'hello', ...(hello.node === undefined ? {} : { claimed: hello.node }), fresh: nodeId(`node${String(this.connections++).padStart(6, '0')}`),
          ...(hello.session === undefined ? {} : { session: hello.session }), name: hello.name, engine: hello.engine, slots: hello.slots, holds: hello.holds, images: hello.images,
        });
        return;
      }
      case 'heartbeat':
        return this.dispatch({ ...at, type: 'heartbeat', tasks: m.heartbeat.tasks });
      case 'report':
        return this.dispatch({ ...at, type: 'report', ...m.report });
      case 'goodbye':
        return this.dispatch({ ...at, type: 'goodbye', reason: m.reason });
    }
  }

  private onImage(link: string, m: ImageUp): void {
    const now = this.now;
    switch (m.type) {
      case 'offer':
        this.offered.set(m.manifest.image, { manifest: m.manifest, image: m.image });
        return this.performCs(this.cs.step({ now, type: 'offer', link, job: this.world.setup.job, task: m.task, incarnation: m.incarnation, manifest: m.manifest }));
      case 'pages':
        for (const index of m.pages)
          this.later(this.world.random.between(1, MAX_STORE_MS), () => {
            const o = this.offered.get(m.image);
            if (!o) return;
            this.pages.add(o.manifest.pages[index]!);
            this.performCs(this.cs.step({ now: this.now, type: 'pageStored', link, image: m.image, index, bytes: o.manifest.bytes }));
          });
        return;
      case 'end':
        // after the pages that came before it are stored, as the real host's queue per socket has it
        return this.later(MAX_STORE_MS + 1, () => this.performCs(this.cs.step({ now: this.now, type: 'end', link, image: m.image })));
    }
  }

  // ---- dispatcher ----

  dispatch(e: DispatcherEvent): void {
    this.performDispatcher(this.dispatcher.step(e));
  }

  private performDispatcher(effects: readonly DispatcherEffect[]): void {
    for (const e of effects)
      switch (e.type) {
        case 'persist': {
          const commit = (): void => {
            for (const [k, v] of e.changes)
              if (v === undefined) this.registry.delete(k);
              else this.registry.set(k, JSON.parse(JSON.stringify(v)));
          };
          // commits are ordered; a crash may fall before or after one
          this.commitAt = Math.max(this.commitAt, this.world.agenda.now + this.world.random.between(1, 8));
          this.later(this.commitAt - this.world.agenda.now, () => {
            commit();
            this.dispatch({ now: this.now, type: 'persisted', token: e.token });
          });
          break;
        }
        case 'welcome':
          this.controls.get(e.connection)?.down({ type: 'welcome', node: e.node, drop: e.drop });
          break;
        case 'close':
          this.controls.get(e.connection)?.break(undefined, 10);
          this.controls.delete(e.connection);
          break;
        case 'openJob':
          this.openJob();
          break;
        case 'fenceCs':
          this.performCs(this.cs.step({ now: this.now, type: 'restart', job: e.job, task: e.task, incarnation: e.incarnation }));
          break;
        case 'fenceCm':
          this.cm(e.cm, { type: 'fence', task: e.task, incarnation: e.incarnation });
          break;
        case 'assign': {
          const found = e.image === undefined ? undefined : this.manifests.get(e.image);
          if (e.image !== undefined && !found) throw new Error(`assigned image ${e.image} is not there`);
          this.world.checkers.assigned(e.task, e.incarnation);
          this.controls.get(e.connection)?.down({
            type: 'assign', job: e.job, task: e.task, incarnation: e.incarnation, serial: found?.manifest.serial ?? 0, image: found?.image,
            replay: found?.manifest.replay ?? this.world.zeroReplay(),
          });
          break;
        }
        case 'revoke':
          this.controls.get(e.connection)?.down({ type: 'revoke', job: e.job, task: e.task, incarnation: e.incarnation, error: e.error });
          break;
        case 'taskDone':
          this.cms.forEach((_, i) => this.cm(i, { type: 'done', task: e.task }));
          this.performCs(this.cs.step({ now: this.now, type: 'taskDone', job: e.job, task: e.task }));
          break;
        case 'jobEnded':
          this.world.ended(e.state, e.error);
          break;
        case 'checkpoint':
        case 'jobChanged':
        case 'nodesChanged':
          break;
        case 'log':
          this.world.note(`dispatcher: ${e.message}`);
      }
  }

  private commitAt = 0;

  // ---- checkpoint server ----

  private performCs(effects: readonly CheckpointServerEffect[]): void {
    for (const e of effects)
      switch (e.type) {
        case 'findPages': {
          const { image, ask } = e;
          this.later(1, () => {
            const m = this.offered.get(image)?.manifest;
            const missing = (m?.pages ?? []).filter((p) => !this.pages.has(p));
            this.performCs(this.cs.step({ now: this.now, type: 'pagesFound', image, ask, missing }));
          });
          break;
        }
        case 'need':
          this.imageLinks.get(e.link)?.down({ type: 'need', image: e.image, pages: e.pages });
          break;
        case 'reply':
          if (e.error) this.world.note(`CS refuses ${e.image}: ${e.error.code} ${e.error.message}`);
          this.imageLinks.get(e.link)?.down({ type: 'reply', image: e.image, reply: e.reply });
          break;
        case 'cover':
          if (this.cms[e.cm]) this.cm(e.cm, { type: 'cover', task: e.task, image: e.image, line: e.line });
          break;
        case 'uncover':
          if (this.cms[e.cm]) this.cm(e.cm, { type: 'uncover', task: e.task, image: e.image });
          break;
        case 'commit': {
          const offered = this.offered.get(e.image);
          this.later(this.world.random.between(1, 10), () => {
            if (!offered) throw new Error(`commit of ${e.image} that was never offered`);
            this.manifests.set(e.image, { manifest: e.manifest, image: offered.image });
            for (const [k, v] of e.changes) if (v === undefined) this.registry.delete(k); else this.registry.set(k, v);
            this.performCs(this.cs.step({ now: this.now, type: 'committed', image: e.image }));
          });
          break;
        }
        case 'discard':
          for (const [k] of e.changes) this.registry.delete(k);
          for (const i of e.images) this.manifests.delete(i);
          break;
        case 'trim':
          if (this.cms[e.cm]) {
            this.world.count('trim');
            this.cm(e.cm, { type: 'trim', task: e.task, replay: e.to });
          }
          break;
        case 'complete':
          this.world.count('image');
          this.dispatch({ now: this.now, type: 'image', job: e.job, task: e.task, image: e.image, serial: e.serial });
          break;
        case 'check': {
          const { image } = e;
          this.later(1, () => this.performCs(this.cs.step({ now: this.now, type: 'checked', image, sound: this.manifests.has(image) })));
          break;
        }
        case 'chosen':
          this.dispatch({ now: this.now, type: 'imageChosen', job: e.job, task: e.task, incarnation: e.incarnation, ...(e.image === undefined ? {} : { image: e.image }) });
          break;
        case 'lost':
          this.dispatch({ now: this.now, type: 'imageLost', job: e.job, task: e.task, incarnation: e.incarnation, error: e.error });
          break;
        case 'collect':
        case 'log':
          break;
      }
  }

  // ---- channel memories ----

  private openJob(): void {
    if (this.opened) return;
    this.opened = true;
    const { setup } = this.world;
    const acting = [...this.registry].flatMap(([k, v]) => {
      const [kind, , task] = k.split('/');
      return kind === 'task' ? [[taskId(Number(task)), (v as { incarnation: Incarnation }).incarnation] as const] : [];
    });
    for (let i = 0; i < setup.channelMemories; i++) {
      const core = new ChannelMemory({
        size: setup.spec.size, index: i, count: setup.channelMemories, protocol: setup.protocol, durability: setup.durability,
        chunkBytes: setup.chunkBytes, window: setup.window,
        authorise: (c) => {
          const [t, n] = c.split('.').map(Number);
          return t === undefined || n === undefined ? undefined : { task: taskId(t), incarnation: incarnation(n) };
        },
      });
      this.cms.push(core);
      const log = this.log[i]!;
      for (const s of core.streams()) this.performCm(i, core.recover(s, log.scan(s), log.next(s)));
      for (const [task, n] of acting) this.cm(i, { type: 'fence', task, incarnation: n });
      this.cm(i, { type: 'recovered', fresh: acting.length === 0 });
      for (const [k, v] of this.registry) {
        const [kind, , task] = k.split('/');
        if (kind === 'task' && (v as { exit?: unknown }).exit) this.cm(i, { type: 'done', task: taskId(Number(task)) });
      }
    }
    this.performCs(this.cs.step({ now: this.now, type: 'openJob', job: setup.job, size: setup.spec.size, channelMemories: setup.channelMemories, program: setup.program, acting }));
  }

  private cm(index: number, event: CmEvent): void {
    const core = this.cms[index];
    if (core) this.performCm(index, core.step(event));
  }

  /** Tells the checkers of messages that are logged. */
  private witness(stream: string, bytes: Uint8Array): void {
    if (stream.startsWith('d')) return;
    for (const { header: h, body } of readFrames(bytes))
      if (h.kind === Kind.DATA || h.kind === Kind.ARRIVAL || h.kind === Kind.RESUPPLY)
        this.world.checkers.logged(h.src, h.incarnation, h.dst, h.channel, h.tag, h.mode, body, h.offset, (h.flags & Flag.LAST) !== 0);
  }

  private performCm(index: number, effects: readonly CmEffect[]): void {
    const { world } = this;
    const log = this.log[index]!;
    for (const e of effects)
      switch (e.type) {
        case 'append': {
          const lsn = log.append(e.stream, e.bytes);
          this.witness(e.stream, e.bytes);
          if (lsn !== e.lsn) throw new Error(`CM ${index}: ${e.stream} got LSN ${lsn}, the core expects ${e.lsn}`);
          break;
        }
        case 'send':
          this.dataLinks.get(e.conn)?.down(e.bytes.slice());
          break;
        case 'sendRecord': {
          const record = log.read(e.stream, e.lsn);
          if (!record) throw new Error(`CM ${index}: record ${e.lsn} of ${e.stream} is trimmed and still needed`);
          this.dataLinks.get(e.conn)?.down(patchFromLog(record, e));
          break;
        }
        case 'close':
          world.note(`CM ${index} closes connection ${e.conn}: ${e.error.code} ${e.error.message}`);
          this.closeData(e.conn);
          break;
        case 'sync': {
          const marks = e.streams.map((s) => [s, log.next(s)] as const);
          this.later(world.random.between(1, 15), () => {
            for (const [s, n] of marks) log.sync(s, n);
            this.cm(index, { type: 'synced', ticket: e.ticket });
          });
          break;
        }
        case 'trim':
          log.trim(e.stream, e.from, e.to, e.keep);
          break;
        case 'world':
          world.checkers.world(e.task, e.channel, e.mode, e.body);
          if (e.mode === WorldMode.EXIT) this.dispatch({ now: this.now, type: 'exit', job: world.setup.job, task: e.task, report: { code: 0 } });
          break;
        case 'fenced':
          this.dispatch({
            now: this.now, type: 'fencedCm', job: world.setup.job, task: e.task, incarnation: e.incarnation, cm: index,
            ...this.cms[index]!.progress(e.task),
          });
          break;
        case 'covered':
          this.performCs(this.cs.step({ now: this.now, type: 'covered', image: e.image, cm: index, determinants: e.determinants }));
          break;
        case 'failed':
          this.dispatch({ now: this.now, type: 'jobFailed', job: world.setup.job, error: e.error });
          break;
        case 'attached':
          break;
      }
  }

}
