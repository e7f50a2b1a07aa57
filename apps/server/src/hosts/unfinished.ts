/**
 * Messages on sockets and bodies of requests that have begun and not ended: who reads them keeps their bytes until they
 * are whole. Every WebSocket and every request with a body is watched here.
 *
 * Owns: how many such bytes each connection has here, and since when.
 *
 *  U1  A connection whose message has more than SMALL_BYTES here and has not ended `messageMs` after that is ended. The
 *      time in which the server does not read does not count.
 *  U2  All connections together have at most `bytes`. Beyond, the one that has most goes.
 *  U3  Before its first message is whole, a connection has at most the bytes that it is given for that.
 */
import { messageDropped } from './buffer-collector.ts';

export interface UnfinishedLimits {
  /** For one message, ms. */
  messageMs: number;
  /** Of all connections together. */
  unfinishedBytes: number;
}

/** The first message of a data socket, which presents a comm worker, with what comes right behind it. */
export const FIRST_BYTES = 128 * 1024;
/** What may wait without a limit in time: a page, or the end of a read that is the beginning of the next message. */
const SMALL_BYTES = 64 * 1024;
/** Heads of frames that a message may have come in are no more than this, and a thousandth of it. */
const HEAD_BYTES = 14;

/** Their rest is read so that the client hears why they are refused; nobody keeps it. */
const thrownAway = new WeakSet<object>();

/** From here on nothing of this body waits here. Who calls it ends it in time. */
export const throwAway = (request: object): void => void thrownAway.add(request);

/** One character that needs two bytes makes the engine keep all of a string so. */
const WIDE = /[^\u0000-\u00ff]/;
const sizeOf = (chunk: Uint8Array | string): number =>
  typeof chunk === 'string' && WIDE.test(chunk) ? 2 * chunk.length : chunk.length;

/** What is needed of a WebSocket. */
interface Socket {
  readonly isPaused: boolean;
  on(event: 'message' | 'close', heard: (data: { length: number }) => void): unknown;
  terminate(): void;
}

/** What is needed of a request. */
interface Request {
  prependListener(event: 'data', heard: (chunk: Uint8Array | string) => void): unknown;
  once(event: 'close', heard: () => void): unknown;
  destroy(): unknown;
}

interface Connection {
  readonly socket: Socket;
  bytes: number;
  /** U3; Infinity once it has presented itself. */
  most: number;
  /** When it had SMALL_BYTES, ms; 0: it has not. */
  since: number;
}

export class Unfinished {
  readonly #limits: UnfinishedLimits;
  readonly #connections = new Set<Connection>();
  #bytes = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(limits: UnfinishedLimits) {
    this.#limits = limits;
  }

  /** Of all connections. */
  get bytes(): number {
    return this.#bytes;
  }

  /**
   * @param stream below the socket
   * @param first bytes of its first message, and what comes with its end
   */
  watch(
    socket: Socket,
    stream: { prependListener(event: 'data', heard: (chunk: Uint8Array | string) => void): unknown },
    first = Infinity,
  ): void {
    const c: Connection = { socket, bytes: 0, most: first, since: 0 };
    this.#connections.add(c);
    this.#timer ??= setInterval(() => this.#look(), Math.min(1000, this.#limits.messageMs / 4)).unref();
    // Before `ws` takes the chunk apart.
    stream.prependListener('data', (chunk) => {
      if (!this.#connections.has(c)) return;
      if (thrownAway.has(stream)) return this.#forget(c);
      this.#set(c, c.bytes + sizeOf(chunk));
      if (c.bytes > c.most) this.#end(c);
      while (this.#bytes > this.#limits.unfinishedBytes) this.#endLargest();
    });
    socket.on('message', ({ length }) => {
      c.since = 0;
      c.most = Infinity;
      this.#set(c, Math.max(0, c.bytes - length - HEAD_BYTES - (length >> 10)));
    });
    socket.on('close', () => this.#forget(c));
  }

  /** @param most bytes of its body (U3) */
  watchBody(request: Request, most = Infinity): void {
    const socket: Socket = {
      isPaused: false,
      on: (event, heard) => event === 'close' && request.once('close', () => heard({ length: 0 })),
      terminate: () => request.destroy(),
    };
    this.watch(socket, request, most);
  }

  #set(c: Connection, bytes: number): void {
    this.#bytes += bytes - c.bytes;
    c.bytes = bytes;
    if (bytes <= SMALL_BYTES) c.since = 0;
    else c.since ||= performance.now();
  }

  #forget(c: Connection): void {
    if (!this.#connections.delete(c)) return;
    this.#bytes -= c.bytes;
    if (this.#connections.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  #end(c: Connection): void {
    messageDropped(c.bytes);
    this.#forget(c);
    c.socket.terminate();
  }

  /** U2. */
  #endLargest(): void {
    let most: Connection | undefined;
    for (const c of this.#connections) if (!most || c.bytes > most.bytes) most = c;
    if (most) this.#end(most);
  }

  /** U1. */
  #look(): void {
    const now = performance.now();
    for (const c of [...this.#connections])
      if (c.since === 0) continue;
      else if (c.socket.isPaused) c.since = now;
      else if (now - c.since > this.#limits.messageMs) this.#end(c);
  }
}
