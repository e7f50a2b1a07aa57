/**
 * Where the core of a Channel Memory works: its streams and its links. The seat is in the process of the core, which is
 * that of the dispatcher (channel-memory-host.ts) or another server of the same database (../memories).
 *
 * Owns: the streams `<job>/cm<index>/…`, the connections bound to this core. Does not own: the core, and what becomes
 * of its answers to others; sockets before their first ATTACH (channel-memories.ts).
 */
import {
  patchFromLog,
  protocols,
  readWorldBody,
  type CmEvent,
  type LogIo,
  type ServedLog,
  type StreamName,
  type WorldBody,
} from '@mayfly/protocols';
import type { MessageLog } from '@mayfly/storage/ports';
import type { JobId, ProtocolName } from '@mayfly/wire';
import type { Logger } from '../logger.ts';
import { CloseCode, type DataLink } from './data-link.ts';
import { LogStreams } from './log-streams.ts';
import type { Traffic } from './traffic.ts';

interface Connection {
  id: number;
  link: DataLink;
  out: Uint8Array[];
  outBytes: number;
  congested: boolean;
}

/** Frames for one link up to this many bytes leave in one socket message. */
const COMBINE_BYTES = 32 * 1024;

let connections = 0;

/** Effects of a core that its seat performs. The others are for those who are not on the message path. */
export type SeatIo = Exclude<LogIo, { type: 'world' | 'refused' | 'attached' }>;

/** Who has the core. */
export interface Sitting {
  /** The core of now; undefined: there is none. */
  readonly core: { readonly flushDue: boolean; readonly worldDue: boolean } | undefined;
  step(event: CmEvent): void;
  /** What the core of now needs for so many tasks. */
  streamsFor(size: number): StreamName[];
  /** What was to be synced for the core of now is not, or the seat is lost: that core is not used again. */
  failed(error: unknown): void;
}

/** Who makes a core from streams. */
type Beginning = Pick<ServedLog, 'newCore' | 'begin'>;

/** What a Channel Memory's host asks of the seat of its core. */
export interface Seat {
  /** The server that has it; undefined: this one. */
  readonly server?: string;
  readonly links: number;
  /** Bytes of all logs. */
  readonly logBytes: number;
  /**
   * A core recovers from its streams.
   * @param superseded asked when the streams are open: this core is not wanted any more
   * @param counted what is read of them counts as traffic
   * @throws what cannot be read; SeatLost
   */
  recover(served: ServedLog, superseded: () => boolean, counted: boolean): Promise<void>;
  /** Opens the streams that the core of now needs for so many tasks. */
  openStreams(size: number): Promise<void>;
  /** Storage stops, or can be written again: no link is read meanwhile. */
  hold(on: boolean): void;
  /** Binds a link whose first message has come; `first` is that message. */
  connect(link: DataLink, first: Uint8Array): void;
  tick(): void;
  /** @throws what the log says: then the core is not used again */
  perform(e: SeatIo): void;
  /** The body of a message to the world, from the log where it lies there. */
  bodyOf(body: WorldBody): Uint8Array;
  /** All effects of an event are performed. */
  sendOut(): void;
  /** Closes its links. @returns what closes its streams */
  unlink(code: number, reason: string): { close(): Promise<void> };
  /** Where the next core works, if it is where this one does. Absent, undefined: at this server. */
  next?(): Seat | undefined;
  /** Resolves when nothing is being synced, and no output waits for its turn. */
  synced(): Promise<void>;
}

/** The server of the seat does not answer any more, or gives it up. */
export class SeatLost extends Error {}

/** Bytes that wait in the socket of a link. */
export interface LinkSettings {
  /** More: the core gives it nothing meanwhile. */
  backlogBytes: number;
  /** More: it is closed. */
  backlogMaxBytes: number;
}

/** What is counted at a seat (metrics.ts). */
export interface SeatMetrics {
  dataBytesIn: number;
  dataMessagesIn: number;
  dataBytesOut: number;
  appends: number;
  appendBytes: number;
  readonly syncSeconds: { observe(seconds: number): void };
  /** A link was closed with an error. */
  refused(code: string): void;
}

export interface SeatSpec {
  job: JobId;
  index: number;
  protocol: ProtocolName;
}

export interface SeatDeps {
  log: MessageLog;
  settings: LinkSettings;
  metrics: SeatMetrics;
  logger: Logger;
}

export class MemorySeat implements Seat {
  readonly traffic: Traffic;
  readonly #spec: SeatSpec;
  readonly #deps: SeatDeps;
  readonly #sitting: Sitting;
  readonly #connections = new Map<number, Connection>();
  readonly #dirty = new Set<Connection>();
  /** They have sent output that waits for its turn (W3 of world.ts), and are not read until it is out. */
  readonly #unread = new Set<Connection>();
  #held = false;
  #streams: LogStreams;
  #flushing = false;
  #syncs = 0;

  constructor(spec: SeatSpec, traffic: Traffic, deps: SeatDeps, sitting: Sitting) {
    this.#spec = spec;
    this.traffic = traffic;
    this.#deps = deps;
    this.#sitting = sitting;
    this.#streams = this.#newStreams();
  }

  get links(): number {
    return this.#connections.size;
  }
  get logBytes(): number {
    return this.#streams.bytes;
  }

  #newStreams(): LogStreams {
    const { job, index, protocol } = this.#spec;
    return new LogStreams(this.#deps.log, `${job}/cm${index}/`, protocols[protocol].log);
  }

  async recover(beginning: Beginning, superseded: () => boolean, counted: boolean): Promise<void> {
    const core = beginning.newCore();
    const streams = this.#newStreams();
    await streams.open(core.streams());
    if (superseded()) return streams.close();
    this.#streams = streams;
    let records = 0;
    if (counted) this.traffic.clear();
    beginning.begin(core, (name) => {
      const stream = streams.of(name);
      return { records: this.#counted(name, stream.scan(), counted, () => records++), next: stream.next };
    });
    if (records > 0) this.#deps.logger.info({ records }, 'Channel Memory recovered from its logs');
  }

  *#counted(
    name: string,
    records: Iterable<{ lsn: number; bytes: Uint8Array }>,
    traffic: boolean,
    count: () => void,
  ): Iterable<{ lsn: number; bytes: Uint8Array }> {
    for (const r of records) {
      count();
      if (traffic) this.traffic.count(name, r.bytes);
      yield r;
    }
  }

  async openStreams(size: number): Promise<void> {
    const { core } = this.#sitting;
    const made = this.#newStreams();
    await made.open(this.#sitting.streamsFor(size));
    // A core that has begun since has opened its own.
    if (core !== this.#sitting.core) return made.close();
    this.#streams.join(made);
  }

  hold(on: boolean): void {
    this.#held = on;
    for (const c of [...this.#connections.values()])
      if (on) c.link.pause();
      else if (!this.#unread.has(c)) c.link.resume();
  }

  // Links

  connect(link: DataLink, first: Uint8Array): void {
    const c: Connection = { id: ++connections, link, out: [], outBytes: 0, congested: false };
    this.#connections.set(c.id, c);
    link.onMessage = (bytes) => this.#frames(c, bytes);
    link.onDrain = () => this.#drained(c);
    link.onClose = () => {
      if (this.#connections.delete(c.id)) this.#sitting.step({ type: 'closed', conn: c.id });
    };
    this.#frames(c, first);
  }

  #frames(c: Connection, bytes: Uint8Array): void {
    if (!this.#connections.has(c.id)) return;
    this.#deps.metrics.dataBytesIn += bytes.length;
    this.#deps.metrics.dataMessagesIn++;
    this.#sitting.step({ type: 'frames', conn: c.id, bytes });
    const { core } = this.#sitting;
    if (core?.worldDue) {
      this.#unread.add(c);
      c.link.pause();
    }
    if (core?.flushDue) this.#flushSoon();
  }

  #readAgain(): void {
    const links = [...this.#unread];
    this.#unread.clear();
    if (this.#held) return;
    for (const c of links) if (this.#connections.has(c.id)) c.link.resume();
  }

  /** One flush per turn of the loop: everything that this turn's sockets brought is acknowledged together. */
  #flushSoon(): void {
    if (this.#flushing) return;
    this.#flushing = true;
    setImmediate(() => {
      this.#flushing = false;
      this.#sitting.step({ type: 'flush' });
      if (this.#sitting.core?.worldDue !== true) this.#readAgain();
    });
  }

  #drained(c: Connection): void {
    if (!c.congested || c.link.buffered > this.#deps.settings.backlogBytes / 4) return;
    c.congested = false;
    this.#sitting.step({ type: 'congested', conn: c.id, congested: false });
  }

  tick(): void {
    this.#sitting.step({ type: 'tick' });
    for (const c of this.#connections.values()) this.#drained(c);
  }

  #queue(conn: number, bytes: Uint8Array): void {
    const c = this.#connections.get(conn);
    if (!c) return;
    c.out.push(bytes);
    c.outBytes += bytes.length;
    this.#dirty.add(c);
  }

  sendOut(): void {
    const { metrics, settings, logger } = this.#deps;
    for (const c of this.#dirty) {
      const { out } = c;
      c.out = [];
      metrics.dataBytesOut += c.outBytes;
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
      if (buffered > settings.backlogMaxBytes) {
        logger.warn({ buffered, address: c.link.address }, 'closing data link: peer is not reading');
        c.link.terminate();
      } else if (!c.congested && buffered > settings.backlogBytes) {
        c.congested = true;
        this.#sitting.step({ type: 'congested', conn: c.id, congested: true });
      }
    }
    this.#dirty.clear();
    // The rest of the output has turns of its own: sockets and requests are served between them.
    if (this.#sitting.core?.worldDue) this.#flushSoon();
  }

  // Effects

  perform(e: SeatIo): void {
    switch (e.type) {
      case 'append': {
        this.#streams.append(e.stream, e.lsn, e.bytes);
        this.#deps.metrics.appends++;
        this.#deps.metrics.appendBytes += e.bytes.length;
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
        this.sendOut();
        this.#connections.delete(e.conn);
        this.#deps.metrics.refused(e.error.code);
        const { code, message } = e.error;
        this.#deps.logger.info({ code, message, address: c.link.address }, 'data link closed');
        c.link.close(code === 'BAD_FRAME' ? CloseCode.BAD_FRAME : CloseCode.REFUSED, `${code}: ${message}`);
        return;
      }
      case 'sync':
        void this.#sync(e.ticket, e.streams);
        return;
      case 'trim':
        this.#streams.of(e.stream).trim(e.from, e.to, e.keep);
        return;
      default:
        e satisfies never;
    }
  }

  bodyOf(body: WorldBody): Uint8Array {
    return readWorldBody(body, (stream, lsn) => this.#streams.read(stream, lsn));
  }

  async #sync(ticket: number, names: readonly string[]): Promise<void> {
    const { core } = this.#sitting;
    const began = performance.now();
    this.#syncs++;
    try {
      await Promise.all(names.map((n) => this.#streams.of(n).sync()));
      this.#deps.metrics.syncSeconds.observe((performance.now() - began) / 1000);
      // A core that broke meanwhile has another numbering of tickets.
      if (core === this.#sitting.core) this.#sitting.step({ type: 'synced', ticket });
    } catch (error) {
      if (core !== undefined && core === this.#sitting.core) this.#sitting.failed(error);
    } finally {
      this.#syncs--;
    }
  }

  // The core goes

  unlink(code: number, reason: string): LogStreams {
    this.#dirty.clear();
    this.#unread.clear();
    for (const c of this.#connections.values()) c.link.close(code, reason);
    this.#connections.clear();
    const old = this.#streams;
    this.#streams = this.#newStreams();
    return old;
  }

  async synced(): Promise<void> {
    while (this.#syncs > 0 || this.#flushing) await new Promise((r) => setTimeout(r, 5));
  }
}
