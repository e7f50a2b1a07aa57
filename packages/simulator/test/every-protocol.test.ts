/**
 * A share of the simulator for `npm test`: some seeds of each V-protocol, of teams and of parity, and for each one
 * planted bug that its checkers have to find. The campaigns are in the other files, and in `npm run simulate`.
 */
import { expect, test } from 'vitest';
import { NODES_COME_AND_GO, PLANTED, hunt, run, type Rule, type RunOptions } from '../src/index.ts';

test.each<[string, readonly number[], RunOptions]>([
  ['pessimistic', [1, 2, 3], { setup: { protocol: 'pessimistic', team: 1 } }],
  ['pessimistic in teams', [1, 2], { setup: { protocol: 'pessimistic', team: 4 } }],
  ['pessimistic with parity', [1], { setup: { protocol: 'pessimistic', checkpointMs: 300, wholeEvery: 3, team: 1 } }],
  ['vcl', [1, 2, 3], { setup: { protocol: 'vcl' } }],
  ['pcl with parity', [1, 2], { setup: { protocol: 'pcl', checkpointMs: 300, wholeEvery: 3 } }],
  ['hc3i', [1, 2], { setup: { protocol: 'hc3i' } }],
  ['app', [1, 2, 3], NODES_COME_AND_GO],
  ['none', [1, 2, 3], { setup: { protocol: 'none' } }],
])('%s: every seed ends as it may', (_name, seeds, options) => {
  for (const seed of seeds) {
    const r = run(seed, options);
    expect(r.violation, `seed ${seed}: ${r.parameters}\n${r.notes.slice(-30).join('\n')}`).toBeUndefined();
    expect(Object.keys(r.faults).length, `faults of seed ${seed}`).toBeGreaterThan(0);
  }
});

test.each<[Rule, RegExp, number?]>([
  ['image-without-sends', /^K14/],
  ['ring-reorders', /^K24/],
  ['late-not-held', /^Q1/, 3],
  ['near-wave-shows', /^Q6/, 3],
  ['undone-accepted', /^Q2/, 5],
  ['unfenced-loss', /^Q16/],
])('%s is found', (rule, by, first = 1) => {
  const found = hunt({ ...PLANTED.find((p) => p.rule === rule)!, within: 24 }, first);
  expect(found?.report.violation).toMatch(by);
  // it is the rule that fails, not the seed
  expect(found!.innocent).toBeUndefined();
});
