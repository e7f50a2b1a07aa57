/** Whole jobs under waves: whatever is lost, the job ends as one life of all its tasks; and each rule is needed. */
import { expect, test } from 'vitest';
import { Model, type Planted } from './job-model.ts';
import { firstWrong } from './wrong.ts';

const SEEDS = 400;

test('every job ends right', () => {
  const total = { waves: 0, back: 0, recorded: 0, late: 0, shown: 0 };
  const wrong: string[] = [];
  for (let seed = 1; seed <= SEEDS; seed++) {
    try {
      const { counts } = new Model(seed).run();
      for (const k of Object.keys(total) as (keyof typeof total)[]) total[k] += counts[k];
    } catch (e) {
      wrong.push(`seed ${seed}: ${(e as Error).message}`);
    }
  }
  expect(wrong.slice(0, 5)).toEqual([]);
  for (const [what, count] of Object.entries(total)) expect(count, what).toBeGreaterThan(100);
});

test.each<[Planted, RegExp]>([
  ['last stored images', /^Q/],
  ['output at once', /^Q5/],
  ['output at the commit', /^Q5/],
  ['exit is final', /^Q/],
  ['survivors keep their life', /^Q/],
  ['queues survive', /^Q/],
  ['one Channel Memory stays', /^Q/],
  ['the outside cuts first', /^Q/],
  ['records not synced', /^Q/],
  ['a task that acts is at its start', /^Q/],
])('a job is found where %s', (planted, found) => {
  expect(firstWrong(SEEDS, (seed) => new Model(seed, planted).run())).toMatch(found);
});
