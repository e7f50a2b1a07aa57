/**
 * Who sends the bad input of malformed.test.ts to a server, through each of its doors, and looks at what is answered: a
 * refusal needs a code of the registry, and none may be a defect.
 */
import { ERRORS, Kind, readFrames } from '@mayfly/wire';
import { Agent, request } from 'node:http';
import { connect } from 'node:net';
import { WebSocket } from 'ws';
import { later, TOKEN } from '../harness.ts';
import type { ServerProcess } from '../server-process.ts';
import type { Request } from './requests.ts';

export class Attacker {
  inputs = 0;
  readonly codes = new Map<string, number>();
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 12 });
  readonly #url: URL;

  constructor(readonly server: ServerProcess) {
    this.#url = new URL(server.url);
    later(async () => this.#agent.destroy());
  }

  #known(code: unknown): void {
    if (typeof code !== 'string' || !Object.hasOwn(ERRORS, code))
      throw new Error(`'${String(code)}' is no code of the registry`);
    if (code === 'INTERNAL') throw new Error('INTERNAL: a defect of the server');
    this.codes.set(code, (this.codes.get(code) ?? 0) + 1);
  }

  #http(r: Request, token: string, fresh: boolean): Promise<{ status: number; text: string }> {
    return new Promise((resolve, reject) => {
      const headers = {
        ...(token === '' ? {} : { authorization: `Bearer ${token}` }),
        ...(r.type === undefined ? {} : { 'content-type': r.type }),
        ...(r.body === undefined ? {} : { 'content-length': Buffer.byteLength(r.body) }),
      };
      const out = request(
        {
          host: this.#url.hostname,
          port: this.#url.port,
          method: r.method,
          path: r.path,
          headers,
          agent: fresh ? false : this.#agent,
        },
        (res) => {
          const parts: Buffer[] = [];
          res.on('data', (d: Buffer) => parts.push(d));
          res.on('end', () => resolve({ status: res.statusCode ?? 0, text: Buffer.concat(parts).toString() }));
          res.on('error', reject);
        },
      );
      out.on('error', reject);
      out.end(r.body);
    });
  }

  /** One request. An answer of 400 and more must say why, with a code whose status it has. */
  async rest(r: Request, token = TOKEN): Promise<number> {
    this.inputs++;
    // A connection that was kept may close under the request: then once more on one of its own.
    const { status, text } = await this.#http(r, token, false).catch(() => this.#http(r, token, true));
    if (status < 400) return status;
    let code: unknown;
    try {
      code = (JSON.parse(text) as { code?: unknown }).code;
    } catch {
      throw new Error(`${status} without a body of JSON: ${text.slice(0, 200)}`);
    }
    // socket.io and engine.io answer at their own addresses, in their own words.
    if (!/^\/(socket\.io|data\/poll)\//.test(r.path)) this.#known(code);
    return status;
  }

  /** Bytes that are no HTTP. The server may answer, and closes. */
  raw(bytes: Uint8Array): Promise<void> {
    this.inputs++;
    return new Promise((resolve, reject) => {
      const s = connect({ host: this.#url.hostname, port: Number(this.#url.port) });
      let text = '';
      s.on('connect', () => s.end(bytes));
      s.on('data', (d) => (text += d.toString('latin1')));
      s.on('error', () => undefined);
      s.on('close', () => {
        try {
          if (/^HTTP\/1\.1 4/.test(text))
            this.#known((JSON.parse(text.slice(text.indexOf('\r\n\r\n') + 4)) as { code: unknown }).code);
          resolve();
        } catch (e) {
          reject(new Error(`${(e as Error).message} in ${text.slice(0, 300)}`));
        }
      });
    });
  }

  /**
   * Opens a data or image socket, says all of it, and resolves when the server has closed: each conversation ends with
   * what nobody takes.
   */
  talk(path: string, messages: readonly (Uint8Array | string)[]): Promise<number> {
    return new Promise((resolve, reject) => {
      const ws = new WebSocket(this.server.url.replace('http', 'ws') + path, { perMessageDeflate: false });
      let wrong: Error | undefined;
      const check = (code: unknown): void => {
        try {
          this.#known(code);
        } catch (e) {
          wrong = e as Error;
        }
      };
      ws.on('open', () => messages.forEach((m) => ws.send(m)));
      ws.on('message', (d: Buffer, binary: boolean) => {
        if (binary) {
          for (const f of readFrames(d))
            if (f.header.kind === Kind.REFUSED)
              check((JSON.parse(Buffer.from(f.body).toString()) as { code: unknown }).code);
        } else {
          const m = JSON.parse(d.toString()) as { type: string; error?: { code: unknown } };
          if (m.type === 'refused') check(m.error?.code);
        }
      });
      ws.on('error', () => undefined);
      ws.on('close', (code, reason) => {
        const said = /^([A-Z_]+):/.exec(reason.toString())?.[1];
        if (said !== undefined) check(said);
        if (wrong) reject(wrong);
        else resolve(code);
      });
    });
  }
}
