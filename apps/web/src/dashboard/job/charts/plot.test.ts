import type { Fault } from '@mayfly/wire';
import { createElement } from 'react';
import { renderToStaticMarkup } from 'react-dom/server';
import { describe, expect, it } from 'vitest';
import { bytes } from '../../../shared/format.ts';
import { Plot } from './Plot.tsx';
import { lastKnown, linesOf, niceMax, recoveriesOf, stepsOf } from './plot.ts';

describe('charts', () => {
  it('end at round numbers', () => {
    expect([0, 0.3, 1, 1.01, 4.2, 7, 99, 100, 1234].map(niceMax)).toEqual([1, 0.5, 1, 2, 5, 10, 100, 100, 2000]);
  });
  it('draw a step for each column, and nothing where nobody saw', () => {
    expect(stepsOf([5, 10, null, 0], 10)).toBe('M0 50H1V0H2M3 100H4');
    expect(stepsOf([5, null, 10], 10, true)).toBe('M0 100V50H1V100ZM2 100V0H3V100Z');
  });
  it('know a gap from their end', () => {
    expect([lastKnown([1, null, 0, null, null]), lastKnown([null]), lastKnown([])]).toEqual([2, -1, -1]);
  });
  it('have lines at round numbers, the last at the top', () => {
    expect([1, 2, 50, 1000, 3, 6].map(linesOf)).toEqual([
      [0.25, 0.5, 0.75, 1],
      [0.5, 1, 1.5, 2],
      [10, 20, 30, 40, 50],
      [250, 500, 750, 1000],
      [0.75, 1.5, 2.25, 3],
      [1.5, 3, 4.5, 6],
    ]);
  });
  it('write each number of the scale with its unit beside its line, and nothing where there is nothing', () => {
    const draw = (nothing?: string): string =>
      renderToStaticMarkup(
        createElement(Plot, {
          title: 'Log',
          hint: '',
          max: 20,
          say: bytes,
          nothing,
          label: '',
          times: ['0 s', '30 s', '1 min'],
          width: 9,
        }),
      );
    const scale = [...draw().matchAll(/style="bottom:(\d+%)">([^<]*)/g)].map(([, at, text]) => [at, text]);
    expect(scale).toEqual([
      ['25%', '5 B'],
      ['50%', '10 B'],
      ['75%', '15 B'],
      ['100%', '20 B'],
    ]);
    expect(draw()).toContain('d="M0 75H9M0 50H9M0 25H9M0 0H9"');
    expect(draw()).toContain('<span>0 s</span><span>30 s</span><span>1 min</span>');
    expect(draw('none so far')).not.toMatch(/20 B|M0 75/);
    expect(draw('none so far')).toContain('none so far');
  });
  it('show a bar for each recovery by phase, in order, several as their mean where there are many', () => {
    const fault = (task: number, at: number, a?: number, s?: number, r?: number) =>
      ({
        at,
        task,
        incarnation: 0,
        cause: 'killed',
        ...(a === undefined ? {} : { assignedAfterMs: a, startedAfterMs: s, recoveredAfterMs: r }),
      }) as never;
    // Four ranks of one tab, lost at once; the last has not recovered.
    const faults = [fault(0, 100, 10, 30, 90), fault(1, 100, 30, 50, 70), fault(2, 90, 1, 2, 3), fault(3, 100)];
    const bars = (most: number) =>
      recoveriesOf({ faults }, most).map((b) => [b.faults.map((f: Fault) => f.task), b.place, b.start, b.repeat]);
    expect(bars(3)).toEqual([
      [[2], 1, 1, 1],
      [[0], 10, 20, 60],
      [[1], 30, 20, 20],
    ]);
    expect(bars(2)).toEqual([
      [[2, 0], 5.5, 10.5, 30.5],
      [[1], 30, 20, 20],
    ]);
    expect(recoveriesOf({ faults: [] }, 3)).toEqual([]);
  });
});
