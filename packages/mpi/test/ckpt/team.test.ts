/** Rounds of operation-level checkpoints (src/ckpt): examples of the paper, and the small world of model.ts. */
import { portableKernel, sharedCodes } from '@mayfly/checkpoint/codes';
import { describe, expect, it } from 'vitest';
import { holdersOf, planOf, type Share } from '../../src/ckpt/plan.ts';
import { Team, Word, type TeamEffect, type TeamEvent } from '../../src/ckpt/team.ts';
import { Violation, honest, play } from './model.ts';
import { PLANTED } from './planted.ts';

const SEEDS = 300;

describe('holders', () => {
  it('Figure 2: "sends the data … to the ckpt_buf of process (i + 1) % n", m times (m ≤ n − 1: C6)', () => {
    expect([0, 1, 2, 3].map((r) => holdersOf(['a', 'b', 'c', 'd'], r, 2))).toEqual([
      [1, 2],
      [2, 3],
      [3, 0],
      [0, 1],
    ]);
  });
  it('are on different nodes, also where nodes have several ranks, or not all the same number', () => {
    const nodes = ['a', 'a', 'a', 'b', 'c', 'c'];
    expect(nodes.map((_, r) => holdersOf(nodes, r, 2))).toEqual([
      [3, 4],
      [3, 5],
      [3, 4],
      [4, 0],
      [0, 3],
      [1, 3],
    ]);
  });
});

const share = (rank: number, o: Partial<Share> = {}): Share => ({
  node: `n${rank}`,
  team: 't',
  rank,
  size: 4,
  round: 5,
  done: 0,
  stable: 0,
  folder: 'f',
  slot: 0,
  held: [[5, [(rank + 3) % 4]]],
  ...o,
});
const fresh = (rank: number): Share =>
  share(rank, { node: `new ${rank}`, team: '', rank: -1, size: 0, round: 0, held: [] });

describe('plan', () => {
  it("Figure 3: only the new process' nearest NEXT sends it its data; and what it held comes back (C3)", () => {
    expect(planOf([share(0), share(1), share(2), fresh(3)], 1)).toMatchObject({
      round: 5,
      disk: false,
      transfers: [
        { from: 2, to: 3, of: 2 },
        { from: 0, to: 3, of: 3 },
      ],
    });
  });
  it('C1: who has all of a round that another knows to be whole goes back to it, too', () => {
    const behind = share(1, {
      round: 4,
      done: 5,
      held: [
        [4, [0]],
        [5, [0]],
      ],
    });
    expect(planOf([share(0), behind, share(2), share(3)], 1)).toMatchObject({ round: 5, transfers: [] });
  });
  it('falls back to the disk where copies are lost, and says so where there is nothing', () => {
    const two = [share(0), share(1), fresh(2), fresh(3)];
    expect(planOf(two, 1)).toEqual({ error: 'lost' });
    // Their nodes are older than checksums are.
    expect(planOf(two, 1, { codes: sharedCodes(portableKernel) })).toEqual({ error: 'lost' });
    const plan = planOf(
      two.map((s) => (s.team ? { ...s, stable: 3 } : s)),
      1,
    );
    expect(plan).toMatchObject({ round: 3, disk: true, folder: 'f' });
    expect(plan.error === undefined && plan.transfers).toHaveLength(4);
  });
  it('without replacements survivors keep their own data under new ranks, and get copies', () => {
    const left = [share(0), share(2, { held: [[5, [1]]] }), share(3, { held: [[5, [2]]] })];
    expect(planOf(left, 1)).toMatchObject({
      round: 5,
      stable: 0,
      // Rank 0 has the copy of the last one already.
      transfers: [{ from: 0, to: 1, of: 0 }],
    });
  });
  it('refuses members of different teams, and replacements of other ranks', () => {
    expect(planOf([share(0), share(1, { team: 'u' })], 1)).toEqual({ error: 'teams' });
    expect(planOf([fresh(0), share(1), share(2)], 1)).toEqual({ error: 'ranks' });
    expect(planOf([share(1), share(0), share(2), fresh(3)], 1)).toEqual({ error: 'ranks' });
  });
});

/** Two processes on two nodes; what each sends comes at once. */
function pair(memory = 100): { teams: Team[]; words: number[][]; all: (e: (r: number) => TeamEvent) => void } {
  const words: number[][] = [[], []];
  const teams = [0, 1].map((rank) => new Team({ id: 't', rank, nodes: ['a', 'b'], m: 1, memory, checked: 1 }));
  const take = (r: number, x: TeamEffect): void => {
    if (x.type === 'contribute') words[r]!.push(x.word);
    else if (x.type === 'count') hand(x.to, { type: 'count', round: x.round, from: r, count: x.count });
    else if (x.type === 'skip') hand(x.to, { type: 'skip', step: x.step });
    else hand(x.to, { type: x.type, round: x.round, of: x.of, bytes: x.bytes });
  };
  const hand = (r: number, e: TeamEvent): void => {
    for (const x of teams[r]!.step(e)) take(r, x);
  };
  const all = (e: (r: number) => TeamEvent): void => [0, 1].forEach((r) => hand(r, e(r)));
  all(() => ({
    type: 'begin',
    plan: { round: 0, disk: false, stable: 0, folder: '', slot: 1, transfers: [], recoveries: [], sums: [] },
    has: undefined,
  }));
  all(() => ({ type: 'decided', word: Word.READY, lost: false }));
  for (const w of words) w.length = 0;
  return { teams, words, all };
}
const here = (bytes: number, sent = 0, received = 0, disk = false): Extract<TeamEvent, { type: 'here' }> => ({
  type: 'here',
  own: new Uint8Array(bytes),
  disk,
  stored: true,
  memory: true,
  sent: [sent, sent],
  received: [received, received],
});

describe('a round', () => {
  it('is whole when all have contributed that they hold its copies; the one before is kept until then', () => {
    const { teams, words, all } = pair();
    all(() => here(8));
    expect(words).toEqual([[71], [71]]);
    expect(teams[0]!.whole.round).toBe(0);
    all(() => ({ type: 'decided', word: 71, lost: false }));
    expect(teams.map((t, r) => [t.whole.round, t.whole.copies.get(1 - r)?.length])).toEqual([
      [1, 8],
      [1, 8],
    ]);
    all(() => here(9));
    expect(teams[0]!.whole.own!.length).toBe(8);
    all(() => ({ type: 'decided', word: Word.NOTHING, lost: true }));
    expect(teams.map((t) => [t.state, t.whole.round])).toEqual([
      ['broken', 1],
      ['broken', 1],
    ]);
  });
  it('Figure 4: where the memory does not suffice it is not whole, unless it is on the disk', () => {
    const { teams, words, all } = pair(30);
    all(() => here(20));
    expect(words).toEqual([[69], [69]]);
    all(() => ({ type: 'decided', word: 69, lost: false }));
    expect(teams.map((t) => [t.whole.round, t.problem])).toEqual(Array(2).fill([0, 'memory']));
    all(() => here(20, 0, 0, true));
    all(() => ({ type: 'decided', word: 69, lost: false }));
    expect(teams.map((t) => [t.whole.round, t.stable, t.whole.copies.size])).toEqual(Array(2).fill([1, 1, 0]));
    // Neither here nor there.
    all(() => ({ ...here(20, 0, 0, true), stored: false }));
    all(() => ({ type: 'decided', word: 5, lost: false }));
    expect(teams.map((t) => [t.whole.round, t.stable, t.problem])).toEqual(Array(2).fill([1, 1, 'disk']));
  });
  it('C4: a message that was sent before and not received before it crosses it', () => {
    const { teams, words, all } = pair();
    all((r) => here(8, r === 0 ? 3 : 0, r === 1 ? 2 : 0));
    expect(words).toEqual([[71], [67]]);
    expect(teams[1]!.crossed).toEqual({ from: 0, more: 1 });
    all(() => ({ type: 'decided', word: 67, lost: false }));
    expect(teams.map((t) => [t.whole.round, t.problem])).toEqual(Array(2).fill([0, 'crossing']));
  });
  it('is nothing where the members do different things', () => {
    const { teams, words, all } = pair();
    // Rank 1 waits for no copy of rank 0.
    all((r) => (r === 0 ? { type: 'rollback' } : here(8)));
    expect(words).toEqual([[Word.ROLLBACK], [Word.NOTHING]]);
    all(() => ({ type: 'decided', word: 0, lost: false }));
    expect(teams.map((t) => [t.problem, t.whole.round])).toEqual(Array(2).fill(['mixed', 0]));
    all((r) => (r === 1 ? here(8) : { type: 'close' }));
    expect(words[1]).toEqual([Word.NOTHING, Word.NOTHING]);
  });
});

describe('in a small world with losses', () => {
  it(`Q17: all roll back to one round, with their own data, and miss none that was whole (${SEEDS} seeds)`, () => {
    let rollbacks = 0;
    for (let seed = 1; seed <= SEEDS; seed++)
      try {
        rollbacks += play(honest, seed);
      } catch (e) {
        throw new Error(`seed ${seed}`, { cause: e });
      }
    expect(rollbacks).toBeGreaterThan(5 * SEEDS);
  });
  it.each(Object.keys(PLANTED))('finds the planted bug %s', (name) => {
    let found = 0;
    for (let seed = 1; seed <= SEEDS && !found; seed++)
      try {
        play(PLANTED[name]!, seed);
      } catch (e) {
        if (!(e instanceof Violation)) throw e;
        found = seed;
      }
    expect(found).toBeGreaterThan(0);
  });
});
