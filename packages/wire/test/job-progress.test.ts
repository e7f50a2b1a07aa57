import { expect, it } from 'vitest';
import { progressText } from '../src/index.ts';

it('progress in words: two digits of an estimate, and the ranks that repeat work', () => {
  const text = (fraction: number, remainingMs?: number, repeating: number[] = []): string =>
    progressText({ fraction, repeating: repeating as never, ...(remainingMs === undefined ? {} : { remainingMs }) });
  expect([
    text(0.429),
    text(0.999, 200),
    text(0.5, 99_000),
    text(0.5, 130_000),
    text(0.5, 5.4e6),
    text(0.01, 9e6),
  ]).toEqual([
    '42 %',
    '99 %, about 0 s left',
    '50 %, about 99 s left',
    '50 %, about 2.2 min left',
    '50 %, about 90 min left',
    '1 %, about 2.5 h left',
  ]);
  expect([text(0.5, undefined, [2]), text(0.5, 3000, [0, 2])]).toEqual([
    '50 %, rank 2 is catching up',
    '50 %, about 3 s left, 2 ranks are catching up',
  ]);
});
