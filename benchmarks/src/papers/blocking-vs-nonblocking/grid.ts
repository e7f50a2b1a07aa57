/** Figures 9 and 10: a grid (section 5.4). */
import { line, type Point, type Verdict } from '../shapes.ts';
import { byWaves, curves, list, of, seconds, slopeOf, times, type Figure } from './figure.ts';
import { SERIES, type Experiment } from './setups.ts';

const GRID = { benchmark: 'BT', network: 'grid', perNode: 2, servers: 4 } as const;
export const figure9: Figure = {
  number: 9,
  benchmark: 'BT',
  title: 'BT.B, 400 ranks on a grid of 6 sites, 4 servers in each, Pcl: period and waves',
  paper: [
    'Even in grid deployments, the execution time is still linear to the number of checkpoint waves. This number ' +
      'itself is proportional to the frequency of checkpoints, that is the inverse of the time between checkpoints.',
  ],
  experiments: (sizes) => {
    const periods = sizes === 'long' ? [10, 15, 20, 30, 40, 60] : [10, 15, 20, 30, 60];
    const ranks = sizes === 'small' ? 36 : 400;
    return periods.map((period): Experiment => ({ ...GRID, series: 'pcl', ranks, period }));
  },
  verdicts: (all) => {
    const { slope, r2 } = slopeOf(all);
    const frequency = line(all.map((m): Point => [1 / m.experiment.period!, m.waves]));
    return [
      {
        shape: 'the time is linear in the number of waves (r² > 0.9)',
        ours: `${seconds(slope)} a wave, r² ${r2.toFixed(3)}`,
        holds: slope > 0 && r2 > 0.9,
      },
      {
        shape: 'the number of waves is proportional to the inverse of the period (r² > 0.9)',
        ours: `${all.map((m) => `${m.experiment.period} s: ${m.waves}`).join(', ')}; r² ${frequency.r2.toFixed(3)}`,
        holds: frequency.slope > 0 && frequency.r2 > 0.9,
      },
    ];
  },
  charts: (all) => ({
    'left-time': {
      title: 'Figure 9, left: BT.B on a grid, time',
      x: { label: 's between waves' },
      y: { label: 's' },
      series: curves(all, ['pcl'], (m) => m.experiment.period!),
    },
    'left-waves': {
      title: 'Figure 9, left: BT.B on a grid, waves',
      x: { label: 's between waves' },
      y: { label: 'waves' },
      series: curves(
        all,
        ['pcl'],
        (m) => m.experiment.period!,
        (m) => m.waves,
      ),
    },
    right: {
      title: 'Figure 9, right: BT.B on a grid',
      x: { label: 'waves' },
      y: { label: 's' },
      series: [{ name: SERIES.pcl, points: byWaves(all) }],
    },
  }),
};

export const figure10: Figure = {
  number: 10,
  benchmark: 'BT',
  title: 'BT.B on a grid of 6 sites, 4 servers in each, Pcl, 60 s between waves: ranks',
  paper: [
    'The execution without checkpointing presents a slowdown for 529 processes due to the heterogeneity of the grid ' +
      'and the use of remote processors at this scale.',
    'Since the completion time is proportional to the number of checkpoint waves, this increases the completion time ' +
      'of the execution with checkpoints every 60 s. (up to 6 waves)',
  ],
  experiments: (sizes) => {
    const sized = {
      small: [16, 36],
      default: [64, 144, 256, 400, 529],
      long: [64, 100, 144, 196, 256, 324, 400, 484, 529],
    };
    return sized[sizes].flatMap((ranks): Experiment[] => [
      { ...GRID, ranks, series: 'none' },
      { ...GRID, ranks, series: 'pcl', period: 60 },
    ]);
  },
  verdicts: (all) => {
    const [none, pcl] = [of(all, 'none'), of(all, 'pcl')];
    const excess = pcl.map((m, i): Point => [m.waves * m.waveMs, (m.time - none[i]!.time) * 1000]);
    const shapes: Verdict[] = [
      {
        shape: 'a run with waves is longer by what its waves take (within 25 %)',
        ours: pcl
          .map((m, i) => `${m.experiment.ranks}: ${m.waves} waves, ${seconds(m.time - none[i]!.time)}`)
          .join('; '),
        holds: excess.every(([took, more]) => Math.abs(more - took) <= 0.25 * took + 200),
      },
    ];
    const at = (ranks: number): number | undefined => none.find((m) => m.experiment.ranks === ranks)?.time;
    const [before, last] = [at(400), at(529)];
    if (before !== undefined && last !== undefined)
      shapes.push({
        shape: '529 ranks are slower than 400, without checkpoints',
        ours: list(times(none), seconds),
        holds: last > before,
      });
    return shapes;
  },
  charts: (all) => ({
    '': {
      title: 'Figure 10: BT.B on a grid, time',
      x: { label: 'ranks' },
      y: { label: 's' },
      series: curves(all, ['none', 'pcl'], (m) => m.experiment.ranks),
    },
    waves: {
      title: 'Figure 10: BT.B on a grid, waves',
      x: { label: 'ranks' },
      y: { label: 'waves' },
      series: curves(
        all,
        ['pcl'],
        (m) => m.experiment.ranks,
        (m) => m.waves,
      ),
    },
  }),
};
