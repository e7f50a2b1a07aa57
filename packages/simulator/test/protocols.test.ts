/**
 * V-protocols as rows of the table: the simulator runs any of them, and a row that decides one thing otherwise makes a
 * difference that shows.
 */
import { expect, test } from 'vitest';
import { protocols, type VProtocol } from '@mayfly/protocols';
import { LINK_FAULTS, run, type FaultKind, type RunOptions, type RunReport } from '../src/index.ts';

const { pessimistic, none } = protocols;

const runs = (seeds: number, o: RunOptions): RunReport[] => Array.from({ length: seeds }, (_, i) => run(i + 1, o));
/** How each run ended that did not end with a correct answer. */
const ends = (reports: readonly RunReport[]): string[] =>
  reports.flatMap(({ seed, violation, endedBy }) =>
    (violation ?? endedBy) ? [`seed ${seed}: ${violation ?? endedBy}`] : [],
  );

test('none gives the right answer while links break', () => {
  const reports = runs(25, { setup: { protocol: 'none' }, only: LINK_FAULTS });
  expect(ends(reports)).toEqual([]);
  for (const kind of LINK_FAULTS)
    expect(
      reports.some((r) => (r.faults[kind] ?? 0) > 0),
      kind,
    ).toBe(true);
  for (const what of ['requests to the file service', 'messages between teammates', 'full rings'])
    expect(
      reports.some((r) => (r.counts[what] ?? 0) > 0),
      what,
    ).toBe(true);
});

test('none never gives a wrong answer: a lost node, rank or server ends its job', () => {
  const reports = runs(25, { setup: { protocol: 'none' } });
  expect(reports.flatMap((r) => r.violation ?? [])).toEqual([]);
  expect(new Set(reports.flatMap((r) => r.endedBy ?? []))).toEqual(new Set(['LOST_NODES', 'SERVER_RESTARTED']));
});

test.each<[string, RegExp, Partial<VProtocol>, readonly FaultKind[]]>([
  [
    'passes on what came twice',
    /K21: message \d+ of \d → \d is relayed after message \d+/,
    { log: { ...none.log, repeated: () => false } },
    LINK_FAULTS,
  ],
  [
    'runs a lost task again',
    /K22: task \d begins a second time/,
    { log: { ...none.log, refuses: () => undefined }, recovery: pessimistic.recovery },
    ['rank crash'],
  ],
])('the kit of none finds a relay that %s', (_what, found, row, only) => {
  const reports = runs(5, { protocol: { ...none, ...row }, setup: { protocol: 'none' }, only });
  expect(ends(reports).join('\n')).toMatch(found);
});

test('a row that shows nothing before it is durable never ends with LOST_LOG', () => {
  const strictly: VProtocol = { ...pessimistic, log: { ...pessimistic.log, visible: () => 'synced' } };
  const losses: RunOptions = {
    only: ['power loss', 'crash'],
    faultEveryMs: 250,
    setup: { durability: 'behind', syncMs: 2000, lazyTicks: 8 },
    spec: { files: false, rounds: 12 },
  };
  expect(ends(runs(17, { ...losses, protocol: strictly }))).toEqual([]);
  // the row makes the difference: the job asked for `behind`
  const behind = runs(17, losses);
  expect(behind.flatMap((r) => r.violation ?? [])).toEqual([]);
  expect(behind.filter((r) => r.endedBy === 'LOST_LOG').length).toBeGreaterThan(0);
});

test('a team of scripts takes images at a checkpoint of all, and repeats its prologue with copies', () => {
  const r = run(15, { setup: { protocol: 'pessimistic', team: 4 } });
  expect(r.parameters).toMatch(/"prologueRounds":[12]/);
  expect(r.violation).toBeUndefined();
  expect(r.counts['image']).toBeGreaterThan(5);
});
