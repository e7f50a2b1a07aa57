/**
 * A PostgreSQL database (or a schema of one) as the storage of one server process.
 *
 * Owns: the connections; the session that holds the tables for this process; the epoch of this opening.
 * Durable: what a transaction has committed. PostgreSQL syncs its log before it answers COMMIT.
 *
 *  P1  One process at a time: opening takes an advisory lock, which its session keeps. A session that breaks is
 *      replaced before the next write.
 *  P2  Each opening has a greater epoch than all before. Each write expects its own, in its transaction, and the next
 *      opening waits for its end: what an earlier process sends late changes nothing.
 *  P3  Tables have a version. Those of an earlier one are migrated, in one transaction; those of a later one refused.
 *  P4  A write whose connection broke during COMMIT neither resolves nor rejects before the database says whether it
 *      took effect. A single statement is {@link InDoubt} then: its adapter finds out.
 */
import { hostname } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { MayflyError } from '@mayfly/wire';
import pg from 'pg';
import { databaseError, isBroken } from './errors.ts';
import { migrate } from './migrations.ts';

export interface DatabaseOptions {
  /** postgres://user:password@host:port/database */
  url: string;
  /** The tables are in this schema, which is created. Default: mayfly */
  schema?: string;
  /** Connections at once, beside the session that holds the lock. Default 8. */
  connections?: number;
  /** How long opening waits for a server that is just ending, ms. Default 5000. */
  patienceMs?: number;
}

/** Rows of the answer; values as the driver makes them: bytea is a Buffer, bigint a string. */
export type Query = (text: string, values?: unknown[]) => Promise<{ rows: Record<string, unknown>[]; count: number }>;

/** P4. `error`: what broke. */
export class InDoubt extends Error {
  readonly error: MayflyError;
  constructor(error: MayflyError) {
    super(error.message);
    this.error = error;
  }
}

const PAUSE_MS = 200;
const ASK_AGAIN_MS = 500;
/** PostgreSQL 12 has all that the statements use. */
const OLDEST = 120_000;

export class Database {
  /** Quoted. */
  readonly schema: string;
  /** Host, port and database, without the password. */
  readonly place: string;
  readonly #pool: pg.Pool;
  readonly #config: pg.ClientConfig;
  readonly #patienceMs: number;
  #epoch = '';
  #session: pg.Client | undefined;
  #owning: Promise<void> | undefined;
  #lost: MayflyError | undefined;
  #closed = false;

  /** @throws MayflyError STORAGE_FAILED, CONFLICT when another process uses it, VERSION_MISMATCH, BAD_REQUEST */
  static async open(options: DatabaseOptions): Promise<Database> {
    const database = new Database(options);
    try {
      await database.#begin();
      return database;
    } catch (error) {
      await database.close();
      throw databaseError(error, database.place);
    }
  }

  private constructor({ url, schema = 'mayfly', connections = 8, patienceMs = 5000 }: DatabaseOptions) {
    if (!/^postgres(ql)?:\/\//.test(url))
      throw new MayflyError('BAD_REQUEST', 'The address of a database begins with postgres://');
    this.schema = pg.escapeIdentifier(schema);
    this.#patienceMs = patienceMs;
    this.#config = {
      connectionString: url,
      application_name: 'mayfly',
      connectionTimeoutMillis: 5000,
      keepAlive: true,
      query_timeout: 120_000,
    };
    // Parsed by the driver, as it will be used.
    const probe = new pg.Client(this.#config);
    this.place = `${probe.host}:${probe.port}/${probe.database ?? ''}`;
    this.#pool = new pg.Pool({
      ...this.#config,
      max: connections,
      idleTimeoutMillis: 30_000,
      // It counts while all connections are in use, too.
      connectionTimeoutMillis: 30_000,
    });
    // Each query reports its own; an idle connection that breaks is replaced.
    this.#pool.on('error', () => undefined);
    this.#pool.on('connect', (client) => client.on('error', () => undefined));
  }

  async #begin(): Promise<void> {
    const session = await this.#lock();
    const { rows } = await session.query(
      `SELECT current_setting('server_version_num')::int AS version, current_setting('server_encoding') AS encoding,
       current_setting('synchronous_commit') AS sync`,
    );
    const { version, encoding, sync } = rows[0] as { version: number; encoding: string; sync: string };
    const refuse = (what: string): MayflyError => new MayflyError('CONFLICT', `The database at ${this.place} ${what}`);
    if (version < OLDEST) throw refuse('is older than PostgreSQL 12.');
    if (encoding !== 'UTF8') throw refuse(`has the encoding ${encoding}; Mayfly needs UTF8.`);
    if (sync === 'off')
      throw refuse("has synchronous_commit = off: a crash would lose what it has confirmed. Set it to 'on'.");
    await session.query('BEGIN');
    await migrate((text, values) => session.query(text, values), this.schema, this.place);
    // P2: waits for writes of an earlier opening that are still under way.
    const taken = await session.query(
      `UPDATE ${this.schema}.owner SET epoch = epoch + 1, who = $1 RETURNING epoch::text`,
      [`process ${process.pid} on ${hostname()}`],
    );
    await session.query('COMMIT');
    this.#epoch = (taken.rows[0] as { epoch: string }).epoch;
  }

  /** P1. */
  async #lock(): Promise<pg.Client> {
    const session = new pg.Client(this.#config);
    session.on('error', () => undefined);
    session.once('end', () => {
      if (this.#session === session) this.#session = undefined;
    });
    await session.connect();
    for (let left = this.#patienceMs; ; left -= PAUSE_MS) {
      const { rows } = await session.query('SELECT pg_try_advisory_lock(hashtextextended($1, 0)) AS mine', [
        `mayfly ${this.schema}`,
      ]);
      if ((rows[0] as { mine: boolean }).mine) break;
      if (left > 0 && !this.#closed) {
        await sleep(PAUSE_MS);
        continue;
      }
      const holder = await session
        .query(`SELECT who FROM ${this.schema}.owner`)
        .catch((): { rows: unknown[] } => ({ rows: [] }));
      await session.end().catch(() => undefined);
      const who = (holder.rows[0] as { who: string } | undefined)?.who ?? 'another process';
      throw new MayflyError('CONFLICT', `The database at ${this.place} is in use by another Mayfly server (${who}).`);
    }
    this.#session = session;
    return session;
  }

  /** P1, P2. */
  async #own(): Promise<void> {
    if (this.#lost) throw this.#lost;
    if (this.#closed) throw new MayflyError('CONFLICT', 'the database is closed');
    if (this.#session) return;
    await (this.#owning ??= this.#lock()
      .then(() => undefined)
      .finally(() => (this.#owning = undefined)));
  }

  /** P2. For good: the lock is for others. */
  async #takenBy(who = 'unknown'): Promise<MayflyError> {
    const message = `Another Mayfly server (${who}) has taken the database at ${this.place} over.`;
    this.#lost = new MayflyError('CONFLICT', message);
    await this.#session?.end().catch(() => undefined);
    return this.#lost;
  }

  /** A read. @throws MayflyError */
  async query(text: string, values: unknown[] = []): Promise<Awaited<ReturnType<Query>>> {
    if (this.#closed) throw new MayflyError('CONFLICT', 'the database is closed');
    try {
      const { rows, rowCount } = await this.#pool.query(text, values);
      return { rows: rows as Record<string, unknown>[], count: rowCount ?? 0 };
    } catch (error) {
      throw databaseError(error, this.place);
    }
  }

  /** A transaction that writes: all or nothing, durable when it resolves. @throws MayflyError */
  async write<T>(work: (query: Query) => Promise<T>): Promise<T> {
    let client: pg.PoolClient;
    try {
      await this.#own();
      client = await this.#pool.connect();
    } catch (error) {
      throw databaseError(error, this.place);
    }
    let done: { xid: string; result: T } | undefined;
    try {
      await client.query('BEGIN');
      const { rows } = await client.query(
        `SELECT epoch::text, who, txid_current()::text AS xid FROM ${this.schema}.owner FOR SHARE`,
      );
      const owner = rows[0] as { epoch: string; who: string; xid: string } | undefined;
      if (owner?.epoch !== this.#epoch) throw await this.#takenBy(owner?.who);
      const result = await work(async (text, values) => {
        const answer = await client.query(text, values);
        return { rows: answer.rows as Record<string, unknown>[], count: answer.rowCount ?? 0 };
      });
      done = { xid: owner.xid, result };
      await client.query('COMMIT');
      client.release();
      return result;
    } catch (error) {
      const broken = isBroken(error) || !(await client.query('ROLLBACK').catch(() => undefined));
      client.release(broken);
      const known = databaseError(error, this.place);
      if (done && isBroken(error) && (await this.#tookEffect(done.xid, known))) return done.result;
      throw known;
    }
  }

  /** P4. */
  async #tookEffect(xid: string, error: MayflyError): Promise<boolean> {
    while (!this.#closed) {
      const answer = await this.query('SELECT txid_status($1::bigint) AS status', [xid]).catch(() => undefined);
      const status = answer?.rows[0]?.status;
      if (status === 'committed') return true;
      if (status === 'aborted') return false;
      await sleep(ASK_AGAIN_MS);
    }
    throw error;
  }

  /**
   * A write of one statement, in one round trip: it has to insert from the table `fence`, which is empty for an opening
   * that has passed (P2), and to return a single row with its number of rows as `fence`. Its parameters begin with $2.
   * Like a COMMIT, it is in doubt when its connection breaks (P4).
   * @throws MayflyError; InDoubt
   */
  async statement(text: string, values: unknown[]): Promise<Record<string, unknown>> {
    let row: Record<string, unknown>;
    try {
      await this.#own();
      const fence = `fence AS (SELECT 1 FROM ${this.schema}.owner WHERE epoch = $1::bigint FOR SHARE)`;
      const { rows } = await this.#pool.query(`WITH ${fence}, ${text}`, [this.#epoch, ...values]);
      row = rows[0] as Record<string, unknown>;
    } catch (error) {
      const known = databaseError(error, this.place);
      throw isBroken(error) ? new InDoubt(known) : known;
    }
    if (Number(row.fence) !== 1) {
      const { rows } = await this.query(`SELECT who FROM ${this.schema}.owner`);
      throw await this.#takenBy(rows[0]?.who as string | undefined);
    }
    return row;
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    await this.#owning?.catch(() => undefined);
    await this.#pool.end().catch(() => undefined);
    await this.#session?.end().catch(() => undefined);
  }
}
