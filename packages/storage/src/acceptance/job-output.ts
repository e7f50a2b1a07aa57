/** The contract of JobOutput and its parts (ports/). */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { FileSnapshot, Outcome } from '@mayfly/protocols';
import { WorldMode, taskId } from '@mayfly/wire';
import type { JobFileName, JobFiles, JobOutput, OpenOutput, Range } from '../ports/index.ts';
import type { Subject } from './subject.ts';

const JOB = 'abcdefghijkl';
const OTHER = 'mnopqrstuvwx';
const INPUT = '0f'.repeat(32);
const task = taskId(3);
const bytes = (s: string): Uint8Array => new TextEncoder().encode(s);

async function joined(parts: AsyncIterable<Uint8Array>): Promise<string> {
  let all = '';
  for await (const part of parts) all += Buffer.from(part).toString('latin1');
  return all;
}
const whole = (range: Range): Promise<string> => joined(range(0, Infinity));

/** What jobs write, and the files of the jobs, among them the inputs that it reads. */
export type OutputAndFiles = { output: JobOutput; files: JobFiles };

export function jobOutputSuite(name: string, make: () => Promise<Subject<OutputAndFiles>>): void {
  describe(`JobOutput: ${name}`, () => {
    let subject: Subject<OutputAndFiles>;
    let output: JobOutput;
    let files: JobFiles;
    let open: OpenOutput;
    const inputs = new Map([['data/in.txt', INPUT]]);
    beforeEach(async () => {
      subject = await make();
      ({ output, files } = await subject.open());
      await files.create(JOB, new Map<JobFileName, string>([[`in/${INPUT}`, 'an input']]));
      open = await output.open(JOB, inputs);
    });
    afterEach(async () => {
      open.close();
      await subject.dispose();
    });
    const reopen = async (): Promise<void> => {
      open.close();
      ({ output, files } = await subject.open());
      open = await output.open(JOB, inputs);
    };

    describe('streams of a task', () => {
      it('have a place for each message, the same whenever it comes again', async () => {
        const messages = ['one', 'err', 'two', '', 'three'].map((text, i) => ({
          n: i + 1,
          mode: i === 1 ? WorldMode.STDERR : WorldMode.STDOUT,
          body: bytes(text),
        }));
        const deliver = (): void => {
          const t = open.task(task);
          for (const { n, mode, body } of messages) {
            const place = t.place(n, mode, body)!;
            expect(place).toMatchObject({ mode, length: body.length });
            t.write(mode === WorldMode.STDERR ? 'stderr' : 'stdout', body, place.start);
          }
          expect(t.next).toBe(6);
          expect([t.end('stdout'), t.end('stderr')]).toEqual([11, 3]);
        };
        expect(open.tasks()).toEqual([]);
        deliver();
        deliver();
        await open.task(task).sync();
        await reopen();
        expect(open.tasks()).toEqual([task]);
        deliver();
        expect(await whole(output.stream(JOB, task, 'stdout'))).toBe('onetwothree');
        expect(await whole(output.stream(JOB, task, 'stderr'))).toBe('err');
      });

      it('give no place to a message whose predecessor has not come, and lose one that is taken back', () => {
        const t = open.task(task);
        expect(t.place(2, WorldMode.STDOUT, bytes('x'))).toBeUndefined();
        const place = t.place(1, WorldMode.STDOUT, bytes('never written'))!;
        t.takeBack(WorldMode.STDOUT, place);
        expect([t.next, t.end('stdout')]).toEqual([1, 0]);
        expect(t.place(1, WorldMode.STDERR, bytes('x'))).toMatchObject({ start: 0, mode: WorldMode.STDERR });
      });

      it('are read in ranges, of open jobs and of others', async () => {
        const t = open.task(task);
        const body = bytes('0123456789'.repeat(20_000));
        t.write('stdout', body, t.place(1, WorldMode.STDOUT, body)!.start);
        const check = async (): Promise<void> => {
          expect(await output.streamBytes(JOB, task, 'stdout')).toBe(200_000);
          expect(await joined(output.stream(JOB, task, 'stdout')(199_998, 200_000))).toBe('89');
          expect(await joined(output.stream(JOB, task, 'stdout')(5, 5))).toBe('');
          expect(Buffer.from(await output.readStream(JOB, task, 'stdout', 7, 5)).toString()).toBe('78901');
          expect(await output.readStream(JOB, task, 'stdout', 199_999, 5)).toHaveLength(1);
          expect(await output.streamBytes(JOB, task, 'stderr')).toBe(0);
          expect(await output.streamBytes(OTHER, task, 'stdout')).toBe(0);
        };
        await check();
        await t.sync();
        await reopen();
        await check();
      });
    });

    describe('result files', () => {
      const list = async (): Promise<[string, number, number][]> =>
        [...(await output.files(JOB))].map(([path, f]): [string, number, number] => [path, f.task, f.size]).sort();

      it('are made, patched at offsets, cut, and removed, and have a list of their own', async () => {
        const { files: f } = open;
        f.perform({ type: 'create', path: 'a/b.bin', task, input: false });
        f.perform({ type: 'write', path: 'a/b.bin', segments: [2, 2, 1, 2], data: bytes('xy') });
        f.perform({ type: 'write', path: 'a/b.bin', segments: [0, 1, 3, 2], data: bytes('ABC') });
        f.perform({ type: 'create', path: 'far', task, input: false });
        f.perform({ type: 'write', path: 'far', segments: [200_000, 1, 1, 1], data: bytes('x') });
        f.perform({ type: 'create', path: 'gone', task, input: false });
        f.perform({ type: 'remove', path: 'gone' });
        f.perform({ type: 'create', path: 'data/in.txt', task, input: true });
        f.perform({ type: 'resize', path: 'data/in.txt', size: 4 });
        await f.sync();
        const check = async (): Promise<void> => {
          expect(await list()).toEqual([
            ['a/b.bin', 3, 5],
            ['data/in.txt', 3, 4],
            ['far', 3, 200_001],
          ]);
          // With zeros before what was written.
          expect(await whole(output.file(JOB, 'far'))).toBe(`${'\0'.repeat(200_000)}x`);
          expect(await whole(output.file(JOB, 'a/b.bin'))).toBe('A\0ByC');
          expect(await whole(output.file(JOB, 'data/in.txt'))).toBe('an i');
          expect(await output.fileBytes(JOB, 'data/in.txt')).toBe(4);
          expect(await output.fileBytes(JOB, 'gone')).toBeUndefined();
          expect(Buffer.from(open.files.read('a/b.bin', false, [4, 1, 1, 1], 5)).toString()).toBe('C');
          // The input is as it was.
          expect(Buffer.from(open.files.read('data/in.txt', true, [3, 5, 1, 5], 8)).toString()).toBe('input');
          expect(Buffer.from((await files.read(JOB, `in/${INPUT}`))!).toString()).toBe('an input');
        };
        await check();
        await reopen();
        await check();
      });

      it('take effects once more after a crash, also those that later ones have made impossible', async () => {
        const { files: f } = open;
        const effects = [
          { type: 'create', path: 'p', task, input: false },
          { type: 'write', path: 'p', segments: [0, 1, 1, 1], data: bytes('x') },
          { type: 'remove', path: 'p' },
          { type: 'create', path: 'p/q', task, input: false },
          { type: 'write', path: 'p/q', segments: [0, 2, 1, 2], data: bytes('yz') },
        ] as const;
        for (const e of effects) f.perform(e);
        for (const e of effects) f.perform(e, true);
        f.enterAll(new Map([['p/q', { task, size: 2 }]]));
        expect(await list()).toEqual([['p/q', 3, 2]]);
      });
    });

    describe('the journal', () => {
      const snapshot = (nextSession: number): FileSnapshot =>
        ({ files: [], sessions: [], nextSession, applied: [], requests: [], hidden: [], answers: [] }) as never;
      const outcome = (n: number): Outcome => ({ task, n, mode: WorldMode.FILE, error: n % 3, value: n / 2 });
      const replayed = (): unknown[] => {
        const seen: unknown[] = [];
        open.journal.replay({
          snapshot: (s) => seen.push(s.nextSession),
          message: (o, body) => seen.push([o, Buffer.from(body).toString()]),
        });
        return seen;
      };

      it('gives back what was appended, in order, from the snapshot on', async () => {
        expect(replayed()).toEqual([]);
        expect(open.journal.bytes).toBe(0);
        open.journal.begin(snapshot(7));
        for (let n = 1; n <= 3; n++) open.journal.append(outcome(n), bytes('body '.repeat(n)));
        await open.journal.sync();
        await reopen();
        expect(replayed()).toEqual([7, ...[1, 2, 3].map((n) => [outcome(n), 'body '.repeat(n)])]);
        open.journal.append(outcome(4), bytes(''));
        await open.journal.sync();
        await reopen();
        expect(replayed()).toHaveLength(5);
      });

      it('begins with another snapshot, which stands for what was before a position', async () => {
        replayed();
        open.journal.begin(snapshot(1));
        open.journal.append(outcome(1), bytes('before'));
        const at = open.journal.bytes;
        open.journal.append(outcome(2), bytes('behind'));
        await open.journal.rewrite(snapshot(2), at);
        open.journal.append(outcome(3), bytes('new'));
        await open.journal.sync();
        await reopen();
        expect(replayed()).toEqual([2, [outcome(2), 'behind'], [outcome(3), 'new']]);
      });
    });

    it('is removed alone, or with the files of the job', async () => {
      const t = open.task(task);
      t.write('stdout', bytes('x'), t.place(1, WorldMode.STDOUT, bytes('x'))!.start);
      open.files.perform({ type: 'create', path: 'f', task, input: false });
      open.close();
      await output.remove(JOB);
      expect(await output.streamBytes(JOB, task, 'stdout')).toBe(0);
      expect((await output.files(JOB)).size).toBe(0);
      expect(await files.read(JOB, `in/${INPUT}`)).toBeDefined();
      open = await output.open(JOB, inputs);
      open.files.perform({ type: 'create', path: 'f', task, input: false });
      open.close();
      await files.remove(JOB);
      expect((await output.files(JOB)).size).toBe(0);
      open = await output.open(JOB, inputs);
    });
  });
}
