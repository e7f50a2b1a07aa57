/**
 * A Mayfly server as a process of its own, so that a test may `kill -9` it and start it again on the same data
 * directory and port.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { patient } from '@mayfly/testing';

/** The repository: two folders up from src/ and from dist/ alike. */
export const ROOT = join(dirname(fileURLToPath(import.meta.url)), '..', '..');
export const CLI = join(ROOT, 'apps', 'cli', 'dist', 'mayfly.js');
const START_LIMIT_MS = patient(120_000);

/**
 * For faults on a busy machine: a closed connection means loss at once; silence, which such a machine produces by
 * itself, only after long; and whoever comes back after a restart of the server is waited for.
 */
export const PATIENT = ['--grace', '0.4', '--silence', '12', '--restart-grace', '120'];

/** What a test needs of a server. */
export interface Served {
  readonly url: string;
  readonly token: string;
  /** Everything that it printed, for a failing test's report. */
  readonly log: string;
  /** How often it was started. */
  readonly starts: number;
  /** It was started, and nobody has ended it. */
  readonly up: boolean;
  /** Incarnations of a task that were given to a node, as the log says that is kept here. */
  assigned(job: string, task: number): Set<number>;
  /** Starts again, on the same data and port. */
  begin(): Promise<void>;
  /** `kill -9`: no handler runs, nothing is flushed. */
  kill9(): Promise<void>;
  /** SIGTERM, as an operator stops it. */
  down(): Promise<void>;
  /** Waits for a server that is away; at once when it is not. */
  whenUp(): Promise<void>;
  stop(): Promise<void>;
  /**
   * Stops it as a crash would and leaves everything for a look: its data, and beside it what it printed (`server.log`),
   * and these texts. Returns where.
   */
  keep(more: Readonly<Record<string, string>>): Promise<string>;
}

export class ServerProcess implements Served {
  readonly token = 'playwright-token-playwright-token';
  private child: ChildProcess | undefined;
  /** 0 before the first start, which chooses one. */
  private port = 0;
  log = '';
  starts = 0;
  /** Settled when it serves (again). */
  private serves: Promise<void> = Promise.resolve();
  private served: () => void = () => undefined;
  up = false;

  private constructor(
    readonly dataDir: string,
    private readonly args: readonly string[],
    private readonly env: Readonly<Record<string, string>>,
  ) {}

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  get pid(): number | undefined {
    return this.child?.pid;
  }

  /** Its process runs: it has neither been ended nor ended by itself. */
  get alive(): boolean {
    return this.child !== undefined && this.child.exitCode === null && this.child.signalCode === null;
  }

  signal(signal: 'SIGSTOP' | 'SIGCONT'): void {
    this.child?.kill(signal);
  }

  static async start(
    args: readonly string[] = PATIENT,
    env: Readonly<Record<string, string>> = {},
  ): Promise<ServerProcess> {
    const s = new ServerProcess(await mkdtemp(join(tmpdir(), 'mayfly-e2e-')), args, env);
    await s.begin();
    return s;
  }

  assigned(job: string, task: number): Set<number> {
    const given = new Set<number>();
    for (const line of this.log.split('\n'))
      if (line.includes('"rank assigned"') && line.includes(`"job":"${job}","task":${task},`))
        given.add(Number(/"incarnation":(\d+)/.exec(line)?.[1]));
    return given;
  }

  async begin(): Promise<void> {
    const child = spawn(
      process.execPath,
      [CLI, 'server', '--port', String(this.port), '--data-dir', this.dataDir, '--token', this.token, ...this.args],
      { stdio: ['ignore', 'pipe', 'pipe'], env: { ...process.env, ...this.env } },
    );
    this.child = child;
    let said = '';
    const note = (d: Buffer): void => void (this.log = (this.log + d.toString()).slice(-400_000));
    child.stdout!.on('data', (d: Buffer) => {
      said += d.toString();
      note(d);
    });
    child.stderr!.on('data', note);
    const end = Date.now() + START_LIMIT_MS;
    for (;;) {
      if (child.exitCode !== null) throw new Error(`the server exited with ${child.exitCode}:\n${this.log}`);
      const port = /(?:listening on http:\/\/127\.0\.0\.1:|standing by on port )(\d+)/.exec(said)?.[1];
      if (port) this.port = Number(port);
      if (
        port &&
        (await fetch(`${this.url}/healthz`).then(
          (r) => r.ok,
          () => false,
        ))
      ) {
        this.up = true;
        this.starts++;
        return this.served();
      }
      if (Date.now() > end) throw new Error(`the server did not come up:\n${this.log}`);
      await new Promise((r) => setTimeout(r, 50));
    }
  }

  async kill9(): Promise<void> {
    await this.end('SIGKILL');
  }

  async down(): Promise<void> {
    const late = setTimeout(() => this.child?.kill('SIGKILL'), patient(30_000));
    await this.end('SIGTERM');
    clearTimeout(late);
  }

  whenUp(): Promise<void> {
    return this.serves;
  }

  private async end(signal: NodeJS.Signals): Promise<void> {
    const child = this.child;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    this.up = false;
    this.serves = new Promise((r) => (this.served = r));
    const gone = new Promise<void>((r) => child.once('exit', () => r()));
    child.kill(signal);
    await gone;
  }

  async stop(): Promise<void> {
    await this.down();
    await rm(this.dataDir, { recursive: true, force: true });
  }

  async keep(more: Readonly<Record<string, string>>): Promise<string> {
    await this.kill9();
    for (const [name, text] of Object.entries({ 'server.log': this.log, ...more }))
      await writeFile(join(this.dataDir, name), text);
    return this.dataDir;
  }
}
