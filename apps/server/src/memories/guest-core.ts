/**
 * The core of a Channel Memory at a seat for another server. That one has what the core must hear and decides about it
 * (ServedLog); here are its streams and links.
 *
 *  L1 and L3 of served-log.ts hold: the core is never entered while effects are performed, and it is not used again
 *  after one that failed.
 */
import {
  ChannelMemory,
  Inbox,
  protocols,
  streamsBetween,
  type CmEffect,
  type CmEvent,
  type GateCounts,
  type StreamName,
  type StreamRecords,
} from '@mayfly/protocols';
import { FILES, MAX_RANKS, MayflyError, WORLD, checkedLength, taskId, type ErrorCode, type TaskId } from '@mayfly/wire';
import type { Behind } from '../hosts/data-door.ts';
import { CloseCode, type DataLink } from '../hosts/data-link.ts';
import { MemorySeat, type SeatDeps, type SeatSpec } from '../hosts/memory-seat.ts';
import { Traffic } from '../hosts/traffic.ts';
import type { Capabilities } from '../secrets.ts';
import { REPORTED, type SeatReport, type ToOwner, type ToSeats } from './seat-messages.ts';

export interface GuestCoreDeps extends SeatDeps {
  capabilities: Capabilities;
  say(message: ToOwner): void;
}

const NO_COUNTS: GateCounts = { recorded: 0, recordedBytes: 0, held: 0, heldBytes: 0 };
/** Watched messages between two reports. */
const MOST_TAPPED = 2000;

type Open = Extract<ToSeats, { type: 'open' }>;

export class GuestCore implements Behind {
  readonly spec: SeatSpec;
  readonly #number: number;
  readonly #options: Open['options'];
  readonly #deps: GuestCoreDeps;
  readonly #seat: MemorySeat;
  readonly #traffic: Traffic;
  readonly #inbox = new Inbox<CmEvent>((event) => this.#step(event));
  readonly #ready: Promise<void>;
  #core: ChannelMemory | undefined;
  #tapped: number[] = [];
  /** Bytes of each stream that somebody reads before they are final, and what was reported of them last. */
  #preview = 0;
  #previewed = '';
  #closing: Promise<void> | undefined;

  constructor({ seat, spec, options, traffic }: Open, deps: GuestCoreDeps) {
    this.spec = spec;
    this.#number = seat;
    this.#options = options;
    this.#deps = deps;
    this.#traffic = new Traffic(options.size);
    if (traffic) this.#traffic.load(traffic);
    const core = (): ChannelMemory | undefined => this.#core;
    this.#seat = new MemorySeat(spec, this.#traffic, deps, {
      get core() {
        return core();
      },
      step: (event) => this.#put(event),
      streamsFor: (size) =>
        streamsBetween(core()?.tasks ?? size, size, { ...options, policy: protocols[spec.protocol].log }),
      failed: (error) => this.#broke(error),
    });
    this.#ready = this.#seat
      .recover(
        { newCore: () => this.#newCore(), begin: (core, read) => this.#begin(core, read) },
        () => this.#closing !== undefined,
        traffic === undefined,
      )
      .then(() => {
        const report = this.report();
        if (report) deps.say({ type: 'recovered', report });
      });
    this.#ready.catch((error: unknown) => this.#broke(error));
  }

  #newCore(): ChannelMemory {
    const { job, protocol } = this.spec;
    return new ChannelMemory(protocols[protocol].log, {
      ...this.#options,
      // H1 of channel-memory-host.ts.
      ...(this.#deps.log.durability === 'sync-only' && { durability: 'strict' as const }),
      authorise: (capability) => this.#deps.capabilities.authorise(job, capability),
    });
  }

  #begin(core: ChannelMemory, read: (name: StreamName) => StreamRecords): void {
    for (const name of core.streams()) {
      const { records, next } = read(name);
      for (const effect of core.recover(name, records, next)) this.#perform(effect);
    }
    this.#core = core;
  }

  // Events

  #put(event: CmEvent): void {
    if (this.#core) this.#inbox.put(event);
  }

  /** An order of the owner. */
  take(m: Extract<ToSeats, { type: 'event' | 'grow' | 'hold' | 'tap' | 'preview' }>): void {
    switch (m.type) {
      case 'event':
        return this.#put(m.event);
      case 'hold':
        return this.#seat.hold(m.on);
      case 'preview':
        this.#preview = m.bytes;
        return;
      case 'tap':
        this.#traffic.tap = m.on
          ? (...message) => void (this.#tapped.length < 4 * MOST_TAPPED && this.#tapped.push(...message))
          : undefined;
        return;
      case 'grow': {
        this.#traffic.grow(m.size);
        const seat = this.#number;
        this.#seat.openStreams(m.size).then(
          () => this.#deps.say({ type: 'grown', seat }),
          (error: unknown) => this.#deps.say({ type: 'grown', seat, error: bodyOf(error) }),
        );
      }
    }
  }

  tick(): void {
    this.#seat.tick();
  }

  #step(event: CmEvent): void {
    const core = this.#core;
    if (!core) return;
    try {
      const effects = core.step(event);
      for (let i = 0; i < effects.length && this.#core === core; i++) this.#perform(effects[i]!);
      if (this.#core === core) this.#seat.sendOut();
    } catch (error) {
      if (this.#core === core) this.#broke(error);
      else throw error;
    }
  }

  #perform(effect: CmEffect): void {
    switch (effect.type) {
      case 'append':
      case 'copy':
      case 'send':
      case 'sendRecord':
      case 'close':
      case 'sync':
      case 'trim':
        return this.#seat.perform(effect);
      default: {
        if (effect.type === 'world') effect = { ...effect, body: this.#seat.bodyOf(effect.body) };
        const progress = effect.type === 'fenced' ? { progress: this.#core!.progress(effect.task) } : {};
        const counts = effect.type === 'recorded' ? { counts: this.#core!.waveCounts() ?? NO_COUNTS } : {};
        this.#deps.say({ type: 'answer', seat: this.#number, effect, ...progress, ...counts });
      }
    }
  }

  #broke(error: unknown): void {
    if (this.#closing) return;
    this.#deps.logger.warn({ err: error }, 'Channel Memory stopped; its owner has it recover');
    this.#deps.say({ type: 'broke', seat: this.#number, ...bodyOf(error) });
    void this.close(CloseCode.BROKEN, 'the Channel Memory failed');
  }

  // Links

  async serving(): Promise<void> {
    await this.#ready;
    if (!this.#core) throw new Error('its core is gone');
  }

  connect(link: DataLink, first: Uint8Array): void {
    if (!this.#core) return link.close(CloseCode.BROKEN, 'the Channel Memory moves');
    this.#seat.connect(link, first);
  }

  // How it is

  report(): SeatReport | undefined {
    const core = this.#core;
    if (!core) return undefined;
    const tasks = new Float64Array(REPORTED * checkedLength(core.tasks, MAX_RANKS));
    for (let t = 0; t < core.tasks; t++) this.#taskOf(core, taskId(t), tasks.subarray(REPORTED * t));
    const tapped = this.#tapped;
    this.#tapped = [];
    const { links, logBytes } = this.#seat;
    return {
      seat: this.#number,
      links,
      logBytes,
      memory: core.memory(),
      unshown: core.unshown(),
      ...this.#previewOf(core),
      tasks,
      traffic: this.#traffic.report(),
      tapped,
    };
  }

  /** What has changed. */
  #previewOf(core: ChannelMemory): Pick<SeatReport, 'preview'> {
    const preview = this.#preview > 0 ? core.provisional(this.#preview) : [];
    const version = preview.map((p) => p.version).join();
    if (version === this.#previewed) return {};
    this.#previewed = version;
    return { preview };
  }

  #taskOf(core: ChannelMemory, task: TaskId, into: Float64Array): void {
    const { arrivalsLogged, sendsLogged, bodiesUnderWay } = core.observe(task);
    into.set([
      sendsLogged,
      core.consumed(task),
      arrivalsLogged,
      bodiesUnderWay,
      core.logged(FILES, task),
      core.durable(FILES, task),
      core.logged(WORLD, task), // standard input
      core.inputAhead(task),
    ]);
  }

  /** Resolves when its streams are closed, or are another's. Idempotent. */
  close(code: number, reason: string): Promise<void> {
    return (this.#closing ??= this.#close(code, reason));
  }

  async #close(code: number, reason: string): Promise<void> {
    await this.#ready.catch(() => undefined);
    this.#core = undefined;
    this.#inbox.clear();
    const streams = this.#seat.unlink(code, reason);
    await this.#seat.synced();
    await streams.close();
  }
}

const bodyOf = (error: unknown): { code: ErrorCode; message: string } => ({
  code: error instanceof MayflyError ? error.code : 'INTERNAL',
  message: error instanceof MayflyError ? error.message : 'The Channel Memory failed. See the log of its server.',
});
