/** What the comparison of protocols prints and draws. */
import { draw, type LineChart } from '../chart.ts';
import { print } from '../table.ts';
import { PROTOCOL_NAMES } from './names.ts';
import type { Program } from './programs.ts';
import { costOfLoss, overhead, withLosses, type Run, type Spread } from './reckoning.ts';

export interface Results {
  readonly runs: ReadonlyMap<Program, Run[]>;
  /** Runs without losses, `took` being processor time, s. */
  readonly processor: ReadonlyMap<Program, Run[]>;
  /** Runs whose answer was not that of the undisturbed one. */
  readonly wrong: string[];
  /** How many are whole. */
  rounds: number;
}

const show = (s: Spread | undefined, unit = '×'): string => {
  if (!s) return '–';
  const number = (x: number): string => (x === Infinity ? '∞' : x.toFixed(2));
  const range = s.count > 1 ? ` (${number(s.least)}–${number(s.most)})` : '';
  return `${number(s.middle)}${unit}${range}`;
};

/** @returns whether all answers were right */
export async function report(
  { runs, processor, wrong, rounds }: Results,
  intervals: readonly number[],
  checkpointMs: number,
  long: boolean,
): Promise<boolean> {
  const rows = [...runs].flatMap(([program, all]) =>
    PROTOCOL_NAMES.map((protocol) => [
      `${program.title} ${(long ? program.long : program.args).length === 1 ? (long ? program.long : program.args)[0]! : ''}`.trim(),
      protocol,
      show(protocol === 'none' ? undefined : overhead(all, protocol)),
      show(protocol === 'none' ? undefined : overhead(processor.get(program) ?? [], protocol)),
      show(costOfLoss(all, protocol, intervals[0]!), ' s'),
      ...intervals.map((every) => (protocol === 'none' ? 'ends' : show(withLosses(all, protocol, every)))),
    ]),
  );
  console.log(
    `\nTime as a multiple of none without losses, a checkpoint every ${checkpointMs / 1000} s; median and range, ` +
      `${rounds} whole rounds`,
  );
  print(
    ['program', 'protocol', 'no loss', 'processor', 'a loss adds', ...intervals.map((s) => `a loss every ${s} s`)],
    rows,
  );
  for (const [program, all] of runs) await draw(`protocols-${program.name}`, chart(program, all, intervals));
  for (const run of wrong) console.log(`  ANOTHER ANSWER: ${run}`);
  if (wrong.length === 0) console.log('  All answers were those of the undisturbed runs.');
  console.log('\nNot measured: tabs, several machines, a network; nodes and server share the processors.');
  return wrong.length === 0;
}

function chart(program: Program, all: readonly Run[], intervals: readonly number[]): LineChart {
  const point = (every: number, s: Spread | undefined): [number, number][] =>
    s && Number.isFinite(s.middle) ? [[every === Infinity ? 0 : 60 / every, s.middle]] : [];
  return {
    title: `${program.title}: time by losses`,
    x: { label: 'losses per minute', format: (v) => String(Math.round(100 * v) / 100) },
    y: { label: 'time / time of none without losses' },
    series: PROTOCOL_NAMES.filter((p) => p !== 'none').map((protocol) => ({
      name: protocol,
      points: [
        ...point(Infinity, overhead(all, protocol)),
        ...intervals.toReversed().flatMap((every) => point(every, withLosses(all, protocol, every))),
      ],
    })),
    goal: { y: 1, label: 'none' },
  };
}
