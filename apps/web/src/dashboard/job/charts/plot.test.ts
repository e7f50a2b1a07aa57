import type { Fault } from '@mayfly/wire';
import { createElement } from 'react';
import { renderToStaticMarkup } from 'react-dom/server';
import { describe, expect, it } from 'vitest';
import { bytes, duration } from '../../../shared/format.ts';
import { Plot } from './Plot.tsx';
import { lastKnown, recoveriesOf, scaleOf, stepsOf, wholeScale } from './plot.ts';

describe('charts', () => {
  it('end at round numbers', () => {
    const ends = [0, 0.3, 1, 1.01, 4.2, 7, 99, 100, 1234].map((n) => scaleOf(n, 'rate').max);
    expect(ends).toEqual([1, 0.5, 1, 2, 5, 10, 100, 100, 2000]);
  });
  it('draw a step for each column, and nothing where nobody saw', () => {
    expect(stepsOf([5, 10, null, 0], 10)).toBe('M0 50H1V0H2M3 100H4');
    expect(stepsOf([5, null, 10], 10, true)).toBe('M0 100V50H1V100ZM2 100V0H3V100Z');
  });
  it('know a gap from their end', () => {
    expect([lastKnown([1, null, 0, null, null]), lastKnown([null]), lastKnown([])]).toEqual([2, -1, -1]);
  });
  it('have lines at round numbers, the last at the top', () => {
    expect([1, 2, 50, 1000].map((n) => scaleOf(n, 'rate').lines)).toEqual([
      [0.25, 0.5, 0.75, 1],
      [0.5, 1, 1.5, 2],
      [10, 20, 30, 40, 50],
      [250, 500, 750, 1000],
    ]);
  });
  it('have lines at whole bytes, and in the units that are written beside them', () => {
    const said = (n: number) => scaleOf(n, 'bytes').lines.map(bytes);
    expect([0, 1, 2, 4, 9].map(said)).toEqual([
      ['1 B'],
      ['1 B'],
      ['1 B', '2 B'],
      ['1 B', '2 B', '3 B', '4 B', '5 B'],
      ['2 B', '4 B', '6 B', '8 B', '10 B'],
    ]);
    expect(said(1700)).toEqual(['500 B', '1 kB', '1.5 kB', '2 kB']);
    expect(said(48_000_000)).toEqual(['10 MB', '20 MB', '30 MB', '40 MB', '50 MB']);
    for (let n = 1; n < 1e12; n *= 1.7) expect(new Set(said(n)).size, `${n}`).toBe(said(n).length);
  });
  it('have lines at whole slots', () => {
    expect([1, 4, 6, 7].map((n) => wholeScale(n).lines)).toEqual([[1], [1, 2, 3, 4], [2, 4, 6], [7]]);
  });
  it('have lines at times of a clock', () => {
    const said = (n: number) => scaleOf(n, 'time').lines.map(duration);
    expect(said(3)).toEqual(['1 ms', '2 ms', '3 ms', '4 ms', '5 ms']);
    expect(said(4700)).toEqual(['1 s', '2 s', '3 s', '4 s', '5 s']);
    expect(said(21_000)).toEqual(['10 s', '20 s', '30 s']);
    expect(said(75_000)).toEqual(['30 s', '1 min 00 s', '1 min 30 s', '2 min 00 s']);
    expect(said(3 * 3600_000)).toEqual(['1 h 00 min', '2 h 00 min', '3 h 00 min', '4 h 00 min', '5 h 00 min']);
    for (let n = 1; n < 1e9; n *= 1.7) {
      expect(scaleOf(n, 'time').max * 1.001, `${n}`).toBeGreaterThanOrEqual(n);
      expect(new Set(said(n)).size, `${n}`).toBe(said(n).length);
    }
  });
  it('write each number of the scale with its unit beside its line, and nothing where there is nothing', () => {
    const draw = (nothing?: string): string =>
      renderToStaticMarkup(
        createElement(Plot, {
          title: 'Log',
          hint: '',
          scale: scaleOf(20, 'bytes'),
          say: bytes,
          nothing,
          label: '',
          times: ['0 s', '30 s', '1 min'],
          axis: 'time since the start',
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
    expect(draw()).toContain('time since the start</p>');
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
