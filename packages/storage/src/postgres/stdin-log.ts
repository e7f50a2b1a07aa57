/**
 * Standard input of one job: a row for each message. Messages are read without waiting, so they are at hand
 * (scratch.ts).
 *
 *  N1  A message is committed before the POST that brought it is answered, with the others of that POST or not at all.
 *  N2  Bytes are counted from the start of the stream, so a POST that names its offset may be repeated.
 */
import { crc32 } from 'node:zlib';
import { CHUNK_BYTES, MayflyError } from '@mayfly/wire';
import type { StdinLog } from '../ports/index.ts';
import type { Database } from './database.ts';
import type { Held, Scratch } from './scratch.ts';
import { newPart } from '../stdin-part.ts';

interface Message {
  held: Held;
  sum: number;
}

/** Rows that are read at once. */
const PAGE = 64;

/** @throws MayflyError DAMAGED_DATA */
export async function openStdin(database: Database, scratch: Scratch, job: string): Promise<StdinLog> {
  const log = new PostgresStdinLog(database, scratch, job);
  try {
    await log.load();
    return log;
  } catch (error) {
    log.close();
    throw error;
  }
}

class PostgresStdinLog implements StdinLog {
  readonly #database: Database;
  readonly #scratch: Scratch;
  readonly #job: string;
  readonly #messages: Message[] = [];
  #bytes = 0;
  #ended = false;
  /** One POST after the other. */
  #appending: Promise<unknown> = Promise.resolve();

  constructor(database: Database, scratch: Scratch, job: string) {
    this.#database = database;
    this.#scratch = scratch;
    this.#job = job;
  }

  async load(): Promise<void> {
    for (;;) {
      const { rows } = await this.#database.query(
        `SELECT n, bytes, sum FROM ${this.#database.schema}.job_stdin WHERE job = $1 AND n > $2 ORDER BY n LIMIT ${PAGE}`,
        [this.#job, this.messages],
      );
      for (const row of rows) {
        const [bytes, sum] = [row.bytes as Buffer, Number(row.sum)];
        if (row.n !== this.messages + 1 || crc32(bytes) !== sum) throw this.#damaged(this.messages + 1);
        this.#enter(bytes, sum);
      }
      if (rows.length < PAGE) return;
    }
  }

  get messages(): number {
    return this.#messages.length;
  }
  get bytes(): number {
    return this.#bytes;
  }
  get ended(): boolean {
    return this.#ended;
  }

  message(n: number): Uint8Array {
    const { held, sum } = this.#messages[n - 1]!;
    const bytes = new Uint8Array(this.#scratch.read(held));
    if (crc32(bytes) !== sum) throw this.#damaged(n);
    return bytes;
  }

  append(bytes: Uint8Array, end: boolean, offset?: number): Promise<void> {
    const work = this.#appending.then(() => this.#append(bytes, end, offset));
    this.#appending = work.catch(() => undefined);
    return work;
  }

  async #append(bytes: Uint8Array, end: boolean, offset = this.#bytes): Promise<void> {
    const fresh = newPart(bytes, offset, this.#bytes, this.#ended);
    if (this.#ended) return;
    const parts: Buffer[] = [];
    for (let o = 0; o < fresh.length; o += CHUNK_BYTES) parts.push(Buffer.from(fresh.subarray(o, o + CHUNK_BYTES)));
    if (end) parts.push(Buffer.alloc(0));
    if (parts.length === 0) return;
    const { schema } = this.#database;
    // N1
    await this.#database.write(async (query) => {
      const { rows } = await query(`SELECT FROM ${schema}.job WHERE id = $1 FOR SHARE`, [this.#job]);
      if (rows.length === 0) throw new MayflyError('NOT_FOUND', `Job ${this.#job} has no files.`);
      for (const [i, part] of parts.entries())
        await query(`INSERT INTO ${schema}.job_stdin (job, n, bytes, sum) VALUES ($1, $2, $3, $4)`, [
          this.#job,
          this.messages + 1 + i,
          part,
          crc32(part),
        ]);
    });
    for (const part of parts) this.#enter(part, crc32(part));
  }

  #enter(bytes: Buffer, sum: number): void {
    this.#messages.push({ held: this.#scratch.hold(bytes), sum });
    this.#bytes += bytes.length;
    if (bytes.length === 0) this.#ended = true;
  }

  #damaged(n: number): MayflyError {
    const message = `Message ${n} of the standard input of job ${this.#job} is damaged or missing in the database.`;
    return new MayflyError('DAMAGED_DATA', message);
  }

  close(): void {
    for (const { held } of this.#messages.splice(0)) this.#scratch.release(held);
  }
}
