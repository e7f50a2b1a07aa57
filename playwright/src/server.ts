/**
 * A Mayfly server as a process of its own, so that a test may `kill -9` it and start it again on the same data directory and port.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const ROOT = join(dirname(fileURLToPath(import.meta.url)), '..', '..');
const CLI = join(ROOT, 'apps', 'cli', 'dist', 'mayfly.js');
const START_LIMIT_MS = 30_000;

async function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const s = createServer();
    s.once('error', reject);
    s.listen(0, '127.0.0.1', () => {
      const { port } = s.address() as { port: number };
      s.close(() => resolve(port));
    });
  });
}

export class ServerProcess {
  readonly token = 'playwright-token-playwright-token';
  private child: ChildProcess | undefined;
  /** Everything that it printed, for a failing test's report. */
  log = '';

  private constructor(
    readonly dataDir: string,
    readonly port: number,
    private readonly args: readonly string[],
  ) {}

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  static async start(args: readonly string[] = []): Promise<ServerProcess> {
    const s = new ServerProcess(await mkdtemp(join(tmpdir(), 'mayfly-e2e-')), await freePort(), args);
    await s.up();
    return s;
  }

  /** Starts (again) on the same directory and port. */
  async up(): Promise<void> {
    const child = spawn(
      process.execPath,
      [CLI, 'server', '--port', String(this.port), '--data-dir', this.dataDir, '--token', this.token, ...this.args],
      { stdio: ['ignore', 'pipe', 'pipe'] },
    );
    this.child = child;
    const note = (d: Buffer): void => void (this.log = (this.log + d.toString()).slice(-200_000));
    child.stdout!.on('data', note);
    child.stderr!.on('data', note);
    const end = Date.now() + START_LIMIT_MS;
    for (;;) {
      if (child.exitCode !== null) throw new Error(`the server exited with ${child.exitCode}:\n${this.log}`);
      if (await fetch(`${this.url}/healthz`).then((r) => r.ok, () => false)) return;
      if (Date.now() > end) throw new Error(`the server did not come up:\n${this.log}`);
      await new Promise((r) => setTimeout(r, 50));
    }
  }

  /** `kill -9`: no handler runs, nothing is flushed. */
  async kill9(): Promise<void> {
    await this.end('SIGKILL');
  }

  private async end(signal: NodeJS.Signals): Promise<void> {
    const child = this.child;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const gone = new Promise<void>((r) => child.once('exit', () => r()));
    child.kill(signal);
    await gone;
  }

  async stop(): Promise<void> {
    const late = setTimeout(() => this.child?.kill('SIGKILL'), 8000);
    await this.end('SIGTERM');
    clearTimeout(late);
    await rm(this.dataDir, { recursive: true, force: true });
  }
}
