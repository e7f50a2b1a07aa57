/** A unit of recovery: who takes part in a wave, and when the wave is complete. */
import { imageId, taskId, type Cut } from '@mayfly/wire';
import { beforeEach, expect, test } from 'vitest';
import { START_OF_TASK } from '../../src/contract/waves.ts';
import { Unit } from '../../src/units/unit.ts';

const [zero, one, two] = [taskId(0), taskId(1), taskId(2)];
const MINUTE = 60_000;

let said: string[];
let unit: Unit;

beforeEach(() => {
  said = [];
  unit = new Unit(
    [zero, one, two],
    { waveMs: MINUTE, periodMs: undefined },
    {
      nameOf: (wave) => `wave ${wave}`,
      begins: ({ wave, ended, starting }) =>
        said.push(`${wave}: ended ${ended.join()}; from the start ${starting.join()}`),
      mark: (wave) => said.push(`${wave}: mark`),
      durable: (_, { mark }) => mark !== undefined,
      completes: ({ number }, tasks) => said.push(`${number}: ${tasks.map(({ state }) => state).join()}`),
      abandoned: (_wave, _reason, { level, message }) => said.push(`${level}: ${message}`),
      error: (message) => said.push(message),
    },
  );
});

const cut = (task: typeof zero, counts: Cut = START_OF_TASK): void =>
  unit.answer({ type: 'cut', wave: 1, task, cut: counts });
const stored = (task: typeof zero): void => unit.answer({ type: 'stored', wave: 1, task, image: imageId('i1') });

test('a wave has an image of everybody who runs, and the outside cuts last', () => {
  unit.begins(zero);
  unit.begins(one);
  unit.ends(one);
  unit.begin(1, 0);
  stored(zero);
  unit.answer({ type: 'marked', wave: 1, mark: null });
  expect(said).toEqual(['1: ended 1; from the start 2']);
  cut(zero);
  expect(said.slice(1)).toEqual(['1: mark', '1: image,ended,start']);
});

test('unit.1 an answer to another wave changes nothing, nor does one to a wave that is complete', () => {
  for (const task of [zero, one, two]) unit.begins(task);
  unit.begin(2, 0);
  for (const task of [zero, one, two]) cut(task);
  expect(said).toEqual(['2: ended ; from the start ']);
  unit.drop();
  unit.begin(1, 0);
  unit.answer({ type: 'marked', wave: 1, mark: null });
  for (const task of [zero, one, two]) {
    stored(task);
    cut(task);
  }
  unit.answer({ type: 'cannot', wave: 1, task: one, reason: 'too late' });
  unit.tick(10 * MINUTE);
  expect(said.at(-1)).toBe('1: image,image,image');
});

test('unit.2 no wave begins while a task is on its way back to an image', () => {
  unit.goesBack([
    { task: zero, state: 'image', image: imageId('i1'), cut: START_OF_TASK },
    { task: one, state: 'ended' },
    { task: two, state: 'start' },
  ]);
  unit.begins(two);
  expect(unit.mayBegin).toBe(false);
  unit.begins(zero);
  expect(unit.mayBegin).toBe(true);
  expect([...unit.ended]).toEqual([one]);
});

test('unit.4 a cut that is not consistent is no checkpoint', () => {
  for (const task of [zero, one, two]) unit.begins(task);
  unit.begin(1, 0);
  unit.answer({ type: 'marked', wave: 1, mark: null });
  for (const task of [zero, one, two]) stored(task);
  cut(zero);
  cut(one, { ...START_OF_TASK, arrivals: 1, receives: [[zero, 1]] });
  cut(two);
  expect(said.slice(2)).toEqual([
    'wave 1: rank 1 has consumed what rank 0 has not sent',
    'info: wave 1 is abandoned: its cut is not consistent (INCONSISTENT_WAVE)',
  ]);
});

test('unit.5 a task that ends before its image is here takes the wave with it', () => {
  for (const task of [zero, one, two]) unit.begins(task);
  unit.begin(1, 0);
  cut(one);
  unit.ends(one);
  expect(said.at(-1)).toBe('info: wave 1 is abandoned: rank 1 ended before its image was here');
  unit.begin(2, 0);
  expect(said.at(-1)).toBe('2: ended 1; from the start ');
});

test('unit.6 after a wave that took too long the next one has twice the time, and the third says so to people', () => {
  unit.begins(zero);
  let now = 0;
  for (const minutes of [1, 2, 4]) {
    unit.begin(1, now);
    unit.tick((now += minutes * MINUTE));
    expect(unit.wave).toBeDefined();
    unit.tick((now += 1));
    expect(unit.wave).toBeUndefined();
  }
  const why = 'rank 0, whose next MPI call has not come, took too long; the next one may take 480 s';
  expect(said.at(-1)).toBe(`warn: wave 1 is abandoned: ${why}`);
});
