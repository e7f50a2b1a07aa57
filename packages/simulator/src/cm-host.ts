/**
 * The host of one simulated Channel Memory: performs the effects of its core on a faulty log and data connections. Like
 * the host in apps/server it recovers from its log when it was killed alone, and after an append that found the disk
 * full.
 *
 * Owns the connections and the log. The log alone outlives the process.
 */
import { asArrival, patchFromLog, readWorldBody, type LogAnswers, type LogIo, type ServedLog } from '@mayfly/protocols';
import {
  Flag,
  Kind,
  WORLD,
  WorldMode,
  MayflyError,
  incarnation,
  readFrames,
  taskId,
  type Attach,
  type ErrorBody,
  type Frame,
  type Incarnation,
  type TaskId,
} from '@mayfly/wire';
import { name } from './checkers/index.ts';
import { DamagedLog, DiskFull, FaultyLog } from './faulty-log.ts';
import type { FileHost } from './file-host.ts';
import type { Link } from './link.ts';
import { servedLog } from './planted-logs.ts';
import { stdinMessage } from './program.ts';
import { describe } from './trace.ts';
import { Violation } from './violation.ts';
import type { Simulation } from './simulation.ts';
import { pastTheMark, refusal, withLowerEvidence, withoutCounts } from './mutate.ts';

const MAX_RECOVERIES = 5;
type DataLink = Link<Uint8Array, Uint8Array>;

/** What a Channel Memory asks of the run that it is part of. */
export interface LogSimulation extends Simulation {
  /** Messages of standard input that were typed so far. */
  readonly stdinTyped: number;
  readonly files: Pick<FileHost, 'answer' | 'deliver' | 'ended' | 'last'>;
  readonly sink: { wrote(task: TaskId, channel: number): void };
  readonly server: {
    readonly up: boolean;
    readonly life: number;
    /** Of the job, by now. */
    readonly tasks: number;
    exited(task: TaskId, incarnation: Incarnation): void;
    /** A request to the membership service. */
    asked(task: TaskId, body: Uint8Array): unknown;
    failed(error: ErrorBody): void;
  };
}

export type MakeData = (ends: { up: (m: Uint8Array) => void; closed: () => void }) => DataLink;

export class CmHost {
  readonly log: FaultyLog;
  /** Of this life of the server, once the job is open. */
  served: ServedLog | undefined;
  /** The job has just begun: nothing is recovered. */
  private fresh = false;
  private readonly links = new Map<number, DataLink>();
  /** Number of this life: what an earlier one had under way does not happen. */
  private life = 0;
  private recoveries = 0;
  /** It found the disk full, and recovers when there is space. */
  stopped = false;
  private connections = 0;
  private goesBack = false;
  /** While frames are judged: which incarnation of each task speaks. */
  private speaking = new Map<number, number>();
  private readonly flight: Flight;
  /** Attachments, by connection and task, that are the first of their incarnation. */
  private readonly beginning = new Set<string>();
  /** For the planted bug that lets the first connection win. */
  private readonly first = new Map<TaskId, { conn: number; incarnation: number }>();

  constructor(
    private readonly world: LogSimulation,
    readonly index: number,
  ) {
    this.log = new FaultyLog((stream, next) => world.checkers.kit.cut(index, stream, next));
    this.log.lazy = world.undone === 'forwards-before-append';
    this.flight = new Flight(world);
  }

  get up(): boolean {
    return this.served?.core !== undefined;
  }

  // ---- life ----

  /** The server opens the job. `fresh`: it starts now. */
  serve(answers: LogAnswers, fresh: boolean): ServedLog {
    const { world, index } = this;
    const { setup, undone, server } = world;
    this.fresh = fresh;
    this.served = new (servedLog(undone))(
      {
        policy: world.protocol.log,
        size: server.tasks,
        index,
        count: setup.channelMemories,
        homes: setup.clusters,
        durability: undone === 'strict-forwards-before-sync' ? 'behind' : setup.durability,
        chunkBytes: setup.chunkBytes,
        window: setup.window,
        input: { ahead: 2 * setup.chunkBytes, perTick: 16 * setup.chunkBytes },
        worldMemory: { waiting: 2 * setup.chunkBytes, parts: Infinity },
        lazyTicks: setup.lazyTicks,
        authorise: (c) => {
          const [t, n] = c.split('.').map(Number);
          return t === undefined || n === undefined ? undefined : { task: taskId(t), incarnation: incarnation(n) };
        },
        fresh,
        stdin: {
          get messages() {
            return world.stdinTyped;
          },
          message: (n) => stdinMessage(setup.spec, n),
        },
        files: {
          answerable: (task) => world.files.last(task),
          answer: (task, r) => world.files.answer(task, r),
        },
      },
      {
        perform: (e) => this.effect(e),
        performed: () => this.checkMemory(),
        broke: (e) => this.broken(e),
        restart: () => this.restart(),
        mayPass: (e) => {
          if (!(e instanceof MayflyError)) throw e;
          return false;
        },
      },
      answers,
    );
    return this.served;
  }

  /** Recovers from the log. */
  open(): void {
    this.stopped = false;
    const { server } = this.world;
    const { served, log } = this;
    if (!served) return;
    const policy = this.world.protocol.log;
    if (!this.fresh && policy.keeps === 'memory' && !policy.goesBack)
      return server.failed({ code: 'SERVER_RESTARTED', message: 'what the Channel Memory had in its memory is gone' });
    if (policy.goesBack && !this.fresh && !this.goesBack) {
      // what was in its memory is gone: all go back
      served.lost();
      return;
    }
    this.life++;
    this.first.clear();
    const core = served.newCore();
    try {
      if (policy.goesBack && this.world.undone !== 'queues-survive')
        for (const s of core.streams()) if (/^[td]/.test(s)) log.remove(s);
      this.openStreams(core.streams());
      served.begin(core, (s) => ({ records: log.scan(s), next: log.next(s) }));
    } catch (e) {
      if (e instanceof DamagedLog)
        return server.failed({ code: 'DAMAGED_LOG', message: `The log of the job cannot be recovered: ${e.message}` });
      return this.broken(e);
    }
    if (served.core) this.world.trace?.(`cm${this.index} serves${this.fresh ? '' : ', recovered from its log'}`);
    this.fresh = false;
  }

  openStreams(names: readonly string[]): void {
    for (const s of names) this.log.open(s);
  }

  /** All tasks go back: a core without what was in memory, and without connections. */
  private restart(): void {
    this.kill();
    this.goesBack = true;
    this.open();
    this.goesBack = false;
  }

  /** The process is gone; the kernel keeps what was written. */
  kill(): void {
    this.served?.drop();
    this.life++;
    this.log.killed();
    for (const l of this.links.values()) l.break(undefined, this.world.random.between(1, 60));
    this.links.clear();
  }

  /**
   * An effect could not be performed (the disk is full, a record damaged): drop the core, recover later from the
   * streams.
   */
  private broken(e: unknown): void {
    if (!(e instanceof DiskFull || e instanceof DamagedLog)) throw e;
    const code = e instanceof DiskFull ? 'DISK_FULL' : 'INTERNAL';
    this.world.note(`CM ${this.index} stops: ${code} ${e.message}`);
    this.kill();
    if (e instanceof DiskFull) {
      this.stopped = true;
      this.world.count('stopped by a full disk');
      return;
    }
    if (++this.recoveries > MAX_RECOVERIES) {
      this.world.server.failed({ code, message: e.message });
      return;
    }
    this.later(500 * 2 ** this.recoveries, () => this.open());
  }

  private later(ms: number, f: () => void): void {
    const { life } = this;
    const server = this.world.server.life;
    this.world.agenda.after(ms, () => {
      if (this.life === life && this.world.server.life === server && this.world.server.up) f();
    });
  }

  // ---- connections ----

  accept(make: MakeData): DataLink {
    const conn = this.index + 16 * this.connections++;
    const link = make({
      up: (bytes) => {
        if (!this.links.has(conn)) return;
        if (!this.up) return this.close(conn);
        this.received(conn, bytes);
      },
      closed: () => {
        if (this.links.delete(conn)) this.served?.step({ type: 'closed', conn });
      },
    });
    this.links.set(conn, link);
    return link;
  }

  private close(conn: number): void {
    this.links.get(conn)?.break(undefined, 10);
    this.links.delete(conn);
  }

  /** The server's buffer for a connection is full for a while. False: there is no such connection. */
  congest(link: DataLink | undefined, ms: number): boolean {
    const conn = [...this.links].find(([, l]) => l === link)?.[0];
    if (conn === undefined || !this.up) return false;
    this.served?.step({ type: 'congested', conn, congested: true });
    this.world.agenda.after(ms, () => this.served?.step({ type: 'congested', conn, congested: false }));
    return true;
  }

  private received(conn: number, bytes: Uint8Array): void {
    const { world } = this;
    this.speaking = new Map();
    const ends: TaskId[] = [];
    for (const f of readFrames(bytes)) {
      const h = f.header;
      world.trace?.(`  → cm${this.index}  ${describe(f)}`);
      if (h.kind === Kind.ATTACH) this.attaches(conn, f);
      if (h.kind === Kind.CREDIT) this.flight.credited(conn, h.src, h.arrival);
      if (
        h.kind === Kind.ATTACH &&
        world.undone === 'first-connection-wins' &&
        !this.firstWins(conn, h.src, h.incarnation)
      )
        return;
      if (h.kind === Kind.DETACH) this.first.delete(h.src);
      if (h.kind !== Kind.DATA && h.kind !== Kind.DETERMINANTS) continue;
      this.speaking.set(h.src, h.incarnation);
      if (h.kind === Kind.DATA && h.dst === WORLD && h.mode === WorldMode.EXIT) ends.push(h.src);
    }
    this.served?.step({ type: 'frames', conn, bytes });
    this.speaking = new Map();
    this.served?.step({ type: 'flush' });
    if (world.undone === 'done-before-exit-durable') for (const task of ends) this.served?.step({ type: 'done', task });
  }

  private attaches(conn: number, f: Frame): void {
    this.flight.begins(conn, f.header.src);
    const key = `${conn}/${f.header.src}`;
    if ((JSON.parse(new TextDecoder().decode(f.body)) as Attach).resume) this.beginning.delete(key);
    else this.beginning.add(key);
  }

  /** Planted: "The paper lets the first connection win". */
  private firstWins(conn: number, task: TaskId, n: Incarnation): boolean {
    const f = this.first.get(task);
    if (f && f.incarnation < n && this.links.has(f.conn)) {
      this.links.get(conn)?.down(refusal(task, n));
      return false;
    }
    this.first.set(task, { conn, incarnation: n });
    return true;
  }

  // ---- the core ----

  private checkMemory(): void {
    const m = this.served!.core!.memory();
    const { checkers } = this.world;
    checkers.bound(`bodies in the memory of CM ${this.index}`, m.bytes, this.world.setup.memoryBytes);
    checkers.bound(`questions about images at CM ${this.index}`, m.covers, this.world.setup.spec.size);
    checkers.bound(`records indexed by CM ${this.index}`, m.records, this.appended);
  }

  /** Records ever appended here: no index may be longer. */
  private appended = 0;

  describe(task: TaskId): string {
    const core = this.served?.core;
    return core ? JSON.stringify(core.observe(task)) : 'down';
  }

  private effect(e: LogIo): void {
    const { world, log } = this;
    switch (e.type) {
      case 'append': {
        const bytes = world.undone === 'base-forgets' ? withoutCounts(e.bytes) : e.bytes;
        if (log.full && world.undone === 'forwards-though-full') return;
        this.append(e.stream, e.lsn, bytes);
        if (log.lazy) this.later(30, () => log.flush());
        return;
      }
      case 'copy':
        e.lsns.forEach((lsn, i) => {
          const record = this.read(e.from, lsn);
          const number = i === e.lsns.length - 1 ? e.arrival : 0;
          this.append(e.to, e.lsn + i, e.arrival === undefined ? record : asArrival(record, number!));
        });
        return;
      case 'send':
        return this.send(e.conn, e.bytes.slice());
      case 'sendRecord':
        return this.send(e.conn, patchFromLog(this.read(e.stream, e.lsn), e));
      case 'close':
        world.note(`CM ${this.index} closes connection ${e.conn}: ${e.error.code} ${e.error.message}`);
        return this.close(e.conn);
      case 'sync': {
        const synced = e.streams.filter((s) => world.undone !== 'world-not-synced' || !s.startsWith('w'));
        const marks = synced.map((s) => [s, log.next(s)] as const);
        return this.later(world.random.between(1, world.setup.diskMs), () => {
          // Allocated only now, perhaps.
          if (log.full && world.undone !== 'synced-though-full' && world.random.chance(0.3))
            return this.broken(new DiskFull('no space is left for what was written'));
          if (!log.full || world.undone !== 'synced-though-full') for (const [s, n] of marks) log.sync(s, n);
          world.trace?.(`cm${this.index} synced ${e.streams.join(' ')}`);
          this.served?.step({ type: 'synced', ticket: e.ticket });
        });
      }
      case 'trim': {
        const to = world.undone === 'unconsumed-forgotten' ? log.next(e.stream) : e.to;
        world.checkers.kit.trims(this.index, { ...e, to });
        world.trace?.(
          `cm${this.index} trims ${e.stream} records ` +
            `${e.from}–${to - 1}${e.keep.size > 0 ? ` but ${[...e.keep].join(', ')}` : ''}`,
        );
        return log.trim(e.stream, e.from, to, e.keep);
      }
      case 'world': {
        const body = readWorldBody(e.body, (stream, lsn) => this.read(stream, lsn));
        world.checkers.kit.shows(this.index, e.task, e.channel);
        world.checkers.world(e.task, e.channel, e.mode, body);
        world.trace?.(`world sees message ${e.channel} of task ${e.task}${e.mode === WorldMode.EXIT ? ' (exit)' : ''}`);
        if (e.mode === WorldMode.EXIT) {
          world.files.ended(e.task);
          world.server.exited(e.task, e.incarnation);
        } else world.sink.wrote(e.task, e.channel);
        if (e.mode === WorldMode.MEMBER) world.server.asked(e.task, body);
        if (e.mode === WorldMode.REQUEST) world.files.deliver(e.task, e.channel, body);
        return;
      }
      case 'refused':
        if (e.error.message.startsWith('a frame says') && !world.lies.has(`${e.task}.${e.incarnation}`))
          throw new Violation(`K28: incarnation ${e.incarnation} of task ${e.task} is refused: ${e.error.message}`);
        return;
      case 'attached':
        return;
    }
  }

  private append(stream: string, expected: number, bytes: Uint8Array): void {
    const lsn = this.log.append(stream, bytes);
    this.appended++;
    this.witness(stream, lsn, bytes);
    if (lsn !== expected) throw new Error(`CM ${this.index}: ${stream} got LSN ${lsn}, the core expects ${expected}`);
  }

  private read(stream: string, lsn: number): Uint8Array {
    const record = this.log.read(stream, lsn);
    if (!record) throw new Error(`CM ${this.index}: record ${lsn} of ${stream} is trimmed and still needed`);
    return record;
  }

  private send(conn: number, frame: Uint8Array): void {
    const { world } = this;
    const { kit } = world.checkers;
    let [f] = readFrames(frame) as [Frame];
    if (world.undone === 'acknowledged-past-the-mark')
      f = pastTheMark(f, this.served?.core?.observe(taskId(f.header.dst)).arrivalsLogged ?? 0);
    if (f.header.kind === Kind.ACK) kit.acknowledged(this.index, f);
    if (f.header.kind === Kind.ARRIVAL) {
      this.flight.leaves(conn, f);
      kit.pushed(this.index, f.header);
    }
    if (f.header.kind === Kind.ATTACHED && this.beginning.delete(`${conn}/${f.header.dst}`))
      kit.attached(this.index, f);
    this.links
      .get(conn)
      ?.down(world.undone === 'evidence-ignored' && f.header.kind === Kind.DETERMINANTS ? withLowerEvidence(f) : frame);
  }

  /** Shows the checkers what is logged. */
  private witness(stream: string, lsn: number, bytes: Uint8Array): void {
    const { world, index } = this;
    for (const f of readFrames(bytes)) {
      const h = f.header;
      world.checkers.logged({ cm: index, stream, lsn }, this.speaking.get(h.src), f);
      if (h.kind === Kind.DETERMINANTS) world.trace?.(`cm${index} logs ${stream}[${lsn}]  ${describe(f)}`);
      if (h.kind !== Kind.DATA && h.kind !== Kind.ARRIVAL && h.kind !== Kind.RESUPPLY) continue;
      const last = (h.flags & Flag.LAST) !== 0;
      world.trace?.(
        `cm${index} logs ${stream}[${lsn}]  ${name(h.src)}→${name(h.dst)} ` +
          `#${h.channel}${last && h.dst !== WORLD ? ` as arrival ${h.arrival}` : ''}${last ? '' : ` bytes ${h.offset}–${h.offset + h.bytes - 1}`}`,
      );
      if (last && h.dst === WORLD && world.undone === 'output-before-logged' && h.mode !== WorldMode.EXIT)
        world.checkers.world(h.src, h.channel, h.mode, f.body);
    }
  }
}

/** What is under way to each receiver: K8 when it leaves, K12 for how much it is. */
class Flight {
  private readonly out = new Map<string, { arrivals: [arrival: number, cost: number][]; bytes: number }>();

  constructor(private readonly world: LogSimulation) {}

  leaves(conn: number, f: Frame): void {
    const h = f.header;
    this.world.checkers.kit.visible(h.src, h.dst, h.channel);
    if ((h.flags & Flag.LAST) === 0) return;
    const key = `${conn}/${h.dst}`;
    let o = this.out.get(key);
    if (!o) this.out.set(key, (o = { arrivals: [], bytes: 0 }));
    const cost = 64 + ((h.flags & Flag.NO_BODY) !== 0 ? 0 : h.size);
    o.arrivals.push([h.arrival, cost]);
    o.bytes += cost;
    const window = Math.max(1024, this.world.setup.window);
    // a message that does not fit is cut down to its envelope; two windows and a quarter is what push.ts promises (P1)
    this.world.checkers.bound(`what is under way to task ${h.dst}`, o.bytes, 2.25 * window + 64);
  }

  /** A receiver attached (again): what went before is void. */
  begins(conn: number, task: number): void {
    this.out.delete(`${conn}/${task}`);
  }

  credited(conn: number, task: number, consumed: number): void {
    const o = this.out.get(`${conn}/${task}`);
    if (!o) return;
    while (o.arrivals.length > 0 && o.arrivals[0]![0] <= consumed) o.bytes -= o.arrivals.shift()![1];
  }
}
