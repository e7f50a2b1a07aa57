/**
 * Collectives in two levels (TEAMS rule T10): their results are those of one level, bit for bit, wherever the ranks
 * are, and few messages cross between teams.
 */
import fc from 'fast-check';
import { taskId } from '@mayfly/wire';
import { expect, test } from 'vitest';
import { collectives, COMM_WORLD, DOUBLE, linear, opHandle, type Layer } from '../src/index.ts';
import { BYTES, run, type Ran } from './one-thread.ts';

type Teams = readonly (readonly number[])[];
type Call = (layer: Layer, rank: number) => number;

const ranks = (p: number): number[] => Array.from({ length: p }, (_, i) => i);
const at = (from: number, n: number): ReturnType<typeof linear> => linear(from * BYTES, n * BYTES);
const ofTasks = (teams: Teams) => ({ teams: teams.map((team) => team.map((t) => taskId(t))) });
const SUM = opHandle('MPI_SUM');
/** MPI_INT. */
const INT = 5;

/** Numbers whose sum depends on the order. */
const number = (seed: number, rank: number, i: number): number =>
  Math.sin(seed + 17 * rank + 1001 * i) * 10 ** ((rank * 7 + i) % 9);

const whole = (seed: number, rank: number, i: number): number => (seed * 31 + rank * 7 + i * 3) % 1000;

/** `operand` numbers stand at each rank; `integers`: 32 bits each. */
function both(p: number, teams: Teams, words: number, operand: number, call: Call, seed = 1, integers = false): Ran[] {
  const begun: Call = (layer, rank) => {
    const bytes = layer.memory.view(linear(0, operand * BYTES));
    if (integers) {
      const to = new Int32Array(bytes.buffer, bytes.byteOffset, operand * 2);
      to.forEach((_, i) => (to[i] = whole(seed, rank, i)));
    } else {
      const to = new Float64Array(bytes.buffer, bytes.byteOffset, operand);
      to.forEach((_, i) => (to[i] = number(seed, rank, i)));
    }
    return call(layer, rank);
  };
  const one = run(p, words * BYTES, begun);
  const two = run(p, words * BYTES, begun, ofTasks(teams));
  two.memories.forEach((m, rank) => expect([rank, ...bits(m)]).toEqual([rank, ...bits(one.memories[rank]!)]));
  return [one, two];
}
const bits = (m: Float64Array): Uint32Array => new Uint32Array(m.buffer, m.byteOffset, m.length * 2);

const between = ({ sent }: Ran, teams: Teams): number =>
  sent.filter(([from, to]) => !teams.some((team) => team.includes(from) && team.includes(to))).length;

const calls = (
  p: number,
  n: number,
  root: number,
): Record<string, [words: number, operand: number, Call, boolean?]> => {
  const counts = ranks(p).map((r) => n + (r % 3));
  const displs = ranks(p).map((r) => counts.slice(r + 1).reduce((a, b) => a + b + 1, 0));
  const total = displs[0]! + counts[0]!;
  return {
    barrier: [1, 0, (l) => collectives.barrier(l, COMM_WORLD)],
    bcast: [n, n, (l) => collectives.bcast(l, COMM_WORLD, at(0, n), root)],
    reduce: [
      2 * n,
      n,
      (l, r) => collectives.reduce(l, COMM_WORLD, at(0, n), r === root ? at(n, n) : undefined, DOUBLE, SUM, root),
    ],
    'reduce of integers': [
      2 * n,
      n,
      (l, r) => collectives.reduce(l, COMM_WORLD, at(0, n), r === root ? at(n, n) : undefined, INT, SUM, root),
      true,
    ],
    allreduce: [2 * n, n, (l) => collectives.allreduce(l, COMM_WORLD, at(0, n), at(n, n), DOUBLE, SUM)],
    'allreduce of integers': [
      2 * n,
      n,
      (l) => collectives.allreduce(l, COMM_WORLD, at(0, n), at(n, n), INT, SUM),
      true,
    ],
    'allreduce in place': [n, n, (l) => collectives.allreduce(l, COMM_WORLD, undefined, at(0, n), DOUBLE, SUM)],
    allgather: [n * (p + 1), n, (l) => collectives.allgather(l, COMM_WORLD, at(0, n), at(n, n * p))],
    allgatherv: [
      total + n + 2,
      n + 2,
      (l, r) =>
        collectives.allgatherv(l, COMM_WORLD, at(0, counts[r]!), {
          buf: at(n + 2, total),
          unit: BYTES,
          counts,
          displs,
        }),
    ],
    alltoall: [2 * n * p, n * p, (l) => collectives.alltoall(l, COMM_WORLD, at(0, n * p), at(n * p, n * p))],
    'alltoall in place': [n * p, n * p, (l) => collectives.alltoall(l, COMM_WORLD, undefined, at(0, n * p))],
  };
};

/** Teams of neighbours, or any. */
const teamsOf = (p: number): fc.Arbitrary<Teams> =>
  fc
    .tuple(fc.shuffledSubarray(ranks(p), { minLength: p }), fc.boolean(), fc.array(fc.integer({ min: 1, max: 4 })))
    .map(([shuffled, neighbours, sizes]) => {
      const tasks = neighbours ? ranks(p) : shuffled;
      const teams: number[][] = [];
      for (let i = 0, k = 0; i < p; k++) {
        const team = tasks.slice(i, (i += sizes[k % (sizes.length || 1)] ?? 4));
        if (team.length > 1) teams.push(team.sort((a, b) => a - b));
      }
      return teams;
    });

test('have the bits of collectives in one level, wherever the ranks are', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 2, max: 13 }).chain((p) =>
        fc.record({
          p: fc.constant(p),
          teams: teamsOf(p),
          root: fc.integer({ min: 0, max: p - 1 }),
          n: fc.constantFrom(1, 3, 130),
          seed: fc.integer({ min: 0, max: 1000 }),
        }),
      ),
      ({ p, teams, root, n, seed }) => {
        for (const [words, operand, call, integers] of Object.values(calls(p, n, root)))
          both(p, teams, words, operand, call, seed, integers);
      },
    ),
    { numRuns: 25 },
  );
});

test('long vectors too', () => {
  const teams = [[0, 3], [1, 2, 6], [4, 5], [7, 8], [9]].filter((t) => t.length > 1);
  for (const n of [600, 17_000])
    for (const name of ['bcast', 'reduce of integers', 'allreduce', 'allreduce of integers', 'allgather']) {
      const [words, operand, call, integers] = calls(10, n, 6)[name]!;
      both(10, teams, words, operand, call, 5, integers);
    }
});

test('what crosses between 4 teams of 4', () => {
  const teams = [0, 4, 8, 12].map((first) => ranks(4).map((i) => first + i));
  const crossing = Object.fromEntries(
    Object.entries(calls(16, 2, 5)).map(([name, [words, operand, call, integers]]) => [
      name,
      both(16, teams, words, operand, call, 1, integers).map((ran) => between(ran, teams)),
    ]),
  );
  // In one level, in two.
  expect(crossing).toEqual({
    barrier: [24, 8],
    bcast: [7, 3],
    // Its order begins at the root.
    reduce: [7, 7],
    'reduce of integers': [7, 3],
    allreduce: [32, 8],
    'allreduce of integers': [32, 8],
    'allreduce in place': [32, 8],
    allgather: [32, 8],
    allgatherv: [44, 8],
    alltoall: [44, 12],
    'alltoall in place': [44, 12],
  });
});

test('ranks that are apart by turns', () => {
  const teams = [0, 1, 2, 3].map((first) => ranks(4).map((i) => first + 4 * i));
  const [words, operand, call] = calls(16, 2, 0)['reduce of integers']!;
  expect(both(16, teams, words, operand, call, 1, true).map((ran) => between(ran, teams))).toEqual([12, 3]);
  // Sums of fractions keep the order of one level.
  const [w, o, sums] = calls(16, 2, 0).allreduce!;
  const [one, two] = both(16, teams, w, o, sums);
  expect(two!.messages).toBe(one!.messages);
});
