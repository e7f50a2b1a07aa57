/**
 * The smoke share of the planted bugs (docs/simulator.md has all of them): each undoes one rule of the protocol, and a
 * few seeds of the campaign find it; the seed that finds it passes when nothing is undone.
 */
import { expect, test } from 'vitest';
import { PLANTED, hunt, run, shrink, type Rule } from '../src/index.ts';

/** …and the seed at which the hunt begins, where the first ones are long or find nothing. */
const QUICK: readonly [Rule, RegExp, number?][] = [
  ['single-counter', /^K/],
  ['limits-ignored', /^K11/],
  ['determinants-not-on-frames', /^(K8|K1)/, 5],
  ['vain-polls-omitted', /^(K|ReplayDiverged)/, 7],
  ['unmatched-not-consumed', /^K13/, 3],
  ['image-without-sends', /^K14/],
  ['image-without-outputs', /^K14/, 3],
  ['image-without-pages', /^K14/],
  ['one-image-kept', /^K10/],
  ['trimmed-to-newest', /^K10/, 13],
  ['held-bodies-trimmed', /^K10/, 16],
  ['base-forgets', /^K10/, 7],
  ['trimmed-before-base', /^K10/],
  ['base-says-unsynced', /LOST_LOG/, 412],
  ['acknowledged-past-the-mark', /^K9/],
  ['requests-taken-again', /^K16/, 8],
  ['answers-forgotten', /LOST_LOG/, 27],
  ['kinds-ignored', /^K20/],
  ['children-forgotten', /^K13/, 8],
  ['loss-believed', /LOST_LOG/],
  ['others-not-asked', /LOST_LOG/],
  ['deadlock-believed', /DEADLOCK/],
  ['arrivals-not-retained', /^K17/, 8],
  ['strangers-end-jobs', /^K18|KEEPS_CRASHING/, 7],
  ['no-quarantine', /^K18/, 20],
  ['credit-to-the-last-node', /^K18/, 125],
  ['no-comparison', /^K13/, 3],
  ['words-believed', /^K13/, 3],
  ['blame-kept', /^K19/],
  ['forwards-though-full', /^K(8|12)/, 34],
  ['synced-though-full', /^K9/, 7],
  ['commit-given-up', /^K4/, 18],
  ['opens-before-reports', /^K/, 8],
  ['unconsumed-forgotten', /^K23/],
  ['ring-reorders', /^K24/],
  ['ring-repeats', /^K24/],
  ['ring-overwrites', /^K24/],
  ['held-for-ever', /^K13/, 13],
  ['reports-read-first', /^K8/],
  ['late-member-ended', /^K26/],
  ['mates-heads-only', /^K|LOST_LOG/, 190],
  ['wish-not-answered', /^K13/],
  ['local-suppressed', /^K13/, 3],
  ['counts-not-raised', /LOST_LOG/, 5],
  ['dissolved-anywhere', /^(K|ReplayDiverged)/, 10],
  ['carried-all-at-once', /^K6/, 18],
  ['carried-in-team-forgotten', /^K(13|24)/, 10],
  ['moved-in-parts', /^K25/, 4],
  ['merged-anywhere', /^K13/],
  ['merge-without-gate', /^K24/, 4],
  ['late-not-held', /^Q1/, 3],
  ['channels-not-recorded', /^Q2/],
  ['records-not-synced', /^Q2/],
  ['held-numbered-early', /LOST_LOG|^K13/],
  ['held-bodies-not-recorded', /^Q2/],
  ['recorded-too-soon', /^Q2/],
  ['consumed-before-cut', /^Q2/],
  ['cut-after-data', /^Q3/],
  ['cut-by-position', /^Q2/],
  ['held-after-the-wave', /^Q10/],
  ['outdated-life-accepted', /^Q[39]/],
  ['wave-number-reused', /^Q8/],
  ['commit-without-records', /^Q2/],
  ['world-not-synced', /^Q7/],
  ['rollback-during-commit', /^Q4/, 5],
  ['last-stored-images', /^Q7/],
  ['one-log-not-back', /^Q9/],
  ['survivors-keep-incarnation', /^Q9/],
  ['queues-survive', /LOST_LOG|^Q/],
  ['stdin-not-rewound', /^Q2/, 4],
  ['output-at-once', /^Q6/],
  ['requests-at-once', /^Q6/],
  ['near-wave-shows', /^Q6/, 3],
  ['near-in-place-of-whole', /^Q[68]/],
  ['mixed-set-counts', /^K14/],
  ['near-set-outlives-whole-ones', /^K10/],
  ['set-without-one', /^K14/],
  ['output-at-the-commit', /^Q6/],
  ['exit-at-once', /^Q6/, 3],
  ['wave-forgotten', /^Q8/],
  ['delivered-before-its-clc', /^Q14/, 3],
  ['undone-accepted', /^Q2/, 5],
  ['cluster-requests-at-once', /^Q6/, 3],
  ['unfenced-loss', /^Q16/],
  ['some-hear-nothing', /^K13/, 43],
  ['without-the-replacement', /^Q16/, 13],
  ['a-majority-decides', /^Q16/, 53],
  ['second-loss-ignored', /^Q16/, 13],
  ['context-of-before', /^Q16/],
  ['replaced-once', /^K13/, 32],
  ['waits-for-ever', /^Q22/, 13],
  ['slot-counts', /LOST_NODES/],
];

test.each(QUICK)('%s is found', (rule, by, first = 1) => {
  const planted = PLANTED.find((p) => p.rule === rule)!;
  const found = hunt({ ...planted, within: 24 }, first);
  expect(found?.report.violation).toMatch(by);
  // it is the rule that fails, not the seed
  expect(found!.innocent).toBeUndefined();
});

test('every planted bug has a name of its own and seeds to be found in', () => {
  expect(PLANTED.length).toBeGreaterThanOrEqual(20);
  expect(new Set(PLANTED.map((p) => p.rule)).size).toBe(PLANTED.length);
});

test('a failing seed shrinks to a shorter run that fails in the same way', () => {
  const planted = PLANTED.find((p) => p.rule === 'trimmed-to-newest')!;
  const { seed } = hunt(planted, 13)!.report;
  const s = shrink(seed, { undone: planted.rule }, 25)!;
  expect(s.options.faults!.length).toBeLessThan(s.faultsBefore);
  expect(run(seed, s.options).violation).toBe(s.report.violation);
  expect(s.report.violation).toMatch(/^K10/);
});
