/**
 * Host of one Channel Memory core: job × CM index. Gives it socket messages, ticks and orders, and performs its effects
 * on log streams and links; the order of both is written in packages/protocols/src/channel-memory/types.ts.
 *
 * Owns: the streams `<job>/cm<index>/…`, the connections bound to this core. Does not own: sockets before their first
 * ATTACH (channel-memories.ts), what a message to the world becomes (world-host.ts).
 *
 *  H1  An append reaches the kernel before any frame of the same step leaves.
 *  H2  The core is never entered while its effects are being performed: what comes meanwhile waits in the inbox.
 *  H3  A core whose append or step failed is never used again: its links are closed, and a new one recovers from the
 *      streams.
 *  H5  While storage is stopped (disk.ts) no link is read and no link is bound: what was not appended is with its comm
 *      worker, which retains it, or in the socket. A core whose append or sync found storage stopped recovers when it
 *      can be written again, however often that takes.
 *  H4  Output of a task is synced before the log of it may be trimmed (`worldDone`).
 */
import {
  AnswerFeed,
  ChannelMemory,
  patchFromLog,
  protocols,
  type CmEffect,
  type CmEvent,
  type JobSpec,
  type StreamName,
} from '@mayfly/protocols';
import type { LogStream, MessageLog } from '@mayfly/storage/ports';
import {
  FILES,
  MayflyError,
  WorldMode,
  homeOf,
  taskId,
  type ImageId,
  type Incarnation,
  type Line,
  type ReplayFrom,
  type TaskId,
} from '@mayfly/wire';
import type { Disk } from '../disk.ts';
import type { Metrics } from '../metrics.ts';
import type { Logger } from '../logger.ts';
import type { Secrets } from '../secrets.ts';
import type { CmDeps, CmListener, CmSettings, CmSpec } from './cm-types.ts';
import { CloseCode, type DataLink } from './data-link.ts';
import { MemoryStream } from './memory-stream.ts';
import { StdinFeed } from './stdin-feed.ts';
import { Traffic } from './traffic.ts';
import { WorldSync } from './world-sync.ts';

interface Connection {
  id: number;
  link: DataLink;
  out: Uint8Array[];
  outBytes: number;
  congested: boolean;
}

/** Frames for one link up to this many bytes leave in one socket message. */
const COMBINE_BYTES = 32 * 1024;
const MAX_RECOVERIES = 5;

let connections = 0;

export class ChannelMemoryHost {
  readonly spec: CmSpec;
  /** Resolves when the core has recovered and serves connections. */
  ready: Promise<void>;
  readonly traffic: Traffic;
  /** Tasks of the job. */
  #size: number;
  readonly #log: MessageLog;
  readonly #disk: Disk;
  readonly #listener: CmListener;
  readonly #secrets: Secrets;
  readonly #settings: CmSettings;
  readonly #metrics: Metrics;
  readonly #logger: Logger;
  /** Lowest incarnation that may act, and tasks that are done: given again to a core that recovers. */
  readonly #fences = new Map<TaskId, Incarnation>();
  readonly #done = new Set<TaskId>();
  readonly #connections = new Map<number, Connection>();
  readonly #dirty = new Set<Connection>();
  #streams = new Map<string, LogStream>();
  #core: ChannelMemory | undefined;
  #inbox: CmEvent[] = [];
  #busy = false;
  #flushing = false;
  #closed = false;
  /** The job starts now: nobody can have received anything. */
  #fresh: boolean;
  #recoveries = 0;
  #syncs = 0;
  readonly #worldSync: WorldSync;
  readonly #stdin: StdinFeed | undefined;
  readonly #answers: AnswerFeed;

  constructor(spec: CmSpec, deps: CmDeps) {
    this.spec = spec;
    this.#size = spec.size;
    this.traffic = new Traffic(spec.size);
    this.#log = deps.log;
    this.#disk = deps.disk;
    this.#listener = deps.listener;
    this.#answers = new AnswerFeed({
      answerable: (task) => deps.listener.answerable(spec, task),
      answer: (task, r) => deps.listener.answer(spec, task, r),
    });
    this.#secrets = deps.secrets;
    this.#settings = deps.settings;
    this.#metrics = deps.metrics;
    this.#logger = deps.logger.child({ job: spec.job, cm: spec.index });
    this.#worldSync = new WorldSync({
      sync: (task) => deps.listener.syncWorld(spec, task),
      // A core that broke meanwhile repeats what it gave to the world.
      core: () => this.#core,
      synced: (task, channel) => this.step({ type: 'worldDone', task, channel }),
      logger: this.#logger,
    });
    this.#stdin = deps.stdin && homeOf(taskId(0), spec.count) === spec.index ? new StdinFeed(deps.stdin) : undefined;
    this.#fresh = deps.fresh;
    this.ready = deps.fences.then((fences) => {
      for (const [task, incarnation] of fences)
        if ((this.#fences.get(task) ?? -1) < incarnation) this.#fences.set(task, incarnation);
      return this.#recoverWhenWritable();
    });
    // Reported by #recover itself; whoever needs it awaits `ready` as well.
    this.ready.catch(() => undefined);
  }

  get prefix(): string {
    return `${this.spec.job}/cm${this.spec.index}/`;
  }
  get core(): ChannelMemory | undefined {
    return this.#core;
  }
  get links(): number {
    return this.#connections.size;
  }
  /** Bytes of all logs on disk. */
  get logBytes(): number {
    let n = 0;
    for (const s of this.#streams.values()) n += s.bytes;
    return n;
  }

  /** H5. */
  async #recoverWhenWritable(): Promise<void> {
    for (;;) {
      await this.#disk.writable();
      if (this.#closed || this.#disk.closed) return;
      try {
        return await this.#recover();
      } catch (error) {
        if (!this.#disk.failed(error, 'the log of a job')) throw error;
      }
    }
  }

  /**
   * Resolves when a link may be bound: its core serves, and storage can be written. @throws when the core cannot
   * recover
   */
  async serving(): Promise<void> {
    do {
      await this.#disk.writable();
      await this.ready;
    } while (!this.#closed && !this.#disk.closed && (this.#disk.stopped !== undefined || this.#core === undefined));
  }

  /** Storage stops, or can be written again (H5). */
  hold(on: boolean): void {
    for (const { link } of [...this.#connections.values()])
      if (on) link.pause();
      else link.resume();
    if (!on) for (let t = 0; t < this.#size; t++) this.feedAnswers(taskId(t));
  }

  async #recover(): Promise<void> {
    const { spec } = this;
    const core = new ChannelMemory(protocols[spec.protocol].log, {
      size: this.#size,
      index: spec.index,
      count: spec.count,
      durability: spec.durability,
      lazyTicks: this.#settings.lazyTicks,
      authorise: (capability) => {
        const h = this.#secrets.holder(capability);
        return h?.job === spec.job ? { task: h.task, incarnation: h.incarnation } : undefined;
      },
    });
    const streams = new Map<string, LogStream>();
    for (const name of core.streams()) streams.set(name, await this.#openStream(name));
    this.#streams = streams;
    let records = 0;
    this.traffic.clear();
    for (const [name, stream] of streams) {
      const again = core.recover(
        name as StreamName,
        this.#counted(name, stream.scan(), () => records++),
        stream.next,
      );
      for (const e of again) this.#perform(e);
    }
    if (this.#closed) return;
    this.#core = core;
    for (const [task, incarnation] of this.#fences) this.step({ type: 'fence', task, incarnation });
    this.step({ type: 'recovered', fresh: this.#fresh });
    this.#fresh = false;
    for (const task of this.#done) this.step({ type: 'done', task });
    this.feedStdin();
    for (let t = 0; t < this.#size; t++) this.feedAnswers(taskId(t));
    if (records > 0) this.#logger.info({ records }, 'Channel Memory recovered from its logs');
  }

  async #openStream(name: string): Promise<LogStream> {
    return protocols[this.spec.protocol].log.keeps === 'memory'
      ? new MemoryStream(name)
      : this.#log.open(this.prefix + name);
  }

  /** The job has more tasks: resolves when messages to them are taken. Orders about them that follow wait for that. */
  grow(size: number): Promise<void> {
    if (size <= this.#size) return this.ready;
    const from = this.#size;
    this.#size = size;
    this.traffic.grow(size);
    this.ready = this.ready.then(async () => {
      const core = this.#core;
      // A core that began to recover after this was said has them already.
      if (!core || core.tasks >= size) return;
      const made = new Map<string, LogStream>();
      for (let t = from; t < size; t++)
        for (const name of homeOf(taskId(t), this.spec.count) === this.spec.index
          ? [`d${t}`, `t${t}`, `w${t}`]
          : [`d${t}`])
          made.set(name, await this.#openStream(name));
      if (core !== this.#core) return void (await Promise.all([...made.values()].map((s) => s.close())));
      for (const [name, stream] of made) this.#streams.set(name, stream);
      this.step({ type: 'grow', size });
    });
    this.ready.catch(() => undefined);
    return this.ready;
  }

  *#counted(
    name: string,
    records: Iterable<{ lsn: number; bytes: Uint8Array }>,
    count: () => void,
  ): Iterable<{ lsn: number; bytes: Uint8Array }> {
    for (const r of records) {
      count();
      this.traffic.count(name, r.bytes);
      yield r;
    }
  }

  /**
   * An event for the core, now or when it has finished what it does (H2). Dropped while there is no core: it recovers
   * all it needs.
   */
  step(event: CmEvent): void {
    if (this.#core === undefined) return;
    this.#inbox.push(event);
    if (this.#busy) return;
    this.#busy = true;
    try {
      for (let e = this.#inbox.shift(); e !== undefined && this.#core !== undefined; e = this.#inbox.shift()) {
        const effects = this.#core.step(e);
        for (let i = 0; i < effects.length; i++) this.#perform(effects[i]!);
        this.#sendOut();
      }
    } catch (error) {
      this.#break(error);
    } finally {
      this.#busy = false;
    }
  }

  // Links

  /** Binds a link whose first message has come; `first` is that message. */
  connect(link: DataLink, first: Uint8Array): void {
    if (!this.#core || this.#disk.stopped)
      return link.close(CloseCode.BROKEN, this.#disk.stopped?.code ?? 'the Channel Memory recovers');
    const c: Connection = { id: ++connections, link, out: [], outBytes: 0, congested: false };
    this.#connections.set(c.id, c);
    link.onMessage = (bytes) => this.#frames(c, bytes);
    link.onDrain = () => this.#drained(c);
    link.onClose = () => {
      if (this.#connections.delete(c.id)) this.step({ type: 'closed', conn: c.id });
    };
    this.#frames(c, first);
  }

  #frames(c: Connection, bytes: Uint8Array): void {
    if (!this.#connections.has(c.id)) return;
    this.#metrics.dataBytesIn += bytes.length;
    this.#metrics.dataMessagesIn++;
    this.step({ type: 'frames', conn: c.id, bytes });
    if (this.#core?.flushDue) this.#flushSoon();
  }

  /** One flush per turn of the loop: everything that this turn's sockets brought is acknowledged together. */
  #flushSoon(): void {
    if (this.#flushing) return;
    this.#flushing = true;
    setImmediate(() => {
      this.#flushing = false;
      this.step({ type: 'flush' });
    });
  }

  #drained(c: Connection): void {
    if (!c.congested || c.link.buffered > this.#settings.backlogBytes / 4) return;
    c.congested = false;
    this.step({ type: 'congested', conn: c.id, congested: false });
  }

  #queue(conn: number, bytes: Uint8Array): void {
    const c = this.#connections.get(conn);
    if (!c) return;
    c.out.push(bytes);
    c.outBytes += bytes.length;
    this.#dirty.add(c);
  }

  #sendOut(): void {
    for (const c of this.#dirty) {
      const { out } = c;
      c.out = [];
      this.#metrics.dataBytesOut += c.outBytes;
      if (out.length > 1 && c.outBytes <= COMBINE_BYTES) {
        const all = Buffer.allocUnsafe(c.outBytes);
        let o = 0;
        for (const b of out) {
          all.set(b, o);
          o += b.length;
        }
        c.link.send(all);
      } else for (const b of out) c.link.send(b);
      c.outBytes = 0;
      const { buffered } = c.link;
      if (buffered > this.#settings.backlogMaxBytes) {
        this.#logger.warn({ buffered, address: c.link.address }, 'closing data link: peer is not reading');
        c.link.terminate();
      } else if (!c.congested && buffered > this.#settings.backlogBytes) {
        c.congested = true;
        this.#inbox.push({ type: 'congested', conn: c.id, congested: true });
      }
    }
    this.#dirty.clear();
  }

  // Effects

  #perform(e: CmEffect): void {
    switch (e.type) {
      case 'append': {
        const lsn = this.#stream(e.stream).append(e.bytes);
        if (lsn !== e.lsn)
          throw new MayflyError('INTERNAL', `${e.stream}: record ${lsn} where the core expects ${e.lsn}`);
        this.#metrics.appends++;
        this.#metrics.appendBytes += e.bytes.length;
        this.traffic.count(e.stream, e.bytes);
        return;
      }
      case 'send':
        return this.#queue(e.conn, e.bytes);
      case 'sendRecord': {
        if (!this.#connections.has(e.conn)) return;
        const record = this.#stream(e.stream).read(e.lsn);
        if (!record) throw new MayflyError('INTERNAL', `${e.stream}: record ${e.lsn} is not there any more`);
        return this.#queue(e.conn, patchFromLog(record, e));
      }
      case 'close': {
        const c = this.#connections.get(e.conn);
        if (!c) return;
        this.#sendOut();
        this.#connections.delete(e.conn);
        this.#metrics.refused(e.error.code);
        this.#logger.info(
          { code: e.error.code, message: e.error.message, address: c.link.address },
          'data link closed',
        );
        c.link.close(
          e.error.code === 'BAD_FRAME' ? CloseCode.BAD_FRAME : CloseCode.REFUSED,
          `${e.error.code}: ${e.error.message}`,
        );
        return;
      }
      case 'sync':
        void this.#sync(e.ticket, e.streams);
        return;
      case 'trim':
        this.#stream(e.stream).trim(e.from, e.to, e.keep);
        return;
      case 'world':
        this.#listener.world(this.spec, e.task, e.channel, e.mode, e.body);
        this.#worldSync.wrote(e.task, e.channel);
        return;
      case 'fenced':
        this.#listener.fenced(this.spec, e.task, e.incarnation, this.#core!.progress(e.task));
        return;
      case 'refused':
        this.#logger.warn(
          { task: e.task, incarnation: e.incarnation, error: e.error },
          'an incarnation broke the protocol and was ended',
        );
        this.#listener.refused(this.spec, e.task, e.incarnation, e.error);
        return;
      case 'covered':
        this.#listener.covered(this.spec, e.task, e.image, e.determinants);
        return;
      case 'attached':
        this.#logger.debug({ task: e.task, incarnation: e.incarnation, resume: e.resume }, 'task attached');
        return;
      case 'failed':
        this.#listener.failed(this.spec, e.error);
        return;
      default:
        e satisfies never;
    }
  }

  #stream(name: string): LogStream {
    const s = this.#streams.get(name);
    if (!s) throw new MayflyError('INTERNAL', `no stream ${name}`);
    return s;
  }

  async #sync(ticket: number, names: readonly string[]): Promise<void> {
    const core = this.#core;
    const began = performance.now();
    this.#syncs++;
    try {
      await Promise.all(names.map((n) => this.#stream(n).sync()));
      this.#metrics.syncSeconds.observe((performance.now() - began) / 1000);
      // A core that broke meanwhile has another numbering of tickets.
      if (core === this.#core) this.step({ type: 'synced', ticket });
    } catch (error) {
      if (core === this.#core && !this.#closed) this.#break(error);
    } finally {
      this.#syncs--;
    }
  }

  // Orders

  /** A core that cannot recover is reported by `ready` to whoever opened the job. */
  #whenReady(order: () => void): void {
    this.ready.then(order, () => undefined);
  }

  fence(task: TaskId, incarnation: Incarnation): void {
    this.#fences.set(task, incarnation);
    this.#whenReady(() => this.step({ type: 'fence', task, incarnation }));
  }
  cover(task: TaskId, image: ImageId, line: Line): void {
    this.#whenReady(() => this.step({ type: 'cover', task, image, line }));
  }
  uncover(task: TaskId, image: ImageId): void {
    this.#whenReady(() => this.step({ type: 'uncover', task, image }));
  }
  trim(task: TaskId, replay: ReplayFrom): void {
    this.#whenReady(() => this.step({ type: 'trim', task, replay }));
  }
  taskDone(task: TaskId): void {
    this.#done.add(task);
    this.#whenReady(() => this.step({ type: 'done', task }));
  }

  /** Gives the core what of standard input its log does not have. */
  feedStdin(): void {
    const core = this.#core;
    if (core)
      this.#stdin?.feed(
        core,
        () => this.#core,
        (channel, body) => this.step({ type: 'world', task: taskId(0), channel, mode: WorldMode.STDIN, body }),
      );
  }

  /** Gives the core what of the file service's answers to a task its log does not have. */
  feedAnswers(task: TaskId): void {
    const core = this.#core;
    if (!core || homeOf(task, this.spec.count) !== this.spec.index || this.#done.has(task)) return;
    try {
      this.#answers.feed(
        core,
        task,
        () => this.#core,
        (channel, { error, body }) =>
          this.step({ type: 'world', task, src: FILES, channel, mode: WorldMode.ANSWER, context: error, body }),
      );
    } catch (e) {
      // Nothing is lost: it is asked for again when storage can be read again.
      if (this.#disk.failed(e, 'a file of a job')) return;
      this.#listener.failed(this.spec, {
        code: e instanceof MayflyError ? e.code : 'INTERNAL',
        message: (e as Error).message,
      });
    }
  }

  tick(now: number): void {
    this.step({ type: 'tick' });
    for (const c of this.#connections.values()) this.#drained(c);
    if (!this.#disk.stopped) this.#worldSync.tick(now);
  }

  /** H3. */
  #break(error: unknown): void {
    if (this.#closed || this.#core === undefined) return;
    this.#core = undefined;
    this.#inbox = [];
    this.#dirty.clear();
    const stop = this.#disk.failed(error, 'the log of a job');
    const code = stop?.code ?? (error instanceof MayflyError ? error.code : 'INTERNAL');
    if (stop)
      this.#logger.warn({ err: error }, 'Channel Memory stopped; it recovers from its logs when they can be written');
    else this.#logger.error({ err: error }, 'Channel Memory stopped; it recovers from its logs');
    for (const c of this.#connections.values()) c.link.close(CloseCode.BROKEN, code);
    this.#connections.clear();
    const old = [...this.#streams.values()];
    if (!protocols[this.spec.protocol].recovery.restarts || (!stop && ++this.#recoveries > MAX_RECOVERIES)) {
      this.#listener.failed(this.spec, {
        code,
        message: stop?.message ?? 'The Channel Memory failed. See the server log.',
      });
      return;
    }
    this.ready = (async () => {
      await Promise.all(old.map((s) => s.close().catch(() => undefined)));
      if (!stop) await new Promise((r) => setTimeout(r, 500 * 2 ** this.#recoveries).unref());
      if (!this.#closed) await this.#recoverWhenWritable();
    })();
    this.ready.catch((e: unknown) =>
      this.#listener.failed(this.spec, {
        code: 'LOST_LOG',
        message: `The log of the job cannot be recovered: ${(e as Error).message}`,
      }),
    );
  }

  /** Syncs and closes the streams; nothing is served any more. */
  async close(reason: string): Promise<void> {
    if (this.#closed) return;
    // While storage is stopped it may not be ready for long.
    if (this.#core || !this.#disk.stopped) await this.ready.catch(() => undefined);
    this.#closed = true;
    this.#core = undefined;
    for (const c of this.#connections.values()) c.link.close(CloseCode.GOING_AWAY, reason);
    this.#connections.clear();
    while (this.#syncs > 0) await new Promise((r) => setTimeout(r, 5));
    await Promise.all([...this.#streams.values()].map((s) => s.close().catch(() => undefined)));
  }
}

/** One for each Channel Memory of the job. @param size tasks that it has by now */
export function memoriesOf(spec: JobSpec, size: number, deps: CmDeps): ChannelMemoryHost[] {
  const { id: job, channelMemories: count, protocol, durability } = spec;
  return Array.from(
    { length: count },
    (_, index) => new ChannelMemoryHost({ job, index, count, size, protocol, durability }, deps),
  );
}
