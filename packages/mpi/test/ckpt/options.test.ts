/** Options of operation-level checkpoints: what they mean on so many nodes, and which ones are refused. */
import { sharedCodes } from '@mayfly/checkpoint/codes';
import { describe, expect, it } from 'vitest';
import { numbersFormat } from '../../src/ckpt/numbers.ts';
import { Algorithm, GROUP_SHIFT, protection, wrongIn } from '../../src/ckpt/options.ts';
import { partnerOf } from '../../src/ckpt/plan.ts';

const codes = sharedCodes();
const settings = (algorithm: number, nof = 0, group = 0): Parameters<typeof wrongIn>[0] => ({
  algorithm,
  nof,
  ratio: 0,
  memory: 0,
  flags: group << GROUP_SHIFT,
});
const { PAIR, CHECKSUM, WEIGHTED, WEIGHTED_REAL, IMEM_M_REP } = Algorithm;
const on = (nodes: readonly string[], ...o: Parameters<typeof settings>): ReturnType<typeof protection> =>
  protection(nodes, settings(...o), codes, (why) => {
    throw new Error(why);
  });

describe('checksums', () => {
  const nodes = ['a', 'a', 'b', 'c', 'c', 'd', 'e'];
  it('of a group are on nodes that no member and no other checksum of it is on', () => {
    for (const [c, group] of [
      [1, 0],
      [2, 0],
      [2, 2],
      [4, 0],
    ] as const) {
      const { m, sums } = on(nodes, WEIGHTED, c, group);
      expect(m).toBe(0);
      expect(sums.map((h) => h.name.ranks).flat().length).toBe(c * nodes.length);
      for (const { name } of sums) {
        const group = sums.filter((h) => h.name.ranks === name.ranks);
        const places = [...name.ranks, ...group.map((h) => h.by)].map((r) => nodes[r]);
        expect(new Set(places).size).toBe(places.length);
        expect(group.map((h) => h.name.index)).toEqual([...Array(c).keys()]);
      }
    }
  });
  it('are fewer than copies: one for each group, and dealt to the ranks of a node in turn', () => {
    expect(on(['a', 'b', 'c', 'd', 'e'], CHECKSUM).sums.map((h) => [h.name.ranks, h.by])).toEqual([
      [[0, 1, 2, 3], 4],
      [[4], 0],
    ]);
    const { sums } = on(['a', 'a', 'b', 'b', 'c', 'c'], CHECKSUM, 1, 2);
    expect(new Set(sums.map((h) => h.by)).size).toBe(sums.length);
  });
  it('adapt to few nodes where the options name no number', () => {
    expect(on(['a', 'b'], CHECKSUM).sums).toHaveLength(2);
    expect(on(['a', 'a'], WEIGHTED).sums).toEqual([]);
  });
});

it('pairs: two nodes hold for each other', () => {
  const nodes = ['a', 'a', 'b', 'c', 'd'];
  expect(nodes.map((_, r) => partnerOf(nodes, r))).toEqual([[2], [2], [0], [4], [3]]);
});

it.each([
  [PAIR, 0, 0, /needs an even number of nodes, and there are 3/],
  [WEIGHTED, 3, 0, /of 3 nodes at most 2 may be lost/],
  [WEIGHTED, 1, 3, /a group of 3 with 1 checksums needs 4 nodes, and there are 3/],
  [IMEM_M_REP, 3, 0, /of 3 nodes at most 2 may be lost/],
])('algorithm %i with nof %i and groups of %i does not suit three nodes', (algorithm, nof, group, why) => {
  expect(wrongIn(settings(algorithm, nof, group), 6)).toBeUndefined();
  expect(() => on(['a', 'b', 'c', 'a', 'b', 'c'], algorithm, nof, group)).toThrow(why);
});
it.each([
  [7, 0, 0, /algorithm 7/],
  [PAIR, 2, 0, /makes one copy/],
  [CHECKSUM, 2, 0, /makes one checksum/],
  [WEIGHTED, 6, 0, /of 6 processes/],
  [WEIGHTED_REAL, 1, 1, /needs two members/],
  [WEIGHTED, 3, 4, /needs 7 nodes/],
  [IMEM_M_REP, 1, 2, /only checksums have groups/],
])('algorithm %i with nof %i and groups of %i is refused anywhere', (algorithm, nof, group, why) => {
  expect(wrongIn(settings(algorithm, nof, group), 6)).toMatch(why);
});

it('numbers of every type become doubles and come back; what is no number is in the head', () => {
  const own = new Uint8Array(4 + 8 + 8 + 12);
  own.set([1, 2, 3, 4]);
  const view = new DataView(own.buffer);
  view.setBigInt64(4, -(2n ** 40n), true);
  view.setFloat64(12, Math.PI, true);
  [7, -8, 2 ** 31 - 1].forEach((x, i) => view.setInt32(20 + 4 * i, x, true));
  const format = numbersFormat(() => ({
    head: 4,
    length: own.length,
    parts: [
      { element: 9, offset: 4, bytes: 8 },
      { element: 8, offset: 12, bytes: 8 },
      { element: 5, offset: 20, bytes: 12 },
    ],
  }));
  const { head, body, finite } = format.split(own);
  expect([finite, head.length, [...new Float64Array(body.buffer)]]).toEqual([
    true,
    4,
    [-(2 ** 40), Math.PI, 7, -8, 2 ** 31 - 1],
  ]);
  expect(format.join(head, body)).toEqual(own);
  view.setBigInt64(4, 2n ** 60n + 1n, true);
  expect(format.split(own).finite).toBe(false);
});
