/** Random runs of the cores of `hc3i`: no checker objects; and each rule is needed. */
import { expect, test } from 'vitest';
import { firstWrong } from '../coordinated/wrong.ts';
import { Model } from './model.ts';
import { PLANTED } from './planted.ts';

const SEEDS = 150;

test('no orphan, no loss, no domino, and nothing that a line needs is garbage', () => {
  const total = new Model(1).counts;
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

test.each(PLANTED)('$id $name is found: $found', ({ cores, found }) => {
  expect(firstWrong(400, (seed) => new Model(seed, cores).run())).toMatch(found);
});
