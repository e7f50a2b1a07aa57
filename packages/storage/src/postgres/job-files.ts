/**
 * JobFiles in tables: a row for each file, its bytes in parts of 1 MiB, each with a checksum.
 *
 *  F1  A job's files come in one transaction with its row in `job`, and go with it.
 *  F2  A part whose checksum is wrong, and a file that lacks one, are never given out.
 */
import { crc32 } from 'node:zlib';
import { MayflyError } from '@mayfly/wire';
import { needFileName, needJob } from '../job-names.ts';
import type { JobFileName, JobFiles, JobNote, SealedFiles, StdinLog } from '../ports/index.ts';
import type { Database, Query } from './database.ts';
import { Scratch } from './scratch.ts';
import { openStdin } from './stdin-log.ts';

const PART = 1024 * 1024;
/** Parts of one statement. */
const PARTS = 8;
/** Memory for programs, whose symbols a stack needs at once. */
const AT_HAND_BYTES = 64 * 1024 * 1024;
const PROGRAM = /^program/;
/** Memory for standard input of all jobs; older messages are in temporary files. */
const STDIN_BYTES = 16 * 1024 * 1024;

export class PostgresJobFiles implements JobFiles {
  readonly #database: Database;
  readonly #stdin = new Scratch(STDIN_BYTES);
  readonly #atHand = new Map<string, Uint8Array>();
  #atHandBytes = 0;

  constructor(database: Database) {
    this.#database = database;
  }

  async create(job: string, files: ReadonlyMap<JobFileName, string | Uint8Array>): Promise<void> {
    needJob(job);
    for (const name of files.keys()) needFileName(name);
    const { schema } = this.#database;
    await this.#database.write(async (query) => {
      const { count } = await query(`INSERT INTO ${schema}.job (id) VALUES ($1) ON CONFLICT DO NOTHING`, [job]);
      if (count === 0) throw new MayflyError('CONFLICT', `job ${job} has files already`);
      for (const [name, content] of files) await this.#store(query, job, name, bytesOf(content));
    });
    for (const [name, content] of files)
      if (PROGRAM.test(name)) this.#keep(`${job}/${name}`, Uint8Array.from(bytesOf(content)));
  }

  async #store(query: Query, job: string, name: string, bytes: Buffer): Promise<void> {
    const { schema } = this.#database;
    await query(`INSERT INTO ${schema}.job_file (job, name, length) VALUES ($1, $2, $3)`, [job, name, bytes.length]);
    for (let at = 0; at < bytes.length; at += PART * PARTS) {
      const values: unknown[] = [job, name];
      const rows: string[] = [];
      for (let o = at; o < Math.min(bytes.length, at + PART * PARTS); o += PART) {
        const part = bytes.subarray(o, o + PART);
        values.push(o / PART, part, crc32(part));
        const n = values.length - 2;
        rows.push(`($1, $2, $${n}::integer, $${n + 1}::bytea, $${n + 2}::bigint)`);
      }
      await query(
        `INSERT INTO ${schema}.job_file_part (job, name, part, bytes, sum) VALUES ${rows.join(', ')}`,
        values,
      );
    }
  }

  async read(job: string, name: JobFileName): Promise<Uint8Array | undefined> {
    const parts = await this.stream(job, name);
    if (!parts) return undefined;
    const all: Uint8Array[] = [];
    for await (const part of parts) all.push(part);
    return Buffer.concat(all);
  }

  /** At hand are programs that came lately, or were asked for here before. */
  readNow(job: string, name: JobFileName): Uint8Array | undefined {
    const key = `${job}/${name}`;
    const bytes = this.#atHand.get(key);
    if (bytes || !PROGRAM.test(name)) return bytes;
    void this.read(job, name).then(
      (found) => found && this.#keep(key, found),
      () => undefined,
    );
    return undefined;
  }

  #keep(key: string, bytes: Uint8Array): void {
    if (bytes.length > AT_HAND_BYTES || this.#atHand.has(key)) return;
    this.#atHand.set(key, bytes);
    this.#atHandBytes += bytes.length;
    for (const [oldest, { length }] of this.#atHand) {
      if (this.#atHandBytes <= AT_HAND_BYTES) break;
      this.#atHand.delete(oldest);
      this.#atHandBytes -= length;
    }
  }

  async stream(job: string, name: JobFileName): Promise<AsyncIterable<Uint8Array> | undefined> {
    needJob(job);
    needFileName(name);
    const { rows } = await this.#database.query(
      `SELECT length FROM ${this.#database.schema}.job_file WHERE job = $1 AND name = $2`,
      [job, name],
    );
    return rows.length === 0 ? undefined : this.#parts(job, name, Number(rows[0]!.length));
  }

  /** F2. */
  async *#parts(job: string, name: string, length: number): AsyncGenerator<Uint8Array> {
    for (let part = 0; part * PART < length; part++) {
      const { rows } = await this.#database.query(
        `SELECT bytes, sum FROM ${this.#database.schema}.job_file_part WHERE job = $1 AND name = $2 AND part = $3`,
        [job, name, part],
      );
      const bytes = rows[0]?.bytes as Buffer | undefined;
      if (bytes?.length !== Math.min(PART, length - part * PART) || crc32(bytes) !== Number(rows[0]!.sum))
        throw new MayflyError('DAMAGED_DATA', `Part ${part} of ${name} of job ${job} is damaged in the database.`);
      yield bytes;
    }
  }

  async stdin(job: string): Promise<StdinLog> {
    needJob(job);
    return openStdin(this.#database, this.#stdin, job);
  }

  async seal(job: string, note: JobNote, of: SealedFiles): Promise<void> {
    needJob(job);
    const { schema } = this.#database;
    const text = JSON.stringify({ version: 1, ...note });
    const { count } = await this.#database.write((query) =>
      query(
        `INSERT INTO ${schema}.job_note (job, note, sum, late)
         SELECT id, $2, $3, ARRAY(SELECT name FROM ${schema}.job_archive WHERE job = $1 AND $4) FROM ${schema}.job
         WHERE id = $1
         ON CONFLICT (job) DO UPDATE SET note = EXCLUDED.note, sum = EXCLUDED.sum, late = EXCLUDED.late`,
        [job, text, crc32(text), of === 'all'],
      ),
    );
    if (count === 0) throw noFiles(job);
  }

  async sealed(job: string): Promise<SealedFiles | 'nothing' | 'damaged'> {
    needJob(job);
    const { schema } = this.#database;
    const { rows } = await this.#database.query(
      `SELECT note, sum, EXISTS (SELECT FROM ${schema}.job_archive a
         WHERE a.job = $1 AND a.name IN ('history', 'run') AND a.name <> ALL (n.late)) AS more
       FROM ${schema}.job_note n WHERE n.job = $1`,
      [job],
    );
    const row = rows[0] as { note: string; sum: string; more: boolean } | undefined;
    if (!row) return 'nothing';
    if (crc32(row.note) !== Number(row.sum)) return 'damaged';
    if ((JSON.parse(row.note) as JobNote).records === undefined) return 'submitted';
    return row.more ? 'ended' : 'all';
  }

  async remove(job: string): Promise<void> {
    needJob(job);
    for (const [key, { length }] of this.#atHand)
      if (key.startsWith(`${job}/`)) {
        this.#atHand.delete(key);
        this.#atHandBytes -= length;
      }
    await this.#database.write((query) => query(`DELETE FROM ${this.#database.schema}.job WHERE id = $1`, [job]));
  }
}

export const noFiles = (job: string): MayflyError => new MayflyError('NOT_FOUND', `Job ${job} has no files.`);

const bytesOf = (content: string | Uint8Array): Buffer =>
  typeof content === 'string'
    ? Buffer.from(content)
    : Buffer.from(content.buffer, content.byteOffset, content.byteLength);
