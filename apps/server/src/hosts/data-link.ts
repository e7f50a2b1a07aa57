/**
 * One connection of a comm worker to a Channel Memory, over a bare WebSocket or over engine.io where WebSockets break.
 * Both keep message boundaries and order, so the host sees no difference.
 */
import type { IncomingMessage } from 'node:http';
import type { Socket as EngineSocket } from 'engine.io';
import type { WebSocket } from 'ws';
import { networkOf } from '../serve/address.ts';
import { messageCame } from './buffer-collector.ts';

export interface DataLink {
  /** One message of whole frames. The bytes must not change afterwards. */
  send(bytes: Uint8Array): void;
  /** Bytes accepted by `send` that the network has not taken. */
  readonly buffered: number;
  /** Address of the other side, for limits and logs. */
  readonly address: string;
  /** Its network, for limits. */
  readonly network: string;
  onMessage: (bytes: Uint8Array) => void;
  onClose: () => void;
  /** The socket can take more after having been full. */
  onDrain: () => void;
  close(code: number, reason: string): void;
  /** Without a farewell. */
  terminate(): void;
  /**
   * Stops and resumes reading: what the other side sends meanwhile waits with it, as far as the transport can make it
   * wait.
   */
  pause(): void;
  resume(): void;
}

/** A transport that cannot be stopped keeps so much for later; then it is closed. */
const HELD_BYTES = 16 << 20;

/** Close codes of the data plane (RFC 6455 §7.4.2: 4000–4999 are the application's). */
export const CloseCode = {
  BAD_FRAME: 4400,
  REFUSED: 4403,
  UNKNOWN_JOB: 4404,
  TOO_MANY: 4429,
  BROKEN: 4500,
  GOING_AWAY: 1001,
} as const;

/** Reasons longer than this break a close frame. */
const shortReason = (s: string): string => Buffer.from(s).subarray(0, 120).toString();

/** The cores patch and copy bytes: `slice` of a Buffer is a view of the same memory, that of a Uint8Array a copy. */
const plain = (b: Buffer): Uint8Array => new Uint8Array(b.buffer, b.byteOffset, b.byteLength);

/**
 * @param address of the client
 * @param pingMs a socket that has answered no ping between two beats is half open (RFC 6455 §5.5.2) and is terminated.
 */
export function webSocketLink(ws: WebSocket, request: IncomingMessage, address: string, pingMs: number): DataLink {
  let alive = true;
  const link: DataLink = {
    address,
    network: networkOf(address),
    onMessage: () => undefined,
    onClose: () => undefined,
    onDrain: () => undefined,
    get buffered() {
      return ws.bufferedAmount;
    },
    send(bytes) {
      if (ws.readyState === ws.OPEN) ws.send(bytes, { binary: true, compress: false, fin: true });
    },
    close(code, reason) {
      ws.close(code, shortReason(reason));
    },
    terminate() {
      ws.terminate();
    },
    pause: () => ws.pause(),
    resume: () => ws.resume(),
  };
  const beat = setInterval(() => {
    // Nothing is read, and so no answer to a ping either.
    if (!alive && !ws.isPaused) return ws.terminate();
    alive = false;
    ws.ping();
  }, pingMs);
  ws.on('pong', () => (alive = true));
  ws.on('message', (data: Buffer, isBinary: boolean) => {
    alive = true;
    if (!isBinary) return ws.close(CloseCode.BAD_FRAME, 'text on a binary link');
    link.onMessage(plain(data));
    messageCame(data.length);
  });
  // The TCP socket below reports when its buffer is empty; ws itself has no such event.
  const tcp = request.socket;
  const drain = (): void => link.onDrain();
  tcp.on('drain', drain);
  ws.on('error', () => undefined); // 'close' follows
  ws.on('close', () => {
    clearInterval(beat);
    tcp.off('drain', drain);
    link.onClose();
  });
  return link;
}

export function engineLink(socket: EngineSocket, address: string): DataLink {
  let waiting = 0;
  /** While it is paused: what came. */
  let held: Uint8Array[] | undefined;
  let heldBytes = 0;
  const came = (bytes: Uint8Array): void => {
    if (!held) return link.onMessage(bytes);
    heldBytes += bytes.length;
    if (heldBytes > HELD_BYTES) return void socket.close();
    held.push(bytes);
  };
  const link: DataLink = {
    address,
    network: networkOf(address),
    onMessage: () => undefined,
    onClose: () => undefined,
    onDrain: () => undefined,
    get buffered() {
      return waiting;
    },
    send(bytes) {
      waiting += bytes.length;
      socket.send(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength), { compress: false }, () => {
        waiting -= bytes.length;
      });
    },
    close() {
      socket.close();
    },
    terminate() {
      socket.close(true);
    },
    pause() {
      held ??= [];
    },
    resume() {
      const all = held ?? [];
      held = undefined;
      heldBytes = 0;
      for (const bytes of all) link.onMessage(bytes);
    },
  };
  socket.on('message', (data: unknown) => {
    if (Buffer.isBuffer(data)) came(plain(data));
    else if (data instanceof ArrayBuffer) came(new Uint8Array(data, 0, data.byteLength));
    else socket.close();
  });
  socket.on('drain', () => link.onDrain());
  socket.on('close', () => link.onClose());
  return link;
}
