/** What the files of jobs do when the database has damaged or lost something. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { JobSpec } from '@mayfly/protocols';
import { Database, PostgresArchive, PostgresJobFiles } from '../../src/postgres/index.ts';
import type { JobFileName } from '../../src/ports/index.ts';
import type { PostgresServer } from './server.ts';

const JOB = 'abcdefghijkl';

export function fileFailures(server: () => PostgresServer): void {
  describe('files of a job', () => {
    const schema = 'file failures';
    let database: Database;
    let files: PostgresJobFiles;
    let archive: PostgresArchive;
    beforeEach(async () => {
      database = await Database.open({ url: server().url(), schema });
      files = new PostgresJobFiles(database);
      archive = await PostgresArchive.open(database);
    });
    afterEach(() => database.close());
    const sql = (text: string): Promise<unknown> => server().asAdmin(text.replaceAll('$', `"${schema}".`));
    const flip = (table: string): Promise<unknown> =>
      sql(`UPDATE $${table} SET bytes = set_byte(bytes, 0, get_byte(bytes, 0) # 1)`);

    it('are checked: a part that is damaged or missing is noticed', async () => {
      await files.create(
        JOB,
        new Map<JobFileName, Uint8Array>([
          ['program.wasm', new Uint8Array(2_500_000).fill(7)],
          ['program.js', new Uint8Array(10)],
        ]),
      );
      expect(await files.read(JOB, 'program.wasm')).toHaveLength(2_500_000);
      await sql(`DELETE FROM $job_file_part WHERE name = 'program.wasm' AND part = 2`);
      const damaged = (words: string): object => ({ code: 'DAMAGED_DATA', message: expect.stringContaining(words) });
      await expect(files.read(JOB, 'program.wasm')).rejects.toMatchObject(damaged('Part 2 of program.wasm'));
      expect(await files.read(JOB, 'program.js')).toHaveLength(10);
      await flip('job_file_part');
      await expect(files.read(JOB, 'program.wasm')).rejects.toMatchObject(damaged('Part 0 of program.wasm'));
      await expect(files.read(JOB, 'program.js')).rejects.toMatchObject(damaged('Part 0 of program.js'));

      const stdin = await files.stdin(JOB);
      await stdin.append(new Uint8Array(5), false);
      await stdin.append(new Uint8Array(5), false);
      stdin.close();
      await flip('job_stdin');
      await expect(files.stdin(JOB)).rejects.toMatchObject(damaged('Message 1'));
      await sql('DELETE FROM $job_stdin WHERE n = 1');
      await expect(files.stdin(JOB)).rejects.toMatchObject(damaged('Message 1'));

      await files.seal(JOB, { job: { id: JOB } as unknown as JobSpec }, 'submitted');
      await sql(`UPDATE $job_note SET note = replace(note, '${JOB}', 'mnopqrstuvwx')`);
      expect(await files.sealed(JOB)).toBe('damaged');

      await archive.put(JOB, 'run', new Uint8Array(10));
      expect(await archive.get(JOB, 'run')).toHaveLength(10);
      await flip('job_archive');
      expect(await archive.get(JOB, 'run')).toBeUndefined();
    });

    it('go with the job, and nothing of a removed job comes back', async () => {
      await files.remove(JOB);
      await files.create(JOB, new Map<JobFileName, string>([['program.js', 'x']]));
      const stdin = await files.stdin(JOB);
      await stdin.append(new Uint8Array(5), false);
      await files.seal(JOB, { job: { id: JOB } as unknown as JobSpec, records: [] }, 'all');
      expect(await files.sealed(JOB)).toBe('all');
      await archive.put(JOB, 'run', new Uint8Array(10));
      // It came since.
      expect(await files.sealed(JOB)).toBe('ended');
      await files.remove(JOB);
      await expect(stdin.append(new Uint8Array(5), false)).rejects.toMatchObject({ code: 'NOT_FOUND' });
      await expect(archive.put(JOB, 'run', new Uint8Array(10))).rejects.toMatchObject({ code: 'NOT_FOUND' });
      for (const table of ['job', 'job_file', 'job_file_part', 'job_stdin', 'job_note', 'job_archive'])
        expect(await sql(`SELECT * FROM $${table}`)).toEqual([]);
    });
  });
}
