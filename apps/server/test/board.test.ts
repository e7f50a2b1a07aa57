/** The board of a room: what is counted (B1), how much is kept (B2), whose it is (B3). */
import { describe, expect, it } from 'vitest';
import { boardText, incarnation, jobId, nodeId, taskId, type Heartbeat } from '@mayfly/wire';
import { Board } from '../src/board.ts';

function registry() {
  const kept = new Map<string, unknown>();
  return {
    kept,
    entries: async (prefix: string) => [...kept].filter(([k]) => k.startsWith(prefix)),
    commit: async (changes: readonly (readonly [string, unknown])[]) => {
      for (const [key, value] of changes)
        if (value === undefined) kept.delete(key);
        else kept.set(key, structuredClone(value));
    },
  };
}
const job = jobId('abcdefghjkmn');
const node = (n: number) => nodeId(`node${String(n).padStart(12, '0')}`);
const beat = (useful: number, replayed = 0, resting = 0, of = job): Heartbeat['tasks'] => [
  {
    job: of,
    task: taskId(0),
    incarnation: incarnation(0),
    started: true,
    activity: { state: 'computing', arrivals: 0, sends: 0 },
    spent: [useful, 0, 0, 0, replayed, resting],
  },
];
const yes = () => true;

describe('the board of a room', () => {
  it('counts work and replay of ranks that were given, not rest, and no more than its own clock allows', async () => {
    const board = await Board.open(registry() as never);
    board.came(node(1), 'ROOM22', { name: 'Ada', team: '7b' });
    board.given(node(1), job, taskId(0), incarnation(0), 1000);
    board.heard(node(1), beat(600, 300, 100), yes, 2000);
    expect(board.view('ROOM22', undefined).entries).toMatchObject([
      { place: 1, name: 'Ada', team: '7b', usefulMs: 600, replayedMs: 300, jobs: 1, finished: 0, here: true },
    ]);
    // A node that claims an hour within a second gets a second.
    board.heard(node(1), beat(3_600_600, 300), yes, 3000);
    expect(board.view('ROOM22', undefined).entries).toMatchObject([{ usefulMs: 1600 }]);
    // Of ranks that it was not given, nothing; nor what it did before the server heard of it.
    board.heard(node(1), beat(3_700_000), () => false, 9000);
    const other = jobId('nmkjhgfedcba');
    board.heard(node(1), beat(5000, 0, 0, other), yes, 9500);
    expect(board.view('ROOM22', undefined).entries).toMatchObject([{ usefulMs: 1600, jobs: 1 }]);
    board.heard(node(1), beat(5400, 0, 0, other), yes, 10_000);
    board.done(job, taskId(0), 10_000);
    expect(board.view('ROOM22', { name: 'ada', team: '7B' }).you).toMatchObject({
      usefulMs: 2000,
      jobs: 2,
      finished: 1,
    });
    expect(board.view(undefined, undefined)).toMatchObject({ names: 0, entries: [] });
    await board.close();
  });

  it(
    'adds up who gives the same name, sums the nameless and whoever comes beyond its bound, and survives a ' +
      'restart',
    async () => {
      const r = registry();
      const board = await Board.open(r as never);
      const give = (n: number, who: { name: string; team?: string } | undefined, ms: number) => {
        board.came(node(n), undefined, who);
        board.given(node(n), job, taskId(0), incarnation(0), 0);
        board.heard(node(n), beat(ms), yes, 100_000);
        board.left(node(n));
      };
      give(1, { name: 'Bob', team: 'x' }, 10);
      give(2, { name: 'bob', team: 'X' }, 20);
      give(3, { name: 'Cy', team: 'x' }, 70);
      give(4, undefined, 5);
      for (let n = 5; n < 603; n++) give(n, { name: `p${n}` }, 1);
      const view = board.view(undefined, { name: 'p600' });
      expect(view).toMatchObject({ names: 500, since: 100_000, anonymous: { usefulMs: 105, jobs: 1 } });
      expect(view.entries.slice(0, 2)).toMatchObject([
        { place: 1, name: 'Cy' },
        { place: 2, name: 'Bob', usefulMs: 30, jobs: 1, here: false },
      ]);
      expect([view.entries.length, view.you]).toEqual([100, undefined]);
      expect(view.teams).toEqual([{ team: 'x', names: 2, usefulMs: 100, replayedMs: 0, finished: 0 }]);
      await board.close();
      const again = await Board.open(r as never);
      expect(again.view(undefined, { name: 'p600' })).toEqual(view);
      again.came(node(1), 'ROOM22', { name: 'Ada' });
      again.given(node(1), job, taskId(0), incarnation(0), 0);
      again.heard(node(1), beat(10), yes, 100);
      await again.flush();
      expect([...r.kept.keys()].filter((k) => k.startsWith('board/ROOM22/'))).toHaveLength(1);
      again.closeRoom('ROOM22');
      await again.close();
      expect([...r.kept.keys()].filter((k) => k.startsWith('board/ROOM22/'))).toEqual([]);
    },
  );

  it('takes names that people have, and nothing that makes a board lie or break', () => {
    expect(['Ada', ' Jean-Luc  P. ', "O'Neill_7", 'Zoë', '李雷', '7b'].map(boardText)).toEqual([
      'Ada',
      'Jean-Luc P.',
      "O'Neill_7",
      'Zoë',
      '李雷',
      '7b',
    ]);
    expect(
      ['', ' ', '<b>', 'a\u202Eb', 'a\u0000', 'a\u200Bb', '/..', '-x', 'x'.repeat(25), '😀'].map(boardText),
    ).toEqual(Array(10).fill(undefined));
  });
});
