/**
 * A real PostgreSQL for tests: the programs of an installed one, in a data directory of its own below the temporary
 * directory, reached through a Unix socket there.
 *
 * PostgreSQL refuses to run as root, so root runs it as `nobody`. A shell holds it, and ends it when the test's process
 * is gone, whatever ended that; only a test that was killed leaves its directory behind.
 */
import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import {
  accessSync,
  chownSync,
  constants,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';

const READY_MS = 60_000;

/** Newest first; undefined: there is none. `MAYFLY_POSTGRES` names the folder of `initdb` and `postgres`. */
export function postgresPrograms(): string | undefined {
  const versions = (root: string): string[] =>
    existsSync(root)
      ? readdirSync(root)
          .sort((a, b) => Number.parseInt(b, 10) - Number.parseInt(a, 10))
          .map((version) => join(root, version, 'bin'))
      : [];
  const named = process.env.MAYFLY_POSTGRES;
  return (named ? [named] : [...versions('/usr/lib/postgresql'), ...(process.env.PATH ?? '').split(':')]).find(
    (folder) => folder !== '' && ['initdb', 'postgres'].every((name) => executable(join(folder, name))),
  );
}

const executable = (path: string): boolean => {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
};

/** For the line about skipped tests. In CI they are never skipped. */
export function needPrograms(): string | undefined {
  const programs = postgresPrograms();
  if (programs !== undefined) return programs;
  const what =
    'no PostgreSQL here: its tests are skipped (install the package postgresql, or name one in MAYFLY_POSTGRES)';
  if (process.env.CI) throw new Error(what);
  console.log(what);
  return undefined;
}

export class PostgresServer {
  readonly #programs: string;
  readonly #root: string;
  readonly #keeps: boolean;
  readonly #as: { uid?: number; gid?: number };
  #holder: ChildProcess | undefined;
  #pid = 0;

  /** @param keeps what it confirms outlives a crash of the machine, as that of a server that is no test */
  static async start(programs: string, { keeps = false } = {}): Promise<PostgresServer> {
    const server = new PostgresServer(programs, keeps);
    try {
      await server.begin();
      return server;
    } catch (error) {
      await server.dispose();
      throw error;
    }
  }

  private constructor(programs: string, keeps: boolean) {
    this.#programs = programs;
    this.#keeps = keeps;
    this.#root = mkdtempSync(join(tmpdir(), 'mayfly-pg-'));
    const id = (option: string): number => Number(execFileSync('id', [option, 'nobody'], { encoding: 'utf8' }));
    this.#as = process.getuid?.() === 0 ? { uid: id('-u'), gid: id('-g') } : {};
    const { uid, gid } = this.#as;
    if (uid !== undefined && gid !== undefined) chownSync(this.#root, uid, gid);
    execFileSync(
      join(programs, 'initdb'),
      [
        ...['-D', join(this.#root, 'data'), '-U', 'mayfly'],
        ...['-A', 'trust', '-E', 'UTF8', '--locale', 'C', '--no-sync'],
      ],
      { ...this.#options, timeout: READY_MS, stdio: ['ignore', 'ignore', 'pipe'] },
    );
    // Only `stranger` needs a password: checking one takes longer than most tests.
    writeFileSync(join(this.#root, 'data', 'pg_hba.conf'), 'local all stranger scram-sha-256\nlocal all all trust\n');
  }

  get #options(): { uid?: number; gid?: number; cwd: string; env: NodeJS.ProcessEnv } {
    return { ...this.#as, cwd: this.#root, env: { PATH: process.env.PATH, HOME: this.#root, LC_ALL: 'C' } };
  }

  /** Starts it, or starts it again on the same data. */
  async begin(): Promise<void> {
    // The data is worth nothing after the test: no fsync. What a commit promises is tested by killing clients.
    const fsync = `fsync=${this.#keeps ? 'on' : 'off'}`;
    const settings = ['listen_addresses=', `unix_socket_directories=${this.#root}`, fsync, 'max_connections=60'];
    const script =
      'exec 4<&0; "$@" 4<&- & pid=$!; (cat <&4 >/dev/null; kill -INT $pid) 2>/dev/null & exec 4<&-; wait $pid';
    const command = [join(this.#programs, 'postgres'), '-D', join(this.#root, 'data')];
    const holder = spawn('sh', ['-c', script, 'sh', ...command, ...settings.flatMap((s) => ['-c', s])], {
      ...this.#options,
      stdio: ['pipe', 'ignore', 'pipe'],
    });
    this.#holder = holder;
    this.#pid = 0;
    let log = '';
    await new Promise<void>((resolve, reject) => {
      const timer = setTimeout(
        () => reject(new Error(`PostgreSQL is not ready after ${READY_MS} ms:\n${log}`)),
        READY_MS,
      );
      holder.once('error', reject);
      holder.once('exit', () => reject(new Error(`PostgreSQL did not start:\n${log}`)));
      holder.stderr!.on('data', (chunk: Buffer) => {
        log = (log + chunk.toString()).slice(-10_000);
        if (!log.includes('ready to accept connections')) return;
        clearTimeout(timer);
        resolve();
      });
    });
    this.#pid = Number(readFileSync(join(this.#root, 'data', 'postmaster.pid'), 'utf8').split('\n')[0]);
  }

  /** Runs a statement as an administrator. */
  async asAdmin(text: string, values?: unknown[]): Promise<Record<string, unknown>[]> {
    const client = new pg.Client(this.url());
    await client.connect();
    try {
      return (await client.query(text, values)).rows;
    } finally {
      await client.end();
    }
  }

  /** Writes into the table wait. @returns ends that */
  async hold(table: string): Promise<() => Promise<void>> {
    const client = new pg.Client(this.url());
    await client.connect();
    await client.query(`BEGIN; LOCK TABLE ${table} IN EXCLUSIVE MODE`);
    return () => client.end();
  }

  /** Breaks the connections of the adapters, as the death of their process does. */
  async breakConnections(): Promise<void> {
    await this.asAdmin("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name LIKE 'mayfly%'");
  }

  /** Breaks all connections and ends, as an administrator would (`pg_ctl stop -m fast`). */
  async end(): Promise<void> {
    const holder = this.#holder;
    this.#holder = undefined;
    holder?.stdin!.end();
    if (!holder || holder.exitCode !== null || holder.signalCode !== null) return;
    const gone = once(holder, 'exit');
    const timer = setTimeout(() => (this.#pid > 0 ? process.kill(this.#pid, 'SIGKILL') : holder.kill()), READY_MS);
    await gone;
    clearTimeout(timer);
  }

  get socket(): string {
    return join(this.#root, '.s.PGSQL.5432');
  }

  /** Ends without a checkpoint, as a crash does, and starts again: it recovers from its log. */
  async crash(): Promise<void> {
    process.kill(this.#pid, 'SIGQUIT');
    await this.end();
    await this.begin();
  }

  /** @param of folder: where the socket is */
  url(of: { user?: string; database?: string; folder?: string } = {}): string {
    const { user = 'mayfly', database = 'postgres', folder = this.#root } = of;
    return `postgres://${user}@${encodeURIComponent(folder)}/${database}`;
  }

  async dispose(): Promise<void> {
    await this.end();
    rmSync(this.#root, { recursive: true, force: true });
  }
}
