/**
 * A client that speaks every plane of a server by hand: raw TCP, REST, control (socket.io, also packet by packet), the
 * data plane and the image plane. It keeps to no rule that the server does not enforce.
 *
 * Owns: every socket that it has opened; `leave` closes them all. It comes from a network of its own (an address in
 * 127.0.0.0/8), as strangers do, so that what it uses up is its own.
 */
import { randomBytes } from 'node:crypto';
import { Agent, request, type OutgoingHttpHeaders } from 'node:http';
import { connect, type Socket as TcpSocket } from 'node:net';
import { CONTROL_VERSION, type Assignment, type Welcome } from '@mayfly/wire';
import { io, type Socket } from 'socket.io-client';
import { WebSocket } from 'ws';

export interface Answer {
  status: number;
  text: string;
  headers: Readonly<Record<string, string | string[] | undefined>>;
}

/** A message that is sent in pieces and never ends: each piece of so many bytes. */
const PIECE_BYTES = 256 * 1024;
const ZEROS = Buffer.alloc(PIECE_BYTES);

export const sleep = (ms: number): Promise<void> => new Promise((r) => setTimeout(r, ms));

/** Whether `done` becomes true within so long. */
export async function within(ms: number, done: () => boolean | Promise<boolean>): Promise<boolean> {
  for (const end = performance.now() + ms; !(await done());) {
    if (performance.now() > end) return false;
    await sleep(50);
  }
  return true;
}

/** Until `measure` has not changed for a while, or so long at most. */
export async function quiet(ms: number, measure: () => number): Promise<void> {
  let last = measure();
  let since = performance.now();
  await within(ms, () => {
    const now = measure();
    if (now !== last) since = performance.now();
    last = now;
    return performance.now() - since > QUIET_MS;
  });
}
const QUIET_MS = 3000;

/** So many at the same time at most. */
export async function inParallel(count: number, width: number, work: (i: number) => Promise<unknown>): Promise<void> {
  let next = 0;
  await Promise.all(
    Array.from({ length: Math.min(width, count) }, async () => {
      while (next < count) await work(next++);
    }),
  );
}

export class Hostile {
  readonly #agent: Agent;
  readonly #open = new Set<() => void>();
  #left = false;

  constructor(
    readonly url: string,
    /** Where it comes from. */
    readonly address: string,
    /** Tokens that it was given; it may try others. */
    readonly tokens: { readonly submitter: string; readonly viewer: string },
    /** Code of a room of its own, where nobody else computes. */
    readonly room: string,
    /** How much slower than usual the machine is: waits that the attacker gives up after grow with it. */
    readonly slowness: number,
  ) {
    this.#agent = new Agent({ keepAlive: true, maxSockets: 64, localAddress: address });
  }

  /** The same client from another network. */
  from(address: string): Hostile {
    const other = new Hostile(this.url, address, this.tokens, this.room, this.slowness);
    this.#keep(() => other.leave());
    return other;
  }

  get port(): number {
    return Number(new URL(this.url).port);
  }

  // REST

  /** @param body an object is sent as JSON */
  ask(
    method: string,
    path: string,
    o: { token?: string | undefined; body?: unknown; headers?: OutgoingHttpHeaders } = {},
  ): Promise<Answer> {
    if (this.#left) return Promise.reject(new Error('this client has left'));
    const bytes =
      o.body === undefined
        ? undefined
        : Buffer.isBuffer(o.body)
          ? o.body
          : Buffer.from(typeof o.body === 'string' ? o.body : JSON.stringify(o.body));
    return new Promise((resolve, reject) => {
      const r = request(
        this.url + path,
        {
          method,
          agent: this.#agent,
          headers: {
            ...(o.token === undefined ? {} : { authorization: `Bearer ${o.token}` }),
            ...(bytes === undefined
              ? {}
              : {
                  'content-type': Buffer.isBuffer(o.body) ? 'application/octet-stream' : 'application/json',
                  'content-length': bytes.length,
                }),
            ...o.headers,
          },
        },
        (answer) => {
          const parts: Buffer[] = [];
          answer.on('data', (d: Buffer) => parts.push(d));
          answer.on('end', () =>
            resolve({
              status: answer.statusCode ?? 0,
              text: Buffer.concat(parts).toString(),
              headers: answer.headers,
            }),
          );
          answer.on('error', reject);
        },
      );
      r.on('error', reject);
      r.end(bytes);
    });
  }

  /** The same, waiting out 429 of the server's limit of requests. @throws Error for any other refusal */
  async json<T>(method: string, path: string, token: string | undefined, body?: unknown): Promise<T> {
    for (;;) {
      const a = await this.ask(method, path, { token, body });
      if (a.status < 300) return JSON.parse(a.text) as T;
      if (a.status !== 429) throw new Error(`${method} ${path}: ${a.status} ${a.text.slice(0, 300)}`);
      await sleep(1000 * Math.min(10, Number(a.headers['retry-after'] ?? 1)));
    }
  }

  // Sockets

  /** A bare connection that has sent `text`. */
  tcp(text: string): Promise<Line> {
    return new Promise((resolve, reject) => {
      const socket = connect({ port: this.port, host: '127.0.0.1', localAddress: this.address });
      const line: Line = { socket, heard: '', closed: false };
      const end = (): void => void socket.destroy();
      this.#keep(end);
      socket.on('data', (d: Buffer) => (line.heard = (line.heard + d.toString('latin1')).slice(0, 4096)));
      socket.on('error', (e) => reject(e));
      // The server has ended its half, or the whole.
      socket.on('end', () => (line.closed = true));
      socket.on('close', () => {
        line.closed = true;
        this.#open.delete(end);
        reject(new Error('the connection was closed'));
      });
      socket.once('connect', () => {
        if (text !== '') socket.write(text, 'latin1');
        resolve(line);
      });
    });
  }

  /** A bare WebSocket. @throws Error when the handshake is refused */
  webSocket(path: string): Promise<WebSocket> {
    return new Promise((resolve, reject) => {
      const ws = new WebSocket(this.url.replace('http', 'ws') + path, {
        localAddress: this.address,
        perMessageDeflate: false,
        maxPayload: 1 << 30,
      });
      const end = (): void => ws.terminate();
      this.#keep(end);
      ws.on('error', reject);
      ws.once('close', () => this.#open.delete(end));
      // What came with the handshake waits until whoever awaits this has listeners.
      ws.once('open', () => {
        ws.pause();
        setImmediate(() => ws.resume());
        resolve(ws);
      });
    });
  }

  /** socket.io over a bare WebSocket: `0` (open) is awaited, nothing is sent. */
  async packets(): Promise<WebSocket> {
    const ws = await this.webSocket('/socket.io/?EIO=4&transport=websocket');
    return ws;
  }

  /**
   * A node's connection, packet by packet: cheap enough for thousands. Hello has been sent when this resolves.
   * `welcome`: what it was answered with; undefined: the server closed the connection.
   */
  async bareNode(hello: object): Promise<{ ws: WebSocket; welcome: Promise<unknown> }> {
    const ws = await this.packets();
    let answered: (welcome: unknown) => void = () => undefined;
    const welcome = new Promise<unknown>((resolve) => (answered = resolve));
    await new Promise<void>((said) => {
      ws.on('message', (d: Buffer) => {
        const text = d.toString();
        if (text === '2') ws.send('3');
        else if (text.startsWith('0')) ws.send('40/node,');
        else if (text.startsWith('40/node')) {
          ws.send(`42/node,0${JSON.stringify(['hello', helloOf(hello)])}`);
          said();
        } else if (text.startsWith('43/node,0')) answered((JSON.parse(text.slice(9)) as unknown[])[0]);
        else if (text.startsWith('41')) ws.terminate();
      });
      ws.once('close', () => {
        answered(undefined);
        said();
      });
    });
    return { ws, welcome };
  }

  /** @throws Error when the server closes it, or does not let it in */
  control(namespace: string, auth: object = {}): Promise<Socket> {
    return new Promise((resolve, reject) => {
      const socket = io(this.url + namespace, {
        transports: ['websocket'],
        forceNew: true,
        reconnection: false,
        auth,
        // Of the connection's options, but not of the client's types.
        ...({ localAddress: this.address } as object),
      });
      const end = (): void => void socket.disconnect();
      this.#keep(end);
      socket.once('disconnect', () => this.#open.delete(end));
      socket.once('connect_error', reject);
      socket.once('connect', () => resolve(socket));
    });
  }

  /**
   * A node that has said Hello.
   *
   * @param assigned hears of its ranks: the first may come in one piece with the answer to Hello
   * @throws Error when it is refused
   */
  async node(
    hello: object,
    assigned: (a: Assignment) => void = () => undefined,
  ): Promise<{ socket: Socket; welcome: Welcome }> {
    const socket = await this.control('/node');
    socket.on('assign', assigned);
    const welcome = (await socket.timeout(30_000 * this.slowness).emitWithAck('hello', helloOf(hello))) as
      Welcome | { error: { code: string; message: string } };
    if ('error' in welcome) throw new Error(`Hello was refused: ${welcome.error.code} ${welcome.error.message}`);
    return { socket, welcome };
  }

  /**
   * A WebSocket on each of the paths, with a message that begins, has `bytes` bytes so far, and never ends.
   * @param first a message before it
   * @returns those that the server has not closed by then
   */
  async unfinished(paths: readonly string[], bytes: number, first?: string): Promise<WebSocket[]> {
    const all: WebSocket[] = [];
    await inParallel(paths.length, 16, async (i) => {
      const ws = await this.webSocket(paths[i]!).catch(() => undefined);
      if (!ws) return;
      all.push(ws);
      if (first !== undefined) ws.send(first);
      for (let sent = 0; sent < bytes && ws.readyState === ws.OPEN; sent += PIECE_BYTES)
        await new Promise<void>((next) => ws.send(ZEROS, { binary: true, fin: false }, () => next()));
    });
    return all.filter((ws) => ws.readyState === ws.OPEN);
  }

  /** Sends as fast as the socket takes it, at most so much ahead. @returns false: the server has closed it */
  async pour(ws: WebSocket, count: number, message: (i: number) => Uint8Array | string): Promise<boolean> {
    for (let i = 0; i < count; i++) {
      if (ws.readyState !== ws.OPEN) return false;
      ws.send(message(i));
      if (ws.bufferedAmount > 8 << 20)
        await within(30_000 * this.slowness, () => ws.bufferedAmount < 1 << 20 || ws.readyState !== ws.OPEN);
      else if (i % 256 === 255) await sleep(0);
    }
    await within(30_000 * this.slowness, () => ws.bufferedAmount === 0 || ws.readyState !== ws.OPEN);
    return ws.readyState === ws.OPEN;
  }

  /** Closes it when this client leaves, at once if it has left: a way that goes on meanwhile opens nothing. */
  #keep(close: () => void): void {
    if (this.#left) close();
    else this.#open.add(close);
  }

  /** Closes everything. */
  leave(): void {
    this.#left = true;
    for (const close of [...this.#open]) close();
    this.#open.clear();
    this.#agent.destroy();
  }
}

export interface Line {
  socket: TcpSocket;
  /** The first bytes that came. */
  heard: string;
  /** By the server. */
  closed: boolean;
}

export const helloOf = (more: object): object => ({
  version: CONTROL_VERSION,
  name: 'mallory',
  engine: 'by hand',
  slots: 0,
  session: randomBytes(8).toString('hex'),
  holds: [],
  images: [],
  ...more,
});

export const reportOf = (a: Assignment, event: string, error?: { code: string; message: string }): object => ({
  job: a.job,
  task: a.task,
  incarnation: a.incarnation,
  event,
  ...(error ? { error } : {}),
});
