/**
 * MessageLog over PostgreSQL: a row per chunk of records (log-chunk.ts), not per message. An append is in the memory of
 * this process until its batch is committed: durability `sync-only`, or, with write-ahead files (write-ahead.ts),
 * `kernel` as long as the next process is in the same data directory.
 *
 * Owns: the open streams, the flushes.
 *
 *  M1  One flush at a time. Those that ask during one share the next: one statement for the chunks of all streams.
 *  M2  Opening a stream counts `log_stream.opening` up, and a flush stores nothing for another opening. A flush whose
 *      connection broke therefore takes effect before the stream is opened again, or never.
 *  M3  Between the rows of a stream nothing is missing but what `log_stream.gone` names: a lost row is noticed.
 *  M4  A stream is opened with all that the write-ahead files have behind the database's records, and stored so.
 */
import { MayflyError } from '@mayfly/wire';
import { Intervals } from '../embedded/intervals.ts';
import { damaged } from '../embedded/segment.ts';
import type { Durability, LogStream, Lsn, MessageLog } from '../ports/index.ts';
import { InDoubt, type Database } from './database.ts';
import { offsetsOf } from './log-chunk.ts';
import { PostgresStream, type Chunk, type Loaded } from './log-stream.ts';
import { Scratch } from './scratch.ts';
import type { WriteAhead } from './write-ahead.ts';

export interface PostgresMessageLogOptions {
  /** Memory for records of all streams together, bytes; older ones are in temporary files. Default 64 MiB. */
  cacheBytes?: number;
  /** Closed with the log. */
  ahead?: WriteAhead;
}

/** Of one statement, about. */
const FLUSH_BYTES = 16 * 1024 * 1024;
const FLUSH_ROWS = 2000;
/** Longer batches are rare, and what their statement costs is a small part of them. */
const PREPARED_ROWS = 16;
/** Rows of a stream that are read at once. */
const PAGE = 64;

interface Round {
  streams: Set<PostgresStream>;
  done: Promise<void>;
  /** Of streams that failed. */
  errors: Map<PostgresStream, MayflyError>;
}

export class PostgresMessageLog implements MessageLog {
  readonly durability: Durability;
  readonly #database: Database;
  readonly #scratch: Scratch;
  readonly #ahead: WriteAhead | undefined;
  readonly #streams = new Map<string, Promise<PostgresStream>>();
  readonly #synced = new Map<string, Lsn>();
  #next: Round | undefined;
  #flushing: Promise<void> = Promise.resolve();
  #closed = false;

  constructor(database: Database, { cacheBytes = 64 * 1024 * 1024, ahead }: PostgresMessageLogOptions = {}) {
    this.#database = database;
    this.#scratch = new Scratch(cacheBytes);
    this.#ahead = ahead;
    this.durability = ahead ? 'kernel' : 'sync-only';
  }

  open(name: string): Promise<LogStream> {
    if (this.#closed) return Promise.reject(new MayflyError('CONFLICT', 'the message log is closed'));
    let stream = this.#streams.get(name);
    if (!stream) {
      stream = this.#openNow(name);
      this.#streams.set(name, stream);
      stream.catch(() => this.#streams.delete(name));
    }
    return stream;
  }

  async #openNow(name: string): Promise<PostgresStream> {
    if (name.length === 0 || name.length > 200 || name.includes('\0'))
      throw new MayflyError('BAD_REQUEST', `"${name}" cannot name a stream`);
    const loaded = await this.#load(name);
    const before = this.#synced.get(name) ?? 0;
    if (loaded.next < before)
      throw damaged(name, `it ends at record ${loaded.next} and had been written up to ${before}`);
    const stream = new PostgresStream(
      name,
      {
        scratch: this.#scratch,
        flush: (stream) => this.#flush(stream),
        sweep: (stream) => void this.#flush(stream).catch(() => undefined),
        closed: (stream) => {
          this.#streams.delete(name);
          this.#synced.set(name, stream.synced);
        },
      },
      loaded,
    );
    if (this.#ahead) await this.#continue(stream, this.#ahead);
    return stream;
  }

  /** M4. */
  async #continue(stream: PostgresStream, ahead: WriteAhead): Promise<void> {
    try {
      for (const record of await ahead.left(stream.id, stream.next)) stream.append(record);
      await stream.sync();
      stream.writeAhead(await ahead.begin(stream.id, stream.next));
    } catch (error) {
      stream.release();
      throw error;
    }
  }

  /** M2, M3. */
  async #load(name: string): Promise<Loaded> {
    const { schema } = this.#database;
    const stream = await this.#database.write(async (query) => {
      const { rows } = await query(
        `INSERT INTO ${schema}.log_stream (name) VALUES ($1)
           ON CONFLICT (name) DO UPDATE SET opening = log_stream.opening + 1 RETURNING id, opening, next, gone`,
        [name],
      );
      return rows[0] as { id: string; opening: string; next: string; gone: [number, number][] };
    });
    const deleted = new Intervals();
    for (const [from, to] of stream.gone) deleted.add(from, to);
    const chunks: Chunk[] = [];
    try {
      const next = await this.#chunks(name, stream.id, deleted, chunks);
      const end = Number(stream.next);
      if (!deleted.covers(next, end)) throw damaged(name, `records ${next} to ${end - 1} are missing`);
      return { id: stream.id, opening: stream.opening, next: Math.max(next, end), chunks, deleted };
    } catch (error) {
      for (const { held } of chunks) this.#scratch.release(held);
      throw error;
    }
  }

  /** @returns the number after the last record */
  async #chunks(name: string, id: string, deleted: Intervals, into: Chunk[]): Promise<Lsn> {
    const { schema } = this.#database;
    for (let next = 0; ;) {
      const { rows } = await this.#database.query(
        `SELECT first, count, bytes FROM ${schema}.log_batch WHERE stream = $1 AND first >= $2 ORDER BY first LIMIT ${PAGE}`,
        [id, next],
      );
      for (const row of rows) {
        const [first, count, bytes] = [Number(row.first), row.count as number, row.bytes as Buffer];
        if (!deleted.covers(next, first)) throw damaged(name, `records ${next} to ${first - 1} are missing`);
        const offsets = offsetsOf(bytes, first, count);
        if (typeof offsets === 'number') throw damaged(name, `record ${offsets} is damaged in the database`);
        into.push({ first, count, offsets, held: this.#scratch.hold(bytes), stored: true });
        next = first + count;
      }
      if (rows.length < PAGE) return next;
    }
  }

  async #flush(stream: PostgresStream): Promise<void> {
    const round = (this.#next ??= this.#begin());
    round.streams.add(stream);
    await round.done;
    const error = round.errors.get(stream);
    if (error) throw error;
  }

  /** M1. */
  #begin(): Round {
    const round: Round = { streams: new Set(), errors: new Map(), done: Promise.resolve() };
    round.done = this.#flushing.then(() => {
      this.#next = undefined;
      return this.#work(round);
    });
    this.#flushing = round.done.catch(() => undefined);
    return round;
  }

  async #work({ streams, errors }: Round): Promise<void> {
    const usable = (): PostgresStream[] => [...streams].filter((s) => s.usable);
    // What is appended during the round belongs to the next.
    const upTo = new Map(usable().map((s) => [s, s.next]));
    for (;;) {
      const batch: [PostgresStream, Chunk[]][] = [];
      let [bytes, count] = [0, 0];
      for (const stream of usable()) {
        if (bytes >= FLUSH_BYTES || count >= FLUSH_ROWS) break;
        if (stream.synced >= upTo.get(stream)!) continue;
        let chunks: Chunk[];
        try {
          chunks = stream.take(FLUSH_BYTES - bytes).slice(0, FLUSH_ROWS - count);
        } catch (error) {
          errors.set(stream, error as MayflyError);
          continue;
        }
        batch.push([stream, chunks]);
        bytes += chunks.reduce((n, c) => n + c.held.length, 0);
        count += chunks.length;
      }
      if (batch.length === 0) break;
      try {
        await this.#store(batch);
        for (const [stream, chunks] of batch) stream.stored(chunks);
      } catch (error) {
        const known = error instanceof InDoubt ? error.error : (error as MayflyError);
        for (const [stream] of batch) errors.set(stream, stream.fail(known));
      }
    }
    // Best effort: what stays is deleted with the next flush.
    for (const stream of usable()) await this.#delete(stream).catch(() => undefined);
  }

  /** One statement. @throws MayflyError, InDoubt */
  async #store(batch: readonly (readonly [PostgresStream, readonly Chunk[]])[]): Promise<void> {
    const { schema } = this.#database;
    const values: unknown[] = [];
    const rows = batch.flatMap(([stream, chunks]) =>
      chunks.map((chunk) => {
        values.push(stream.id, stream.opening, chunk.first, chunk.count, this.#scratch.read(chunk.held));
        const n = values.length - 3;
        return `($${n}::bigint, $${n + 1}::bigint, $${n + 2}::bigint, $${n + 3}::integer, $${n + 4}::bytea)`;
      }),
    );
    const { stored } = await this.#database.statement(
      `batch (stream, opening, first, count, bytes) AS (VALUES ${rows.join(', ')}),
       held AS (SELECT id, opening FROM ${schema}.log_stream WHERE id IN (SELECT stream FROM batch) FOR SHARE),
       stored AS (INSERT INTO ${schema}.log_batch (stream, first, count, bytes)
         SELECT b.stream, b.first, b.count, b.bytes FROM batch b
         JOIN held h ON h.id = b.stream AND h.opening = b.opening CROSS JOIN fence RETURNING 1)
       SELECT (SELECT count(*) FROM fence) AS fence, (SELECT count(*) FROM stored) AS stored`,
      values,
      rows.length <= PREPARED_ROWS ? `log_batch ${rows.length}` : undefined,
    );
    if (Number(stored) !== rows.length)
      throw new MayflyError('CONFLICT', 'a stream was removed, or opened again, while it was in use');
  }

  async #delete(stream: PostgresStream): Promise<void> {
    const chunks = stream.deletable();
    if (chunks.length === 0) return;
    const { schema } = this.#database;
    await this.#database.write(async (query) => {
      const { count } = await query(
        `UPDATE ${schema}.log_stream SET next = greatest(next, $3), gone = $4::jsonb WHERE id = $1 AND opening = $2`,
        [
          stream.id,
          stream.opening,
          Math.max(...chunks.map((c) => c.first + c.count)),
          JSON.stringify(stream.deletedWith(chunks).entries()),
        ],
      );
      if (count !== 1) throw new MayflyError('CONFLICT', 'the stream was removed, or opened again');
      await query(`DELETE FROM ${schema}.log_batch WHERE stream = $1 AND first = ANY($2::bigint[])`, [
        stream.id,
        chunks.map((c) => c.first),
      ]);
    });
    stream.forget(chunks);
  }

  async list(prefix: string): Promise<string[]> {
    const { rows } = await this.#database.query(
      `SELECT name FROM ${this.#database.schema}.log_stream WHERE starts_with(name, $1) ORDER BY name`,
      [prefix],
    );
    return rows.map((row) => row.name as string);
  }

  async remove(name: string): Promise<void> {
    const open = await this.#streams.get(name);
    open?.release();
    await this.#flushing;
    const { rows } = await this.#database.write((query) =>
      query(`DELETE FROM ${this.#database.schema}.log_stream WHERE name = $1 RETURNING id::text`, [name]),
    );
    for (const { id } of rows) await this.#ahead?.remove(id as string);
    this.#synced.delete(name);
  }

  async close(): Promise<void> {
    this.#closed = true;
    const results = await Promise.allSettled([...this.#streams.values()].map(async (s) => (await s).close()));
    await this.#flushing;
    await this.#ahead?.close();
    this.#scratch.close();
    const failed = results.find((r) => r.status === 'rejected');
    if (failed) throw failed.reason;
  }
}
