/** The figures of papers: shapes hold at small sizes, and not where a rule is wrong; the command and its exit code. */
import { expect, test, vi } from 'vitest';
import { DEFAULTS, type Implementation } from '@mayfly/simulator';
import { draw } from '../chart.ts';
import { PAPER_NAMES } from '../short-names.ts';
import { papers } from './command.ts';
import type { Paper } from './paper.ts';
import { PAPERS } from './registry.ts';
import { around, crossing, falls, line, neverFalls, type Verdict } from './shapes.ts';
import { figure5 } from './blocking-vs-nonblocking/cluster.ts';
import { property } from './blocking-vs-nonblocking/figures.ts';
import { realVerdicts, type RealRun } from './blocking-vs-nonblocking/real.ts';
import { measure, type SeriesName, type Setting } from './blocking-vs-nonblocking/setups.ts';

vi.mock(import('../chart.ts'), async (original) => ({ ...(await original()), draw: vi.fn(() => Promise.resolve()) }));

const normal: Setting = { parameters: DEFAULTS, seeds: [1], sizes: 'small' };
const measured = figure5.experiments('small').map((e) => measure(e, normal));
/** Shapes that decide; a series of the figure may be that of a wrong implementation. */
function deciding(series?: SeriesName, implementation: Partial<Implementation> = {}): Verdict[] {
  const setting = { ...normal, broken: series ? { [series]: implementation } : {} };
  const all = measured.map((m) => (m.experiment.series === series ? measure(m.experiment, setting) : m));
  return [...figure5.verdicts(all), property(all)].filter((v) => v.beside === undefined);
}
const failed = (verdicts: readonly Verdict[]): string[] => verdicts.filter((v) => !v.holds).map((v) => v.shape);

test('Figure 5, 16 ranks: the shapes hold', () => {
  expect(deciding()).toHaveLength(4);
  expect(failed(deciding())).toEqual([]);
});

test('Figure 5: "The completion time of Vcl remains almost constant" does not hold for a Vcl that blocks', () => {
  expect(failed(deciding('vcl', { resumes: 'stored' }))).toContain('Vcl: the time is constant within 3 %');
});

test('Figure 5: "the completion time of Pcl decreases" does not hold for a Pcl that does not block', () => {
  const wrong = failed(deciding('pcl', { protocol: 'vcl', resumes: 'copied' }));
  expect(wrong).toContain('Pcl: the time falls with the number of servers');
});

test('least squares, spread and crossing', () => {
  const { slope, r2, at0 } = line([
    [0, 1],
    [1, 3],
    [2, 5],
  ]);
  expect([slope, r2, at0]).toEqual([2, 1, 1]);
  expect(
    line([
      [0, 1],
      [1, 1],
    ]),
  ).toMatchObject({ slope: 0, r2: 0 });
  expect(around([9, 11])).toBeCloseTo(0.1);
  expect([falls([3, 2, 1]), falls([3, 3]), neverFalls([1, 1, 2]), neverFalls([2, 1])]).toEqual([
    true,
    false,
    true,
    false,
  ]);
  expect(
    crossing(
      [
        [0, 0],
        [10, 10],
      ],
      [
        [0, 5],
        [10, 5],
      ],
    ),
  ).toBe(5);
  expect(
    crossing(
      [
        [0, 0],
        [10, 1],
      ],
      [
        [0, 5],
        [10, 5],
      ],
    ),
  ).toBeUndefined();
});

test('on real nodes: verdicts by protocol, none of which decides', () => {
  const run = (protocol: string, period: number, waves: number, time: number): RealRun => ({
    ...{ protocol, period, waves, time },
  });
  const none: RealRun = { protocol: 'none', time: 10, waves: 0 };
  const pcl = [run('pcl', 1, 12, 16), run('pcl', 2, 6, 13), run('pcl', 4, 3, 11.5)];
  const vcl = [run('vcl', 1, 12, 10.2), run('vcl', 2, 6, 10.1), run('vcl', 4, 3, 10.05)];
  const verdicts = realVerdicts([none, ...vcl, ...pcl]);
  expect(verdicts.map(([figure]) => figure)).toEqual(['6', '9', '9', '6', '9', '9', '7']);
  expect(verdicts.every(([, v]) => v.holds && v.beside !== undefined)).toBe(true);
  // a wave of vcl that costs as much as one of pcl
  expect(realVerdicts([none, ...pcl.map((r) => ({ ...r, protocol: 'vcl' })), ...pcl]).at(-1)![1].holds).toBe(false);
  // nobody can choose pcl
  expect(realVerdicts([none, ...vcl]).map(([figure]) => figure)).toEqual(['6', '9', '9']);
  // the more seldom, the dearer
  expect(realVerdicts([none, run('vcl', 1, 12, 10), run('vcl', 2, 6, 11)])[0]![1].holds).toBe(false);
});

const paper = (name: string, held: boolean, seen: unknown[] = []): Paper => ({
  ...{ name, title: `The paper ${name}`, about: 'two figures' },
  run: async ({ draw: drawn, ...options }) => {
    seen.push(options);
    await drawn(name, { title: '', x: '', y: '', series: [] } as never);
    return held;
  },
});

async function command(...args: string[]): Promise<{ code: number; out: string; err: string; seen: unknown[] }> {
  const [out, err, seen]: [string[], string[], unknown[]] = [[], [], []];
  const [log, error] = [vi.spyOn(console, 'log'), vi.spyOn(console, 'error')];
  log.mockImplementation((s: string) => void out.push(s));
  error.mockImplementation((s: string) => void err.push(s));
  try {
    const code = await papers(args, [paper('good', true, seen), paper('bad', false)]);
    return { code, out: out.join('\n'), err: err.join('\n'), seen };
  } finally {
    log.mockRestore();
    error.mockRestore();
  }
}

test('the command exits with 0 if all shapes hold, with 1 if one does not', async () => {
  const good = await command('good');
  expect([good.code, good.seen]).toEqual([0, [{ long: false, seed: 1, sensitivity: false, virtual: false }]]);
  expect((await command('bad')).code).toBe(1);
  expect((await command('bad', 'good')).code).toBe(1);
  expect((await command('good', '--long', '--seed', '7', '--virtual')).seen).toEqual([
    { long: true, seed: 7, sensitivity: false, virtual: true },
  ]);
});

test('only --write draws into docs/figures, and so changes the checkout', async () => {
  vi.mocked(draw).mockClear();
  await command('good');
  expect(draw).not.toHaveBeenCalled();
  await command('good', '--write');
  expect(draw).toHaveBeenCalledOnce();
});

test('the command lists papers, helps, and rejects what it does not know', async () => {
  expect(await command()).toMatchObject({ code: 0, out: expect.stringContaining('good\n  The paper good') });
  expect(await command('--help')).toMatchObject({ code: 0, out: expect.stringContaining('--sensitivity') });
  expect(await command('ugly')).toMatchObject({ code: 2, err: expect.stringContaining('there are good, bad') });
  expect(await command('good', '--seed', 'x')).toMatchObject({ code: 2, err: expect.stringContaining('invalid seed') });
  expect(await command('good', '--fast')).toMatchObject({ code: 2, err: expect.stringContaining('--fast') });
});

test('short.test.ts runs every paper', () => {
  expect(PAPERS.map(({ name }) => name)).toEqual([...PAPER_NAMES]);
});
