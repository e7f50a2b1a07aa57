/**
 * Several server processes over one PostgreSQL, behind one address, as a balancer gives it: one serves, the others
 * stand by. For a test they are one server; what hits it hits the process that serves.
 */
import { PostgresServer, postgresPrograms } from '@mayfly/storage/test-postgres';
import { Proxy } from './proxy.ts';
import { ServerProcess, type Served } from './server.ts';

/** A server that stands still loses the database after so long. */
const LEASE_S = 3;
const TAKEN_MS = 60_000;
/** One that stands by is given up after eight. */
const GIVEN_UP_MS = 11_000;

export class Servers implements Served {
  readonly token: string;
  #struck: ServerProcess | undefined;

  private constructor(
    readonly database: PostgresServer,
    private readonly all: readonly ServerProcess[],
    private readonly balancer: Proxy,
  ) {
    this.token = all[0]!.token;
  }

  static async start(count: number, args: readonly string[]): Promise<Servers> {
    const programs = postgresPrograms();
    if (programs === undefined)
      throw new Error('--servers needs PostgreSQL: install the package postgresql, or name one in MAYFLY_POSTGRES');
    const database = await PostgresServer.start(programs);
    const all: ServerProcess[] = [];
    try {
      const shared = [...args, '--store', database.url(), '--lease', String(LEASE_S)];
      // The first one serves.
      for (let n = 0; n < count; n++) all.push(await ServerProcess.start(shared));
      const balancer = await Proxy.open(() => (all.find((s) => s.up) ?? all[0]!).url);
      return new Servers(database, all, balancer);
    } catch (error) {
      for (const s of all) await s.stop();
      await database.dispose();
      throw error;
    }
  }

  get url(): string {
    return this.balancer.url;
  }

  get log(): string {
    return this.all.map((s) => s.log).join('\n');
  }

  get starts(): number {
    return this.all.reduce((n, s) => n + s.starts, 0);
  }

  get up(): boolean {
    return this.all.every((s) => s.up);
  }

  assigned(job: string, task: number): Set<number> {
    return new Set(this.all.flatMap((s) => [...s.assigned(job, task)]));
  }

  /** The one that serves, as the database says. */
  private async owner(): Promise<ServerProcess> {
    for (const end = Date.now() + TAKEN_MS; ;) {
      const rows = await this.database.asAdmin('SELECT who FROM mayfly.lease').catch(() => []);
      const pid = Number(/^process (\d+) /.exec(String(rows[0]?.who))?.[1]);
      const found = this.all.find((s) => s.up && s.pid === pid);
      if (found) return found;
      if (Date.now() > end) throw new Error(`none of the servers owns the database:\n${this.log}`);
      await new Promise((r) => setTimeout(r, 50));
    }
  }

  async kill9(): Promise<void> {
    await (this.#struck = await this.owner()).kill9();
  }

  async down(): Promise<void> {
    await (this.#struck = await this.owner()).down();
  }

  /** One that stands by, and may have Channel Memories of the one that serves. */
  private async standBy(): Promise<ServerProcess> {
    const owner = await this.owner();
    const found = this.all.find((s) => s.up && s !== owner);
    if (!found) throw new Error('no server stands by');
    return found;
  }

  async killStandBy(): Promise<void> {
    await (this.#struck = await this.standBy()).kill9();
  }

  async endStandBy(): Promise<void> {
    await (this.#struck = await this.standBy()).down();
  }

  /**
   * One that stands by stands still until the one that serves has given it up, and goes on then; for a moment, if it
   * had just come and is not known there.
   */
  async freezeStandBy(): Promise<void> {
    const frozen = await this.standBy();
    const given = (): number => this.log.split('has no seats any more').length;
    const before = given();
    frozen.signal('SIGSTOP');
    try {
      for (const end = Date.now() + GIVEN_UP_MS; given() === before && Date.now() < end;)
        await new Promise((r) => setTimeout(r, 50));
    } finally {
      frozen.signal('SIGCONT');
    }
  }

  /** The process that was struck comes again, and stands by for the one that took over. */
  async begin(): Promise<void> {
    await this.#struck!.begin();
  }

  /** The one that serves stands still until another one has taken over, and goes on then. */
  async freeze(): Promise<void> {
    const frozen = await this.owner();
    frozen.signal('SIGSTOP');
    try {
      for (const end = Date.now() + TAKEN_MS; (await this.owner()) === frozen;) {
        if (Date.now() > end) throw new Error('nobody took over from a server that stands still');
        await new Promise((r) => setTimeout(r, 50));
      }
    } finally {
      frozen.signal('SIGCONT');
    }
  }

  async whenUp(): Promise<void> {
    await Promise.all(this.all.map((s) => s.whenUp()));
  }

  private async endAll(end: (s: ServerProcess) => Promise<unknown>): Promise<void> {
    this.balancer.close();
    await Promise.all(this.all.map(end));
    await this.database.dispose();
  }

  async stop(): Promise<void> {
    await this.endAll((s) => s.stop());
  }

  /** What they printed, and the rows of the registry. */
  async keep(more: Readonly<Record<string, string>>): Promise<string> {
    const rows = await this.database.asAdmin('SELECT key, value FROM mayfly.registry ORDER BY key').catch(() => []);
    const registry = rows.map((r) => `${r.key as string} ${r.value as string}`).join('\n');
    const where: string[] = [];
    await this.endAll(async (s) => where.push(await s.keep({ ...more, registry })));
    return where.join(', ');
  }
}
