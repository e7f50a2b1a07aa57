import { expect, it } from 'vitest';
import { taskId, type ComparisonView, type JobReport } from '@mayfly/wire';
import { asText } from '../src/commands/report.ts';

it('a report reads as text: what was lost and what it took, hashes, and what was compared', () => {
  const rank = taskId(1);
  const r = {
    job: {
      id: 'abcdefghijkl',
      name: 'pi',
      state: 'done',
      exitCode: 0,
      startedAt: 1000,
      submittedAt: 0,
      runMs: 2500,
      program: { entry: 'pi.c', hash: '0123456789abcdef0' },
      args: ['9'],
      size: 2,
      seed: 7,
      options: { protocol: 'pessimistic' },
    },
    totals: { messages: 3, bytes: 24, images: 1, faults: 1, usefulMs: 900, replayedMs: 100 },
    nodes: [{ name: 'desk', engine: 'Chromium', ranks: [0, 1] }],
    faults: [
      { at: 2000, rank, incarnation: 0, cause: 'killed', slotMs: 10, startMs: 20, replayMs: 30, recoveredAfterMs: 60 },
      { at: 3000, rank, incarnation: 1, cause: 'crashed', error: 'INTERNAL: two\nlines\u001b[2J' },
    ],
    outputs: { stdout: [{ path: 'stdout', rank, bytes: 2, sha256: 'ab' }], stderr: [], files: [] },
  } as unknown as JobReport;
  const c = {
    runs: [
      { job: 'mnopqrstuvwx', state: 'done', faults: 0, same: true, differences: [] },
      { job: 'zzzzzzzzzzzz', state: 'running', faults: 0, differences: [] },
    ],
  } as unknown as ComparisonView;
  expect(asText(r, c)).toBe(
    [
      'pi (abcdefghijkl): done, exit code 0, ran 2.5 s',
      'pi.c 9, 2 ranks, pessimistic, seed 7, program 0123456789abcdef',
      "3 messages of 24 bytes, 1 images, 1 lost rank, 10.0 % of the ranks' time spent on repeated work",
      '',
      'NODE  ENGINE    RANKS',
      'desk  Chromium  0 1',
      '',
      'LOST AFTER  RANK  CAUSE    NEW PLACE  START  REPEAT  BACK AFTER  REASON',
      '1.0 s       1     killed   10 ms      20 ms  30 ms   60 ms',
      '2.0 s       1     crashed                                        INTERNAL: two lines [2J',
      '',
      'WRITTEN  RANK  BYTES  SHA-256',
      'stdout   1     2      ab',
      '',
      'OTHER RUN     STATE    LOST RANKS  THE SAME',
      'mnopqrstuvwx  done     0           yes, byte for byte',
      'zzzzzzzzzzzz  running  0           not compared',
    ].join('\n'),
  );
});

it('shows the waves of a job under coordinated checkpointing, and what going back to them cost', () => {
  const r = {
    job: {
      id: 'abcdefghijkl',
      name: 'ring',
      state: 'done',
      startedAt: 1000,
      submittedAt: 0,
      runMs: 9000,
      program: { entry: 'ring.c', hash: '0123456789abcdef0' },
      args: [],
      size: 2,
      seed: 7,
      options: { protocol: 'vcl' },
    },
    totals: { messages: 3, bytes: 24, images: 2, faults: 0, usefulMs: 900, replayedMs: 100 },
    nodes: [],
    faults: [],
    waves: {
      periodMs: 2000,
      chosen: true,
      committed: 3,
      abandoned: 1,
      rollbacks: 1,
      lostMs: 1500,
      recent: [
        {
          wave: 3,
          at: 4000,
          state: 'committed',
          ms: 120,
          imageBytes: 4096,
          recorded: 2,
          held: 0,
          stallMs: { most: 3 },
        },
        {
          wave: 4,
          at: 6000,
          state: 'abandoned',
          ms: 40,
          reason: 'a rank was lost',
          imageBytes: 0,
          recorded: 0,
          held: 1,
        },
      ],
      rolledBack: [{ at: 6040, epoch: 1, wave: 3, cause: 'killed', ranks: [1], lostMs: 1500, mostMs: 800 }],
    },
    outputs: { stdout: [], stderr: [], files: [] },
  } as unknown as JobReport;
  expect(
    asText(r, { runs: [] } as unknown as ComparisonView)
      .split('\n')
      .slice(3),
  ).toEqual([
    '',
    '3 waves committed, 1 abandoned, 2.0 s between waves (chosen); 1 rollback, 1.5 s of work undone',
    '',
    'WENT BACK AFTER  CAUSE   LOST RANKS  TO WAVE  WORK UNDONE  OF ONE RANK',
    '5.0 s            killed  1           3        1.5 s        0.8 s',
    '',
    'WAVE  AFTER  TOOK    IMAGES      IN CHANNELS  HELD BACK  STOOD STILL  OUTCOME',
    '3     3.0 s  120 ms  4096 bytes  2            0          3 ms         committed',
    '4     5.0 s  40 ms   0 bytes     0            1                       abandoned: a rank was lost',
  ]);
});
