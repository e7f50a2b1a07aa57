/**
 * Host of one Channel Memory core: job × CM index. Gives it socket messages, ticks and orders, and performs its effects
 * on log streams and links; the order of both is written in packages/protocols/src/channel-memory/events.ts.
 *
 * Owns: the streams `<job>/cm<index>/…`, the connections bound to this core. Does not own: sockets before their first
 * ATTACH (channel-memories.ts), what a message to the world becomes (world-host.ts).
 *
 *  H1  An append survives the server's process before any frame of the same step leaves: the log's kernel has it, or,
 *      with a `sync-only` log, the job runs as `strict` whatever it asked for.
 *  H3  A core whose append or step failed is never used again (L3): its links are closed, and a new one recovers from
 *      the streams.
 *  H4  Output of a task is synced before the log of it may be trimmed (`worldDone`).
 *  H5  While storage is stopped (disk.ts) no link is read and no link is bound: what was not appended is with its comm
 *      worker, which retains it, or in the socket. A core whose append or sync found storage stopped recovers when it
 *      can be written again, however often that takes.
 */
import { ServedLog, patchFromLog, protocols, type ChannelMemory, type LogIo } from '@mayfly/protocols';
import type { MessageLog } from '@mayfly/storage/ports';
import { MayflyError } from '@mayfly/wire';
import type { Disk } from '../disk.ts';
import type { Metrics } from '../metrics.ts';
import type { Logger } from '../logger.ts';
import type { CmDeps, CmSettings, CmSpec } from './channel-memory-deps.ts';
import { CloseCode, type DataLink } from './data-link.ts';
import { LogStreams } from './log-streams.ts';
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
  /** The core, and what waits for it. */
  readonly served: ServedLog;
  readonly #log: MessageLog;
  readonly #disk: Disk;
  readonly #deps: CmDeps;
  readonly #settings: CmSettings;
  readonly #metrics: Metrics;
  readonly #logger: Logger;
  readonly #connections = new Map<number, Connection>();
  readonly #dirty = new Set<Connection>();
  #streams: LogStreams;
  #flushing = false;
  #closed = false;
  #recoveries = 0;
  #syncs = 0;
  /** Cores that began at a line. */
  #restarts = 0;
  /** Who waits for the next. */
  #atLine: { resolve: () => void; reject: (error: unknown) => void } | undefined;
  /** Streams of the last core are being closed. */
  #closing: Promise<unknown> = Promise.resolve();
  readonly #worldSync: WorldSync;

  constructor(spec: CmSpec, deps: CmDeps) {
    this.spec = spec;
    this.traffic = new Traffic(spec.size);
    this.#deps = deps;
    this.#log = deps.log;
    this.#streams = this.#newStreams();
    this.#disk = deps.disk;
    this.#settings = deps.settings;
    this.#metrics = deps.metrics;
    this.#logger = deps.logger.child({ job: spec.job, cm: spec.index });
    this.#worldSync = new WorldSync({
      sync: (task) => deps.world.sync(task),
      // A core that broke meanwhile repeats what it gave to the world.
      core: () => this.core,
      synced: (task, channel) => this.served.step({ type: 'worldDone', task, channel }),
      logger: this.#logger,
    });
    this.served = this.#serve();
    this.ready = deps.actingKnown.then(() => (this.served.waitsForLine ? this.#line() : this.#recoverWhenWritable()));
    // #recover reports it; callers that need it await `ready` as well.
    this.ready.catch(() => undefined);
  }

  #serve(): ServedLog {
    const { spec } = this;
    const { files, stdin, fresh, answers, secrets, settings } = this.#deps;
    const { size, index, count, homes, durability } = spec;
    return new ServedLog(
      {
        policy: protocols[spec.protocol].log,
        size,
        index,
        count,
        homes,
        durability: this.#log.durability === 'sync-only' ? 'strict' : durability, // H1
        lazyTicks: settings.lazyTicks,
        authorise: (capability) => {
          const h = secrets.holder(capability);
          return h?.job === spec.job ? { task: h.task, incarnation: h.incarnation } : undefined;
        },
        fresh,
        stdin,
        files,
      },
      {
        perform: (e) => this.#perform(e),
        performed: () => this.#sendOut(),
        broke: (error) => this.#break(error),
        restart: () => this.#restart(),
        // It is asked for again when storage can be read again (hold).
        mayPass: (error) => this.#disk.failed(error, 'a file of a job') !== undefined,
      },
      answers,
    );
  }

  get prefix(): string {
    return `${this.spec.job}/cm${this.spec.index}/`;
  }
  get core(): ChannelMemory | undefined {
    return this.served.core;
  }
  get links(): number {
    return this.#connections.size;
  }
  /** Bytes of all logs. */
  get logBytes(): number {
    return this.#streams.bytes;
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
    } while (!this.#closed && !this.#disk.closed && (this.#disk.stopped !== undefined || this.core === undefined));
  }

  /** Storage stops, or can be written again (H5). */
  hold(on: boolean): void {
    for (const { link } of [...this.#connections.values()])
      if (on) link.pause();
      else link.resume();
    if (!on) this.served.feedAllAnswers();
  }

  async #recover(): Promise<void> {
    const core = this.served.newCore();
    const streams = this.#newStreams();
    const restarts = this.#restarts;
    await streams.open(core.streams());
    // A line that was drawn meanwhile has a core of its own.
    if (restarts !== this.#restarts) return streams.close();
    this.#streams = streams;
    if (this.#closed) return;
    let records = 0;
    if (this.#restarts === 0) this.traffic.clear();
    this.served.begin(core, (name) => {
      const stream = this.#streams.of(name);
      return { records: this.#counted(name, stream.scan(), () => records++), next: stream.next };
    });
    if (records > 0) this.#logger.info({ records }, 'Channel Memory recovered from its logs');
  }

  #newStreams(): LogStreams {
    return new LogStreams(this.#log, this.prefix, protocols[this.spec.protocol].log);
  }

  /** Opens the streams that the core lacks for so many tasks. Resolves when a core that has recovered can take them. */
  openStreams(size: number): Promise<void> {
    this.traffic.grow(size);
    this.ready = this.ready.then(async () => {
      const { core } = this;
      const made = this.#newStreams();
      await made.open(this.served.streamsFor(size));
      // A core that has begun since has opened its own.
      if (core !== this.core) return made.close();
      this.#streams.join(made);
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
      if (this.#restarts === 0) this.traffic.count(name, r.bytes);
      yield r;
    }
  }

  // Links

  /** Binds a link whose first message has come; `first` is that message. */
  connect(link: DataLink, first: Uint8Array): void {
    if (!this.core || this.#disk.stopped)
      return link.close(CloseCode.BROKEN, this.#disk.stopped?.code ?? 'the Channel Memory recovers');
    const c: Connection = { id: ++connections, link, out: [], outBytes: 0, congested: false };
    this.#connections.set(c.id, c);
    link.onMessage = (bytes) => this.#frames(c, bytes);
    link.onDrain = () => this.#drained(c);
    link.onClose = () => {
      if (this.#connections.delete(c.id)) this.served.step({ type: 'closed', conn: c.id });
    };
    this.#frames(c, first);
  }

  #frames(c: Connection, bytes: Uint8Array): void {
    if (!this.#connections.has(c.id)) return;
    this.#metrics.dataBytesIn += bytes.length;
    this.#metrics.dataMessagesIn++;
    this.served.step({ type: 'frames', conn: c.id, bytes });
    if (this.core?.flushDue) this.#flushSoon();
  }

  /** One flush per turn of the loop: everything that this turn's sockets brought is acknowledged together. */
  #flushSoon(): void {
    if (this.#flushing) return;
    this.#flushing = true;
    setImmediate(() => {
      this.#flushing = false;
      this.served.step({ type: 'flush' });
    });
  }

  #drained(c: Connection): void {
    if (!c.congested || c.link.buffered > this.#settings.backlogBytes / 4) return;
    c.congested = false;
    this.served.step({ type: 'congested', conn: c.id, congested: false });
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
        this.served.step({ type: 'congested', conn: c.id, congested: true });
      }
    }
    this.#dirty.clear();
  }

  // Effects

  #perform(e: LogIo): void {
    switch (e.type) {
      case 'append': {
        this.#streams.append(e.stream, e.lsn, e.bytes);
        this.#metrics.appends++;
        this.#metrics.appendBytes += e.bytes.length;
        this.traffic.count(e.stream, e.bytes);
        return;
      }
      case 'copy':
        return this.#streams.copy(e);
      case 'send':
        return this.#queue(e.conn, e.bytes);
      case 'sendRecord': {
        if (!this.#connections.has(e.conn)) return;
        return this.#queue(e.conn, patchFromLog(this.#streams.read(e.stream, e.lsn), e));
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
        this.#streams.of(e.stream).trim(e.from, e.to, e.keep);
        return;
      case 'world':
        this.#deps.world.deliver(e.task, e.channel, e.mode, e.body);
        this.#worldSync.wrote(e.task, e.channel);
        return;
      case 'refused':
        this.#logger.warn(
          { task: e.task, incarnation: e.incarnation, error: e.error },
          'an incarnation broke the protocol and was ended',
        );
        return;
      case 'attached':
        this.#logger.debug({ task: e.task, incarnation: e.incarnation, resume: e.resume }, 'task attached');
        return;
      default:
        e satisfies never;
    }
  }

  async #sync(ticket: number, names: readonly string[]): Promise<void> {
    const { core } = this;
    const began = performance.now();
    this.#syncs++;
    try {
      await Promise.all(names.map((n) => this.#streams.of(n).sync()));
      this.#metrics.syncSeconds.observe((performance.now() - began) / 1000);
      // A core that broke meanwhile has another numbering of tickets.
      if (core === this.core) this.served.step({ type: 'synced', ticket });
    } catch (error) {
      if (core === undefined || core !== this.core || this.#closed) return;
      this.served.drop();
      this.#break(error);
    } finally {
      this.#syncs--;
    }
  }

  tick(now: number): void {
    this.served.step({ type: 'tick' });
    for (const c of this.#connections.values()) this.#drained(c);
    if (!this.#disk.stopped) this.#worldSync.tick(now);
  }

  /** H3. */
  #break(error: unknown): void {
    if (this.#closed) return;
    this.#dirty.clear();
    const stop = this.#disk.failed(error, 'the log of a job');
    const code = stop?.code ?? (error instanceof MayflyError ? error.code : 'INTERNAL');
    if (stop)
      this.#logger.warn({ err: error }, 'Channel Memory stopped; it recovers from its logs when they can be written');
    else this.#logger.error({ err: error }, 'Channel Memory stopped; it recovers from its logs');
    const old = this.#unlink(code);
    const { log, recovery } = protocols[this.spec.protocol];
    if (!recovery.restarts || (!stop && ++this.#recoveries > MAX_RECOVERIES)) {
      this.#deps.answers.failed(this.spec.index, {
        code,
        message: stop?.message ?? 'The Channel Memory failed. See the server log.',
      });
      return;
    }
    if (log.waves) {
      // What was in its memory is gone: all tasks go back, and the next core begins there.
      this.#closing = old.close();
      this.ready = this.#line();
      return this.served.lost();
    }
    this.ready = (async () => {
      await old.close();
      if (!stop) await new Promise((r) => setTimeout(r, 500 * 2 ** this.#recoveries).unref());
      if (!this.#closed) await this.#recoverWhenWritable();
    })();
    this.ready.catch((e: unknown) =>
      this.#deps.answers.failed(this.spec.index, {
        code: 'LOST_LOG',
        message: `The log of the job cannot be recovered: ${(e as Error).message}`,
      }),
    );
  }

  #unlink(code: string): LogStreams {
    for (const c of this.#connections.values()) c.link.close(CloseCode.BROKEN, code);
    this.#connections.clear();
    const old = this.#streams;
    this.#streams = this.#newStreams();
    return old;
  }

  /** Resolves when the core serves that begins at the next line. */
  #line(): Promise<void> {
    return new Promise((resolve, reject) => (this.#atLine = { resolve, reject }));
  }

  /** All tasks of the job go back. */
  #restart(): void {
    if (this.#closed) return;
    this.#restarts++;
    this.served.drop();
    this.#dirty.clear();
    const old = this.#unlink('all tasks go back');
    const waiting = this.#atLine;
    this.#atLine = undefined;
    const before = this.#closing;
    this.ready = (async () => {
      await before;
      await old.close();
      if (!this.#closed) await this.#recoverWhenWritable();
    })();
    this.#closing = this.ready.catch(() => undefined);
    this.ready.then(waiting?.resolve, waiting?.reject);
    this.ready.catch((e: unknown) =>
      this.#deps.answers.failed(this.spec.index, {
        code: 'LOST_LOG',
        message: `The log of the job cannot be recovered: ${(e as Error).message}`,
      }),
    );
  }

  /** Resolves when the world has what the logs hold for it. Of a job that has ended: no messages come any more. */
  settled(): Promise<void> {
    this.served.step({ type: 'tick' });
    return this.#synced();
  }

  async #synced(): Promise<void> {
    while (this.#syncs > 0) await new Promise((r) => setTimeout(r, 5));
  }

  /** Syncs and closes the streams; nothing is served any more. */
  async close(reason: string): Promise<void> {
    if (this.#closed) return;
    // While storage is stopped it may not be ready for long.
    if (this.core || (!this.#disk.stopped && !this.served.waitsForLine)) await this.ready.catch(() => undefined);
    this.#closed = true;
    this.#atLine?.resolve();
    this.served.drop();
    for (const c of this.#connections.values()) c.link.close(CloseCode.GOING_AWAY, reason);
    this.#connections.clear();
    await this.#synced();
    await this.#streams.close();
  }
}
