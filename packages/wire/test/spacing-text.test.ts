import { expect, test } from 'vitest';
import { spacingText, type JobView } from '../src/index.ts';

const tasks = (...everyMs: (number | undefined)[]): JobView['tasks'] =>
  everyMs.map((imageEveryMs) => ({ activity: { imageEveryMs } })) as JobView['tasks'];

test('one line says that checkpoints are further apart than the job asks, and why', () => {
  expect(spacingText({ tasks: tasks(undefined) })).toBeUndefined();
  expect(spacingText({ tasks: tasks(undefined, 4000, 5200) })).toBe(
    'checkpoints are 5.2 s apart, further than the job asks, because one takes 2.6 s',
  );
  const waves = { periodMs: 12_400, chosen: true } as NonNullable<JobView['waves']>;
  expect(spacingText({ tasks: tasks(undefined), waves })).toBeUndefined();
  const raised = '12 s pass between checkpoints, and not 1.0 s as the job asks, because one takes 12 s';
  expect(spacingText({ tasks: [], waves: { ...waves, askedMs: 1000 } })).toBe(raised);
  const clusters = [{ periodMs: 500 }, { periodMs: 12_400, askedMs: 1000 }] as NonNullable<typeof waves.clusters>;
  expect(spacingText({ tasks: [], waves: { ...waves, clusters } })).toBe(raised);
});
