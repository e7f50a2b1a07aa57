/** Servers that share a database: seeds without a violation, and each rule undone is found. */
import { expect, test } from 'vitest';
import { OWNER_RULES, huntOwners, runOwners } from '../src/index.ts';

const SEEDS = 40;

test('one server serves at a time, and nothing acknowledged is lost', () => {
  const kinds = new Set<string>();
  let takeovers = 0;
  for (let seed = 1; seed <= SEEDS; seed++) {
    const report = runOwners(seed);
    expect(report.violation, `seed ${seed}`).toBeUndefined();
    for (const kind of Object.keys(report.faults)) kinds.add(kind);
    takeovers += report.takeovers;
  }
  expect(kinds.size).toBe(8);
  expect(takeovers).toBeGreaterThan(SEEDS);
});

test.each(OWNER_RULES)('$rule undone is found', ({ rule, by }) => {
  const found = huntOwners(rule)!;
  expect(found.violation).toMatch(by);
  expect(runOwners(found.seed).violation).toBeUndefined();
});
