/**
 * Which algorithm a collective takes, and what it costs: all ranks in one thread, message by message, so that messages
 * and hops can be counted. That the results are right is checked here too, on more ranks than the fabric's threads
 * have.
 */
import { expect, test } from 'vitest';
import { DOUBLE, collectives, COMM_WORLD, linear, opHandle, type Layer } from '../src/index.ts';
import { BYTES, run } from './one-thread.ts';

const fill = (layer: Layer, rank: number, n: number): void => {
  const at = new Float64Array(layer.memory.view(linear(0, n * BYTES)).buffer);
  for (let i = 0; i < n; i++) at[i] = rank + i;
};
/** Operand at 0, result behind it. */
const at = (from: number, n: number): ReturnType<typeof linear> => linear(from * BYTES, n * BYTES);
const SUM = opHandle('MPI_SUM');
const value = (rank: number, i: number): number => rank + i;

/** A call over `n` elements per rank; what is expected at a rank begins at `into`. */
function check(
  size: number,
  n: number,
  total: number,
  operand: number,
  into: number,
  call: (layer: Layer, rank: number) => number,
  wanted: (rank: number) => number[],
): { messages: number; hops: number } {
  const { memories, messages, hops } = run(size, total * BYTES, (layer, rank) => {
    fill(layer, rank, operand);
    return call(layer, rank);
  });
  memories.forEach((m, rank) => {
    const w = wanted(rank);
    expect([rank, ...m.subarray(into, into + w.length)]).toEqual([rank, ...w]);
  });
  return { messages, hops };
}
const ranks = (p: number): number[] => Array.from({ length: p }, (_, i) => i);
const upTo = (n: number): number[] => Array.from({ length: n }, (_, i) => i);
const sum = (p: number, i: number): number => ranks(p).reduce((a, r) => a + value(r, i), 0);

const barrier = (p: number) =>
  check(
    p,
    0,
    1,
    0,
    0,
    (l) => collectives.barrier(l, COMM_WORLD),
    () => [],
  );
const gather = (p: number, n: number, root: number) =>
  check(
    p,
    n,
    n * (p + 1),
    n,
    n,
    (l, r) => collectives.gather(l, COMM_WORLD, at(0, n), r === root ? at(n, n * p) : undefined, root),
    (r) => (r === root ? ranks(p).flatMap((q) => upTo(n).map((i) => value(q, i))) : []),
  );
const scatter = (p: number, n: number, root: number) =>
  check(
    p,
    n,
    n * (p + 1),
    n * p,
    n * p,
    (l, r) => collectives.scatter(l, COMM_WORLD, r === root ? at(0, n * p) : undefined, at(n * p, n), root),
    (r) => upTo(n).map((i) => value(root, r * n + i)),
  );
const scan = (p: number, n: number, exclusive: boolean) =>
  check(
    p,
    n,
    2 * n,
    n,
    n,
    (l) => collectives.scan(l, COMM_WORLD, at(0, n), at(n, n), DOUBLE, SUM, exclusive),
    (r) => (exclusive && r === 0 ? [] : upTo(n).map((i) => sum(exclusive ? r : r + 1, i))),
  );
/** Rank r brings `n` + r mod 3 elements; the blocks lie backwards, one element apart. */
const allgatherv = (p: number, n: number) => {
  const counts = ranks(p).map((r) => n + (r % 3));
  const displs = ranks(p).map((r) => counts.slice(r + 1).reduce((a, b) => a + b + 1, 0));
  const total = displs[0]! + counts[0]!;
  return check(
    p,
    n,
    total + n + 2,
    n + 2,
    n + 2,
    (l, r) =>
      collectives.allgatherv(l, COMM_WORLD, at(0, counts[r]!), { buf: at(n + 2, total), unit: BYTES, counts, displs }),
    () =>
      ranks(p)
        .reverse()
        .flatMap((q, i) => [...(i > 0 ? [0] : []), ...upTo(counts[q]!).map((k) => value(q, k))]),
  );
};
const reduceScatter = (p: number, n: number) =>
  check(
    p,
    n,
    n * p + n,
    n * p,
    n * p,
    (l) => collectives.reduceScatterBlock(l, COMM_WORLD, at(0, n * p), at(n * p, n), DOUBLE, BYTES, SUM),
    (r) => upTo(n).map((i) => sum(p, r * n + i)),
  );

test.each([2, 3, 8, 9, 13, 16, 17])('short and long ones are right on %i ranks', (p) => {
  barrier(p);
  for (const n of [1, 600])
    for (const root of [0, p - 1]) {
      gather(p, n, root);
      scatter(p, n, root);
    }
  for (const exclusive of [false, true]) for (const n of [3, 9001]) scan(p, n, exclusive);
  for (const n of [2, 300]) reduceScatter(p, n);
  for (const n of [0, 5]) allgatherv(p, n);
});

test('messages, and hops one after the other, on 13 ranks', () => {
  expect(barrier(13)).toEqual({ messages: 24, hops: 2 });
  expect(barrier(8)).toMatchObject({ messages: 24 });
  expect(gather(13, 1, 0)).toMatchObject({ messages: 12 });
  expect(gather(13, 600, 0)).toEqual({ messages: 12, hops: 1 });
  expect(scatter(13, 1, 0)).toMatchObject({ messages: 12 });
  expect(scatter(13, 600, 0)).toEqual({ messages: 12, hops: 1 });
  expect(reduceScatter(13, 2)).toMatchObject({ messages: 24 });
  expect(reduceScatter(13, 300)).toEqual({ messages: 156, hops: 1 });
  expect(allgatherv(13, 5)).toEqual({ messages: 13 * 4, hops: 4 });
  expect(allgatherv(13, 800)).toEqual({ messages: 13 * 12, hops: 12 });
  // 72,008 bytes are three pieces, each of which goes once along the chain.
  expect(scan(13, 9001, false)).toMatchObject({ messages: 36 });
});
