/** What the pages say of waves and rollbacks. */
import { type WaveView, type WavesView } from '@mayfly/wire';
import { expect, it } from 'vitest';
import { levelText, membersText, rollbackCause, rollbackText, sumsLine, waveLine, waveText } from './wave-texts.ts';

const wave = (over: Partial<WaveView>): WaveView => ({
  wave: 12,
  at: 10_000,
  state: 'committed',
  ms: 300,
  images: 3,
  imageBytes: 2_100_000,
  sentBytes: 40_000,
  recorded: 4,
  recordedBytes: 512,
  held: 0,
  heldBytes: 0,
  ...over,
});
const waves = (over: Partial<WavesView>): WavesView => ({
  chosen: false,
  periodMs: 30_000,
  nextAt: 40_300,
  committed: 12,
  abandoned: 0,
  rollbacks: 0,
  lostMs: 0,
  recent: [wave({})],
  rolledBack: [],
  ...over,
});

it('says of a job with parity which waves are near and which are whole', () => {
  expect([{}, { near: true } as const].map((w) => levelText(wave(w), true))).toEqual([
    'whole',
    'near: images with the nodes',
  ]);
  expect(levelText(wave({ state: 'underWay' }), true)).toBeUndefined();
  expect(levelText(wave({ state: 'abandoned', near: true }), true)).toBeUndefined();
  expect(levelText(wave({}), false)).toBeUndefined();
});

it('says where a job stands in a line', () => {
  expect(waveLine(waves({}), 14_400, false)).toBe(
    'Wave 12 was committed 4 s ago after 300 ms: 2.1 MB of images, 4 messages in the channels. ' +
      'The next begins in 26 s.',
  );
  const under = waves({ recent: [wave({}), wave({ wave: 13, at: 14_000, state: 'underWay' })] });
  expect(waveLine(under, 14_400, false)).toMatch(/channels\. Wave 13 is under way\.$/);
  expect(waveLine(waves({ recent: [] }), 14_400, false)).toBe('No wave is committed yet. The next begins in 26 s.');
  expect(waveLine(waves({ recent: [] }), 14_400, true)).toBe('No wave was committed.');
});

it('sums them up', () => {
  expect(sumsLine(waves({}))).toBe(
    '30 s between waves (found from their cost and the losses) · 12 committed · 0 rollbacks',
  );
  expect(sumsLine(waves({ chosen: true, askedMs: 1000 }))).toContain(
    '30 s between waves (raised from 1 s, because one takes so long)',
  );
  expect(sumsLine(waves({ chosen: true, abandoned: 2, rollbacks: 1, lostMs: 4200 }))).toBe(
    '30 s between waves (chosen) · 12 committed · 2 abandoned · 1 rollback · ' +
      '4.2 s of work undone, all ranks together',
  );
});

it('names what a rollback came of, and what it cost', () => {
  expect(rollbackCause({ cause: 'killed', ranks: [2] })).toBe('rank 2 was lost: killed manually');
  expect(rollbackCause({ cause: 'disconnected', ranks: [3, 1] })).toBe('ranks 1, 3 were lost: the connection broke');
  expect(rollbackCause({ cause: 'server', ranks: [] })).toBe('the server was restarted');
  expect(rollbackText({ wave: 0, cause: 'paused', ms: 1500 })).toBe(
    'all ranks went back to the start: the job was paused; 1.5 s of work undone',
  );
});

it('names a cluster, where a job has some', () => {
  expect(rollbackText({ wave: 7, cause: 'server', ms: 1500, cluster: 1 })).toBe(
    'cluster 1 went back to wave 7: the server was restarted; 1.5 s of work undone',
  );
  expect(waveText({ wave: 7, cluster: 0 })).toBe('wave 7 of cluster 0 was committed');
  expect([membersText([4]), membersText([0, 1, 2, 3]), membersText([7, 0, 1])]).toEqual([
    'rank 4',
    'ranks 0 to 3',
    'ranks 0, 1, 7',
  ]);
});
