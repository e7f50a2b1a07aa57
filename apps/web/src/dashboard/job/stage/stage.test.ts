import { expect, test } from 'vitest';
import { taskId } from '@mayfly/wire';
import { cornerOf, flowsOf, gridOf, middleOf, placesOf, seatsOf, settled, stageText } from './stage.ts';

const at = (...nodes: (string | undefined)[]) =>
  nodes.map((node, i) => ({
    task: taskId(i),
    ...(node === undefined ? {} : { node: node as never, nodeName: `${node}'s tab` }),
  }));

test('S1: nodes keep their seats, whatever order their ranks come in', () => {
  const first = seatsOf([], at('a', 'b', 'a'));
  expect(first.map((s) => s.node)).toEqual(['a', 'b']);
  expect(seatsOf(first, at('c', 'b', 'a')).map((s) => s.node)).toEqual(['a', 'b', 'c']);
});

test('S2: a node that was lost leaves an empty window, which the next one takes', () => {
  const seats = seatsOf(seatsOf([], at('a', 'b')), at(undefined, 'b'));
  expect(seats).toMatchObject([
    { node: 'a', name: "a's tab", left: true },
    { node: 'b', left: false },
  ]);
  expect(seatsOf(seats, at('c', 'b'))).toMatchObject([
    { node: 'c', left: false },
    { node: 'b', left: false },
  ]);
  expect(seatsOf(seats, at('a', 'b'))).toMatchObject([{ node: 'a', left: false }, { node: 'b' }]);
});

test.each([[296], [328], [700], [1136], [2000]])(
  'S4: windows share %i px, and every rank is inside its own',
  (width) => {
    for (let seats = 1; seats < 20; seats++) {
      const grid = gridOf(width, seats, 7);
      for (let seat = 0; seat < seats; seat++) {
        const [x, y] = cornerOf(seat, grid);
        expect(x + grid.wide).toBeLessThanOrEqual(width);
        for (let index = 0; index < 7; index++) {
          const [mx, my] = middleOf({ task: 0, seat, index }, grid);
          expect(mx - 17).toBeGreaterThan(x);
          expect(mx + 17).toBeLessThan(x + grid.wide);
          expect(my + 17).toBeLessThan(y + grid.high);
        }
      }
    }
  },
);

test('S4: two windows stand beside each other on a phone, and four of a class use the width of a laptop', () => {
  expect(gridOf(328, 5, 2)).toMatchObject({ columns: 2, across: 3 });
  expect(gridOf(1136, 4, 2)).toMatchObject({ columns: 4, wide: 264 });
  expect(gridOf(0, 4, 2).across).toBe(1);
});

test('S3: every rank has one place, its own among those of its window', () => {
  const tasks = at('a', undefined, 'b', 'a', undefined);
  expect(placesOf(seatsOf([], tasks), tasks)).toEqual([
    { task: 0, seat: 0, index: 0 },
    { task: 1, seat: undefined, index: 0 },
    { task: 2, seat: 1, index: 0 },
    { task: 3, seat: 0, index: 1 },
    { task: 4, seat: undefined, index: 1 },
  ]);
});

test('messages flow by what is new of each pair, the busiest first, and not from before one looked', () => {
  const known = new Map<number, number>();
  expect(flowsOf(known, [[0, 1, 100, 0]], 4, true, 8)).toEqual([]);
  const news = [
    [0, 1, 103, 0],
    [1, 0, 7, 0],
    [2, 2, 50, 0],
    [3, 0, 1, 0],
  ] as const;
  expect(flowsOf(known, news, 4, false, 2)).toEqual([
    { from: 1, to: 0, n: 7 },
    { from: 0, to: 1, n: 3 },
  ]);
  expect(flowsOf(known, news, 4, false, 2)).toEqual([]);
});

test('in words: each tab with what its ranks do, and the ranks without one', () => {
  const tasks = at(undefined, 'b', 'b');
  const seats = seatsOf(seatsOf([], at('a', 'b', 'b')), tasks);
  const words = [{ text: 'waiting for a slot' }, { text: 'computing' }, { text: 'computing' }];
  expect(stageText(seats, placesOf(seats, tasks), words)).toBe(
    "a's tab: left; b's tab: 2 computing; without a node: 1 waiting for a slot",
  );
});

test('a rank that is done stays where it ended; one that was lost does not', () => {
  const last = new Map();
  const [a, b] = at('a', 'b');
  settled(
    last,
    [
      { ...a!, state: 'running' as const },
      { ...b!, state: 'running' as const },
    ],
    false,
  );
  const gone = [
    { task: taskId(0), state: 'done' as const },
    { task: taskId(1), state: 'unassigned' as const },
  ];
  expect(settled(last, gone, false).map((t) => t.node)).toEqual(['a', undefined]);
  expect(settled(last, gone, true).map((t) => t.node)).toEqual(['a', 'b']);
});
