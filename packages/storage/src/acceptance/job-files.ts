/** The contract of JobFiles and StdinLog (ports/). */
import type { JobSpec } from '@mayfly/protocols';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { JobFileName, JobFiles } from '../ports/index.ts';
import type { Subject } from './subject.ts';

const JOB = 'abcdefghijkl';
const OTHER = 'mnopqrstuvwx';
const INPUT: JobFileName = `in/${'0f'.repeat(32)}`;
const text = (s: string): Uint8Array => new TextEncoder().encode(s);

async function joined(parts: AsyncIterable<Uint8Array> | undefined): Promise<Buffer | undefined> {
  if (!parts) return undefined;
  const all: Uint8Array[] = [];
  for await (const part of parts) all.push(part);
  return Buffer.concat(all);
}

/** JobFiles keep nothing open, so the subject's port is only made again. */
export function jobFilesSuite(name: string, make: () => Promise<Subject<JobFiles>>): void {
  describe(`JobFiles: ${name}`, () => {
    let subject: Subject<JobFiles>;
    let files: JobFiles;
    beforeEach(async () => {
      subject = await make();
      files = await subject.open();
    });
    afterEach(() => subject.dispose());
    const reopen = async (): Promise<void> => {
      files = await subject.open();
    };

    it('keeps the files of each job, whole and in parts', async () => {
      const large = Buffer.from(Uint8Array.from({ length: 1_000_003 }, (_, i) => (i * 7 + (i >> 9)) & 255));
      await files.create(
        JOB,
        new Map<JobFileName, string | Uint8Array>([
          ['submission.json', '{"name":"ä"}'],
          ['program.wasm', large],
          [INPUT, new Uint8Array(0)],
        ]),
      );
      await files.create(OTHER, new Map<JobFileName, string>([['program.js', 'export {};']]));
      await reopen();
      expect(Buffer.from((await files.read(JOB, 'submission.json'))!).toString()).toBe('{"name":"ä"}');
      expect(Buffer.compare((await files.read(JOB, 'program.wasm'))!, large)).toBe(0);
      expect(Buffer.compare((await joined(await files.stream(JOB, 'program.wasm')))!, large)).toBe(0);
      expect(await files.read(JOB, INPUT)).toHaveLength(0);
      expect(await joined(await files.stream(JOB, INPUT))).toHaveLength(0);
      expect(Buffer.from((await files.read(OTHER, 'program.js'))!).toString()).toBe('export {};');
      // What is at hand may be read at once, and is the same then.
      const now = files.readNow(JOB, 'program.wasm');
      if (now) expect(Buffer.compare(now, large)).toBe(0);
    });

    it('has nothing of what was not stored', async () => {
      await files.create(JOB, new Map<JobFileName, string>([['program.js', 'x']]));
      for (const [job, file] of [
        [JOB, 'program.js.map'],
        [JOB, INPUT],
        [OTHER, 'program.js'],
      ] as const) {
        expect(await files.read(job, file)).toBeUndefined();
        expect(await files.stream(job, file)).toBeUndefined();
        expect(files.readNow(job, file)).toBeUndefined();
      }
    });

    it('refuses names that are no names of files or jobs, and stores nothing then', async () => {
      for (const bad of ['', 'program.exe', 'in/..', 'in/', `in/${'0'.repeat(63)}`, '../x', 'stdin', 'out/journal']) {
        const all = new Map([
          ['program.js' as JobFileName, 'x'],
          [bad as JobFileName, 'x'],
        ]);
        await expect(files.create(JOB, all)).rejects.toMatchObject({ code: 'BAD_REQUEST' });
        await expect(files.read(JOB, bad as JobFileName)).rejects.toMatchObject({ code: 'BAD_REQUEST' });
      }
      for (const bad of ['', '..', 'abc', `${JOB}x`, 'ABCDEFGHIJKL']) {
        await expect(files.read(bad, 'program.js')).rejects.toMatchObject({ code: 'BAD_REQUEST' });
        await expect(files.remove(bad)).rejects.toMatchObject({ code: 'BAD_REQUEST' });
      }
      expect(await files.read(JOB, 'program.js')).toBeUndefined();
    });

    it('creates a job once', async () => {
      await files.create(JOB, new Map<JobFileName, string>([['program.js', 'first']]));
      await expect(files.create(JOB, new Map<JobFileName, string>([['program.js', 'second']]))).rejects.toMatchObject({
        code: 'CONFLICT',
      });
      expect(Buffer.from((await files.read(JOB, 'program.js'))!).toString()).toBe('first');
    });

    it('removes all of a job, whose place can be taken again', async () => {
      await files.create(JOB, new Map<JobFileName, string>([['program.js', 'x']]));
      const stdin = await files.stdin(JOB);
      await stdin.append(text('typed'), true);
      stdin.close();
      await files.remove(JOB);
      await files.remove(JOB);
      expect(await files.read(JOB, 'program.js')).toBeUndefined();
      await files.create(JOB, new Map<JobFileName, string>([['program.wasm', 'y']]));
      expect(await files.read(JOB, 'program.js')).toBeUndefined();
      const again = await files.stdin(JOB);
      expect([again.messages, again.bytes, again.ended]).toEqual([0, 0, false]);
      again.close();
    });

    it('seals a job, and says how much of it', async () => {
      const job = { id: JOB, name: 'a job' } as unknown as JobSpec;
      expect(await files.sealed(JOB)).toBe('nothing');
      await files.create(JOB, new Map<JobFileName, string>([['program.js', 'x']]));
      expect(await files.sealed(JOB)).toBe('nothing');
      await files.seal(JOB, { job }, 'submitted');
      await reopen();
      expect(await files.sealed(JOB)).toBe('submitted');
      await files.seal(JOB, { job, records: [['job/1', { state: 'done' }]] }, 'all');
      expect(await files.sealed(JOB)).toBe('all');
      await files.remove(JOB);
      expect(await files.sealed(JOB)).toBe('nothing');
      await expect(files.seal(JOB, { job }, 'ended')).rejects.toThrow();
    });

    it('gives a reader who leaves early no more', async () => {
      await files.create(JOB, new Map<JobFileName, Uint8Array>([['program.wasm', new Uint8Array(1_000_000)]]));
      for await (const part of (await files.stream(JOB, 'program.wasm'))!) {
        expect(part.length).toBeLessThanOrEqual(1_000_000);
        break;
      }
      await files.remove(JOB);
    });

    it('keeps standard input by its messages, and takes repeated bytes once', async () => {
      await files.create(JOB, new Map<JobFileName, string>([['program.js', 'x']]));
      const big = new Uint8Array(150_000).map((_, i) => i);
      let stdin = await files.stdin(JOB);
      await stdin.append(text('one'), false);
      await stdin.append(big, false);
      const { messages } = stdin;
      const bodies = (): Buffer =>
        Buffer.concat(Array.from({ length: stdin.messages }, (_, n) => stdin.message(n + 1)));
      const all = Buffer.concat([text('one'), big]);
      expect(bodies().equals(all)).toBe(true);
      stdin.close();
      await reopen();
      stdin = await files.stdin(JOB);
      expect([stdin.messages, stdin.bytes, stdin.ended]).toEqual([messages, 150_003, false]);
      await expect(stdin.append(text('x'), false, 150_004)).rejects.toMatchObject({ code: 'CONFLICT' });
      await stdin.append(big.subarray(100_000), true, 100_003);
      expect([stdin.messages, stdin.bytes, stdin.ended]).toEqual([messages + 1, 150_003, true]);
      expect(stdin.message(messages + 1)).toHaveLength(0);
      expect(bodies().equals(all)).toBe(true);
      await expect(stdin.append(text('x'), false)).rejects.toMatchObject({ code: 'CONFLICT' });
      await stdin.append(text('one'), true, 0);
      stdin.close();
    });
  });
}
