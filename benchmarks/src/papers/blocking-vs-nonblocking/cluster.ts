/** Figures 5 and 6: clusters with Gigabit Ethernet (section 5.2). */
import { around, falls, neverFalls, type Verdict } from '../shapes.ts';
import { CONTINUES, curves, list, of, percent, seconds, times, type Figure } from './figure.ts';
import { SERIES, type Experiment, type Measured, type SeriesName } from './setups.ts';

/** Pcl's shape of Figure 5, also of the other reading. */
const fallsWithServers = (all: readonly Measured[], name: SeriesName): Omit<Verdict, 'beside'> => ({
  shape: `${SERIES[name]}: the time falls with the number of servers`,
  ours: list(times(of(all, name)), seconds),
  holds: falls(times(of(all, name))),
});

export const figure5: Figure = {
  number: 5,
  benchmark: 'BT',
  title: 'BT.B, 64 ranks on 32 nodes, Gigabit Ethernet, 30 s between waves: servers',
  paper: [
    'The completion time of Vcl remains almost constant, whereas the completion time of Pcl decreases when the ' +
      'number of checkpoint servers increases.',
    'for Vcl, most of the time saved for transferring the checkpoint image is used to increase the number of ' +
      'checkpoint waves',
  ],
  experiments: (sizes) =>
    (['none', 'vcl', 'pcl', 'continues'] as const).flatMap((series) =>
      (series === 'none' ? [1, 8] : [1, 2, 4, 8]).map((servers): Experiment => {
        const ranks = sizes === 'small' ? 16 : 64;
        return { series, benchmark: 'BT', network: 'ethernet', ranks, perNode: 2, servers, period: 30 };
      }),
    ),
  verdicts: (all) => {
    const vcl = of(all, 'vcl');
    const waves = vcl.map((m) => m.waves);
    return [
      {
        shape: 'Vcl: the time is constant within 3 %',
        ours: `${list(times(vcl), seconds)}: ± ${percent(around(times(vcl)))}`,
        holds: around(times(vcl)) <= 0.03,
      },
      {
        shape: 'Vcl: the waves grow with the number of servers',
        ours: list(waves, String),
        holds: neverFalls(waves) && waves.at(-1)! > waves[0]!,
      },
      fallsWithServers(all, 'pcl'),
      { ...fallsWithServers(all, 'continues'), beside: CONTINUES },
    ];
  },
  charts: (all) => {
    const names = ['none', 'vcl', 'pcl', 'continues'] as const;
    const x = { label: 'checkpoint servers', log: true };
    const servers = (m: Measured): number => m.experiment.servers;
    const title = 'Figure 5: BT.B';
    return {
      '': { title: `${title}, time`, x, y: { label: 's' }, series: curves(all, names, servers) },
      waves: {
        title: `${title}, waves`,
        x,
        y: { label: 'waves' },
        series: curves(all, names.slice(1), servers, (m) => m.waves),
      },
    };
  },
};

const PERIODS = [10, 30, 60, 120];
export const figure6: Figure = {
  number: 6,
  benchmark: 'BT',
  title: 'BT.B, Gigabit Ethernet, 9 servers: ranks, four periods',
  paper: [
    'Ignoring the graph showing the results for 10 s between checkpoints … increasing the number of nodes has no ' +
      'measurable impact on the overhead of checkpointing for either of the protocols.',
    'The blocking protocol is subject to large performance degradation when the checkpointing frequency is high.',
    'When the time between checkpoints increases, this gap reduces to a constant overhead',
    'there is an observable slowdown at 169 processors … due to sharing the network interface controller',
  ],
  experiments: (sizes) => {
    const sized = {
      small: [9, 16],
      default: [16, 36, 64, 100, 144],
      long: [4, 16, 25, 36, 64, 81, 100, 121, 144, 256],
    };
    const one = (ranks: number): Omit<Experiment, 'series'> => {
      const perNode = ranks > 150 ? 2 : 1;
      return { benchmark: 'BT', network: 'ethernet', ranks, perNode, servers: 9 };
    };
    return sized[sizes]
      .flatMap((ranks): Experiment[] => [
        { ...one(ranks), series: 'none' },
        ...PERIODS.flatMap((period) => (['vcl', 'pcl'] as const).map((series) => ({ ...one(ranks), series, period }))),
      ])
      .concat(sizes === 'small' ? [] : [{ ...one(169), series: 'none' }]);
  },
  verdicts: (all) => {
    const base = new Map(of(all, 'none').map((m) => [m.experiment.ranks, m.time]));
    /** Of each size. */
    const overhead = (name: SeriesName, period: number): number[] =>
      of(all, name)
        .filter((m) => m.experiment.period === period)
        .map((m) => m.time / base.get(m.experiment.ranks)! - 1);
    const spread = (numbers: readonly number[]): number => Math.max(...numbers) - Math.min(...numbers);
    const gap = (period: number): number[] => overhead('pcl', period).map((o, i) => o - overhead('vcl', period)[i]!);
    const steady = (['vcl', 'pcl'] as const).map((name): Verdict => {
      const spreads = PERIODS.slice(1).map((period) => spread(overhead(name, period)));
      return {
        shape: `${SERIES[name]}, 30 s and more: the overhead differs by at most 10 points between sizes`,
        ours: PERIODS.slice(1)
          .map((period) => `${period} s: ${list(overhead(name, period), percent)}`)
          .join('; '),
        holds: Math.max(...spreads) <= 0.1,
      };
    });
    const [near, far] = [overhead('pcl', 10), overhead('vcl', 10)];
    const shapes: Verdict[] = [
      ...steady,
      {
        shape: 'at 10 s Pcl is far above Vcl: three times its overhead or more, at every size',
        ours: `${list(near, percent)} against ${list(far, percent)}`,
        holds: near.every((o, i) => o > 0.05 && o > 3 * far[i]!),
      },
      {
        shape: 'the gap between Pcl and Vcl is at most a third of that at 10 s when waves are 120 s apart',
        ours: `${list(gap(10), percent)} at 10 s, ${list(gap(120), percent)} at 120 s`,
        holds: gap(120).every((g, i) => g <= gap(10)[i]! / 3),
      },
    ];
    const [at144, at169] = [base.get(144), base.get(169)];
    if (at144 !== undefined && at169 !== undefined)
      shapes.push({
        shape: '169 ranks, two on a node, are slower than 144 on a node each',
        ours: `${seconds(at144)}, ${seconds(at169)}`,
        holds: at169 > at144,
        beside: 'no wave has a part in it',
      });
    return shapes;
  },
  charts: (all) =>
    Object.fromEntries(
      PERIODS.map((period) => [
        `${period}s`,
        {
          title: `Figure 6: BT.B, ${period} s between waves`,
          x: { label: 'ranks' },
          y: { label: 's' },
          series: curves(
            all.filter((m) => m.experiment.ranks !== 169 && (m.experiment.period ?? period) === period),
            ['none', 'vcl', 'pcl'],
            (m) => m.experiment.ranks,
          ),
        },
      ]),
    ),
};
