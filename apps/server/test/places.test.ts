/** Places of programs: from what nodes tell to what the submitted sources say. */
import { expect, it } from 'vitest';
import { until } from '@mayfly/testing';
import { incarnation, taskId, type Heartbeat, type JobId } from '@mayfly/wire';
import { Places } from '../src/jobs/places.ts';

const JOB = 'job' as JobId;
const T = taskId(0);
/** Line n of the bundle is line n of main.ts. */
const files = {
  sourceMap: async () => JSON.stringify({ version: 3, sources: ['main.ts'], names: [], mappings: 'AAAA;AACA;AACA' }),
  program: async () => Uint8Array.of(0, 0x61, 0x73, 0x6d, 1, 0, 0, 0),
};

const script = () => new Places(files, (job) => (job === JOB ? { language: 'typescript', part: 0 } : undefined));
const read = (places: Places, raw: string) => until(`the place of ${raw}`, () => places.of(JOB, T, raw));

it('says the line of a script as soon as its map is read, and nothing of jobs that are not there', async () => {
  const places = script();
  expect(places.of(JOB, T, 'exchange (mayfly-program.js:2:1)')).toBeUndefined();
  await read(places, 'exchange (mayfly-program.js:2:1)');
  expect(
    ['exchange (mayfly-program.js:2:7)', 'mayfly-program.js:3:1', 'elsewhere', 'new Grid (mayfly-program.js:3:1)'].map(
      (raw) => places.of(JOB, T, raw),
    ),
  ).toEqual(['exchange (main.ts:2)', 'main.ts:3', 'elsewhere', 'new Grid (main.ts:3)']);
  expect(places.of('other' as JobId, T, 'mayfly-program.js:2:1')).toBeUndefined();
});

it('says the function of a module without line numbers, and of one that is damaged', async () => {
  const gone = { ...files, program: () => Promise.reject(new Error('it is missing')) };
  for (const store of [files, gone]) {
    const places = new Places(store, () => ({ language: 'c', part: 0 }));
    await read(places, 'Grid::exchange(int, int) (wasm-function[9]:0x8fe)');
    expect(
      ['Grid::exchange(int, int) (wasm-function[9]:0x8fe)', 'wasm-function[7]:0x1f'].map((raw) =>
        places.of(JOB, T, raw),
      ),
    ).toEqual(['Grid::exchange(int, int)', 'function 7']);
  }
});

it('says a line of the program that the rank runs, where a job has several', async () => {
  const maps = ['a.ts', 'b.ts'].map((sources) => ({ version: 3, sources: [sources], names: [], mappings: 'AAAA' }));
  const store = { ...files, sourceMap: async (_: JobId, part: number) => JSON.stringify(maps[part]) };
  const places = new Places(store, (_, part) => ({ language: 'typescript', part }));
  for (const [task, line] of ['a.ts:1', 'b.ts:1'].entries())
    await until(`line ${line}`, () => places.of(JOB, taskId(task), 'mayfly-program.js:1:1') === line);
});

it('P1: takes no other form, and no more places than a program can be expected to have', async () => {
  const places = script();
  await read(places, 'mayfly-program.js:1:1');
  for (const raw of [
    '',
    'somewhere',
    'evil\u0000 (mayfly-program.js:1:1)',
    '../../etc/passwd:1:1',
    `${'x'.repeat(95)} (mayfly-program.js:1:1)`,
    'a (wasm-function[1]:0xg)',
  ])
    expect(places.of(JOB, T, raw)).toBeUndefined();
  for (let line = 1; line <= 256; line++) places.of(JOB, T, `mayfly-program.js:${line}:1`);
  expect([places.of(JOB, T, 'mayfly-program.js:2:1'), places.of(JOB, T, 'f (mayfly-program.js:2:1)')]).toEqual([
    'main.ts:2',
    'elsewhere',
  ]);
});

it('puts a heartbeat into the words of the sources; of a rank that is not the sender’s nothing is believed', async () => {
  const places = script();
  await read(places, 'mayfly-program.js:2:1');
  const beat = (task: number): Heartbeat['tasks'][number] => ({
    job: JOB,
    task: taskId(task),
    incarnation: incarnation(0),
    started: true,
    activity: { state: 'waiting', call: 'MPI_Recv', place: 'f (mayfly-program.js:2:1)', arrivals: 1, sends: 2 },
    places: [
      ['MPI_Recv', 'f (mayfly-program.js:2:1)', 12],
      ['MPI_Recv', 'nonsense', 5],
    ],
  });
  const { tasks } = places.inSources({ tasks: [beat(0), beat(1)] }, (t) => t.task === 0);
  expect(tasks[0]).toMatchObject({
    activity: { call: 'MPI_Recv', place: 'f (main.ts:2)' },
    places: [['MPI_Recv', 'f (main.ts:2)', 12]],
  });
  expect(tasks[1]).toEqual({
    job: JOB,
    task: 1,
    incarnation: 0,
    started: true,
    activity: { state: 'waiting', call: 'MPI_Recv', arrivals: 1, sends: 2 },
  });
  const plain = {
    tasks: [{ ...beat(0), activity: { state: 'computing', arrivals: 0, sends: 0 }, places: undefined }],
  } as unknown as Heartbeat;
  expect(places.inSources(plain, () => true)).toBe(plain);
});
