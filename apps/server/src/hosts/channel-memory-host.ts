/**
 * Host of one Channel Memory core: job × CM index. Has it recover, gives it ticks and orders, and performs those of its
 * effects that leave the message path; the order is written in packages/protocols/src/channel-memory/events.ts.
 *
 * Owns: which core there is, and the seat that it works at. Does not own: streams and links (memory-seat.ts), sockets
 * before their first ATTACH (data-door.ts), what a message to the world becomes (world-host.ts).
 *
 *  H1  An append survives the server's process before any frame of the same step leaves: the log's kernel has it, or,
 *      with a `sync-only` log, the job runs as `strict` whatever it asked for.
 *  H3  A core whose append or step failed is never used again (L3): its links are closed, and a new one recovers from
 *      the streams.
 *  H4  Output of a task is synced before the log of it may be trimmed (`worldDone`).
 *  H5  While storage is stopped (disk.ts) no link is read and no link is bound: what was not appended is with its comm
 *      worker, which retains it, or in the socket. A core whose append or sync found storage stopped recovers when it
 *      can be written again, however often that takes.
 *  H6  Only a job that begins has its core at another server (../memories): write-ahead files of this one know nothing
 *      of it then. Where tasks go back, the next core is at that server, too. A core that was lost there recovers here.
 */
import { ServedLog, protocols, type LogCore, type LogIo } from '@mayfly/protocols';
import { MayflyError } from '@mayfly/wire';
import type { Disk } from '../disk.ts';
import type { Logger } from '../logger.ts';
import type { CmDeps, CmSpec } from './channel-memory-deps.ts';
import { CloseCode, type DataLink } from './data-link.ts';
import { MemorySeat, SeatLost, type Seat, type Sitting } from './memory-seat.ts';
import { Traffic } from './traffic.ts';
import { WorldSync } from './world-sync.ts';

const MAX_RECOVERIES = 5;

export class ChannelMemoryHost {
  readonly spec: CmSpec;
  /** Resolves when the core has recovered and serves connections. */
  ready: Promise<void>;
  readonly traffic: Traffic;
  /** The core, and what waits for it. */
  readonly served: ServedLog;
  readonly #disk: Disk;
  readonly #deps: CmDeps;
  readonly #logger: Logger;
  readonly #local: MemorySeat;
  #seat: Seat;
  /** H6: where its next core works. */
  #elsewhere: Seat | undefined;
  #closed = false;
  #recoveries = 0;
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
    this.#disk = deps.disk;
    this.#logger = deps.logger.child({ job: spec.job, cm: spec.index });
    this.#worldSync = new WorldSync({
      sync: (task) => deps.world.sync(task),
      // A core that broke meanwhile repeats what it gave to the world.
      core: () => this.core,
      synced: (task, channel) => this.served.step({ type: 'worldDone', task, channel }),
      logger: this.#logger,
    });
    this.served = this.#serve();
    const { log, settings, metrics } = deps;
    const sitting = this.#sitting();
    this.#local = new MemorySeat(spec, this.traffic, { log, settings, metrics, logger: this.#logger }, sitting);
    // H6.
    this.#elsewhere = deps.fresh ? deps.elsewhere?.(spec, this.traffic, sitting) : undefined;
    this.#seat = this.#local;
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
        durability: this.#deps.log.durability === 'sync-only' ? 'strict' : durability, // H1
        lazyTicks: settings.lazyTicks,
        authorise: (capability) => secrets.authorise(spec.job, capability),
        fresh,
        stdin,
        files,
      },
      {
        perform: (e) => this.#perform(e),
        performed: () => this.#seat.sendOut(),
        broke: (error) => this.#break(error),
        restart: () => this.#restart(),
        // It is asked for again when storage can be read again (hold).
        mayPass: (error) => this.#disk.failed(error, 'a file of a job') !== undefined,
      },
      answers,
    );
  }

  #sitting(): Sitting {
    const { served } = this;
    return {
      get core() {
        return served.core;
      },
      step: (event) => served.step(event),
      streamsFor: (size) => served.streamsFor(size),
      failed: (error) => {
        if (this.#closed) return;
        served.drop();
        this.#break(error);
      },
    };
  }

  get core(): LogCore | undefined {
    return this.served.core;
  }
  get links(): number {
    return this.#seat.links;
  }
  /** Bytes of all logs. */
  get logBytes(): number {
    return this.#seat.logBytes;
  }
  /** The server that has its core; undefined: this one. */
  get server(): string | undefined {
    return this.#seat.server;
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
    this.#seat.hold(on);
    if (!on) this.served.feedAllAnswers();
  }

  async #recover(): Promise<void> {
    const restarts = this.#restarts;
    const superseded = (): boolean => this.#closed || restarts !== this.#restarts;
    const elsewhere = this.#elsewhere;
    this.#elsewhere = undefined;
    const moves = elsewhere === undefined && this.#seat.server !== undefined;
    if (elsewhere)
      try {
        this.#seat = elsewhere;
        return await elsewhere.recover(this.served, superseded, restarts === 0);
      } catch (error) {
        await elsewhere.unlink(CloseCode.BROKEN, 'the Channel Memory begins elsewhere').close();
        if (!(error instanceof SeatLost)) throw error;
        this.#logger.warn({ err: error }, 'Channel Memory begins here');
      }
    this.#seat = this.#local;
    // A line that was drawn meanwhile has a core of its own.
    await this.#seat.recover(this.served, superseded, restarts === 0);
    if (moves || elsewhere) this.#deps.moved?.(this.spec.index);
  }

  /** Opens the streams that the core lacks for so many tasks. Resolves when a core that has recovered can take them. */
  openStreams(size: number): Promise<void> {
    this.traffic.grow(size);
    this.ready = this.ready.then(() => this.#seat.openStreams(size));
    this.ready.catch(() => undefined);
    return this.ready;
  }

  /** Binds a link whose first message has come; `first` is that message. */
  connect(link: DataLink, first: Uint8Array): void {
    if (!this.core || this.#disk.stopped)
      return link.close(CloseCode.BROKEN, this.#disk.stopped?.code ?? 'the Channel Memory recovers');
    const { allowance } = this.#deps;
    if (!allowance) return this.#seat.connect(link, first);
    // Before the core sees anything of it.
    if (!allowance.spend(link, first)) return;
    this.#seat.connect(link, first);
    const { onMessage } = link;
    link.onMessage = (bytes) => {
      if (allowance.spend(link, bytes)) onMessage(bytes);
    };
  }

  #perform(e: LogIo): void {
    switch (e.type) {
      case 'world':
        this.#deps.world.deliver(e.task, e.incarnation, e.channel, e.mode, this.#seat.bodyOf(e.body));
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
        return this.#seat.perform(e);
    }
  }

  tick(now: number): void {
    this.#seat.tick();
    if (!this.#disk.stopped) this.#worldSync.tick(now);
  }

  /** H3. */
  #break(error: unknown): void {
    if (this.#closed) return;
    const moves = error instanceof SeatLost;
    const stop = this.#disk.failed(error, 'the log of a job');
    const code = stop?.code ?? (error instanceof MayflyError ? error.code : 'INTERNAL');
    if (moves) this.#logger.warn({ err: error }, 'Channel Memory recovers here');
    else if (stop)
      this.#logger.warn({ err: error }, 'Channel Memory stopped; it recovers from its logs when they can be written');
    else this.#logger.error({ err: error }, 'Channel Memory stopped; it recovers from its logs');
    const old = this.#seat.unlink(CloseCode.BROKEN, code);
    const { log, recovery } = protocols[this.spec.protocol];
    if (!recovery.restarts || (!stop && !moves && ++this.#recoveries > MAX_RECOVERIES)) {
      const message = stop?.message ?? 'The Channel Memory failed. See the server log.';
      this.#deps.answers.failed(
        this.spec.index,
        moves ? { code: 'SERVER_RESTARTED', message: error.message } : { code, message },
      );
      return;
    }
    if (log.goesBack) {
      // What was in its memory is gone: all tasks go back, and the next core begins there.
      this.#closing = old.close();
      this.ready = this.#line();
      return this.served.lost();
    }
    this.ready = (async () => {
      await old.close();
      if (!stop && !moves) await new Promise((r) => setTimeout(r, 500 * 2 ** this.#recoveries).unref());
      if (!this.#closed) await this.#recoverWhenWritable();
    })();
    this.ready.catch((e: unknown) =>
      this.#deps.answers.failed(this.spec.index, {
        code: 'DAMAGED_LOG',
        message: `The log of the job cannot be recovered: ${(e as Error).message}`,
      }),
    );
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
    const old = this.#seat.unlink(CloseCode.BROKEN, 'all tasks go back');
    this.#elsewhere = this.#seat.next?.();
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
        code: 'DAMAGED_LOG',
        message: `The log of the job cannot be recovered: ${(e as Error).message}`,
      }),
    );
  }

  /** Resolves when the world has what the logs hold for it. Of a job that has ended: no messages come any more. */
  settled(): Promise<void> {
    this.served.step({ type: 'tick' });
    return this.#seat.synced();
  }

  /** Syncs and closes the streams; nothing is served any more. */
  async close(reason: string): Promise<void> {
    if (this.#closed) return;
    // While storage is stopped it may not be ready for long.
    if (this.core || (!this.#disk.stopped && !this.served.waitsForLine)) await this.ready.catch(() => undefined);
    this.#closed = true;
    this.#atLine?.resolve();
    this.served.drop();
    const seat = this.#seat;
    const old = seat.unlink(CloseCode.GOING_AWAY, reason);
    await seat.synced();
    await old.close();
  }
}
