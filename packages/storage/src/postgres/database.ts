/**
 * A PostgreSQL database (or a schema of one) as the storage of one server process.
 *
 * Owns: the connections.
 * Durable: what a transaction has committed. PostgreSQL syncs its log before it answers COMMIT.
 *
 *  P1  One process at a time: opening takes a lease (ownership.ts).
 *  P2  Each opening has a greater epoch than all before. Each write expects its own, in its transaction, and the next
 *      opening waits for its end: what an earlier process sends late changes nothing.
 *  P3  Tables have a version. Those of an earlier one are migrated, in one transaction; those of a later one refused.
 *  P4  A write whose connection broke during COMMIT neither resolves nor rejects before the database says whether it
 *      took effect. A single statement is {@link InDoubt} then: its adapter finds out.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { MayflyError } from '@mayfly/wire';
import pg from 'pg';
import { databaseError, isBroken } from './errors.ts';
import { Guest, Ownership, type Opening, type OwnershipOptions, type Place } from './ownership.ts';

export interface ConnectionOptions {
  /** postgres://user:password@host:port/database */
  url: string;
  /** The tables are in this schema, which is created. Default: mayfly */
  schema?: string;
  /** Connections at once, beside the session of the lease. Default 8. */
  connections?: number;
}

export type DatabaseOptions = ConnectionOptions & OwnershipOptions;

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

const ASK_AGAIN_MS = 500;
/** PostgreSQL 12 has all that the statements use. */
const OLDEST = 120_000;

export class Database {
  /** Quoted. */
  readonly schema: string;
  /** Host, port and database, without the password. */
  readonly place: string;
  readonly opening: Opening;
  readonly #pool: pg.Pool;
  #closed = false;

  /**
   * @throws MayflyError STORAGE_FAILED, CONFLICT when another process uses it, VERSION_MISMATCH, BAD_REQUEST; the
   * reason of the signal that ends standing by
   */
  static async open(options: DatabaseOptions): Promise<OwnedDatabase> {
    const database = new OwnedDatabase(options);
    try {
      await database.take();
      return database;
    } catch (error) {
      await database.close();
      options.standBy?.signal.throwIfAborted();
      throw databaseError(error, database.place);
    }
  }

  /** For the process that has it open (P2): its epoch is that of these writes. */
  static join(options: ConnectionOptions, opening: Pick<Opening, 'application' | 'epoch'>): Database {
    return new Database(options, ({ place }) => new Guest(opening, place));
  }

  protected constructor({ url, schema = 'mayfly', connections = 8 }: ConnectionOptions, open: (at: Place) => Opening) {
    if (!/^postgres(ql)?:\/\//.test(url))
      throw new MayflyError('BAD_REQUEST', 'The address of a database begins with postgres://');
    this.schema = pg.escapeIdentifier(schema);
    const config: pg.ClientConfig = {
      connectionString: url,
      connectionTimeoutMillis: 5000,
      keepAlive: true,
      query_timeout: 120_000,
    };
    // Parsed by the driver, as it will be used.
    const probe = new pg.Client(config);
    this.place = `${probe.host}:${probe.port}/${probe.database ?? ''}`;
    this.opening = open({ config, schema: this.schema, place: this.place });
    this.#pool = new pg.Pool({
      ...config,
      application_name: this.opening.application,
      max: connections,
      idleTimeoutMillis: 30_000,
      // It counts while all connections are in use, too.
      connectionTimeoutMillis: 30_000,
    });
    // Each query reports its own; an idle connection that breaks is replaced.
    this.#pool.on('error', () => undefined);
    this.#pool.on('connect', (client) => client.on('error', () => undefined));
  }

  #own(): void {
    if (this.opening.lost.aborted) throw this.opening.lost.reason as MayflyError;
    if (this.#closed) throw new MayflyError('CONFLICT', 'the database is closed');
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
      this.#own();
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
      const owner = rows[0] as { epoch: string; who: string; xid: string };
      if (owner.epoch !== this.opening.epoch) throw this.opening.taken(owner.who);
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
   * @param name the same for the same text: each connection parses and plans it once
   * @throws MayflyError; InDoubt
   */
  async statement(text: string, values: unknown[], name?: string): Promise<Record<string, unknown>> {
    let row: Record<string, unknown>;
    try {
      this.#own();
      const fence = `fence AS (SELECT 1 FROM ${this.schema}.owner WHERE epoch = $1::bigint FOR SHARE)`;
      const { rows } = await this.#pool.query({
        ...(name === undefined ? {} : { name }),
        text: `WITH ${fence}, ${text}`,
        values: [this.opening.epoch, ...values],
      });
      row = rows[0] as Record<string, unknown>;
    } catch (error) {
      const known = databaseError(error, this.place);
      throw isBroken(error) ? new InDoubt(known) : known;
    }
    if (Number(row.fence) !== 1) {
      const { rows } = await this.query(`SELECT who FROM ${this.schema}.owner`);
      throw this.opening.taken(rows[0]!.who as string);
    }
    return row;
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    await this.#pool.end().catch(() => undefined);
    await this.opening.close();
  }
}

/** …that this process owns. */
export class OwnedDatabase extends Database {
  readonly ownership: Ownership;

  constructor({ url, schema, connections, ...owning }: DatabaseOptions) {
    let ownership!: Ownership;
    super(
      { url, ...(schema === undefined ? {} : { schema }), ...(connections === undefined ? {} : { connections }) },
      (at) => (ownership = new Ownership(at, owning)),
    );
    this.ownership = ownership;
  }

  /** P1. */
  async take(): Promise<void> {
    await this.ownership.take(async (session) => {
      const { rows } = await session.query(
        `SELECT current_setting('server_version_num')::int AS version, current_setting('server_encoding') AS encoding,
         current_setting('synchronous_commit') AS sync`,
      );
      const { version, encoding, sync } = rows[0] as { version: number; encoding: string; sync: string };
      const refuse = (what: string): MayflyError =>
        new MayflyError('CONFLICT', `The database at ${this.place} ${what}`);
      if (version < OLDEST) throw refuse('is older than PostgreSQL 12.');
      if (encoding !== 'UTF8') throw refuse(`has the encoding ${encoding}; Mayfly needs UTF8.`);
      if (sync === 'off')
        throw refuse("has synchronous_commit = off: a crash would lose what it has confirmed. Set it to 'on'.");
    });
  }
}
