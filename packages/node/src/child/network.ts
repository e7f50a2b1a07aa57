/**
 * Connections of a job's process: it asks the volunteer, and gets an open socket over Node's channel
 * (sandbox/network.ts). An agent for everything that speaks HTTP here: WebSockets, long polling, downloads.
 */
import { Agent, request as plainRequest } from 'node:http';
import { request as secureRequest } from 'node:https';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { connect as startTls, type ConnectionOptions } from 'node:tls';
import type { TlsTrust } from '../sandbox/channel.ts';

const ANSWER_MS = 30_000;
/** A download that sends nothing for this long is ended. */
const IDLE_MS = 60_000;

type Done = (error: Error | null, socket?: Duplex) => void;

export class HandedAgent extends Agent {
  private readonly waiting = new Map<number, { done: Done; late: NodeJS.Timeout }>();
  private serial = 0;
  readonly protocol: string;
  readonly defaultPort: number;

  constructor(
    private readonly secure: boolean,
    private readonly tls: TlsTrust,
    private readonly ask: (id: number, to: string) => void,
  ) {
    super({ keepAlive: true, maxFreeSockets: 8 });
    this.protocol = secure ? 'https:' : 'http:';
    this.defaultPort = secure ? 443 : 80;
  }

  override createConnection(
    options: { host?: string | null; port?: number | string | null; servername?: string },
    done: Done,
  ): undefined {
    const id = this.serial++;
    const host = options.host ?? 'localhost';
    const named = host.includes(':') && !host.startsWith('[') ? `[${host}]` : host;
    const late = setTimeout(() => this.refused(id, 'the volunteer opened no connection'), ANSWER_MS);
    this.waiting.set(id, { done: this.secure ? this.wrapped(options, host, done) : done, late });
    this.ask(id, `${named}:${options.port ?? this.defaultPort}`);
    return undefined;
  }

  private wrapped(options: object, host: string, done: Done): Done {
    return (error, socket) => {
      if (error || !socket) return done(error);
      const { rejectUnauthorized, ca } = this.tls;
      const isAddress = /^[\d.]+$|:/.test(host);
      const how = {
        ...options,
        socket,
        rejectUnauthorized,
        ...(ca ? { ca } : {}),
        ...(isAddress ? { host, servername: '' } : { servername: host }),
      } as ConnectionOptions;
      done(null, startTls(how));
    };
  }

  handed(id: number, socket: Socket): void {
    const asked = this.take(id);
    if (asked) asked.done(null, socket);
    else socket.destroy();
  }

  refused(id: number, why: string): void {
    this.take(id)?.done(new Error(why));
  }

  private take(id: number): { done: Done } | undefined {
    const asked = this.waiting.get(id);
    if (asked) clearTimeout(asked.late);
    this.waiting.delete(id);
    return asked;
  }
}

/** GET without credentials. */
export function get(url: string, agent: Agent): Promise<{ status: number; bytes: Uint8Array }> {
  return new Promise((resolve, reject) => {
    const start = url.startsWith('https:') ? secureRequest : plainRequest;
    const q = start(url, { agent, timeout: IDLE_MS }, (answer) => {
      const parts: Buffer[] = [];
      answer.on('data', (part: Buffer) => parts.push(part));
      answer.on('error', reject);
      answer.on('aborted', () => reject(new Error('the download was interrupted')));
      answer.on('end', () => {
        const all = Buffer.concat(parts);
        resolve({
          status: answer.statusCode ?? 0,
          bytes: new Uint8Array(all.buffer as ArrayBuffer, all.byteOffset, all.length),
        });
      });
    });
    q.on('timeout', () => q.destroy(new Error('the server stopped responding')));
    q.on('error', reject);
    q.end();
  });
}
