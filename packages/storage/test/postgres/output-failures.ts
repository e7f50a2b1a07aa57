/** What the output of jobs does when a process dies, a sync fails, or the database has damaged something. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { WorldMode, taskId } from '@mayfly/wire';
import { Database, PostgresJobFiles, PostgresJobOutput } from '../../src/postgres/index.ts';
import type { JobFileName, OpenOutput, Range } from '../../src/ports/index.ts';
import { temporary } from '../temporary.ts';
import type { PostgresServer } from './server.ts';

const JOB = 'abcdefghijkl';
const task = taskId(2);
const bytes = (s: string): Uint8Array => new TextEncoder().encode(s);

async function whole(range: Range): Promise<string> {
  let all = '';
  for await (const part of range(0, Infinity)) all += Buffer.from(part).toString('latin1');
  return all;
}

export function outputFailures(server: () => PostgresServer): void {
  describe('output of a job', () => {
    const schema = 'output failures';
    let folder: Awaited<ReturnType<typeof temporary>>;
    let database: Database;
    let output: PostgresJobOutput;
    let open: OpenOutput;
    let closed = true;
    const reopen = async (): Promise<void> => {
      open = await output.open(JOB, new Map());
      closed = false;
    };
    const close = (): void => {
      if (!closed) open.close();
      closed = true;
    };
    const begin = async (): Promise<void> => {
      database = await Database.open({ url: server().url(), schema });
      output = await PostgresJobOutput.open(database, new PostgresJobFiles(database), folder.path);
    };
    beforeEach(async () => {
      folder = await temporary();
      await begin();
      await new PostgresJobFiles(database).remove(JOB);
      await new PostgresJobFiles(database).create(JOB, new Map<JobFileName, string>());
      await reopen();
    });
    afterEach(async () => {
      close();
      await output.close();
      await database.close();
      await folder.dispose();
    });
    const print = (n: number, text: string): void => {
      const place = open.task(task).place(n, WorldMode.STDOUT, bytes(text))!;
      open.task(task).write('stdout', bytes(text), place.start);
    };
    /** Another process, which finds no local files. */
    const again = async (): Promise<void> => {
      await database.close();
      await begin();
      await reopen();
    };

    it('has after a death of the process what was synced; the rest comes again', async () => {
      print(1, 'one ');
      await open.task(task).sync();
      print(2, 'two ');
      await again();
      expect(open.task(task).next).toBe(2);
      print(1, 'one ');
      print(2, 'two ');
      await open.task(task).sync();
      expect(await whole(output.stream(JOB, task, 'stdout'))).toBe('one two ');
    });

    it('keeps what a failed sync did not bring there for the next one, also when the job is opened again', async () => {
      print(1, 'one ');
      await database.close();
      await expect(open.task(task).sync()).rejects.toMatchObject({ code: 'CONFLICT' });
      close();
      // The adapter lives on, over another connection.
      const other = await Database.open({ url: server().url(), schema });
      Object.assign(database, { query: other.query.bind(other), write: other.write.bind(other) });
      await reopen();
      expect(open.task(task).next).toBe(2);
      await open.task(task).sync();
      await other.close();
      await again();
      expect(await whole(output.stream(JOB, task, 'stdout'))).toBe('one ');
    });

    it('is the same when it is opened while its local files go', async () => {
      print(1, 'one ');
      open.files.perform({ type: 'create', path: 'a/b', task, input: false });
      await open.task(task).sync();
      await open.files.sync();
      for (let n = 0; n < 20; n++) {
        close();
        await reopen();
        expect(open.task(task).next).toBe(2);
        expect([...open.found.keys()]).toEqual(['a/b']);
        expect(await whole(output.stream(JOB, task, 'stdout'))).toBe('one ');
      }
    });

    it('a sync waits for the one before, which has taken its marks', async () => {
      print(1, 'x'.repeat(3_000_000));
      const order: string[] = [];
      await Promise.all([
        open
          .task(task)
          .sync()
          .then(() => order.push('first')),
        open
          .task(task)
          .sync()
          .then(() => order.push('second')),
      ]);
      expect(order).toEqual(['first', 'second']);
      expect(open.task(task).end('stdout')).toBe(3_000_000);
      await again();
      expect((await whole(output.stream(JOB, task, 'stdout'))).length).toBe(3_000_000);
    });

    it('is checked: a part that is damaged or missing is noticed, and the job does not open with it', async () => {
      print(1, 'y'.repeat(100_000));
      open.files.perform({ type: 'create', path: 'f', task, input: false });
      await open.task(task).sync();
      await open.files.sync();
      close();
      const sql = (text: string): Promise<unknown> => server().asAdmin(text.replaceAll('$', `"${schema}".`));
      const damaged = (words: string): object => ({ code: 'DAMAGED_DATA', message: expect.stringContaining(words) });
      await sql(`UPDATE $job_output_part SET bytes = set_byte(bytes, 0, 0) WHERE name = '2.stdout' AND part = 1`);
      await expect(whole(output.stream(JOB, task, 'stdout'))).rejects.toMatchObject(damaged('Part 1 of 2.stdout'));
      await expect(output.open(JOB, new Map())).rejects.toMatchObject(damaged('Part 1 of 2.stdout'));
      await sql(`DELETE FROM $job_output_part WHERE name = '2.stdout'`);
      await expect(whole(output.stream(JOB, task, 'stdout'))).rejects.toMatchObject(damaged('Part 0 of 2.stdout'));
      await sql(`DELETE FROM $job_output WHERE name = '2.stdout'`);
      await sql(`UPDATE $job_output SET name = 'files/../../x' WHERE name = 'files/f'`);
      await expect(output.open(JOB, new Map())).rejects.toMatchObject(damaged('unknown name'));
    });

    it('goes with the job, and a job without files takes none', async () => {
      print(1, 'one ');
      await open.task(task).sync();
      await new PostgresJobFiles(database).remove(JOB);
      print(2, 'two ');
      await expect(open.task(task).sync()).rejects.toMatchObject({ code: 'NOT_FOUND' });
      close();
      expect(await output.streamBytes(JOB, task, 'stdout')).toBe(0);
    });
  });
}
