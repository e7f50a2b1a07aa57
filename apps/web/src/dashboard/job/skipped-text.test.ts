import type { TaskView } from '@mayfly/wire';
import { expect, it } from 'vitest';
import { skippedLines } from './skipped-text.ts';

const rank = (task: number, team: number | undefined, skipped?: number): TaskView =>
  ({
    task,
    ...(team === undefined ? {} : { team }),
    activity: { local: { arrivals: 1, sends: 1, waiting: 0, ...(skipped && { skipped }) } },
  }) as TaskView;

it('names the teams that have taken no checkpoint together for long, and what to do', () => {
  expect(skippedLines([rank(0, 0, 4), rank(1, 0, 4), rank(2, 2), rank(3, undefined)])).toEqual([]);
  const lines = skippedLines([rank(0, 0, 6), rank(1, 0, 7), rank(2, 2, 1), rank(3, 2), rank(4, 4, 5), rank(5, 4, 5)]);
  expect(lines.map((l) => l.text.slice(0, 60))).toEqual([
    'Ranks 0, 1 took no checkpoint together 7 times in a row: one',
    'Ranks 4, 5 took no checkpoint together 5 times in a row: one',
  ]);
  expect(lines[0]!.text).toContain('at the same place in each step');
});
