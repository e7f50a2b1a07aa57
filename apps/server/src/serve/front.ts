/**
 * The port of a server that shares its database with others: it listens from the start, whoever owns the database.
 * While another process does, connections go on to that one, byte by byte; later they are served here.
 *
 * Owns: the listening socket, and the connections until they are served.
 *
 *  N1  A connection from another server begins with a word, and is encrypted from there on (server-link.ts). Only who
 *      reads the database knows the key, so nobody else names the address of a client.
 *  N2  A connection waits while nobody is known to serve, or while the one that serves cannot be reached: another one
 *      may just take over. An owner sends nothing on, so that a connection goes through one other server at most.
 *      One that stands by keeps what is for its seats (../memories/seat-server.ts).
 *  N4  At most `most` connections are here that are not served here. Beyond, the oldest one goes of those that wait for
 *      an owner or have sent nothing; where all have gone on, the new one.
 *  N3  When the owner changes, the connections that were sent on are closed: the old one may stand still for ever.
 */
import type { Server as HttpServer } from 'node:http';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { listenError } from './listen-error.ts';
import { answerServer, callServer, placeOf, WORD } from './server-link.ts';

/** Where the owner serves, and what proves to it that a connection comes from another server. */
export interface Upstream {
  /** host:port */
  address: string;
  secret: string;
}

/** What a server that stands by serves itself. */
export interface OwnSeats {
  /** A request that begins so is for a seat here. */
  has(head: string): boolean;
  /** @param ofServer it has proved to be of another server */
  take(connection: Socket, ofServer: boolean): void;
}

/** A connection that waits so long for an owner is closed. */
const WAIT_MS = 60_000;
const CONNECT_MS = 5000;
/** N4. */
const MOST = 10_000;
/** N2: of an owner that cannot be reached. */
const PATIENCE_MS = 15_000;
const AGAIN_MS = 250;

const AWAY = JSON.stringify({
  code: 'STORAGE_FAILED',
  message: 'This server stands by for another one, which does not answer. Try again in a moment.',
});

export class Front {
  readonly #server: Server;
  /** All that are not served here. */
  readonly #open = new Set<Socket>();
  readonly #waiting = new Set<Socket>();
  /** Their first bytes have not come. */
  readonly #silent = new Set<Socket>();
  readonly #sentOn = new Set<Socket>();
  readonly #patienceMs: number;
  readonly #most: number;
  #to: { upstream: Upstream } | { http: HttpServer; secret: string } | undefined;
  /** While this server stands by. */
  seats: OwnSeats | undefined;

  /**
   * @param patienceMs how long a connection waits for a server that cannot be reached. @param most N4
   * @throws Error with a sentence for the terminal when it cannot listen there
   */
  static async listen(port: number, host: string, patienceMs = PATIENCE_MS, most = MOST): Promise<Front> {
    const front = new Front(patienceMs, most);
    await new Promise<void>((resolve, reject) => {
      front.#server.once('error', (error) => reject(listenError(error, { port, host })));
      front.#server.listen(port, host, resolve);
    });
    front.#server.on('error', () => undefined);
    return front;
  }

  private constructor(patienceMs: number, most: number) {
    this.#patienceMs = patienceMs;
    this.#most = most;
    this.#server = createServer({ allowHalfOpen: true, noDelay: true, pauseOnConnect: true }, (socket) => {
      socket.on('error', () => socket.destroy());
      this.#open.add(socket);
      socket.once('close', () => this.#open.delete(socket));
      if (this.#open.size > this.#most) this.#endOne(socket);
      this.#accept(socket);
    });
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** Connections go on to the owner; undefined: they wait for one. */
  sendOn(upstream: Upstream | undefined): void {
    const before = this.#to && 'upstream' in this.#to ? this.#to.upstream : undefined;
    if (before && upstream && before.address === upstream.address && before.secret === upstream.secret) return;
    this.#to = upstream && { upstream };
    this.#changed();
  }

  /** From now on this process serves. @param secret of its opening of the database */
  serve(http: HttpServer, secret: string): void {
    this.#to = { http, secret };
    // Node keeps a list of connections, for time limits and `closeAllConnections`, from this event on.
    http.emit('listening');
    this.#changed();
  }

  /** N3. */
  #changed(): void {
    for (const s of this.#sentOn) s.destroy();
    if (!this.#to) return;
    for (const s of [...this.#waiting]) {
      this.#waiting.delete(s);
      s.setTimeout(0);
      this.#accept(s);
    }
  }

  /** N4. */
  #endOne(newest: Socket): void {
    const [waiting] = this.#waiting;
    const [silent] = this.#silent;
    const one = waiting ?? silent ?? newest;
    for (const set of [this.#open, this.#waiting, this.#silent]) set.delete(one);
    one.destroy();
  }

  /** @param since when it came, ms */
  #accept(socket: Socket, since = performance.now()): void {
    const to = this.#to;
    if (socket.destroyed) return;
    if (!to) {
      this.#waiting.add(socket);
      socket.once('close', () => this.#waiting.delete(socket));
      socket.setTimeout(WAIT_MS, () => socket.destroy());
    } else if ('upstream' in to) this.#begin(socket, to.upstream, since);
    else this.#serve(socket, to.http, to.secret);
  }

  /** Looks at its first bytes: they are for a seat of this server, or go on. */
  #begin(socket: Socket, upstream: Upstream, since: number): void {
    const { seats } = this;
    this.#first(socket, (first) => {
      if (first === WORD) {
        // N2.
        if (!seats) return void socket.destroy();
        answerServer(socket, upstream.secret, (link, rest) =>
          this.#hand(socket, link, rest, (s) => seats.take(s, true)),
        );
      } else if (seats?.has(first.toString('latin1'))) this.#hand(socket, socket, first, (s) => seats.take(s, false));
      else {
        socket.setTimeout(0);
        socket.pause();
        socket.unshift(first);
        this.#send(socket, upstream, since);
      }
    });
  }

  #send(socket: Socket, { address, secret }: Upstream, since: number): void {
    const upstream = connect({
      ...placeOf(address),
      allowHalfOpen: true,
      noDelay: true,
      timeout: CONNECT_MS,
    });
    const left = (): void => void upstream.destroy();
    socket.once('close', left);
    let connected = false;
    upstream.once('connect', () => {
      connected = true;
      this.#sentOn.add(socket);
      socket.once('close', () => this.#sentOn.delete(socket));
      upstream.setTimeout(0);
      const link = callServer(upstream, secret, socket.remoteAddress);
      link.on('error', () => upstream.destroy());
      socket.pipe(link).pipe(socket);
    });
    upstream.once('timeout', () => upstream.destroy());
    upstream.on('error', () => undefined);
    upstream.once('close', () => {
      socket.off('close', left);
      if (connected) return void socket.destroy();
      if (performance.now() - since < this.#patienceMs) {
        setTimeout(() => this.#accept(socket, since), AGAIN_MS).unref();
        return;
      }
      socket.end(
        'HTTP/1.1 503 Service Unavailable\r\ncontent-type: application/json\r\nretry-after: 1\r\n' +
          `content-length: ${Buffer.byteLength(AWAY)}\r\nconnection: close\r\n\r\n${AWAY}`,
      );
      socket.resume();
    });
  }

  /** N1. */
  #serve(socket: Socket, http: HttpServer, secret: string): void {
    const serve = (connection: Socket): void => void http.emit('connection', connection);
    this.#first(socket, (first) => {
      if (first === WORD) answerServer(socket, secret, (link, rest) => this.#hand(socket, link, rest, serve));
      else this.#hand(socket, socket, first, serve);
    });
  }

  /** Its first bytes; WORD: those are read, and the connection is of another server. */
  #first(socket: Socket, got: (first: Buffer | typeof WORD) => void): void {
    let first: Buffer = Buffer.alloc(0);
    const end = (): void => void socket.destroy();
    const take = (chunk: Buffer): void => {
      first = first.length === 0 ? chunk : Buffer.concat([first, chunk]);
      const begins = first.subarray(0, WORD.length).toString('latin1');
      if (begins.length < WORD.length && WORD.startsWith(begins)) return;
      socket.off('data', take).off('end', end);
      this.#silent.delete(socket);
      if (begins !== WORD) return got(first);
      socket.pause();
      if (first.length > WORD.length) socket.unshift(first.subarray(WORD.length));
      got(WORD);
    };
    this.#silent.add(socket);
    socket.once('close', () => this.#silent.delete(socket));
    socket.on('data', take);
    socket.once('end', end);
    socket.setTimeout(WAIT_MS, end);
    socket.resume();
  }

  /** The connection is served here. @param rest what has been read of it */
  #hand(socket: Socket, connection: Socket, rest: Buffer, serve: (connection: Socket) => void): void {
    this.#open.delete(socket);
    socket.setTimeout(0);
    connection.pause();
    if (rest.length > 0) connection.unshift(rest);
    serve(connection);
    connection.resume();
  }

  /** Closes the port, and connections that nobody serves. */
  async close(): Promise<void> {
    this.#to = undefined;
    for (const s of this.#open) s.destroy();
    await new Promise<void>((done) => this.#server.close(() => done()));
  }
}
