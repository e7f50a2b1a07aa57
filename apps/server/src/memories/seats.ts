/**
 * Seats for Channel Memories over all servers of a shared storage: this one owns it, the others stand by and have seats
 * for it (seat-server.ts). So messages of many jobs pass several processes, and the dispatcher one.
 *
 * Owns: the connections to the other servers.
 *
 *  C1  When its job begins a core goes to the server that its room asks for, if that is there, else to the one with the
 *      least load. It stays there.
 *  C2  What a server has in its memory is lost with it. So of itself only a core goes elsewhere whose log has
 *      everything in the database before it is passed on (`pessimistic`, `strict`), or whose tasks go back. A job that
 *      would end, or wait longer for each message, goes where its room asks for it. A core that others of its job must
 *      hear of in one step stays.
 *  C3  A server that is silent for SILENT_MS is lost: its seats are, whatever it does later.
 */
import { protocols } from '@mayfly/protocols';
import type { Peer, Sharing } from '@mayfly/storage/ports';
import { connect } from 'node:net';
import type { JobId, PeerView } from '@mayfly/wire';
import { WebSocket } from 'ws';
import type { CmSpec } from '../hosts/channel-memory-deps.ts';
import type { LinkSettings, Seat, Sitting } from '../hosts/memory-seat.ts';
import type { Traffic } from '../hosts/traffic.ts';
import type { Logger } from '../logger.ts';
import type { Metrics } from '../metrics.ts';
import { callServer, placeOf } from '../serve/server-link.ts';
import { leastLoaded, type Load } from './placement.ts';
import { RemoteSeat, type SeatHost } from './remote-seat.ts';
import { addTo } from './tally.ts';
import { SEATS_PATH, decodeMessage, encodeMessage, type ToOwner, type ToSeats } from './seat-messages.ts';

export interface SeatsOptions {
  sharing: Sharing;
  version: string;
  /** Of capabilities. */
  key: Buffer;
  settings: LinkSettings;
  metrics: Metrics;
  logger: Logger;
  /** The job of each Channel Memory of this server. */
  own(): readonly JobId[];
}

const LOOK_MS = 1000;
const PING_MS = 2000;
const SILENT_MS = 8000;
const CONNECT_MS = 5000;
/** One that refuses is asked again after it. */
const REFUSED_MS = 60_000;
const MAX_MESSAGE_BYTES = 1 << 30;
const NO_LOAD: Load = { memories: [], messages: 0 };

export class Seats {
  readonly #o: SeatsOptions;
  readonly #servers = new Map<string, SeatServerLink>();
  readonly #timer: NodeJS.Timeout;
  /** Of this server. */
  #address = '';
  #looking = false;
  #closed = false;
  /** Messages that other servers have received: they count as those of all, too. */
  #ofOthers = 0;
  /** Messages that this server had received at the last look, and since then a second. */
  #received = 0;
  #rate = 0;

  constructor(options: SeatsOptions) {
    this.#o = options;
    this.#timer = setInterval(() => void this.#look(), LOOK_MS);
    void this.#look();
  }

  /** Connects to servers that have come. One that has gone is noticed by its connection. */
  async #look(): Promise<void> {
    const { metrics, sharing } = this.#o;
    this.#rate = metrics.dataMessagesIn - this.#ofOthers - this.#received;
    this.#received += this.#rate;
    if (this.#looking) return;
    this.#looking = true;
    try {
      const peers: Peer[] = await sharing.peers();
      this.#address = peers.find((p) => p.owns)?.address ?? '';
      for (const { address, owns } of peers)
        if (!this.#closed && !owns && address !== '' && !this.#servers.has(address)) this.#connect(address);
    } catch {
      // The database is away.
    } finally {
      this.#looking = false;
    }
  }

  #connect(address: string): void {
    const link = new SeatServerLink(address, this.#o, {
      received: (messages) => (this.#ofOthers += messages),
      gone: () => {
        if (this.#servers.get(address) === link) this.#servers.delete(address);
      },
    });
    this.#servers.set(address, link);
  }

  /**
   * C1, C2. Undefined: at this server.
   * @param pinned the server that its room asks for, if it is there
   */
  place(spec: CmSpec, pinned: string | undefined, traffic: Traffic, sitting: Sitting): Seat | undefined {
    const { log } = protocols[spec.protocol];
    if (log.inOneProcess) return undefined;
    const anywhere = log.goesBack ?? (log.keeps === 'durable' && spec.durability === 'strict');
    if (!anywhere && pinned === undefined) return undefined;
    const servers = [...this.#servers.values()].filter((s) => s.ready);
    const least = leastLoaded([this.#load, ...servers.map((s) => s.load)]);
    const asked = servers.find((s) => s.address === pinned);
    const here = pinned !== undefined && pinned === this.#address;
    if (here) return undefined;
    return (asked ?? (anywhere ? servers[least - 1] : undefined))?.seat(spec, traffic, sitting);
  }

  /** The server processes of the storage, this one first. @throws MayflyError */
  async peers(): Promise<PeerView[]> {
    const peers = await this.#o.sharing.peers();
    return peers.map((peer) => {
      const { memories, messages } = (peer.owns ? this.#load : this.#servers.get(peer.address)?.load) ?? NO_LOAD;
      return {
        ...peer,
        memories: memories.length,
        jobs: new Set(memories).size,
        messagesPerSecond: Math.round(messages),
      };
    });
  }

  /** host:port of this server; undefined: not known yet. */
  get address(): string | undefined {
    return this.#address || undefined;
  }

  get #load(): Load {
    return { memories: this.#o.own(), messages: this.#rate };
  }

  close(): void {
    this.#closed = true;
    clearInterval(this.#timer);
    for (const server of this.#servers.values()) server.close();
  }
}

interface LinkEvents {
  received(messages: number): void;
  gone(): void;
}

/** The connection to one other server. */
class SeatServerLink implements SeatHost {
  readonly address: string;
  readonly #o: SeatsOptions;
  readonly #events: LinkEvents;
  readonly #ws: WebSocket;
  readonly #seats = new Map<number, RemoteSeat>();
  readonly #beat: NodeJS.Timeout;
  #heard = performance.now();
  #messages = 0;
  #at = performance.now();
  ready = false;
  #refused = false;

  constructor(address: string, o: SeatsOptions, events: LinkEvents) {
    this.address = address;
    this.#o = o;
    this.#events = events;
    this.#ws = this.connect(SEATS_PATH, undefined);
    this.#beat = setInterval(() => {
      if (performance.now() - this.#heard > SILENT_MS) return this.#ws.terminate(); // C3
      if (this.#ws.readyState === WebSocket.OPEN) this.#ws.ping();
    }, PING_MS);
    this.#ws.on('open', () => {
      const { version, sharing, key, settings } = o;
      this.send({ type: 'join', version, joining: sharing.joining, key, settings });
    });
    this.#ws.on('pong', () => (this.#heard = performance.now()));
    this.#ws.on('message', (bytes: Buffer) => {
      this.#heard = performance.now();
      this.#message(decodeMessage<ToOwner>(bytes));
    });
    this.#ws.on('error', (error) => o.logger.debug({ err: error, address }, 'a server has no seats'));
    this.#ws.on('close', () => {
      clearInterval(this.#beat);
      if (this.ready) o.logger.info({ address }, 'a server has no seats any more');
      this.ready = false;
      // It is tried again at the next look, or after an upgrade.
      setTimeout(events.gone, this.#refused ? REFUSED_MS : 0).unref();
      for (const seat of this.#seats.values()) seat.left('does not answer any more');
      this.#seats.clear();
    });
  }

  #message(m: ToOwner): void {
    const { logger, metrics } = this.#o;
    switch (m.type) {
      case 'joined':
        logger.info({ address: this.address }, 'another server has seats for Channel Memories');
        this.ready = true;
        return;
      case 'refused':
        this.#refused = true;
        logger.warn({ address: this.address, why: m.message }, 'another server has no seats for Channel Memories');
        return;
      case 'reports': {
        const now = performance.now();
        const seconds = Math.max(0.001, (now - this.#at) / 1000);
        this.#at = now;
        this.#messages = m.counted.dataMessagesIn / seconds;
        this.#events.received(m.counted.dataMessagesIn);
        addTo(metrics, m.counted);
        for (const report of m.reports) this.#seats.get(report.seat)?.reported(report);
        return;
      }
      case 'recovered':
        return this.#seats.get(m.report.seat)?.heard(m);
      default:
        return this.#seats.get(m.seat)?.heard(m);
    }
  }

  get load(): Load {
    return { memories: [...this.#seats.values()].map((seat) => seat.job), messages: this.#messages };
  }

  seat(spec: CmSpec, traffic: Traffic, sitting: Sitting): RemoteSeat {
    const seat = new RemoteSeat(spec, this, traffic, sitting);
    this.#seats.set(seat.number, seat);
    return seat;
  }

  // SeatHost

  send(message: ToSeats): void {
    if (this.#ws.readyState === WebSocket.OPEN) this.#ws.send(encodeMessage(message), { compress: false });
  }

  forget(seat: number): void {
    this.#seats.delete(seat);
  }

  connect(path: string, client: string | undefined): WebSocket {
    const { secret } = this.#o.sharing;
    return new WebSocket(`ws://${this.address}${path}`, {
      perMessageDeflate: false,
      maxPayload: MAX_MESSAGE_BYTES,
      handshakeTimeout: CONNECT_MS,
      createConnection: () => {
        const socket = connect({ ...placeOf(this.address), noDelay: true });
        const link = callServer(socket, secret, client);
        socket.on('error', (error) => link.destroy(error));
        return link;
      },
    });
  }

  close(): void {
    this.#ws.terminate();
  }
}
