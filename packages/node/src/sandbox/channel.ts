/**
 * Messages between a node's daemon and the process of a job, over a pipe: u32 length of the JSON, u32 length of the
 * bytes behind it, both little-endian, then both. Not Node's own channel: that believes every length, and the other end
 * runs strangers' programs.
 *
 *  C1 A message whose lengths are beyond the limits is dropped, and the pipe is closed.
 */
import type { PagePack } from '@mayfly/checkpoint';
import type { CommToDaemon, DaemonToComm } from '../messages.ts';
import type { Attempts, Targets } from './attempts.ts';

/** What leaves room for a manifest of the largest image. */
export const HEAD_BYTES = 16 * 1024 * 1024;
/** New pages of one image; a larger one is kept by the server alone. */
export const BODY_BYTES = 256 * 1024 * 1024;

export interface TlsTrust {
  rejectUnauthorized: boolean;
  /** Certificates in PEM that the volunteer trusts; undefined: Node's own. */
  ca: string[] | undefined;
}

/** Node's daemon → process of a job. */
export type ToChild =
  /**
   * The first one. `rankArguments`: of each rank's worker (rank/entry-node.ts). `rss`: tell how much memory this
   * process has.
   */
  | { type: 'start'; server: string; tls: TlsTrust; rankArguments: string[]; rss: boolean; rankFlags: string[] }
  /**
   * Instead of `start`: try from inside what can be reached (try-sandbox.ts). `disarmed`: without what a rank's thread
   * removes.
   */
  | { type: 'probe'; targets: Targets; disarmed: boolean; rankFlags: string[] }
  | { type: 'comm'; message: DaemonToComm }
  /** Instead of a connection. */
  | { type: 'unreachable'; id: number; why: string };

/** Process of a job → node's daemon. */
export type FromChild =
  /** It runs, and waits for `start`. */
  | { type: 'ready' }
  | { type: 'comm'; message: CommToDaemon }
  /** Wants a connection to 'host:port'; the answer is a socket on Node's own channel, or `unreachable`. */
  | { type: 'connect'; id: number; to: string }
  | { type: 'rss'; bytes: number }
  | { type: 'probed'; attempts: Partial<Attempts> };

/** Whether it may be sent: the local copy of an image is a convenience, the server has the image. */
export const fits = (m: CommToDaemon): boolean => m.type !== 'keep' || m.fresh.bytes.length <= BODY_BYTES;

const HEADER_BYTES = 8;

/** Chunks to write one behind the other. */
export function encode(message: ToChild | FromChild): Uint8Array[] {
  const { head, body } = lift(message);
  const json = Buffer.from(JSON.stringify(head));
  const header = Buffer.alloc(HEADER_BYTES);
  header.writeUInt32LE(json.length, 0);
  header.writeUInt32LE(body?.length ?? 0, 4);
  return body && body.length > 0 ? [header, json, body] : [header, json];
}

/** The bytes of a message travel behind its JSON: two messages have some. */
function lift(message: ToChild | FromChild): { head: unknown; body?: Uint8Array | undefined } {
  if (message.type !== 'comm') return { head: message };
  const m = message.message;
  if (m.type === 'page' && 'bytes' in m)
    return { head: { ...message, message: { ...m, bytes: m.bytes ? m.bytes.length : -1 } }, body: m.bytes };
  if (m.type === 'keep')
    return { head: { ...message, message: { ...m, fresh: { pages: m.fresh.pages } } }, body: m.fresh.bytes };
  return { head: message };
}

/** Puts the bytes back in their place; of a message from the daemon, which is ours. */
export function lowerToChild(head: unknown, body: Uint8Array<ArrayBuffer>): ToChild {
  const message = head as ToChild;
  if (message.type === 'comm' && message.message.type === 'page') {
    const found = (message.message.bytes as unknown as number) >= 0;
    message.message.bytes = found ? body : undefined;
  }
  return message;
}

/** The same of a message from the process of a job. Nothing of it has been checked (message-checks.ts). */
export function lowerFromChild(head: unknown, body: Uint8Array<ArrayBuffer>): unknown {
  const kept = (head as { message?: { type?: unknown; fresh?: PagePack } } | null)?.message;
  if (kept?.type === 'keep' && typeof kept.fresh === 'object' && kept.fresh !== null)
    kept.fresh = { pages: kept.fresh.pages, bytes: body };
  return head;
}

/** Takes the pipe's chunks apart. */
export class Inbox {
  private parts: Uint8Array[] = [];
  private have = 0;
  private lengths: { head: number; body: number } | undefined;
  private broken = false;

  constructor(
    private readonly onMessage: (head: unknown, body: Uint8Array<ArrayBuffer>) => void,
    private readonly onBroken: (why: string) => void,
  ) {}

  push(chunk: Uint8Array): void {
    if (this.broken) return;
    this.parts.push(chunk);
    this.have += chunk.length;
    for (;;) {
      if (this.lengths === undefined) {
        if (this.have < HEADER_BYTES) return;
        const header = this.take(HEADER_BYTES);
        this.lengths = { head: header.readUInt32LE(0), body: header.readUInt32LE(4) };
        if (this.lengths.head > HEAD_BYTES || this.lengths.body > BODY_BYTES)
          return this.fail(`sent a message of ${this.lengths.head} and ${this.lengths.body} bytes`);
      }
      const { head, body } = this.lengths;
      if (this.have < head + body) return;
      const json = this.take(head);
      // In a buffer of its own: it may move to another thread.
      const bytes = body > 0 ? new Uint8Array(this.take(body)) : new Uint8Array(0);
      this.lengths = undefined;
      let parsed: unknown;
      try {
        parsed = JSON.parse(json.toString());
      } catch {
        return this.fail('sent what is not JSON');
      }
      this.onMessage(parsed, bytes);
    }
  }

  private fail(why: string): void {
    this.broken = true;
    this.parts = [];
    this.onBroken(why);
  }

  private take(length: number): Buffer {
    const first = this.parts[0];
    this.have -= length;
    if (first && first.length >= length) {
      const out = Buffer.from(first.buffer, first.byteOffset, length);
      if (first.length === length) this.parts.shift();
      else this.parts[0] = first.subarray(length);
      return out;
    }
    const all = Buffer.concat(this.parts);
    this.parts = all.length > length ? [all.subarray(length)] : [];
    return all.subarray(0, length);
  }
}
