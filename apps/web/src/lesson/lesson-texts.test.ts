import type { LessonView } from '@mayfly/wire';
import { describe, expect, it } from 'vitest';
import { holderOf, lostText, nextText, returnText } from './lesson-texts.ts';

const rank = (n: number, logged = 0): LessonView['ranks'][number] => ({
  rank: n,
  state: 'running',
  incarnation: 1,
  logged,
  read: 0,
});
/** `logged`: of ranks 0, 1, 2. */
const lesson = (steps: number, output: string, ...logged: number[]): LessonView => ({
  state: 'running',
  steps,
  ranks: [0, 1, 2].map((n) => rank(n, logged[n])),
  faults: [],
  output,
});

describe('the lesson', () => {
  it('speaks of messages only where there are some', () => {
    expect(lostText(rank(1))).toMatch(/^The server noticed that rank 1 is gone, .* Its log is empty so far\./);
    expect(lostText(rank(1, 1))).toContain('Its log of 1 message is kept.');
    expect(lostText(rank(1, 2))).toContain('Its log of 2 messages is kept.');
    expect(returnText(rank(1))).toContain('has nothing to repeat');
    expect(returnText(rank(1))).not.toContain('logged');
    expect(returnText(rank(1, 1))).toContain('received its logged message, so');
    expect(returnText(rank(1, 2))).toContain('received its logged messages in the old order, so');
  });

  it('knows where the token is', () => {
    expect(holderOf(lesson(0, ''))).toBe(0);
    expect(holderOf(lesson(1, '', 1, 0, 0))).toBe(0);
    expect(holderOf(lesson(1, '', 1, 1, 0))).toBe(1);
    expect(holderOf(lesson(1, '', 1, 1, 1))).toBe(2);
    expect(holderOf(lesson(1, '1\n', 2, 1, 1))).toBe(0);
    expect(holderOf(lesson(2, '1\n', 3, 2, 1))).toBe(1);
  });

  it('offers only what can be done', () => {
    const all = [0, 1, 2];
    expect(nextText(lesson(0, ''), all)).toBe('All ranks are ready. Send the token round.');
    expect(nextText(lesson(1, '', 1), all)).toBe('The ranks are at work.');
    expect(nextText(lesson(1, '1\n', 2, 1, 1), all)).toContain('Lap 1 of 6 is done.');
    // Before a lap the token may be sent; within one it waits, and only a tab helps.
    expect(nextText(lesson(1, '1\n', 2, 1, 1), [0, 2])).toMatch(
      /or send the token round and watch it stop before rank 1/,
    );
    expect(nextText(lesson(2, '1\n', 3, 2, 1), [0, 2])).toMatch(
      /^Rank 1 has no tab. The token waits in its log\. Open/,
    );
    expect(nextText(lesson(2, '1\n', 3, 2, 1), [0, 1])).toMatch(/^Rank 2 has no tab. Rank 1 has the token\. Open/);
    expect(nextText(lesson(2, '1\n', 3, 2, 1), [0, 1])).not.toContain('send');
  });
});
