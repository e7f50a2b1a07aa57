/** Figures 7 and 8: a cluster with a fast network (section 5.3). */
import { around, crossing, type Point, type Verdict } from '../shapes.ts';
import { CONTINUES, byWaves, curves, list, of, percent, seconds, slopeOf, unique, type Figure } from './figure.ts';
import { SERIES, type Experiment, type SeriesName } from './setups.ts';

export const figure7: Figure = {
  number: 7,
  benchmark: 'CG',
  title: 'CG.C, 64 ranks on 32 nodes, Myri2000, 2 servers: waves',
  paper: [
    'The execution times for both Pcl implementations are proportional to the number of checkpoint waves. … the ' +
      'number of checkpoint waves does not directly influence the performance of the Vcl implementation.',
    'the VCL implementation behaves better only with a checkpoint wave every 15 s or less',
  ],
  experiments: (sizes) => {
    const series = ['vcl', 'pcl', 'nemesis', 'nemesisContinues'] as const;
    const periods = { small: [5, 10, 20], default: [3, 5, 10, 15, 20, 30], long: [2, 3, 5, 8, 10, 15, 20, 30, 40] }[
      sizes
    ];
    const ranks = sizes === 'small' ? 16 : 64;
    return series.flatMap((name) =>
      periods.map((period): Experiment => {
        return { series: name, benchmark: 'CG', network: 'myrinet', ranks, perNode: 2, servers: 2, period };
      }),
    );
  },
  verdicts: (all) => {
    const proportional = (name: SeriesName): Verdict => {
      const { slope, r2 } = slopeOf(of(all, name));
      return {
        shape: `${SERIES[name]}: the time grows linearly with the waves (r² > 0.9)`,
        ours: `${seconds(slope)} a wave, r² ${r2.toFixed(3)}`,
        holds: slope > 0 && r2 > 0.9,
      };
    };
    const unmoved = (name: SeriesName): Verdict => {
      const [vcl, pcl] = [slopeOf(of(all, 'vcl')).slope, slopeOf(of(all, name)).slope];
      return {
        shape: `Vcl: a wave costs less than 20 % of what it costs ${SERIES[name]}`,
        ours: `${seconds(vcl)} against ${seconds(pcl)}`,
        holds: Math.abs(vcl) < 0.2 * pcl,
      };
    };
    const byPeriod = (name: SeriesName): Point[] => of(all, name).map((m) => [m.experiment.period!, m.time]);
    const at = crossing(byPeriod('vcl'), byPeriod('nemesis'));
    const crosses: Verdict = {
      shape: 'Vcl is faster than Pcl/Nemesis only with a wave every 15 s or less (7.5 to 30 s)',
      ours: at === undefined ? 'they do not cross' : `they cross at a wave every ${seconds(at)}`,
      holds: at !== undefined && at >= 7.5 && at <= 30,
    };
    return [
      proportional('pcl'),
      proportional('nemesis'),
      unmoved('pcl'),
      // Fewer ranks do not cross there.
      ...(all.some((m) => m.experiment.ranks === 64) ? [crosses] : []),
      { ...unmoved('nemesisContinues'), beside: CONTINUES },
    ];
  },
  charts: (all) => ({
    '': {
      title: 'Figure 7: CG.C, time against waves',
      x: { label: 'waves' },
      y: { label: 's' },
      series: curves(all, ['vcl', 'pcl', 'nemesis', 'nemesisContinues'], (m) => m.waves),
    },
  }),
};

export const figure8: Figure = {
  number: 8,
  benchmark: 'CG',
  title: 'CG.C, Pcl/Nemesis, Myri2000, 2 servers: waves, 4 to 64 ranks',
  paper: [
    'all the curves demonstrate a slowdown proportionate to the number of checkpoint waves. All the benchmarks show ' +
      'approximately the same slope',
    'The 64- and 32-process deployments present approximately the same performance. … We therefore see a smaller ' +
      'improvement than for the other experiments, which ran with one NIC per process.',
  ],
  experiments: (sizes) => {
    const periods = sizes === 'small' ? [5, 10, 20] : sizes === 'long' ? [3, 5, 8, 10, 15, 20, 30] : [5, 10, 15, 30];
    return (sizes === 'small' ? [4, 8, 16] : [4, 8, 16, 32, 64]).flatMap((ranks) =>
      periods.map((period): Experiment => {
        const perNode = ranks > 32 ? 2 : 1;
        return { series: 'nemesis', benchmark: 'CG', network: 'myrinet', ranks, perNode, servers: 2, period };
      }),
    );
  },
  verdicts: (all) => {
    const sizes = unique(all.map((m) => m.experiment.ranks));
    const lines = sizes.map((ranks) => slopeOf(all.filter((m) => m.experiment.ranks === ranks)));
    const slopes = lines.map((l) => l.slope);
    const shapes: Verdict[] = [
      {
        shape: 'the time grows linearly with the waves at every size (r² > 0.9)',
        ours: `r² ${list(
          lines.map((l) => l.r2),
          (r) => r.toFixed(3),
        )}`,
        holds: lines.every((l) => l.slope > 0 && l.r2 > 0.9),
      },
      {
        shape: 'the slopes are equal within 25 %',
        ours: `${list(slopes, seconds)} a wave: ± ${percent(around(slopes))}`,
        holds: around(slopes) <= 0.25,
      },
    ];
    if (sizes.includes(64)) {
      const better = sizes.slice(1).map((_, i) => lines[i]!.at0 / lines[i + 1]!.at0);
      shapes.push({
        shape: '64 ranks are hardly faster than 32 (at most 25 %), and improve less than other doublings',
        ours: `${sizes
          .slice(1)
          .map((n, i) => `${n}: ${better[i]!.toFixed(2)}×`)
          .join(', ')}`,
        holds: better.at(-1)! <= 1.25 && better.slice(0, -1).every((b) => b > better.at(-1)!),
      });
    }
    return shapes;
  },
  charts: (all) => ({
    '': {
      title: 'Figure 8: CG.C, Pcl/Nemesis',
      x: { label: 'waves' },
      y: { label: 's' },
      series: unique(all.map((m) => m.experiment.ranks)).map((ranks) => ({
        name: `${ranks} ranks`,
        points: byWaves(all.filter((m) => m.experiment.ranks === ranks)),
      })),
    },
  }),
};
