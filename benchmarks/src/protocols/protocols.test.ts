/** The comparison of protocols: what follows from its runs, and what its command line takes. */
import { expect, test } from 'vitest';
import { accepts, restarts } from '@mayfly/protocols/manifests';
import { COORDINATED } from '../papers/blocking-vs-nonblocking/real.ts';
import { settingsOf, UsageError } from './command.ts';
import { PROTOCOL_NAMES } from './names.ts';
import { costOfLoss, overhead, withLosses, type Run } from './reckoning.ts';

const calm = (protocol: string, round: number, took: number): Run => ({
  protocol,
  round,
  took,
  busy: took / 2,
  losses: 0,
});
const lossy = (round: number, took: number, losses: number, every: number): Run => ({
  ...{ protocol: 'vcl', round, took, busy: took / 2, losses, every },
});

test('the overhead compares runs of one round: a machine that gets slower changes nothing', () => {
  const runs = [calm('none', 0, 10), calm('vcl', 0, 11), calm('none', 1, 20), calm('vcl', 1, 24), calm('vcl', 2, 99)];
  expect(overhead(runs, 'vcl', 'took')).toEqual({ middle: 1.15, least: 1.1, most: 1.2, count: 2 });
  expect(overhead(runs, 'pessimistic', 'took')).toBeUndefined();
});

test('what a loss costs: a run with one says it for any interval, one with several for its own', () => {
  const runs = [calm('vcl', 0, 10), lossy(0, 13, 1, 20), lossy(0, 20, 2, 5), lossy(0, 10, 0, 20), lossy(1, 50, 1, 20)];
  expect(costOfLoss(runs, 'vcl', 20, 'took')).toEqual({ middle: 3, least: 3, most: 3, count: 1 });
  expect(costOfLoss(runs, 'vcl', 5, 'took')).toEqual({ middle: 4, least: 3, most: 5, count: 2 });
  expect(costOfLoss(runs, 'none', 5, 'took')).toBeUndefined();
});

test('with a loss every so often: t = without + cost × t / every', () => {
  const runs = [calm('none', 0, 10), calm('vcl', 0, 11), lossy(0, 16, 1, 20)];
  expect(withLosses(runs, 'vcl', 20, 'took')!.middle).toBeCloseTo(1.1 / (1 - 5 / 20));
  expect(withLosses(runs, 'vcl', 60, 'took')!.middle).toBeCloseTo(1.1 / (1 - 5 / 60));
  // half the processor time: a loss costs half as much of it
  expect(withLosses(runs, 'vcl', 20, 'busy')!.middle).toBeCloseTo(1.1 / (1 - 2.5 / 20));
  // losses come faster than work
  expect(withLosses(runs, 'vcl', 5, 'took')!.middle).toBe(Infinity);
  expect(withLosses(runs, 'pessimistic', 5, 'took')).toBeUndefined();
});

test('what is compared takes the options of the commands: checkpoints, losses, and no clusters to name', () => {
  expect(PROTOCOL_NAMES[0]).toBe('none');
  expect(COORDINATED).toEqual(['vcl', 'pcl']);
  for (const name of PROTOCOL_NAMES) expect(accepts(name, 'clusters'), name).toBe(false);
  for (const name of PROTOCOL_NAMES.slice(1)) expect(restarts(name) && accepts(name, 'checkpoints'), name).toBe(true);
});

test('the command line', () => {
  expect(settingsOf([])).toMatchObject({ rounds: 3, minutes: 20, long: false, seed: 1, intervals: [20, 60] });
  expect(settingsOf([])!.programs).toHaveLength(4);
  expect(settingsOf(['--long'])).toMatchObject({ minutes: 150, intervals: [20, 60, 180] });
  expect(settingsOf(['--programs', 'cg,bt', '--seed', '0'])!.programs.map((p) => p.name)).toEqual(['cg', 'bt']);
  expect(settingsOf(['--help'])).toBeUndefined();
  const wrong = [['--fast'], ['bt'], ['--programs', 'lu'], ['--rounds', '0'], ['--minutes', '-1'], ['--seed', '1e3']];
  for (const args of wrong) expect(() => settingsOf(args), args.join(' ')).toThrow(UsageError);
});
