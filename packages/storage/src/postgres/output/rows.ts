/**
 * Files of a job's output in tables: a row for each, its bytes in parts of 64 KiB, each with a checksum.
 *
 *  R1  A transaction brings all changes of the files that are synced together.
 *  R2  A part that is missing, or whose checksum is wrong, is never given out.
 */
import { open, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { MayflyError } from '@mayfly/wire';
import type { Database, Query } from '../database.ts';
import { noFiles } from '../job-files.ts';
import { PART, type Change } from './marks.ts';

/** Parts of one statement. */
const PARTS = 64;

export interface Row {
  name: string;
  length: number;
  /** Of a result file: the task that made it. */
  task: number | undefined;
}

export class Rows {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  async hasJob(job: string): Promise<boolean> {
    const { rows } = await this.#database.query(`SELECT FROM ${this.#database.schema}.job WHERE id = $1`, [job]);
    return rows.length > 0;
  }

  async list(job: string): Promise<Row[]> {
    const { rows } = await this.#database.query(
      `SELECT name, length, task FROM ${this.#database.schema}.job_output WHERE job = $1 ORDER BY name`,
      [job],
    );
    return rows.map((r) => ({
      name: r.name as string,
      length: Number(r.length),
      task: (r.task as number | null) ?? undefined,
    }));
  }

  async length(job: string, name: string): Promise<number | undefined> {
    const { rows } = await this.#database.query(
      `SELECT length FROM ${this.#database.schema}.job_output WHERE job = $1 AND name = $2`,
      [job, name],
    );
    return rows.length === 0 ? undefined : Number(rows[0]!.length);
  }

  /** Bytes [from, to) of a file; one that is shorter ends early. R2. @throws MayflyError DAMAGED_DATA */
  async *read(job: string, name: string, from: number, to: number): AsyncGenerator<Buffer> {
    const length = (await this.length(job, name)) ?? 0;
    const end = Math.min(to, length);
    for (let first = Math.floor(from / PART); first * PART < end; first += PARTS) {
      const last = Math.min(first + PARTS, Math.ceil(end / PART)) - 1;
      const { rows } = await this.#database.query(
        `SELECT part, bytes, sum FROM ${this.#database.schema}.job_output_part
         WHERE job = $1 AND name = $2 AND part BETWEEN $3 AND $4 ORDER BY part`,
        [job, name, first, last],
      );
      for (let part = first; part <= last; part++) {
        const row = rows[part - first];
        const bytes = row?.bytes as Buffer | undefined;
        const whole = Math.min(PART, length - part * PART);
        if (row?.part !== part || bytes === undefined || bytes.length < whole || crc32(bytes) !== Number(row.sum))
          throw new MayflyError('DAMAGED_DATA', `Part ${part} of ${name} of job ${job} is damaged in the database.`);
        yield bytes.subarray(Math.max(0, from - part * PART), Math.min(whole, end - part * PART));
      }
    }
  }

  /**
   * R1.
   * @param folder where the files are, by their names
   * @param tasks of result files: who made them
   */
  async store(
    job: string,
    folder: string,
    changes: ReadonlyMap<string, Change>,
    tasks: ReadonlyMap<string, number>,
  ): Promise<void> {
    await this.#database.write(async (query) => {
      for (const [name, change] of changes) {
        const file = await open(join(folder, name), 'r').catch((error: NodeJS.ErrnoException) => {
          if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return undefined;
          throw error;
        });
        try {
          await this.#file(query, job, name, change, file, tasks.get(name));
        } finally {
          await file?.close();
        }
      }
    });
  }

  async #file(
    query: Query,
    job: string,
    name: string,
    { whole, parts }: Change,
    file: FileHandle | undefined,
    task: number | undefined,
  ): Promise<void> {
    const { schema } = this.#database;
    if (whole || !file) await query(`DELETE FROM ${schema}.job_output WHERE job = $1 AND name = $2`, [job, name]);
    if (!file) return;
    const { size } = await file.stat();
    const count = Math.ceil(size / PART);
    const stored = await query(
      `INSERT INTO ${schema}.job_output (job, name, length, task)
       SELECT id, $2, $3::bigint, $4::integer FROM ${schema}.job WHERE id = $1
       ON CONFLICT (job, name) DO UPDATE SET length = EXCLUDED.length`,
      [job, name, size, task ?? null],
    );
    if (stored.count === 0) throw noFiles(job);
    if (!whole)
      await query(`DELETE FROM ${schema}.job_output_part WHERE job = $1 AND name = $2 AND part >= $3`, [
        job,
        name,
        count,
      ]);
    const wanted = whole ? Array.from({ length: count }, (_, part) => part) : [...parts].filter((p) => p < count);
    for (let at = 0; at < wanted.length; at += PARTS) {
      const values: unknown[] = [job, name];
      const rows: string[] = [];
      for (const part of wanted.slice(at, at + PARTS)) {
        // What shrinks meanwhile is marked again.
        const bytes = Buffer.alloc(Math.min(PART, size - part * PART));
        await file.read(bytes, 0, bytes.length, part * PART);
        values.push(part, bytes, crc32(bytes));
        const n = values.length - 2;
        rows.push(`($1, $2, $${n}::integer, $${n + 1}::bytea, $${n + 2}::bigint)`);
      }
      await query(
        `INSERT INTO ${schema}.job_output_part (job, name, part, bytes, sum) VALUES ${rows.join(', ')}
         ON CONFLICT (job, name, part) DO UPDATE SET bytes = EXCLUDED.bytes, sum = EXCLUDED.sum`,
        values,
      );
    }
  }

  async remove(job: string): Promise<void> {
    await this.#database.write((query) =>
      query(`DELETE FROM ${this.#database.schema}.job_output WHERE job = $1`, [job]),
    );
  }
}
