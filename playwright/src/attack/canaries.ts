/**
 * What a program that got out would touch: secrets outside of its job, an address that nobody has a reason to call, a
 * file that nobody else writes.
 */
import { randomBytes } from 'node:crypto';
import { createSocket, type Socket } from 'node:dgram';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const secret = (): string => randomBytes(16).toString('hex');

export class Canaries {
  readonly folder = mkdtempSync(join(tmpdir(), 'mayfly-attack-'));
  readonly secretFile = join(this.folder, 'secret');
  readonly marker = join(this.folder, 'marker');
  /** Of the environment of volunteers. */
  readonly environment = secret();
  /** Of the job of somebody else. */
  readonly othersFile = secret();
  private readonly inFile = secret();
  private readonly calls: string[] = [];
  private port = 0;

  private constructor(
    private readonly tcp: Server,
    private readonly udp: Socket,
  ) {}

  static async start(): Promise<Canaries> {
    const tcp = createServer();
    const udp = createSocket('udp4');
    const canaries = new Canaries(tcp, udp);
    writeFileSync(canaries.secretFile, canaries.inFile);
    tcp.on('connection', (socket) => {
      canaries.calls.push('somebody connected to the listener');
      socket.on('error', () => undefined);
      socket.on('data', (bytes: Buffer) =>
        canaries.calls.push(`the listener heard ${JSON.stringify(bytes.toString('latin1').slice(0, 100))}`),
      );
      socket.end('HTTP/1.1 200 OK\r\naccess-control-allow-origin: *\r\ncontent-length: 0\r\n\r\n');
    });
    await new Promise<void>((resolve) => tcp.listen(0, '127.0.0.1', resolve));
    canaries.port = (tcp.address() as AddressInfo).port;
    udp.on('message', () => canaries.calls.push('a datagram came to the listener'));
    await new Promise<void>((resolve, reject) => udp.once('error', reject).bind(canaries.port, '127.0.0.1', resolve));
    return canaries;
  }

  get listener(): string {
    return `http://127.0.0.1:${this.port}/canary`;
  }

  /** What has been touched since the last look, and what of it all stands in `texts`. */
  touched(texts: readonly string[], serverToken: string): string[] {
    const found = this.calls.splice(0);
    if (existsSync(this.marker)) {
      found.push('the marker was written');
      rmSync(this.marker);
    }
    const all = texts.join('\n');
    for (const [what, text] of [
      ['the secret file', this.inFile],
      ['the environment of the volunteer', this.environment],
      ["another job's file", this.othersFile],
      ["the server's token", serverToken],
    ] as const)
      if (all.includes(text)) found.push(`the program knows ${what}`);
    for (const line of all.split('\n'))
      if (line.startsWith('ESCAPED')) found.push(`the program printed: ${line.slice(0, 300)}`);
    return found;
  }

  async close(): Promise<void> {
    this.udp.close();
    await new Promise<void>((resolve) => this.tcp.close(() => resolve()));
    rmSync(this.folder, { recursive: true, force: true });
  }
}
