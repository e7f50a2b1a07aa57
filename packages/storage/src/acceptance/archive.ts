/** The contract of Archive (ports/). */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Archive, JobFileName, JobFiles } from '../ports/index.ts';
import type { Subject } from './subject.ts';

const JOB = 'abcdefghijkl';
const OTHER = 'mnopqrstuvwx';
const text = (s: string): Uint8Array => new TextEncoder().encode(s);

/** The archive, and the files of the jobs that it is about. */
export type ArchiveAndFiles = { archive: Archive; files: JobFiles };

export function archiveSuite(name: string, make: () => Promise<Subject<ArchiveAndFiles>>): void {
  describe(`Archive: ${name}`, () => {
    let subject: Subject<ArchiveAndFiles>;
    let archive: Archive;
    let files: JobFiles;
    beforeEach(async () => {
      subject = await make();
      ({ archive, files } = await subject.open());
      for (const job of [JOB, OTHER]) await files.create(job, new Map<JobFileName, string>([['program.js', 'x']]));
    });
    afterEach(() => subject.dispose());
    const read = async (job: string, of: 'history' | 'run'): Promise<string | undefined> => {
      const bytes = await archive.get(job, of);
      return bytes && new TextDecoder().decode(bytes);
    };

    it('keeps the newest of each name of each job', async () => {
      expect(await read(JOB, 'history')).toBeUndefined();
      await archive.put(JOB, 'history', text('a long first one'));
      await archive.put(JOB, 'history', text('second'));
      await archive.put(JOB, 'run', text('run'));
      await archive.put(OTHER, 'run', text('of the other'));
      ({ archive } = await subject.open());
      expect([await read(JOB, 'history'), await read(JOB, 'run'), await read(OTHER, 'run')]).toEqual([
        'second',
        'run',
        'of the other',
      ]);
      expect(await read(OTHER, 'history')).toBeUndefined();
    });

    it('gives a reader the one or the other, whole', async () => {
      const [one, two] = ['1', '2'].map((c) => c.repeat(300_000));
      await archive.put(JOB, 'history', text(one!));
      const writing = archive.put(JOB, 'history', text(two!));
      for (let i = 0; i < 10; i++) expect([one, two]).toContain(await read(JOB, 'history'));
      await writing;
      expect(await read(JOB, 'history')).toBe(two);
      // What is at hand is the same.
      const now = archive.getNow(JOB, 'history');
      if (now) expect(new TextDecoder().decode(now)).toBe(two);
      expect(archive.getNow(OTHER, 'history')).toBeUndefined();
    });

    it('goes with the files of the job, and keeps nothing of a job without any', async () => {
      await archive.put(JOB, 'run', text('run'));
      await files.remove(JOB);
      expect(await read(JOB, 'run')).toBeUndefined();
      await archive.put(JOB, 'run', text('too late')).catch(() => undefined);
      expect(await read(JOB, 'run')).toBeUndefined();
    });
  });
}
