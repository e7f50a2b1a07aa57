/**
 * What a figure of this paper is: what is run, what is drawn, and which shape has to come out. The figures are plots
 * without values in our copy of the paper, so the paper's part is its sentence.
 */
import type { LineChart } from '../../chart.ts';
import { line, type Point, type Verdict } from '../shapes.ts';
import { SERIES, type Experiment, type Measured, type SeriesName, type Setting } from './setups.ts';

export interface Figure {
  readonly number: number;
  readonly title: string;
  readonly benchmark: Experiment['benchmark'];
  readonly paper: readonly string[];
  readonly experiments: (sizes: Setting['sizes']) => readonly Experiment[];
  readonly verdicts: (measured: readonly Measured[]) => readonly Verdict[];
  /** By a suffix of the file's name. */
  readonly charts: (measured: readonly Measured[]) => Readonly<Record<string, LineChart>>;
}

/** Numbers as verdicts print them. */
export const seconds = (x: number): string => `${x.toFixed(x < 10 ? 2 : 1)} s`;
export const percent = (x: number): string => `${(100 * x).toFixed(1)} %`;
export const list = (numbers: readonly number[], show: (x: number) => string): string => numbers.map(show).join(', ');
export const of = (all: readonly Measured[], series: SeriesName): Measured[] =>
  all.filter((m) => m.experiment.series === series);
export const times = (all: readonly Measured[]): number[] => all.map((m) => m.time);
export const byWaves = (all: readonly Measured[]): Point[] =>
  all.map((m): Point => [m.waves, m.time]).toSorted((a, b) => a[0] - b[0]);
export const unique = (numbers: readonly number[]): number[] => [...new Set(numbers)].sort((a, b) => a - b);
export const slopeOf = (all: readonly Measured[]): ReturnType<typeof line> => line(byWaves(all));
/** Why the other reading's shapes do not decide. */
export const CONTINUES = 'Pcl as section 4.2 and as Mayfly does it';

export function curves(
  all: readonly Measured[],
  names: readonly SeriesName[],
  x: (m: Measured) => number,
  y = (m: Measured): number => m.time,
): LineChart['series'] {
  return names
    .map((name) => ({
      name: SERIES[name],
      points: of(all, name)
        .map((m): Point => [x(m), y(m)])
        .toSorted((a, b) => a[0] - b[0]),
    }))
    .filter(({ points }) => points.length > 0);
}
