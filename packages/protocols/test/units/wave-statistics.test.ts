/** Figures of waves and rollbacks (invariants B1 to B3). */
import { LISTED_WAVES, taskId, type TaskId } from '@mayfly/wire';
import { expect, it } from 'vitest';
import { WaveStatistics } from '../../src/units/wave-statistics.ts';
import type { WaveRecord } from '../../src/contract/waves.ts';

const t = (n: number): TaskId => taskId(n);
const next = { chosen: true };
const record = (wave: number, at: number): WaveRecord => ({ wave, epoch: 0, at, tasks: [], mark: null });
const counts = { recorded: 2, recordedBytes: 20, held: 1, heldBytes: 8 };

function committed(book: WaveStatistics, wave: number, at: number, tasks: number[]): void {
  book.waveBegins(wave, at);
  for (const task of tasks) book.cut(wave, t(task), at);
  for (const _ of tasks) book.stored(wave, 100, 40);
  book.waveOver(wave, at + 50, undefined, [counts, counts]);
}

it('has what a wave took', () => {
  const book = new WaveStatistics();
  book.began(t(0), 0);
  book.began(t(1), 0);
  committed(book, 1, 1000, [0, 1]);
  book.stalled(t(0), 4);
  book.stalled(t(1), 2);
  book.waveBegins(2, 2000);
  expect(book.waveOver(2, 2010, 'a rank was lost', [])).toBeUndefined();
  book.waveBegins(3, 3000);
  const view = book.view(next);
  expect(view).toMatchObject({ chosen: true, committed: 1, abandoned: 1, rollbacks: 0, lostMs: 0 });
  expect(view.recent).toEqual([
    {
      wave: 1,
      at: 1000,
      ms: 50,
      state: 'committed',
      images: 2,
      imageBytes: 200,
      sentBytes: 80,
      recorded: 4,
      recordedBytes: 40,
      held: 2,
      heldBytes: 16,
      stallMs: { mean: 3, most: 4 },
    },
    expect.objectContaining({ wave: 2, ms: 10, state: 'abandoned', reason: 'a rank was lost' }),
    expect.objectContaining({ wave: 3, state: 'underWay' }),
  ]);
  expect(book.stallOf(t(0))).toBe(4);
});

it('marks a wave as near until its images are at the server', () => {
  const book = new WaveStatistics();
  for (const [wave, near] of [
    [1, false],
    [2, true],
  ] as const) {
    book.waveBegins(wave, 1000 * wave);
    book.waveOver(wave, 1000 * wave + 50, undefined, [], near);
  }
  expect(book.view(next).recent.map((w) => w.near)).toEqual([undefined, true]);
  book.madeWhole(2);
  expect(book.view(next).recent.map((w) => w.near)).toEqual([undefined, undefined]);
});

it('counts the work of all ranks since the cut as lost, and as repeated until they are where they were (B1, B2)', () => {
  const book = new WaveStatistics();
  book.began(t(0), 0);
  book.began(t(1), 100);
  committed(book, 1, 1000, [0, 1]);
  book.lost('killed', [t(1)], 1500);
  book.lost('silent', [t(0)], 1520);
  expect(book.goesBack(1, record(1, 1050), 1600)).toEqual({
    kind: 'rollback',
    at: 1500,
    wave: 1,
    ms: 1000,
    cause: 'killed',
  });
  book.began(t(0), 2000);
  book.began(t(1), 2200);
  expect([book.repeatsUntil(t(0)), book.repeatsUntil(t(1))]).toEqual([2500, 2700]);
  // Lost again on the way: what was repeated is lost, and the place of the first loss is as far as it was.
  book.lost('crashed', [t(0)], 2300);
  book.goesBack(2, record(1, 1050), 2310);
  expect(book.view(next).rolledBack).toEqual([
    { at: 1500, epoch: 1, wave: 1, cause: 'killed', ranks: [1, 0], lostMs: 1000, mostMs: 500 },
    { at: 2300, epoch: 2, wave: 1, cause: 'crashed', ranks: [0], lostMs: 400, mostMs: 300 },
  ]);
  book.began(t(0), 3000);
  expect(book.repeatsUntil(t(0))).toBe(3500);
  // It has loaded its image first.
  book.ran(t(0), 3200);
  expect(book.repeatsUntil(t(0))).toBe(3700);
  // Another line before anybody acts undoes nothing more.
  book.goesBack(3, record(1, 1050), 3200);
  expect(book.view(next)).toMatchObject({ rollbacks: 3, lostMs: 1400 });
});

it('a task that has ended is as far as it was at its end; one without a cut begins at its start', () => {
  const book = new WaveStatistics();
  book.began(t(0), 0);
  book.began(t(1), 0);
  book.ended(t(0), 400);
  committed(book, 1, 1000, [1]);
  book.began(t(2), 1020);
  book.lost('killed', [t(1)], 1100);
  expect(book.goesBack(1, record(1, 1050), 1100)).toMatchObject({ ms: 100 + 80 });
});

it('after a restart of the server: since the last wave until the server was last there', () => {
  const book = new WaveStatistics();
  const last: WaveRecord = { ...record(7, 5000), tasks: [{ task: t(0), state: 'ended' }] };
  book.restarted(last, [0, 1, 2].map(taskId), { since: 0, until: 8000 }, 60_000);
  expect(book.goesBack(2, last, 60_000)).toMatchObject({ at: 60_000, wave: 7, ms: 6000, cause: 'server' });
  book.began(t(1), 61_000);
  expect(book.repeatsUntil(t(1))).toBe(64_000);
});

it('lists the newest waves and counts all (B3)', () => {
  const book = new WaveStatistics();
  for (let wave = 1; wave <= 3 * LISTED_WAVES; wave++) committed(book, wave, wave * 100, []);
  const { recent, committed: all } = book.view(next);
  expect([recent.length, recent.at(-1)!.wave, all]).toEqual([LISTED_WAVES, 3 * LISTED_WAVES, 3 * LISTED_WAVES]);
});
