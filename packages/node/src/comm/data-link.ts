/**
 * One connection of a comm worker to a Channel Memory: a bare WebSocket; where a network breaks WebSockets, long
 * polling with the same frames (about a third more bytes, and a round trip per turn).
 */
import { Socket as PollingSocket } from 'engine.io-client';

export interface DataLink {
  send(bytes: Uint8Array): void;
  /** Bytes passed to `send` that have not left yet. */
  readonly buffered: number;
  close(): void;
}

export interface LinkEvents {
  onOpen(): void;
  onMessage(bytes: Uint8Array): void;
  /** Once, also when it never opened. */
  onClose(why: string): void;
}

/** The part of WebSocket that both the browser's and `ws` have. */
export interface SocketLike {
  binaryType: string;
  readonly bufferedAmount: number;
  /**
   * The bytes are the socket's from now on: `ws` without a mask copies nothing, and writes them when the network takes
   * them.
   */
  send(data: Uint8Array | string): void;
  close(): void;
  onopen: (() => void) | null;
  onmessage: ((event: { data: unknown }) => void) | null;
  onerror: ((event: unknown) => void) | null;
  onclose: ((event: { code?: number; reason?: string }) => void) | null;
}
export type OpenSocket = (url: string) => SocketLike;

const asBytes = (data: unknown): Uint8Array =>
  data instanceof ArrayBuffer
    ? new Uint8Array(data)
    : ArrayBuffer.isView(data)
      ? new Uint8Array(data.buffer, data.byteOffset, data.byteLength)
      : new TextEncoder().encode(String(data));

export function socketLink(open: OpenSocket, url: string, events: LinkEvents): DataLink {
  const socket = open(url.replace(/^http/, 'ws'));
  socket.binaryType = 'arraybuffer';
  let done = false;
  const end = (why: string): void => {
    if (done) return;
    done = true;
    socket.onopen = socket.onmessage = socket.onclose = null;
    // `ws` emits an error for a socket closed while it connects; without a handler that would end the thread.
    socket.onerror = () => undefined;
    events.onClose(why);
  };
  socket.onopen = () => events.onOpen();
  socket.onmessage = (e) => events.onMessage(asBytes(e.data));
  socket.onerror = () => end('socket error');
  socket.onclose = (e) => end(`closed (${e.code ?? 0}${e.reason ? ` ${e.reason}` : ''})`);
  return {
    send: (bytes) => {
      if (!done) socket.send(bytes);
    },
    get buffered() {
      return socket.bufferedAmount;
    },
    close() {
      end('closed by this side');
      socket.close();
    },
  };
}

/**
 * `url` is that of the WebSocket, …/data/cm/<i> or …/data/image?cap=…; its polling twin is …/data/poll/<i>/ or
 * …/data/poll/image/.
 * @param node in Node: where connections come from, and whether certificates are checked (the library does not look at
 * Node's own setting)
 */
export function pollingSocket(url: string, node: { agent?: unknown; rejectUnauthorized?: boolean } = {}): SocketLike {
  const u = new URL(url.replace(/^ws/, 'http'));
  const engine = new PollingSocket(u.origin, {
    path: `${u.pathname.replace(/\/data\/(cm\/)?/, '/data/poll/')}/`,
    query: Object.fromEntries(u.searchParams),
    transports: ['polling'],
    upgrade: false,
    withCredentials: false,
    ...(node as { agent?: string }),
  });
  engine.binaryType = 'arraybuffer';
  let buffered = 0;
  const socket: SocketLike = {
    binaryType: 'arraybuffer',
    get bufferedAmount() {
      return buffered;
    },
    send(data) {
      const bytes = data.length;
      buffered += bytes;
      // The encoder takes an ArrayBuffer; a view of a larger one would be sent whole.
      const exact =
        typeof data === 'string'
          ? data
          : data.byteOffset === 0 && data.byteLength === data.buffer.byteLength
            ? data.buffer
            : data.slice().buffer;
      engine.send(exact as ArrayBuffer, {}, () => {
        buffered -= bytes;
      });
    },
    close: () => void engine.close(),
    onopen: null,
    onmessage: null,
    onerror: null,
    onclose: null,
  };
  engine.on('open', () => socket.onopen?.());
  engine.on('message', (data: unknown) => socket.onmessage?.({ data }));
  engine.on('error', (e: unknown) => socket.onerror?.(e));
  engine.on('close', (reason: string) => socket.onclose?.({ reason }));
  return socket;
}
