/**
 * The connections of a job's process. It opens none itself: it asks, and the volunteer opens a TCP connection to an
 * address that the server named (its own, those of the Channel Memories) and hands the open socket over. The process
 * needs no network, no names and no certificates of the machine; and unlike a relay this costs nothing per message. TLS
 * is spoken inside the process, so that no key leaves it.
 *
 * Node hands sockets over on its own channel only (descriptor 3), which believes every length and accepts descriptors.
 * What the process sends on it can only be acknowledgements.
 *
 *  S1 More bytes than the acknowledgements of the sockets that were sent, or any descriptor, end the process.
 *  S2 At most PENDING connections are on their way at a time.
 */
import type { ChildProcess } from 'node:child_process';
import { connect, type Socket } from 'node:net';

const PENDING = 64;
const OPEN_MS = 10_000;
/** An acknowledgement has about 60. */
const ACKNOWLEDGEMENT_BYTES = 256;
const SLACK_BYTES = 4096;

/** 'host:port' of a URL, as the process asks for it. */
export function addressOf(url: string): string {
  const u = new URL(url);
  return `${u.hostname}:${u.port || (/^(https|wss):$/.test(u.protocol) ? '443' : '80')}`;
}

/** libuv's pipe below Node's channel. */
interface Pipe {
  onread: (this: Pipe, buffer?: ArrayBuffer) => void;
  pendingHandle?: unknown;
}

export class Connections {
  private readonly allowed = new Set<string>();
  private readonly pending = new Set<Socket>();
  private sent = 0;
  private received = 0;
  private over = false;

  constructor(
    private readonly child: ChildProcess,
    server: string,
    private readonly refuse: (id: number, why: string) => void,
    /** S1 is broken. */
    private readonly onHostile: (why: string) => void,
  ) {
    this.allow(server);
    this.guard();
    child.on('message', () => this.onHostile('sent data on the channel for new connections'));
  }

  /**
   * S1. The pipe is Node's own affair; where a later version hides it, its messages are still looked at, their lengths
   * are not.
   */
  private guard(): void {
    const symbol = Object.getOwnPropertySymbols(this.child).find((s) => s.description === 'kChannelHandle');
    const pipe = symbol && (this.child as unknown as Record<symbol, Pipe | undefined>)[symbol];
    if (!pipe || typeof pipe.onread !== 'function') return;
    const inner = pipe.onread;
    pipe.onread = (buffer) => {
      this.received += buffer?.byteLength ?? 0;
      if (this.over) return;
      if (this.received > SLACK_BYTES + ACKNOWLEDGEMENT_BYTES * this.sent || pipe.pendingHandle) {
        this.over = true;
        this.onHostile('sent too much on the channel for new connections');
        return;
      }
      inner.call(pipe, buffer);
    };
  }

  /** The server named this address. */
  allow(url: string): void {
    this.allowed.add(addressOf(url));
  }

  open(id: number, to: string): void {
    if (this.over) return;
    if (!this.allowed.has(to)) return this.refuse(id, `${to} is not an address of the server`);
    if (this.pending.size >= PENDING) return this.refuse(id, `${PENDING} connections are already being opened`);
    const colon = to.lastIndexOf(':');
    const socket = connect({
      host: to.slice(0, colon).replace(/^\[|\]$/g, ''),
      port: Number(to.slice(colon + 1)),
      noDelay: true,
    });
    this.pending.add(socket);
    socket.setTimeout(OPEN_MS, () => socket.destroy(new Error(`${to} did not answer within ${OPEN_MS / 1000} s`)));
    let handed = false;
    let why = 'the connection was closed';
    socket.once('error', (e) => (why = e.message));
    // Closed here too once the process has acknowledged it.
    socket.once('close', () => {
      this.pending.delete(socket);
      if (!handed) this.refuse(id, why);
    });
    socket.once('connect', () => {
      if (this.over || !this.child.connected) return void socket.destroy();
      socket.setTimeout(0);
      handed = true;
      this.sent++;
      this.child.send({ id }, socket, { keepOpen: false }, (e) => {
        if (e) socket.destroy();
      });
    });
  }

  close(): void {
    this.over = true;
    for (const socket of this.pending) socket.destroy();
    this.pending.clear();
  }
}
