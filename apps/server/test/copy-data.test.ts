/** What a server keeps goes from a data directory into a database, and from there into another data directory. */
import { openEmbeddedStorage } from '@mayfly/storage';
import type { JobFileName, Storage } from '@mayfly/storage/ports';
import { openPostgresStorage } from '@mayfly/storage/postgres';
import { needPrograms, PostgresServer } from '@mayfly/storage/test-postgres';
import { WorldMode, taskId } from '@mayfly/wire';
import { expect, it } from 'vitest';
import { copyData } from '../src/copy-data.ts';
import { freshDir, later } from './harness.ts';

const JOB = 'abcdefghijkl';
const HASH = '0f'.repeat(32);
const STDIN = '1e'.repeat(32);
const text = (s: string): Uint8Array => new TextEncoder().encode(s);
const SPEC = {
  id: JOB,
  name: 'kept',
  size: 2,
  args: [],
  program: { language: 'typescript', entry: 'main.ts', hash: HASH },
  parts: [
    { program: { language: 'typescript', entry: 'main.ts', hash: HASH }, args: [], count: 1 },
    { program: { language: 'typescript', entry: 'other.ts', hash: HASH }, args: [], count: 1 },
  ],
  files: [{ path: 'in.txt', hash: HASH, bytes: 8 }],
};
const FILES = new Map<JobFileName, string>([
  ['submission.json', JSON.stringify({ name: 'kept', stdinHash: STDIN })],
  ['program.js', 'first()'],
  ['program.js.map', '{}'],
  ['program-1.js', 'second()'],
  [`in/${HASH}`, 'an input'],
  [`in/${STDIN}`, 'line\n'],
]);

async function open(dataDir: string): Promise<Storage> {
  const storage = await openEmbeddedStorage({ dataDir });
  later(() => storage.close());
  return storage;
}

/** A job with everything that a job can leave, and what tokens and rooms leave. */
async function fill(storage: Storage, state: string): Promise<void> {
  await storage.files.create(JOB, FILES);
  const stdin = await storage.files.stdin(JOB);
  await stdin.append(text('line\n'), false);
  await stdin.append(text(''), true);
  stdin.close();
  const written = await storage.output.open(JOB, new Map([['in.txt', HASH]]));
  const task = written.task(taskId(1));
  task.write('stdout', text('out'), task.place(1, WorldMode.STDOUT, text('out'))!.start);
  task.write('stderr', text('err'), task.place(2, WorldMode.STDERR, text('err'))!.start);
  const silent = written.task(taskId(0));
  silent.write('stdout', text('0'), silent.place(1, WorldMode.STDOUT, text('0'))!.start);
  await Promise.all([task.sync(), silent.sync()]);
  written.files.perform({ type: 'create', path: 'a/far.bin', task: taskId(1), input: false });
  written.files.perform({ type: 'write', path: 'a/far.bin', segments: [300_000, 1, 1, 1], data: text('x') });
  written.files.perform({ type: 'create', path: 'empty', task: taskId(0), input: false });
  await written.files.sync();
  written.close();
  await storage.archive.put(JOB, 'history', text('what happened'));
  await storage.registry.commit([
    [`job/${JOB}`, { spec: SPEC, state }],
    [`task/${JOB}/0`, { state: 'done' }],
    ['secret/server', { key: 'ab' }],
    ['room/QX7PKM', { name: 'A room' }],
    ['image/x', { image: 'x' }],
  ]);
}

async function joined(parts: AsyncIterable<Uint8Array>): Promise<string> {
  let all = '';
  for await (const part of parts) all += Buffer.from(part).toString('latin1');
  return all;
}

/** All of it, as text. */
async function kept(storage: Storage): Promise<unknown> {
  const { files, output, archive, registry } = storage;
  const stdin = await files.stdin(JOB);
  const lines = Array.from({ length: stdin.messages }, (_, n) => Buffer.from(stdin.message(n + 1)).toString());
  const { ended } = stdin;
  stdin.close();
  const read = async (name: JobFileName): Promise<string> => Buffer.from((await files.read(JOB, name))!).toString();
  return {
    files: await Promise.all([...FILES.keys()].map(read)),
    sealed: await files.sealed(JOB),
    stdin: { lines, ended },
    streams: await Promise.all(
      (['stdout', 'stderr'] as const).map((s) => joined(output.stream(JOB, taskId(1), s)(0, Infinity))),
    ),
    results: await Promise.all(
      [...(await output.files(JOB))]
        .sort()
        .map(async ([path, f]) => [path, f, await joined(output.file(JOB, path)(0, Infinity))]),
    ),
    history: Buffer.from((await archive.get(JOB, 'history'))!).toString(),
    run: await archive.get(JOB, 'run'),
    registry: await registry.entries(''),
  };
}

const programs = needPrograms();

it.skipIf(programs === undefined)('goes into a database and back, and is the same', async () => {
  const postgres = await PostgresServer.start(programs!);
  later(() => postgres.dispose());
  const source = await open(await freshDir());
  await fill(source, 'done');
  await source.files.seal(JOB, { job: SPEC as never, records: [] }, 'all');
  const database = await openPostgresStorage({ url: postgres.url(), dataDir: await freshDir() });
  later(() => database.close());
  const names: string[] = [];
  expect(await copyData(source, database, (job, n, of) => names.push(`${job} ${n} ${of}`))).toEqual({
    jobs: 1,
    records: 4,
  });
  expect(names).toEqual([`${JOB} 0 1`]);
  const back = await open(await freshDir());
  await copyData(database, back);
  const before = (await kept(source)) as { registry: [string, unknown][]; results: unknown[] };
  expect(before.results).toHaveLength(2);
  // Checkpoints of a job that has ended stay behind.
  before.registry = before.registry.filter(([key]) => key !== 'image/x');
  expect(await kept(database)).toEqual(before);
  expect(await kept(back)).toEqual(before);
  await expect(copyData(source, back)).rejects.toThrow('The target is in use');
});

it('refuses jobs that have not ended, and a source without anything; an attempt that broke is made again', async () => {
  const [source, target] = [await open(await freshDir()), await open(await freshDir())];
  await expect(copyData(source, target)).rejects.toThrow('nothing to copy');
  await fill(source, 'running');
  await expect(copyData(source, target)).rejects.toThrow(`cancel them: ${JOB} (kept)`);
  await source.registry.commit([[`job/${JOB}`, { spec: SPEC, state: 'failed' }]]);
  const put = target.archive.put.bind(target.archive);
  target.archive.put = () => Promise.reject(new Error('the power went'));
  await expect(copyData(source, target)).rejects.toThrow('the power went');
  // A server that starts there removes what was never accepted (job-marks.ts).
  expect((await target.registry.entries('')).map(([key]) => key)).toEqual([`making/${JOB}`]);
  target.archive.put = put;
  expect(await copyData(source, target)).toMatchObject({ jobs: 1 });
  expect((await target.registry.entries('making/')).length).toBe(0);
});
