/**
 * A server that stands by has seats for Channel Memories of the server that owns their storage (seat-messages.ts). What
 * passes a core here costs the owner nothing: frames of its links, their log, its commits.
 *
 * Owns: the connection from the owner, and the cores, streams and links of its seats. Does not own: the port
 * (../serve/front.ts), which gives connections that are for a seat.
 *
 *  S1  One owner at a time, the one that was seen in the database last. Its epoch is in each write.
 *  S2  The seats go with the connection of their owner. Nothing of theirs is used again.
 *  S3  A link that finds no seat is closed as if its core had broken: its node comes again, and reaches the owner.
 */
import type { MessageLog } from '@mayfly/storage/ports';
import { MAX_FRAME_BYTES, type JobId } from '@mayfly/wire';
import { createServer, type IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { WebSocketServer, type WebSocket } from 'ws';
import { LinkPlaces } from '../hosts/link-places.ts';
import { DataDoor, type Behind } from '../hosts/data-door.ts';
import { CloseCode, webSocketLink } from '../hosts/data-link.ts';
import type { Logger } from '../logger.ts';
import { FIRST_BYTES, Unfinished, type UnfinishedLimits } from '../hosts/unfinished.ts';
import type { ServerLimits } from '../options.ts';
import { Capabilities } from '../secrets.ts';
import { clientOf } from '../serve/address.ts';
import { GuestCore } from './guest-core.ts';
import { SEATS_PATH, decodeMessage, encodeMessage, type Join, type ToOwner, type ToSeats } from './seat-messages.ts';
import { Tally } from './tally.ts';

export interface SeatServerOptions {
  version: string;
  pingMs: number;
  /** Proxies before the servers, which report the addresses of clients. */
  trustProxy: number;
  /** Of data links. */
  limits: Pick<ServerLimits, 'dataSockets'> & UnfinishedLimits;
  logger: Logger;
  /** The log of the owner's storage. */
  join(joining: Join['joining']): MessageLog;
}

const TICK_MS = 25;
/** Ticks between reports. */
const REPORT_TICKS = 10;
/** An event may be a body. */
const MAX_MESSAGE_BYTES = 1 << 30;
/** An owner that has sent nothing for so long is gone: it pings every two seconds. */
const SILENT_MS = 20_000;
const DATA_PATH = /^\/data\/cm\/(\d{1,2})(?:\?job=([0-9a-z]{12})(?:&\S*)?)?$/;

/** The seats of one owner. */
interface Seated {
  readonly join: Join;
  readonly capabilities: Capabilities;
  readonly log: MessageLog;
  readonly door: DataDoor;
  readonly tally: Tally;
  readonly cores: Map<number, GuestCore>;
}

export class SeatServer {
  readonly #o: SeatServerOptions;
  readonly #http = createServer((_, response) => response.writeHead(404).end());
  /** Connections of another server. */
  readonly #ofServers = new WeakSet<Duplex>();
  readonly #control = new WebSocketServer({ noServer: true, perMessageDeflate: false, maxPayload: MAX_MESSAGE_BYTES });
  readonly #data = new WebSocketServer({
    noServer: true,
    perMessageDeflate: false,
    maxPayload: 2 * MAX_FRAME_BYTES,
  });
  readonly #unfinished: Unfinished;
  #owner: WebSocket | undefined;
  #seated: Seated | undefined;
  #leaving: Promise<unknown> = Promise.resolve();
  #closed = false;
  /** While there is an owner. */
  #timer: NodeJS.Timeout | undefined;

  constructor(options: SeatServerOptions) {
    this.#o = options;
    this.#unfinished = new Unfinished(options.limits);
    this.#http.on('upgrade', (request, socket, head) => this.#upgrade(request, socket, head));
  }

  /** A request that begins so is for a seat here. */
  has(head: string): boolean {
    const [, index, job] = /^GET (\S+) /.exec(head)?.[1]?.match(DATA_PATH) ?? [];
    return job !== undefined && this.#find(job as JobId, Number(index)) !== undefined;
  }

  /** A connection, from its first byte. @param ofServer it has proved to be of another server */
  take(connection: Socket, ofServer: boolean): void {
    if (ofServer) this.#ofServers.add(connection);
    this.#http.emit('connection', connection);
  }

  #find(job: JobId, index: number): Behind | undefined {
    for (const core of this.#seated?.cores.values() ?? [])
      if (core.spec.job === job && core.spec.index === index) return core;
    return undefined;
  }

  #upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    socket.on('error', () => socket.destroy());
    const data = DATA_PATH.exec(request.url ?? '');
    if (request.url === SEATS_PATH && this.#ofServers.has(socket))
      return this.#control.handleUpgrade(request, socket, head, (ws: WebSocket) => this.#serve(ws));
    if (!data) return void socket.end('HTTP/1.1 404 Not Found\r\nconnection: close\r\n\r\n');
    this.#data.handleUpgrade(request, socket, head, (ws: WebSocket) => {
      this.#unfinished.watch(ws, request.socket, FIRST_BYTES);
      const client = clientOf(request, this.#o.trustProxy);
      const link = webSocketLink(ws, request, client, this.#o.pingMs);
      if (this.#seated) this.#seated.door.accept(Number(data[1]), link);
      else link.close(CloseCode.BROKEN, 'the Channel Memory moves');
    });
  }

  // The owner

  /** S1. */
  #serve(ws: WebSocket): void {
    this.leave();
    this.#owner = ws;
    let heard = performance.now();
    const silent = setInterval(() => {
      if (performance.now() - heard > SILENT_MS) ws.terminate();
    }, SILENT_MS / 4);
    ws.on('ping', () => (heard = performance.now()));
    ws.on('error', () => undefined);
    ws.on('close', () => {
      clearInterval(silent);
      if (this.#owner === ws) this.leave();
    });
    ws.on('message', (bytes: Buffer) => {
      heard = performance.now();
      if (this.#owner !== ws) return;
      try {
        this.#message(ws, decodeMessage<ToSeats>(bytes));
      } catch (error) {
        this.#o.logger.error({ err: error }, 'a message of the owner cannot be served');
        ws.terminate();
      }
    });
  }

  #say(message: ToOwner): void {
    this.#owner?.send(encodeMessage(message));
  }

  #message(ws: WebSocket, m: ToSeats): void {
    if (m.type === 'join') {
      if (m.version !== this.#o.version) {
        this.#say({ type: 'refused', message: `this server is version ${this.#o.version}` });
        return ws.close();
      }
      void this.#leaving.then(() => {
        if (this.#owner !== ws || this.#closed) return;
        const seated = (this.#seated = this.#seat(m));
        let ticks = 0;
        this.#timer = setInterval(() => {
          for (const core of seated.cores.values()) core.tick();
          if (++ticks % REPORT_TICKS === 0) this.#report(seated);
        }, TICK_MS);
        this.#say({ type: 'joined' });
      });
      return;
    }
    const seated = this.#seated;
    if (!seated) return ws.terminate();
    if (m.type === 'open') {
      const core = new GuestCore(m, {
        log: seated.log,
        settings: seated.join.settings,
        metrics: seated.tally,
        logger: this.#o.logger.child({ job: m.spec.job, cm: m.spec.index }),
        capabilities: seated.capabilities,
        say: (message) => {
          if (this.#seated === seated) this.#say(message);
        },
      });
      seated.cores.set(m.seat, core);
      return;
    }
    const core = seated.cores.get(m.seat);
    if (m.type === 'close') {
      seated.cores.delete(m.seat);
      void Promise.resolve(core?.close(m.code, m.reason)).then(() => {
        if (this.#seated === seated) this.#say({ type: 'closed', seat: m.seat });
      });
    } else core?.take(m);
  }

  #seat(join: Join): Seated {
    const { logger, limits } = this.#o;
    const { dataSockets } = limits;
    const away: Behind = { serving: () => Promise.reject(new Error('S3')), connect: () => undefined };
    const capabilities = new Capabilities(Buffer.from(join.key));
    return {
      join,
      capabilities,
      log: this.#o.join(join.joining),
      door: new DataDoor(
        (job, index) => this.#find(job, index) ?? away,
        capabilities,
        logger,
        new LinkPlaces({ dataSockets, dataSocketsPerNetwork: dataSockets }),
      ),
      tally: new Tally(),
      cores: new Map(),
    };
  }

  #report(seated: Seated): void {
    const reports = [...seated.cores.values()].flatMap((core) => core.report() ?? []);
    this.#say({ type: 'reports', reports, counted: seated.tally.take() });
  }

  /** S2: the owner is another one, or is gone. Idempotent. */
  leave(): void {
    const [ws, seated] = [this.#owner, this.#seated];
    this.#owner = undefined;
    this.#seated = undefined;
    clearInterval(this.#timer);
    ws?.close();
    if (!seated) return;
    this.#leaving = Promise.all(
      [...seated.cores.values()].map((core) => core.close(CloseCode.BROKEN, 'the server changes')),
    )
      .then(() => seated.log.close())
      .catch((error: unknown) => this.#o.logger.info({ err: error }, 'the log of the earlier owner is closed'));
  }

  /** Resolves when nothing of it writes any more. */
  async close(): Promise<void> {
    this.#closed = true;
    this.leave();
    await this.#leaving;
    for (const ws of [...this.#data.clients, ...this.#control.clients]) ws.terminate();
    this.#http.closeAllConnections();
  }
}
