/** What the comparison of protocols prints and draws. */
import { draw, type LineChart } from '../chart.ts';
import { print } from '../table.ts';
import { PROTOCOL_NAMES } from './names.ts';
import type { Program } from './programs.ts';
import { costOfLoss, overhead, withLosses, type Measure, type Run, type Spread } from './reckoning.ts';

export interface Results {
  readonly runs: ReadonlyMap<Program, Run[]>;
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

const MEASURES: Record<Measure, string> = {
  took: 'By the clock',
  busy: 'By processor time: what the clock would show on a machine of its own, if nobody ever waited',
};

/** @returns whether all answers were right */
export async function report(
  { runs, wrong, rounds }: Results,
  intervals: readonly number[],
  checkpointMs: number,
  long: boolean,
): Promise<boolean> {
  console.log(
    `\nMultiples of none without losses, a checkpoint every ${checkpointMs / 1000} s; median and range, ` +
      `${rounds} whole rounds`,
  );
  for (const by of ['took', 'busy'] as const) {
    console.log(`\n${MEASURES[by]}`);
    print(
      ['program', 'protocol', 'runs', 'no loss', 'a loss adds', ...intervals.map((s) => `a loss every ${s} s`)],
      [...runs].flatMap(([program, all]) =>
        PROTOCOL_NAMES.map((protocol) => [
          titleOf(program, long),
          protocol,
          String(all.filter((r) => r.protocol === protocol).length),
          ...(protocol === 'none'
            ? ['1', '–', ...intervals.map(() => 'ends')]
            : [
                show(overhead(all, protocol, by)),
                show(costOfLoss(all, protocol, intervals[0]!, by), ' s'),
                ...intervals.map((every) => show(withLosses(all, protocol, every, by))),
              ]),
        ]),
      ),
    );
  }
  for (const [program, all] of runs)
    await draw(`protocols-${program.name}`, chart(titleOf(program, long), all, intervals));
  for (const run of wrong) console.log(`  ANOTHER ANSWER: ${run}`);
  if (wrong.length === 0) console.log('  All answers were those of the undisturbed runs.');
  console.log('\nNot measured: tabs, several machines, a network; nodes and server share the processors.');
  return wrong.length === 0;
}

/** With its class, if it has one. */
function titleOf(program: Program, long: boolean): string {
  const args = long ? program.long : program.args;
  return args.length === 1 ? `${program.title} ${args[0]}` : program.title;
}

function chart(title: string, all: readonly Run[], intervals: readonly number[]): LineChart {
  const point = (every: number, s: Spread | undefined): [number, number][] =>
    s && Number.isFinite(s.middle) ? [[every === Infinity ? 0 : 60 / every, s.middle]] : [];
  const one = (protocol: string, by: Measure): LineChart['series'][number] => ({
    name: by === 'took' ? protocol : `${protocol}, processor`,
    points: [
      ...point(Infinity, overhead(all, protocol, by)),
      ...intervals.toReversed().flatMap((every) => point(every, withLosses(all, protocol, every, by))),
    ],
  });
  return {
    title: `${title}: time by losses`,
    x: { label: 'losses per minute', format: (v) => String(Math.round(100 * v) / 100) },
    y: { label: 'as a multiple of none without losses' },
    series: (['took', 'busy'] as const)
      .flatMap((by) => PROTOCOL_NAMES.filter((p) => p !== 'none').map((protocol) => one(protocol, by)))
      .filter(({ points }) => points.length > 0),
    goal: { y: 1, label: 'none' },
  };
}
