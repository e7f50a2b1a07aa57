/** Whole jobs of the cores of teams/, at random; and with each rule undone (T1–T12 in the files that keep them). */
import { describe, expect, it } from 'vitest';
import { firstWrong } from '../coordinated/wrong.ts';
import { Model } from './model.ts';
import { PLANTED } from './planted.ts';

describe('teams under the pessimistic log', () => {
  it('keep every rule in 300 random jobs', () => {
    const all: Record<string, number> = {};
    const wrong = firstWrong(300, (seed) => {
      const { counts } = new Model(seed).run();
      for (const [k, n] of Object.entries(counts)) all[k] = (all[k] ?? 0) + n;
    });
    expect(wrong).toBeUndefined();
    for (const [k, n] of Object.entries(all)) expect.soft(n, k).toBeGreaterThan(20);
  });

  it.each(Object.entries(PLANTED))('notices: %s', (_, planted) => {
    expect(firstWrong(600, (seed) => new Model(seed, planted).run())).toBeDefined();
  });
});
