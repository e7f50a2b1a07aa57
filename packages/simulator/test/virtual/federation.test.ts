/** The simulator of federations of clusters: its files, its chance, and what the production cores decide in it. */
import { expect, test } from 'vitest';
import { Random } from '../../src/random.ts';
import { exponential } from '../../src/virtual/federation/exponential.ts';
import { checkFiles, simulateFederation, type CheckpointCosts, type SimulationFiles } from '../../src/virtual/index.ts';

const topology = {
  clusters: [
    { nodes: 10, latencyUs: 10, bandwidthMbps: 80 },
    { nodes: 10, latencyUs: 10, bandwidthMbps: 80 },
  ],
  between: [[], [{ latencyUs: 150, bandwidthMbps: 100 }]],
};
const application = {
  hours: 10,
  clusters: [
    { computationS: 600, to: [0.8, 0.2] },
    { computationS: 600, to: [0.2, 0.8] },
  ],
};
const timers = { clusters: [{ clcMinutes: 30 }, { clcMinutes: 30 }], garbageHours: 2 };
const files = (more: { mtbfHours?: number } = {}): SimulationFiles =>
  checkFiles({ ...topology, ...more }, application, timers);
const COSTS: CheckpointCosts = { stateMB: 100, copyRate: 1000, commitMs: 5, detectMs: 1000, messageKB: 1 };

test('times are exponentially distributed', () => {
  const random = new Random(1);
  const times = Array.from({ length: 100_000 }, () => exponential(random, 1));
  const mean = times.reduce((a, b) => a + b) / times.length;
  const variance = times.reduce((sum, t) => sum + (t - mean) ** 2, 0) / times.length;
  expect(mean).toBeCloseTo(1, 1);
  expect(variance).toBeCloseTo(1, 1);
  for (const t of [0.5, 1, 2, 3]) expect(times.filter((x) => x > t).length / times.length).toBeCloseTo(Math.E ** -t, 2);
});

test.each<[string, unknown, unknown, unknown]>([
  ['topology: expected an object', [], application, timers],
  ['topology: between needs 2 entries, one for each cluster', { ...topology, between: [] }, application, timers],
  ['topology: between[1] needs 1 entries', { ...topology, between: [[], []] }, application, timers],
  ['topology: mtbfHours: expected a number above 0', { ...topology, mtbfHours: 0 }, application, timers],
  ['application: hours: expected a number above 0', topology, { ...application, hours: -1 }, timers],
  [
    'application: clusters[1].to adds up to 0.5, not to 1',
    topology,
    { hours: 1, clusters: [application.clusters[0], { computationS: 1, to: [0.5, 0] }] },
    timers,
  ],
  ['timers: clusters needs 2 entries', topology, application, { clusters: [], garbageHours: null }],
  ['timers: garbageHours: expected a number above 0', topology, application, { ...timers, garbageHours: 'never' }],
])('a file that is wrong: %s', (message, t, a, s) => {
  expect(() => checkFiles(t, a, s)).toThrow(message);
});

test('a seed runs the same again, and its trace has each action', () => {
  const traced: string[] = [];
  const once = simulateFederation({ files: files(), seed: 1, trace: (at, what) => traced.push(`${at} ${what}`) });
  expect(simulateFederation({ files: files(), seed: 1 })).toEqual(once);
  expect(simulateFederation({ files: files(), seed: 2 })).not.toEqual(once);
  const sends = traced.filter((line) => / sends to /.test(line)).length;
  expect(sends).toBe(once.messages.flat().reduce((a, b) => a + b));
  const commits = traced.filter((line) => / commits CLC /.test(line)).length;
  expect(commits).toBe([...once.forced, ...once.timed].reduce((a, b) => a + b));
});

test('"the total number of stored CLCs is smaller than (total computation time) / (delay between CLCs) + number of forced CLCs because the timer is reset" (section 5.2)', () => {
  const { forced, timed } = simulateFederation({ files: files(), seed: 1 });
  for (const i of [0, 1]) expect(forced[i]! + timed[i]!).toBeLessThan(20 + forced[i]!);
});

test('a message waits for its forced CLC only where CLCs take time', () => {
  expect(simulateFederation({ files: files(), seed: 1 }).waited).toBe(0);
  const { waited, waitedMs } = simulateFederation({ files: files(), seed: 1, costs: COSTS });
  expect(waited).toBeGreaterThan(10);
  // 100 MB at 80 Mb/s take 10 s.
  expect(waitedMs).toBeGreaterThan(5_000);
  expect(waitedMs).toBeLessThan(20_000);
});

test('failures: at least the failed cluster goes back, and more is undone than the work of one node', () => {
  for (let seed = 1; seed <= 5; seed++) {
    const failing = files({ mtbfHours: 1 });
    const instant = simulateFederation({ files: failing, seed });
    expect(instant.failures).toBeGreaterThan(0);
    expect(instant.rolled).toBeGreaterThanOrEqual(instant.failures);
    expect(instant.lostHours).toBeGreaterThan(instant.lostAloneHours);
    const costly = simulateFederation({ files: failing, seed, costs: COSTS });
    expect(costly.failures).toBe(instant.failures); // the same ones
  }
});
