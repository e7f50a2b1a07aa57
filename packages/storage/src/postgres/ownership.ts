/**
 * Which server process owns the tables: one at a time, by a lease in the database. Others stand by.
 *
 * Owns: a session of its own; the lease and its renewal; the epoch of this opening.
 *
 *  O1  The lease is a row with an epoch and an end by the clock of the database. Its owner renews it, and keeps a
 *      session with an advisory lock: both are signs of life (protocols/src/ownership/takeover.ts), and neither is
 *      needed to be safe.
 *  O2  Taking the lease raises the epoch, ends what the connections of the earlier owner have under way, and waits for
 *      it. From then on the epoch of every write of that owner has passed.
 *  O3  An owner that finds another epoch has lost the tables, for good: `lost` aborts.
 *  O4  Tables are made, and those of an earlier version migrated, by whoever takes them, in the same transaction: an
 *      owner of the earlier version is served by its own tables until then.
 */
import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { TAKEOVER_GRACE_MS, TAKEOVER_LOOK_MS, Takeover, type Sight } from '@mayfly/protocols';
import { MayflyError } from '@mayfly/wire';
import pg from 'pg';
import type { Peer } from '../ports/index.ts';
import { isBroken } from './errors.ts';
import { migrate, versionOf } from './migrations.ts';

/** The process that owns the tables. */
export interface Owner {
  /** 'process 123 on host' */
  who: string;
  /** host:port at which it serves; '': other servers do not know it. */
  address: string;
  /** Proves to the owner that a connection comes from another server of the database. */
  secret: string;
}

export interface OwnershipOptions {
  /** How long opening waits for an owner that is just ending, ms. Default 5000. */
  patienceMs?: number;
  /** Stands by instead, until the tables can be taken or `signal` aborts, and names each owner that it sees. */
  standBy?: {
    signal: AbortSignal;
    owner(owner: Owner): void;
    /** It was drained: tables that were given up are left to others for so long, ms. */
    yieldMs?: number;
  };
  /** host:port at which other servers of the database reach this one. */
  address?: string;
  /** An owner that does not renew its lease so long may lose the tables, ms. Default 10000. */
  leaseMs?: number;
  /** Folders of write-ahead files that are of use, asked just before the tables are taken (write-ahead.ts). */
  ahead?: () => Promise<readonly string[]>;
}

/** A server that stands by is seen in the database so often. */
const SHOW_MS = 1000;
/** One that was not heard of so long is gone. */
const GONE_MS = 5000;

/** An opening of the tables, as its writes need it (P2 of database.ts). */
export interface Opening {
  /** As which its connections show in the database (O2). */
  readonly application: string;
  readonly epoch: string;
  readonly lost: AbortSignal;
  /** O3: the epoch has passed. @returns why */
  taken(who: string): MayflyError;
  close(): Promise<void>;
}

export interface Place {
  config: pg.ClientConfig;
  /** Quoted. */
  schema: string;
  place: string;
}

type Row = Record<string, unknown>;

export class Ownership implements Opening {
  /** Of this opening, also in the name of its connections. */
  readonly name = randomBytes(9).toString('base64url');
  readonly secret = randomBytes(24).toString('base64url');
  readonly #at: Place;
  readonly #options: Required<Pick<OwnershipOptions, 'patienceMs' | 'address' | 'leaseMs'>> & OwnershipOptions;
  readonly #lost = new AbortController();
  #session: pg.Client | undefined;
  #locked: pg.Client | undefined;
  #renewal: NodeJS.Timeout | undefined;
  #renewing: Promise<void> = Promise.resolve();
  #epoch = '';
  #ahead = '';
  #shown = -Infinity;
  #closed = false;

  constructor(at: Place, options: OwnershipOptions) {
    this.#at = at;
    this.#options = {
      ...options,
      patienceMs: options.patienceMs ?? 5000,
      address: options.address ?? '',
      leaseMs: options.leaseMs ?? 10_000,
    };
  }

  get epoch(): string {
    return this.#epoch;
  }

  /** W1: the folder of write-ahead files for this opening. */
  get ahead(): string {
    return this.#ahead;
  }

  /** O3. Its reason is a MayflyError CONFLICT. */
  get lost(): AbortSignal {
    return this.#lost.signal;
  }

  get #who(): string {
    return `process ${process.pid} on ${hostname()}`;
  }

  /**
   * Takes the tables as soon as they can be taken.
   * @param check what the database must be, before anything is done in it
   * @throws MayflyError CONFLICT when another process owns them; what `check` throws; STORAGE_FAILED; VERSION_MISMATCH
   */
  async take(check: (session: pg.Client) => Promise<void>): Promise<void> {
    const { standBy, patienceMs } = this.#options;
    const takeover = new Takeover({
      graceMs: TAKEOVER_GRACE_MS,
      leaseMs: this.#options.leaseMs,
      yieldMs: standBy?.yieldMs ?? 0,
    });
    let checked = false;
    for (const end = performance.now() + patienceMs; ;) {
      standBy?.signal.throwIfAborted();
      let holder = '';
      try {
        const session = await this.#connected();
        if (!checked) await check(session);
        checked = true;
        const seen = await this.#look(session);
        if (seen === 'locked') holder = 'that makes the tables';
        else if (seen === 'fresh' || takeover.saw(seen, performance.now())) {
          if (!(await this.#take(session, seen))) continue;
          return this.#renewSoon(0); // O1
        } else {
          holder = seen.owner.who;
          // One that was drained does not send connections on to itself.
          if (!seen.released) standBy?.owner(seen.owner);
        }
      } catch (error) {
        // A server that stands by waits for the database, too; one that was never there is a mistake of the operator.
        if (!standBy || !checked || !isBroken(error)) throw error;
      }
      if (!standBy && performance.now() >= end)
        throw new MayflyError(
          'CONFLICT',
          `The database at ${this.#at.place} is in use by another Mayfly server (${holder}).`,
        );
      await sleep(TAKEOVER_LOOK_MS, undefined, standBy && { signal: standBy.signal });
    }
  }

  async #connected(): Promise<pg.Client> {
    if (this.#session) return this.#session;
    const session = new pg.Client({ ...this.#at.config, application_name: this.application });
    session.on('error', () => undefined);
    session.once('end', () => {
      if (this.#session === session) this.#session = undefined;
      // O1: without it this owner seems dead.
      if (this.#epoch !== '') this.#renewSoon(0);
    });
    await session.connect();
    return (this.#session = session);
  }

  get application(): string {
    return `mayfly ${this.name}`;
  }

  get #lock(): string {
    return `mayfly ${this.#at.schema}`;
  }

  /** `fresh`: there are no tables; `locked`: another server is making them. */
  async #look(session: pg.Client): Promise<(Sight & { owner: Owner }) | 'fresh' | 'locked'> {
    const { schema, place } = this.#at;
    const run = (text: string, values?: unknown[]): Promise<{ rows: Row[] }> => session.query(text, values);
    if ((await versionOf(run, schema, place)) === 0) return (await this.#tryLock(session)) ? 'fresh' : 'locked';
    const { rows } = await run(
      `SELECT epoch::text, until::text, until = '-infinity' AS released, until < clock_timestamp() AS ended,
         who, address, secret,
         NOT EXISTS (SELECT 1 FROM pg_locks, hashtextextended($1, 0) AS h WHERE locktype = 'advisory' AND granted
           AND database = (SELECT oid FROM pg_database WHERE datname = current_database()) AND objsubid = 1
           AND classid = ((h >> 32) & 4294967295)::oid AND objid = (h & 4294967295)::oid) AS alone
       FROM ${schema}.lease`,
      [this.#lock],
    );
    const { who, address, secret, ...sight } = rows[0] as unknown as Sight & Owner;
    if (this.#options.standBy && performance.now() - this.#shown >= SHOW_MS) {
      await run(
        `INSERT INTO ${schema}.standby (name, who, address, seen) VALUES ($1, $2, $3, clock_timestamp())
         ON CONFLICT (name) DO UPDATE SET seen = EXCLUDED.seen`,
        [this.name, this.#who, this.#options.address],
      );
      this.#shown = performance.now();
    }
    return { ...sight, owner: { who, address, secret } };
  }

  async #tryLock(session: pg.Client): Promise<boolean> {
    const { rows } = await session.query('SELECT pg_try_advisory_lock(hashtextextended($1, 0)) AS mine', [this.#lock]);
    return (rows[0] as { mine: boolean }).mine;
  }

  /** O2, O4, T4. @returns false: the lease has changed since */
  async #take(session: pg.Client, seen: Sight | 'fresh'): Promise<boolean> {
    const { schema, place } = this.#at;
    const run = (text: string, values?: unknown[]): Promise<{ rows: Row[] }> => session.query(text, values);
    const held = (await this.#options.ahead?.()) ?? [];
    await run('BEGIN');
    try {
      await migrate(run, schema, place);
      const { rows: before } = await run(`SELECT epoch::text, until::text, name FROM ${schema}.lease FOR UPDATE`);
      const { epoch, until, name } = before[0] as { epoch: string; until: string; name: string };
      if (seen !== 'fresh' && (epoch !== seen.epoch || until !== seen.until)) {
        await run('ROLLBACK');
        return false;
      }
      await run(
        `UPDATE ${schema}.lease SET epoch = epoch + 1, until = clock_timestamp() + $1 * interval '1 ms',
           name = $2, who = $3, address = $4, secret = $5`,
        [this.#options.leaseMs, this.name, this.#who, this.#options.address, this.secret],
      );
      await run(
        `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
         WHERE application_name = $1 AND usename = current_user AND datname = current_database()`,
        [`mayfly ${name}`],
      );
      // Waits for writes of the earlier owner.
      const { rows } = await run(
        `UPDATE ${schema}.owner SET epoch = (SELECT epoch FROM ${schema}.lease), who = $1,
           ahead = CASE WHEN ahead = ANY($2::text[]) THEN ahead ELSE $3 END RETURNING epoch::text, ahead`,
        [this.#who, held, this.name],
      );
      await run(`DELETE FROM ${schema}.standby WHERE name = $1`, [this.name]);
      await run('COMMIT');
      this.#epoch = rows[0]!.epoch as string;
      this.#ahead = rows[0]!.ahead as string;
      return true;
    } catch (error) {
      if (!isBroken(error)) await session.query('ROLLBACK').catch(() => undefined);
      throw error;
    }
  }

  #renewSoon(ms: number): void {
    clearTimeout(this.#renewal);
    if (this.#closed || this.lost.aborted) return;
    this.#renewal = setTimeout(() => {
      // One at a time: the session is shared.
      this.#renewing = this.#renewing
        .then(() => this.#renew())
        .then(
          () => this.#renewSoon(this.#options.leaseMs / 4),
          () => this.#renewSoon(TAKEOVER_LOOK_MS),
        );
    }, ms).unref();
  }

  async #renew(): Promise<void> {
    const session = await this.#connected();
    // Once for each session: an advisory lock counts how often it was taken.
    if (this.#locked !== session && (await this.#tryLock(session))) this.#locked = session;
    const { rowCount } = await session.query(
      `UPDATE ${this.#at.schema}.lease SET until = clock_timestamp() + $2 * interval '1 ms' WHERE epoch = $1::bigint`,
      [this.#epoch, this.#options.leaseMs],
    );
    if (rowCount === 1) return;
    const { rows } = await session.query(`SELECT who FROM ${this.#at.schema}.owner`);
    this.taken((rows[0] as { who: string }).who);
  }

  /** O3: the epoch has passed. @returns why */
  taken(who: string): MayflyError {
    if (!this.lost.aborted) {
      clearTimeout(this.#renewal);
      this.#lost.abort(takenBy(who, this.#at.place));
      void this.#session?.end().catch(() => undefined);
    }
    return this.lost.reason as MayflyError;
  }

  /** The server processes of the database, the owner first. @throws MayflyError */
  async peers(query: (text: string, values: unknown[]) => Promise<{ rows: Row[] }>): Promise<Peer[]> {
    const { schema } = this.#at;
    const { rows } = await query(
      `SELECT who, address, true AS owns FROM ${schema}.lease UNION ALL
       (SELECT who, address, false FROM ${schema}.standby
        WHERE seen > clock_timestamp() - $1 * interval '1 ms' ORDER BY address, who)`,
      [GONE_MS],
    );
    return rows as unknown as Peer[];
  }

  /** Gives the lease up (T1): nothing writes any more. Never throws. */
  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    clearTimeout(this.#renewal);
    await this.#renewing.catch(() => undefined);
    const session = this.#session;
    const { schema } = this.#at;
    if (session && this.#epoch !== '' && !this.lost.aborted)
      await session
        .query(`UPDATE ${schema}.lease SET until = '-infinity' WHERE epoch = $1::bigint`, [this.#epoch])
        .catch(() => undefined);
    else if (session && this.#options.standBy)
      await session.query(`DELETE FROM ${schema}.standby WHERE name = $1`, [this.name]).catch(() => undefined);
    await session?.end().catch(() => undefined);
  }
}

const takenBy = (who: string, place: string): MayflyError =>
  new MayflyError('CONFLICT', `Another Mayfly server (${who}) has taken the database at ${place} over.`);

/**
 * The opening of another process, for which this one writes: its epoch fences these writes, and who takes the tables
 * ends these connections, too.
 */
export class Guest implements Opening {
  readonly application: string;
  readonly epoch: string;
  readonly #place: string;
  readonly #lost = new AbortController();

  constructor({ application, epoch }: Pick<Opening, 'application' | 'epoch'>, place: string) {
    this.application = application;
    this.epoch = epoch;
    this.#place = place;
  }

  get lost(): AbortSignal {
    return this.#lost.signal;
  }

  taken(who: string): MayflyError {
    if (!this.lost.aborted) this.#lost.abort(takenBy(who, this.#place));
    return this.lost.reason as MayflyError;
  }

  close(): Promise<void> {
    return Promise.resolve();
  }
}
