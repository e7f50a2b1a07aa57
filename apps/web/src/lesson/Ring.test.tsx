/** The ring of the lesson: where the token is, and which ranks have no tab. */
import type { LessonView } from '@mayfly/wire';
import { renderToStaticMarkup } from 'react-dom/server';
import { expect, it } from 'vitest';
import { Ring } from './Ring.tsx';

const drawn = (steps: number, output: string, logged: number[], here = [true, true, true]): string =>
  renderToStaticMarkup(
    <Ring
      view={
        {
          state: 'running',
          steps,
          output,
          faults: [],
          ranks: logged.map((n, rank) => ({ rank, state: 'running', incarnation: 0, logged: n, read: 0 })),
        } satisfies LessonView
      }
      ranks={here.map((h) => ({ tone: 'wait', here: h }))}
    />,
  );
const turned = (svg: string): number => Number(/rotate\(([\d.]+)deg\)/.exec(svg)![1]);

it('the token goes round clockwise, a third at a time, and never back', () => {
  const way = [
    drawn(0, '', [0, 0, 0]),
    drawn(1, '', [1, 0, 0]),
    drawn(1, '', [1, 1, 0]),
    drawn(1, '', [1, 1, 1]),
    drawn(1, '1\n', [2, 1, 1]),
    drawn(2, '1\n', [3, 2, 1]),
  ];
  expect(way.map(turned)).toEqual([0, 0, 120, 240, 360, 480]);
  expect(way.at(-1)).toContain('The token is at rank 1.');
});

it('a rank without a tab is marked, each rank stands apart on the ring', () => {
  const svg = drawn(0, '', [0, 0, 0], [true, false, true]);
  expect([...svg.matchAll(/data-here="(\w+)"/g)].map((m) => m[1])).toEqual(['true', 'false', 'true']);
  expect([...svg.matchAll(/class="rank" cx="(\d+)" cy="(\d+)"/g)].map((m) => [m[1], m[2]])).toEqual([
    ['100', '36'],
    ['155', '132'],
    ['45', '132'],
  ]);
});
