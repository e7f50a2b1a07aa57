/**
 * The simulated server process: the composition of cores that apps/server has (JobService), over a registry and stores
 * of its own. Performs the dispatcher's effects; cm-host.ts and cs-host.ts perform the others.
 *
 * Owns two kinds of state. Durable: the registry here, the logs (cm-host.ts) and the images (cs-host.ts), which outlive
 * the process. Losable: cores, connections, effects under way. `kill` loses the second kind; `powerLoss` also what was
 * not synced.
 */
import {
  nodeViews,
  protocols,
  type DispatcherInput,
  type DispatcherIo,
  type FaultRecord,
  type JobService,
  type LoggedProgress,
} from '@mayfly/protocols';
import {
  nodeId,
  spawnedTasks,
  type ErrorBody,
  type Incarnation,
  type NodeId,
  type SpawnGroup,
  type TaskId,
} from '@mayfly/wire';
import { Registry } from './registry.ts';
import { PlantedDispatcher } from './planted-dispatcher.ts';
import { SimService } from './service.ts';
import { CmHost, type LogSimulation } from './cm-host.ts';
import { CsHost } from './cs-host.ts';
import type { PowerLoss } from './faulty-log.ts';
import type { FileHost } from './file-host.ts';
import { jobSpec } from './job-spec.ts';
import type { Link } from './link.ts';
import type { ControlDown, ControlUp } from './messages.ts';
import { withoutRule } from './planted.ts';
import { Violation } from './violation.ts';

type ControlLink = Link<ControlUp, ControlDown>;

/** What the server asks of the run that it is part of. */
export interface ServerSimulation extends LogSimulation {
  readonly server: Server;
  readonly files: FileHost;
  readonly sink: LogSimulation['sink'] & { sync(): void; powerLoss(): void };
  /** The wall clock of the server's machine, ms. */
  readonly wall: number;
  /** How the job ended, once it has. */
  readonly end: unknown;
  ended(state: string, error: ErrorBody | undefined): void;
  /** A fault was recorded: K15 checks it. */
  gaveUp(fault: FaultRecord): void;
  /** A node gets a rank: K18 checks it. */
  gave(node: NodeId): void;
  /** K18: failures of nodes that do nothing else, since the server began. */
  readonly failures: Map<string, unknown>;
  /** When each incarnation was assigned to its node. */
  readonly givenAt: Map<string, number>;
  /** Incarnations whose node, as the server knows it, has reported that they crashed. */
  readonly saidCrashed: Set<string>;
}

const DISK_FULL: ErrorBody = { code: 'DISK_FULL', message: 'no space is left' };

export class Server {
  up = false;
  /** Number of this life of the process: what an earlier one had under way does not happen. */
  life = 0;
  readonly cms: CmHost[] = [];
  readonly cs: CsHost;
  readonly registry: Registry;
  /** The cores of this life. */
  service!: JobService;
  private opened = false;
  private connections = 0;
  private commitAt = 0;
  /** The disk is full: survives the process. */
  private full = false;
  /** What waits for space, in order; of this life. */
  private waiting: (() => void)[] = [];
  /** Of the job, by now. */
  tasks = 0;
  private readonly controls = new Map<string, ControlLink>();
  /** Planted: the connection of each task's last assignment, and how often heartbeats there did not name the task. */
  private readonly given = new Map<
    TaskId,
    { connection: string; task: TaskId; incarnation: Incarnation; missed: number }
  >();

  constructor(private readonly world: ServerSimulation) {
    this.registry = new Registry(world.setup.job, {
      fault: (fault) => world.gaveUp(fault),
      entry: (key, value) => world.checkers.registered(key, value),
      commit: (changes) => world.checkers.kit.commits?.(changes),
    });
    this.cs = new CsHost(world);
    for (let i = 0; i < world.setup.channelMemories; i++) this.cms.push(new CmHost(world, i));
  }

  // ---- life ----

  start(): void {
    const { world } = this;
    this.up = true;
    this.life++;
    this.commitAt = 0;
    this.waiting = [];
    const { dispatcher, graceMs, briefGraceMs } = world.setup;
    world.failures.clear(); // what strangers did is forgotten with the process
    const settings = { ...dispatcher, ...withoutRule(world.undone) };
    const cores = {
      dispatcher: new PlantedDispatcher(world, {
        ...settings,
        ...(briefGraceMs === undefined ? {} : { graceMs, briefGraceMs }),
      }),
      images: this.cs.newCore(),
    };
    this.service = new SimService(
      world,
      cores,
      {
        now: () => world.wall,
        dispatcher: (e) => this.perform(e),
        images: (e) => this.cs.perform(e),
        defect: (_core, _event, error) => {
          throw error;
        },
        commit: (changes, then) => this.commit(changes, then),
        replace: (_job, group) => this.replace(group),
        log: (level, _job, message) => {
          world.note(`waves: ${message}`);
          // The scheduler's own check has found what must not be.
          if (level === 'error') throw new Violation(`Q1: ${message}`);
        },
      },
      { ...protocols, [world.setup.protocol]: world.protocol },
    );
    this.given.clear();
    this.opened = false;
    world.trace?.('server starts');
    if (world.setup.spec.files) world.files.start();
    this.tasks = world.setup.spec.files ? world.files.tasks : world.setup.spec.size;
    this.service.recover(this.registry.entries(() => true));
    if (this.full) this.dispatch({ type: 'storage', error: DISK_FULL });
    if (!this.registry.has(`job/${world.setup.job}`))
      this.dispatch({ type: 'submit', job: jobSpec(this.world.setup, this.world.wall) });
    const { life } = this;
    const every = (ms: number, f: () => void): void => {
      world.agenda.after(ms, () => {
        if (this.life !== life || !this.up) return;
        f();
        every(ms, f);
      });
    };
    every(250, () => {
      this.service.tick();
      this.service.image({ type: 'tick' });
      world.sink.sync();
      if (!world.end) world.checkers.kit.recoveries?.tick();
    });
    every(1000, () => this.progress());
    every(world.setup.syncMs, () => {
      for (const cm of this.cms) cm.served?.step({ type: 'tick' });
    });
  }

  /** `kill -9`: the kernel keeps what was written. */
  kill(): void {
    this.up = false;
    this.life++;
    for (const l of this.controls.values()) l.break(undefined, this.world.random.between(1, 60));
    this.controls.clear();
    this.cs.kill();
    for (const cm of this.cms) cm.kill();
    this.world.files.kill();
  }

  powerLoss(): PowerLoss {
    this.kill();
    this.world.sink.powerLoss();
    this.world.files.powerLoss();
    const lost: PowerLoss = { lost: 0, reordered: 0, torn: 0, streams: [] };
    for (const cm of this.cms) {
      const l = cm.log.powerLoss(this.world.random);
      lost.lost += l.lost;
      lost.reordered += l.reordered;
      lost.torn += l.torn;
      lost.streams.push(...l.streams);
    }
    return lost;
  }

  /** Later, unless the process has died by then. */
  later(ms: number, f: () => void): void {
    const { life } = this;
    this.world.agenda.after(ms, () => {
      if (this.life === life && this.up) f();
    });
  }

  /** What the Channel Memories have of every task. */
  private progress(): void {
    const { world } = this;
    if (world.end || !this.opened) return;
    const tasks = this.service.logged(world.setup.job, this.tasks);
    if (tasks.length === 0) return;
    this.dispatch({
      type: 'progress',
      job: world.setup.job,
      tasks: world.undone === 'words-believed' ? this.asReported(tasks) : tasks,
    });
  }

  /** Planted: what a node reports of its rank counts as if it were logged. */
  private asReported(tasks: readonly LoggedProgress[]): LoggedProgress[] {
    return tasks.map((p) => ({
      ...p,
      sends: Math.max(p.sends, this.service.dispatcher.core.find(this.world.setup.job, p.task)?.activity?.sends ?? 0),
    }));
  }

  // ---- a full disk ----

  /** The dispatcher hears of it a moment later, as of a write that failed. */
  setFull(full: boolean, toldAfterMs: number): void {
    this.full = full;
    this.world.checkers.kit.recoveries?.standsStill();
    for (const cm of this.cms) cm.log.full = full;
    this.cs.full = full;
    this.world.files.full = full;
    this.later(
      toldAfterMs,
      () => this.full === full && this.dispatch({ type: 'storage', ...(full ? { error: DISK_FULL } : {}) }),
    );
    if (full || !this.up) return;
    for (const go of this.waiting.splice(0)) go();
    for (const cm of this.cms) if (cm.stopped) cm.open();
  }

  /** Now, or when there is space: in order. */
  whenWritable(f: () => void): void {
    if (this.full || this.waiting.length > 0) this.waiting.push(f);
    else f();
  }

  /** Nodes in quarantine. */
  quarantined(): NodeId[] {
    return nodeViews(this.service.dispatcher).flatMap((n) => (n.quarantinedUntil === undefined ? [] : [n.id]));
  }

  // ---- connections ----

  acceptControl(make: (ends: { up: (m: ControlUp) => void; closed: () => void }) => ControlLink): ControlLink {
    const connection = `c${this.connections++}`;
    const link = make({
      up: (m) => this.up && this.controls.has(connection) && this.onControl(connection, m),
      closed: () => this.up && this.controls.delete(connection) && this.dispatch({ type: 'disconnected', connection }),
    });
    this.controls.set(connection, link);
    return link;
  }

  /**
   * Nodes have reported a deadlock of their ranks, and it was none. False: no other node could be asked, or all nodes
   * have a record (D12).
   */
  seemsDeadlocked(): boolean {
    const { core } = this.service.dispatcher;
    const { job } = this.world.setup;
    const { kind } = this.world.setup;
    const here = [...core.nodes.values()].filter(
      (n) =>
        n.connection !== undefined && !n.presence.left && n.runs.includes(kind) && core.time - n.presence.heard < 2000,
    );
    const running = [...core.jobs.values()].flatMap((j) => j.tasks.filter((t) => t.phase === 'running'));
    const trusted = new Set(nodeViews(this.service.dispatcher).flatMap((v) => (v.record === true ? [v.id] : [])));
    const strangers = running.filter((t) => t.node !== undefined && !trusted.has(t.node));
    // The owner of a job in rooms knows its nodes: the first report counts (D12).
    if (!this.up || here.length < 2 || strangers.length === 0 || this.world.setup.rooms) return false;
    if (this.world.undone === 'deadlock-believed')
      this.failed({ code: 'DEADLOCK', message: 'nodes say that all ranks wait' });
    else this.dispatch({ type: 'deadlock', job, report: 'nodes say that all ranks wait' });
    return true;
  }

  private onControl(connection: string, m: ControlUp): void {
    switch (m.type) {
      case 'hello': {
        const { hello } = m;
        return this.dispatch({
          connection,
          type: 'hello',
          ...(hello.node === undefined ? {} : { claimed: hello.node }),
          fresh: nodeId(`node${String(this.connections++).padStart(6, '0')}`),
          ...(hello.session === undefined ? {} : { session: hello.session }),
          name: hello.name,
          engine: hello.engine,
          slots: hello.slots,
          ...(hello.room === undefined ? {} : { room: hello.room }),
          ...(hello.runs && this.world.undone !== 'kinds-ignored' ? { runs: hello.runs } : {}),
          holds: hello.holds,
          images: hello.images,
        });
      }
      case 'heartbeat':
        if (this.world.undone === 'old-heartbeats-count') this.countMissed(connection, m.heartbeat.tasks);
        return this.dispatch({ connection, type: 'heartbeat', tasks: m.heartbeat.tasks });
      case 'report':
        this.world.trace?.(
          `  → dispatcher  ${m.report.event} task ` +
            `${m.report.task}.${m.report.incarnation}${m.report.error ? `: ${m.report.error.code}` : ''}`,
        );
        if (m.report.error?.code === 'LOST_LOG' && this.world.undone === 'loss-believed')
          return this.failed({ ...m.report.error, message: `rank ${m.report.task}: ${m.report.error.message}` });
        if (m.report.event === 'crashed' && this.isNode(connection))
          this.world.saidCrashed.add(`${m.report.task}.${m.report.incarnation}`);
        return this.dispatch({ connection, type: 'report', ...m.report });
      case 'goodbye':
        return this.dispatch({ connection, type: 'goodbye', reason: m.reason });
    }
  }

  /** The dispatcher takes this connection for one of its nodes. */
  private isNode(connection: string): boolean {
    return [...this.service.dispatcher.core.nodes.values()].some((n) => n.connection === connection);
  }

  /** Planted: a rank that three heartbeats in a row do not name counts as crashed, even if they are old. */
  private countMissed(connection: string, named: readonly { task: TaskId }[]): void {
    for (const g of this.given.values()) {
      if (g.connection !== connection) continue;
      g.missed = named.some((h) => h.task === g.task) ? -Infinity : g.missed + 1;
      if (g.missed === 3)
        this.dispatch({
          connection,
          type: 'report',
          job: this.world.setup.job,
          task: g.task,
          incarnation: g.incarnation,
          event: 'crashed',
        });
    }
  }

  // ---- what files and logs report ----

  exited(task: TaskId, incarnation: Incarnation): void {
    this.service.exited(this.world.setup.job, task, incarnation, { code: 0 });
  }

  /** The journal has it. May come again. */
  spawned(group: SpawnGroup): void {
    this.tasks = Math.max(this.tasks, group.first + spawnedTasks(group.parts));
    this.world.trace?.(`task ${group.root} has spawned tasks ${group.first} to ${this.tasks - 1}`);
    this.world.count('spawns granted');
    this.service.spawned(this.world.setup.job, group, (log, size, done) => {
      this.cms[log.index]!.openStreams(log.streamsFor(size));
      done(true);
    });
  }

  readonly asked = (task: TaskId, body: Uint8Array): unknown =>
    this.service.askMembers(this.world.setup.job, task, body);

  /** The job gets a task in place of a lost one. */
  private replace(group: SpawnGroup): void {
    this.world.checkers.kit.recoveries?.replaces(group.first);
    this.spawned(group);
  }

  failed(error: ErrorBody): void {
    this.service.failed(this.world.setup.job, error);
  }

  // ---- dispatcher ----

  dispatch(e: DispatcherInput): void {
    if (this.up) this.service.dispatch(e);
  }

  /** Commits are ordered; a crash may fall before or after one, or before the core hears of it. */
  private commit(
    changes: readonly (readonly [string, unknown])[],
    then: () => void = () => undefined,
    extraMs = 0,
  ): void {
    const { world } = this;
    this.commitAt = Math.max(this.commitAt, world.agenda.now + extraMs + world.random.between(1, world.setup.diskMs));
    this.later(this.commitAt - world.agenda.now, () => {
      if (this.full && world.undone === 'commit-given-up') return then();
      this.whenWritable(() => {
        this.registry.change(changes);
        this.later(world.random.next(), then);
      });
    });
  }

  private down(connection: string, m: ControlDown): void {
    this.controls.get(connection)?.down(m);
  }

  private perform(e: DispatcherIo): void {
    const { world } = this;
    switch (e.type) {
      case 'persist': {
        const early = world.undone === 'incarnation-not-durable';
        const told = (): void => this.dispatch({ type: 'persisted', token: e.token });
        this.commit(e.changes, early ? undefined : told, early ? 200 : 0);
        if (early) this.later(1, told);
        return;
      }
      case 'welcome':
        return this.down(e.connection, { type: 'welcome', node: e.node, drop: e.drop });
      case 'close':
        this.controls.get(e.connection)?.break(undefined, 10);
        this.controls.delete(e.connection);
        return;
      case 'openJob':
        return this.openJob();
      case 'wake':
        return this.later(e.afterMs, () => this.dispatch({ type: 'tick' }));
      case 'assign': {
        const found = e.image === undefined ? undefined : this.cs.stored(e.image);
        if (e.image !== undefined && !found) throw new Error(`assigned image ${e.image} is not there`);
        const { task, incarnation, image, team, node } = e;
        world.checkers.assigned({ task, incarnation, image, team, node, at: world.agenda.now });
        world.gave(e.node);
        world.givenAt.set(`${e.task}.${e.incarnation}`, world.agenda.now);
        this.given.set(e.task, { connection: e.connection, task: e.task, incarnation: e.incarnation, missed: 0 });
        world.trace?.(
          `dispatcher assigns task ${e.task}.${e.incarnation}${e.image === undefined ? '' : ` with ${e.image}`}`,
        );
        return this.down(e.connection, {
          type: 'assign',
          job: e.job,
          task: e.task,
          incarnation: e.incarnation,
          serial: found?.manifest.serial ?? 0,
          image: found?.image,
          team: e.team,
          ended: e.ended,
          position: this.cs.positionFor(e.image, team),
        });
      }
      case 'revoke':
        world.trace?.(`dispatcher revokes task ${e.task}.${e.incarnation}: ${e.error.code}`);
        return this.down(e.connection, e);
      case 'jobEnded':
        world.trace?.(`the job is ${e.state}${e.error ? `: ${e.error.code} ${e.error.message}` : ''}`);
        if (e.state !== 'done') return world.ended(e.state, e.error);
        this.openJob(); // after a restart: its logs may have what the files lack
        return this.whenShown(() => world.ended(e.state, e.error));
      case 'checkpoint':
        return this.down(e.connection, e);
      case 'taskDone':
      case 'jobChanged':
      case 'nodesChanged':
        return;
      case 'log':
        world.note(`dispatcher: ${e.message}`);
    }
  }

  /** The logs of a job go when everything that they have for the world is out. */
  private whenShown(then: () => void, left = 400): void {
    const out = this.cms.every((cm) => cm.served?.core?.unshown().messages === 0);
    if (out || left === 0) then();
    else this.later(50, () => this.whenShown(then, left - 1));
  }

  private openJob(): void {
    if (this.opened) return;
    this.opened = true;
    const { job } = this.world.setup;
    // At the very start of a job no task can have received anything.
    this.service.open(
      job,
      this.cms.map((cm) => cm.serve(this.service.answersOf(job), this.life === 1)),
    );
    this.service.acting(jobSpec(this.world.setup, this.world.wall), this.registry.acting());
    for (const cm of this.cms) cm.open();
  }
}
