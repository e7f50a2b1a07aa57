/**
 * Registry in a table: a row per record, with a CRC-32 of key and value. For one server process (P1 of database.ts):
 * who holds a lease, and what a watch has not delivered, are in its memory.
 *
 *  R1  Commits that come while a transaction is under way share the next one, in the order of their calls. Expectations
 *      are compared with the rows and with what the commits before them leave.
 *  R2  Each transaction counts `registry_head.revision` up: its row is the lock that orders them.
 *  R3  Watches hear of a commit when it is durable.
 */
import { crc32 } from 'node:zlib';
import { MayflyError } from '@mayfly/wire';
import type * as port from '../ports/index.ts';
import { Leases, systemClock, type LeaseClock } from '../embedded/registry-leases.ts';
import { Watches } from '../embedded/registry-watches.ts';
import { Commits, judge, type Judged, type Pending } from '../registry-commits.ts';
import { needKey } from '../registry-values.ts';
import { stopsStorage } from '../storage-error.ts';
import type { Database, Query } from './database.ts';

export class PostgresRegistry implements port.Registry {
  readonly #database: Database;
  readonly #watches = new Watches();
  /** R1. */
  readonly #commits = new Commits({
    check: (key) => this.#check(key),
    take: (batch) => this.#take(batch),
    stops: stopsStorage,
  });
  readonly #leases: Leases;
  #closed = false;

  /** @param clock of leases; default: the time of this process */
  constructor(database: Database, clock: LeaseClock = systemClock) {
    this.#database = database;
    this.#leases = new Leases(this, clock);
  }

  async get(key: string): Promise<unknown> {
    this.#check(key);
    if (key === '') return undefined;
    const { rows } = await this.#database.query(
      `SELECT key, value, sum FROM ${this.#database.schema}.registry WHERE key = $1`,
      [key],
    );
    return rows.length === 0 ? undefined : JSON.parse(checked(rows[0]!)[1]);
  }

  async entries(prefix: string): Promise<[string, unknown][]> {
    this.#check(prefix);
    const { rows } = await this.#database.query(
      `SELECT key, value, sum FROM ${this.#database.schema}.registry WHERE key LIKE $1 ORDER BY key`,
      [`${prefix.replaceAll(/[\\%_]/g, String.raw`\$&`)}%`],
    );
    return rows.map((row) => {
      const [key, text] = checked(row);
      return [key, JSON.parse(text)];
    });
  }

  commit(
    changes: readonly port.Change[],
    { expect = [] }: { expect?: readonly port.Expectation[] } = {},
  ): Promise<void> {
    return this.#commits.add(changes, expect);
  }

  lease(name: string, ttlMs: number): Promise<port.Lease> {
    return this.#leases.take(name, ttlMs);
  }

  watch(prefix: string): port.Watch {
    this.#check(prefix);
    return this.#watches.begin(prefix);
  }

  /** Makes them durable, shows them, settles them. @returns why not: then nothing was changed */
  async #take(batch: readonly Pending[]): Promise<MayflyError | undefined> {
    let known = new Set<string>();
    let judged: Judged | undefined;
    try {
      await this.#database.write(async (query) => {
        await query(`UPDATE ${this.#database.schema}.registry_head SET revision = revision + 1`);
        const there = await this.#rows(query, batch);
        known = new Set(there.keys());
        judged = judge(batch, (key) => there.get(key));
        await this.#store(query, judged.left);
      });
    } catch (error) {
      return error as MayflyError;
    }
    this.#show(judged!, known);
    for (const one of batch) {
      const refused = judged!.refused.get(one);
      if (refused) one.reject(refused);
      else one.resolve();
    }
    return undefined;
  }

  /** What the keys of the batch hold. */
  async #rows(query: Query, batch: readonly Pending[]): Promise<Map<string, string>> {
    const keys = new Set(batch.flatMap((p) => [...p.changes, ...p.expect]).map(([key]) => key));
    const { rows } = await query(
      `SELECT key, value, sum FROM ${this.#database.schema}.registry WHERE key = ANY($1::text[])`,
      [[...keys]],
    );
    return new Map(rows.map(checked));
  }

  async #store(query: Query, left: ReadonlyMap<string, string | undefined>): Promise<void> {
    const table = `${this.#database.schema}.registry`;
    const gone = [...left].flatMap(([key, text]) => (text === undefined ? [key] : []));
    if (gone.length > 0) await query(`DELETE FROM ${table} WHERE key = ANY($1::text[])`, [gone]);
    const kept = [...left].flatMap(([key, text]) => (text === undefined ? [] : [[key, text] as const]));
    if (kept.length === 0) return;
    await query(
      `INSERT INTO ${table} (key, value, sum) SELECT * FROM unnest($1::text[], $2::text[], $3::bigint[])
       ON CONFLICT (key) DO UPDATE SET value = EXCLUDED.value, sum = EXCLUDED.sum`,
      [kept.map(([key]) => key), kept.map(([, text]) => text), kept.map(([key, text]) => sumOf(key, text))],
    );
  }

  /** R3. @param known the keys that were there before */
  #show({ held }: Judged, known: Set<string>): void {
    for (const { changes } of held) {
      if (changes.length === 0) continue;
      for (const change of changes) {
        this.#watches.note(change, known.has(change[0]));
        if (change[1] === undefined) known.delete(change[0]);
        else known.add(change[0]);
      }
      this.#watches.committed();
    }
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.#leases.close();
    await this.#commits.settled();
    this.#watches.close();
  }

  #check(key: string): void {
    if (this.#closed) throw new MayflyError('CONFLICT', 'the registry is closed');
    needKey(key);
    if (key.includes('\0')) throw new MayflyError('BAD_REQUEST', 'a key with the character NUL');
  }
}

const sumOf = (key: string, text: string): number => crc32(text, crc32(`${key}\0`));

/** @throws MayflyError DAMAGED_DATA */
function checked({ key, value, sum }: Record<string, unknown>): [key: string, text: string] {
  if (Number(sum) !== sumOf(key as string, value as string))
    throw new MayflyError('DAMAGED_DATA', `The record ${key as string} of the registry is damaged in the database.`);
  return [key as string, value as string];
}
