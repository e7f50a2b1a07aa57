/** Table 1, Figures 6 to 9, Tables 2 and 3 of the paper: experiments, and the rows that they fill. */
import type { FederationStatistics } from '@mayfly/simulator';
import type { LineChart } from '../../chart.ts';
import { reference, row, type Row } from './rows.ts';
import { runsOf, sample, type Experiment, type Runs, type Setting } from './setups.ts';

export interface Table {
  readonly name: string;
  readonly title: string;
  readonly paper: readonly string[];
  readonly rows: readonly Row[];
  readonly chart?: readonly [file: string, chart: LineChart];
}

/** Messages of cluster 0 to 1, and of 1 to 0. */
const two = (to1: number, to0: number): number[][] => [
  [0, to1],
  [to0, 0],
];
const three = [
  [0, 100, 100],
  [100, 0, 100],
  [100, 100, 0],
];
const forced = (i: number) => (s: FederationStatistics) => s.forced[i]!;
const timed = (i: number) => (s: FederationStatistics) => s.timed[i]!;
const taken = (i: number) => (s: FederationStatistics) => s.forced[i]! + s.timed[i]!;

function table1(setting: Setting): Table {
  const runs = runsOf({ messages: two(145, 11), clcMinutes: [30, null] }, setting);
  const counts = [
    [0, 0, 2920],
    [1, 1, 2497],
    [0, 1, 145],
    [1, 0, 11],
  ] as const;
  return {
    name: 'Table 1',
    title: 'application messages',
    paper: ['Cluster 0 to 0: 2920, 1 to 1: 2497, 0 to 1: 145, 1 to 0: 11'],
    rows: counts.map(([from, to, n]) =>
      row(`cluster ${from} to ${to}`, runs, (s) => s.messages[from]![to]!, {
        paperNumber: n,
        reference: { mean: n, runs: Infinity, rounding: 0.5 },
      }),
    ),
  };
}

const chartOf = (
  title: string,
  label: string,
  rows: readonly (readonly [series: string, x: number, row: Row])[],
): LineChart => ({
  title,
  x: { label },
  y: { label: 'CLCs' },
  series: [...new Set(rows.map(([name]) => name))].map((name) => ({
    name,
    points: rows.filter(([n]) => n === name).map(([, x, r]) => [x, r.instant.mean] as const),
  })),
});

/** T₀ in minutes; forced and unforced CLCs of cluster 0, forced ones of cluster 1. */
const FIGURE6 = [
  [5, 10.3, 114.3, 85.2],
  [10, 10.3, 54.4, 56.8],
  [15, 10.3, 34.4, 42.1],
  [20, 10.3, 24.5, 33.6],
  [30, 10.3, 14.6, 24.7],
  [45, 10.3, 8.2, 18.8],
  [60, 10.3, 5.3, 16.0],
  [90, 10.3, 2.3, 13.3],
  [120, 10.3, 1.2, 12.3],
] as const;

function figures6and7(setting: Setting, some: (x: number) => boolean): Table[] {
  const all = FIGURE6.filter(([t]) => some(t)).map((r) => {
    const runs = runsOf({ messages: two(145, 11), clcMinutes: [r[0], null] }, setting);
    return { t: r[0], r, runs };
  });
  const six = all.flatMap(({ t, r, runs }): [string, number, Row][] => [
    ['forced', t, row(`${t} min: forced`, runs, forced(0), { paperNumber: 8, reference: reference(r[1]) })],
    ['unforced', t, row(`${t} min: unforced`, runs, timed(0), { reference: reference(r[2]) })],
  ]);
  const seven = all.flatMap(({ t, r, runs }): [string, number, Row][] => [
    ['forced', t, row(`${t} min: forced`, runs, forced(1), { reference: reference(r[3]) })],
    ['unforced', t, row(`${t} min: unforced`, runs, timed(1), { paperNumber: 0, reference: reference(0) })],
  ]);
  const x = 'minutes between unforced CLCs of cluster 0';
  return [
    {
      name: 'Figure 6',
      title: 'CLCs of cluster 0 by the time between its unforced CLCs; that of cluster 1 is infinite',
      paper: ['Cluster 0 stores some forced CLCs (8) … This number of forced CLCs is constant'],
      rows: six.map(([, , r]) => r),
      chart: ['hc3i-figure6', chartOf('Figure 6: CLCs of cluster 0', x, six)],
    },
    {
      name: 'Figure 7',
      title: 'CLCs of cluster 1 in the same runs',
      paper: ['The number of these forced CLCs is proportional to the number of CLCs stored in cluster 0'],
      rows: seven.map(([, , r]) => r),
      chart: ['hc3i-figure7', chartOf('Figure 7: CLCs of cluster 1', x, seven)],
    },
  ];
}

const FIGURE8 = [
  [15, 25.1, 52.3],
  [20, 25.0, 42.6],
  [30, 25.0, 32.5],
  [45, 25.0, 24.9],
  [60, 25.0, 24.7],
] as const;

function figure8(setting: Setting, some: (x: number) => boolean): Table {
  const rows = FIGURE8.filter(([t]) => some(t)).flatMap(([t, zero, one]): [string, number, Row][] => {
    const runs = runsOf({ messages: two(145, 11), clcMinutes: [30, t] }, setting);
    return [
      ['cluster 0', t, row(`${t} min: cluster 0`, runs, taken(0), { reference: reference(zero) })],
      ['cluster 1', t, row(`${t} min: cluster 1`, runs, taken(1), { reference: reference(one) })],
    ];
  });
  return {
    name: 'Figure 8',
    title: 'CLCs of both clusters by the time between those of cluster 1; that of cluster 0 is 30 min',
    paper: ['cluster 0 … do not store more CLCs even if cluster 1 timer is set to 15 minutes'],
    rows: rows.map(([, , r]) => r),
    chart: ['hc3i-figure8', chartOf('Figure 8: CLCs', 'minutes between unforced CLCs of cluster 1', rows)],
  };
}

/** Messages 1 → 0; stored in 0 and 1, with the first; forced in 0. */
const FIGURE9 = [
  [11, 26.0, 33.5, 10.4],
  [25, 32.8, 37.4, 21.9],
  [50, 43.7, 45.5, 37.9],
  [75, 53.4, 54.2, 50.1],
  [103, 62.6, 62.7, 60.6],
  [150, 75.8, 75.7, 74.5],
  [200, 85.2, 85.0, 84.1],
] as const;

function figure9(setting: Setting, some: (x: number) => boolean): Table {
  const rows = FIGURE9.filter(([m]) => some(m)).flatMap(([m, zero, one, f]): [string, number, Row][] => {
    const runs = runsOf({ messages: two(145, m), clcMinutes: [30, 30] }, setting);
    const paper = m === 103 ? { paperNumber: 63 } : {};
    return [
      ['stored in 0', m, row(`${m}: stored in 0`, runs, (s) => s.stored[0]!, { ...paper, reference: reference(zero) })],
      ['stored in 1', m, row(`${m}: stored in 1`, runs, (s) => s.stored[1]!, { ...paper, reference: reference(one) })],
      ['forced in 0', m, row(`${m}: forced in 0`, runs, forced(0), { reference: reference(f) })],
    ];
  });
  return {
    name: 'Figure 9',
    title: 'CLCs by the number of messages of cluster 1 to 0; 30 min between CLCs of both',
    paper: [
      'The number of forced CLCs increases fast with the number of messages from cluster 1 to cluster 0.',
      '63 CLCs are stored in each cluster (103 messages, section 5.4)',
    ],
    rows: rows.map(([, , r]) => r),
    chart: ['hc3i-figure9', chartOf('Figure 9: CLCs', 'messages of cluster 1 to 0', rows)],
  };
}

const GARBAGE: Omit<Experiment, 'messages'> = { clcMinutes: [30, 30, 30], garbageHours: 2 };
const collections = (s: FederationStatistics, when: 'before' | 'after', i: number): number[] =>
  s.garbage.slice(0, 4).map((g) => g[when][i]!);
const meanOf = (s: FederationStatistics, when: 'before' | 'after', clusters: number): number =>
  sample(Array.from({ length: clusters }, (_, i) => collections(s, when, i)).flat()).mean;
/** Part of all collections and clusters that keep so many. */
const keep = (n: number, clusters: number) => (s: FederationStatistics) =>
  sample(
    Array.from({ length: clusters }, (_, i) => collections(s, 'after', i))
      .flat()
      .map((x) => (x === n ? 100 : 0)),
  ).mean;

function table2(setting: Setting): Table {
  const runs = runsOf({ ...GARBAGE, messages: two(145, 103) }, setting);
  const before = [
    [10, 18, 15, 14],
    [11, 18, 14, 15],
  ];
  const rows = before.flatMap((numbers, i) =>
    numbers.map((n, g) =>
      row(`cluster ${i}, before collection ${g + 1}`, runs, (s) => s.garbage[g]!.before[i]!, { paperNumber: n }),
    ),
  );
  return {
    name: 'Table 2',
    title: 'stored CLCs before and after garbage collections each 2 h; 103 messages of cluster 1 to 0',
    paper: ['before: 10, 18, 15, 14 and 11, 18, 14, 15; after: 2 each', 'The maximum number of logged messages … is 4'],
    rows: [
      ...rows,
      row('before, mean', runs, (s) => meanOf(s, 'before', 2), { reference: reference(14.1, 200) }),
      row('after, mean', runs, (s) => meanOf(s, 'after', 2), { paperNumber: 2, reference: reference(2, 200) }),
      row('after: 2 (% of clusters and collections)', runs, keep(2, 2), {
        // 8 clusters and collections of a run, each with probability 0.999
        reference: reference(99.9, 200, 100 * Math.sqrt((0.999 * 0.001) / 8)),
      }),
      row('logged messages of one node, maximum', runs, (s) => s.loggedByNode, { paperNumber: 4 }),
      row('logged messages of one cluster, maximum', runs, (s) => s.loggedByCluster, {
        paper: '4',
        cannot: '145 and 103 messages in five periods: 20 to 30 a period. 4 is the maximum of a node',
      }),
    ],
  };
}

function table3(setting: Setting): Table {
  const runs = runsOf({ ...GARBAGE, messages: three }, setting);
  const cannot = 'about 200 messages arrive in 10 h, 40 in 2 h, and the timers add 4 CLCs: at most 44';
  const before = ['30, 48, 54, 38', '50, 80, 78, 64', '50, 80, 78, 64'];
  return {
    name: 'Table 3',
    title: 'the same with three clusters, about 200 messages into and out of each',
    paper: ['before: 30, 48, 54, 38 (cluster 0), 50, 80, 78, 64 (clusters 1 and 2); after: 2 each'],
    rows: [
      ...before.map((paper, i) =>
        row(`cluster ${i}, before, mean`, runs, (s) => sample(collections(s, 'before', i)).mean, {
          paper,
          cannot,
          reference: reference(27.7, 200),
        }),
      ),
      row('after, median', runs, (s) => median([0, 1, 2].flatMap((i) => collections(s, 'after', i))), {
        paperNumber: 2,
      }),
      row('after: 2 (% of clusters and collections)', runs, keep(2, 3), { reference: reference(72.7, 200) }),
      row('after: 3 (% of clusters and collections)', runs, keep(3, 3), { reference: reference(19.0, 200) }),
      row('after, most', runs, (s) => Math.max(...[0, 1, 2].flatMap((i) => collections(s, 'after', i)))),
    ],
  };
}
const median = (numbers: readonly number[]): number => numbers.toSorted((a, b) => a - b)[numbers.length >> 1]!;

/** @param some which numbers on the x axis */
export function* tables(setting: Setting, some: (x: number) => boolean = () => true): Generator<Table> {
  yield table1(setting);
  yield* figures6and7(setting, some);
  yield figure8(setting, some);
  yield figure9(setting, some);
  yield table2(setting);
  yield table3(setting);
}

/** Beyond the paper: what failures cost. */
export interface Failures {
  readonly mtbfHours: number;
  readonly protocol: string;
  readonly failures: number;
  /** Clusters that go back for one failure. */
  readonly clusters: number;
  /** Node-hours for one failure. */
  readonly lost: number;
  readonly lostCostly: number | undefined;
}

export function failures(mtbfHours: number, setting: Setting): Failures[] {
  const base: Experiment = { messages: two(145, 103), clcMinutes: [30, 30], garbageHours: 2, mtbfHours };
  const hc3i = runsOf(base, setting);
  const few = runsOf({ ...base, messages: two(145, 11) }, setting);
  const vcl = runsOf({ ...base, united: true }, setting);
  const per = (runs: readonly FederationStatistics[], of: (s: FederationStatistics) => number): number => {
    const sum = (f: (s: FederationStatistics) => number): number => runs.reduce((total, s) => total + f(s), 0);
    return sum(of) / sum((s) => s.failures);
  };
  const line = (protocol: string, r: Runs, of: (s: FederationStatistics) => number, clusters: number): Failures => ({
    ...{ mtbfHours, protocol, clusters, lost: per(r.instant, of) },
    failures: sample(r.instant.map((s) => s.failures)).mean,
    lostCostly: r.costly.length > 0 ? per(r.costly, of) : undefined,
  });
  const rolled = (r: Runs): number => per(r.instant, (s) => s.rolled);
  return [
    line('hc3i, 103 messages of 1 to 0', hc3i, (s) => s.lostHours, rolled(hc3i)),
    line('hc3i, 11 messages of 1 to 0', few, (s) => s.lostHours, rolled(few)),
    line('vcl over all nodes', vcl, (s) => s.lostHours, rolled(vcl)),
    line('pessimistic (the lost node alone)', hc3i, (s) => s.lostAloneHours, 0),
  ];
}
