/**
 * Buntinas et al., Blocking vs. non-blocking coordinated checkpointing for large-scale fault tolerant MPI protocols
 * (2008): its Figures 5 to 10 in virtual time. What real nodes on this machine can show stands beside, with its
 * verdict, and does not decide.
 */
import { DEFAULTS, PARAMETERS, type ParameterName } from '@mayfly/simulator';
import { usually } from '../../short.ts';
import { bytes, ms, print } from '../../table.ts';
import type { Paper, PaperOptions } from '../paper.ts';
import type { Verdict } from '../shapes.ts';
import type { Figure } from './figure.ts';
import { FIGURES, property } from './figures.ts';
import { real } from './real.ts';
import { SERIES, measure, type Measured, type Setting } from './setups.ts';

/** A short name for files. */
const FILES = 'bvn';

function parameters(): void {
  console.log('\nParameters (a guess is named; --sensitivity shows what depends on it)');
  print(
    ['parameter', 'value', 'source', 'what it is'],
    Object.entries(PARAMETERS).map(([name, p]) => [name, `${p.value} ${p.unit}`, p.source, p.about]),
  );
  console.log(
    `  Messages and operations: the definitions of NPB 2.3 (docs/papers.md). Network: a complete graph, each link
  shared fairly. "Pcl" computes again when its image is stored (section 3 of the paper); "goes on at once" is
  section 4.2, and Mayfly's own pcl.`,
  );
}

function rows(figure: Figure, all: readonly Measured[]): string[][] {
  return all.map(({ experiment: e, ...m }) => [
    SERIES[e.series],
    String(e.ranks),
    String(e.servers),
    e.series === 'none' ? '–' : `${e.period} s`,
    `${m.time.toFixed(1)} s`,
    ...(e.series === 'none' ? Array<string>(7).fill('–') : values(m)),
  ]);
}
const values = (m: Omit<Measured, 'experiment'>): string[] => [
  m.waves.toFixed(m.waves % 1 === 0 ? 0 : 1),
  ms(m.waveMs),
  ms(m.stallMs),
  ms(m.frozenMs),
  bytes(m.stateBytes),
  String(m.held),
  ms(m.longestHeldMs),
];
const HEAD = [
  'series',
  'ranks',
  'servers',
  'period',
  'time',
  'waves',
  'a wave',
  'stall per rank',
  'frozen',
  'channel state',
  'held',
  'longest',
];

function tell(figure: string, v: Verdict): void {
  const verdict = v.holds ? 'holds' : v.beside === undefined ? 'DOES NOT HOLD' : 'does not hold';
  const beside = v.beside === undefined ? '' : ` (does not decide: ${v.beside})`;
  console.log(`  ${figure.padEnd(3)} ${verdict.padEnd(14)} ${v.shape}${beside}\n${' '.repeat(21)}${v.ours}`);
}

async function show(figure: Figure, setting: Setting, draw: PaperOptions['draw']): Promise<Measured[]> {
  console.log(`\nFigure ${figure.number}: ${figure.title}`);
  for (const sentence of figure.paper) console.log(`  paper: "${sentence}"`);
  const all = figure.experiments(setting.sizes).map((e) => measure(e, setting));
  print(HEAD, rows(figure, all));
  for (const [suffix, chart] of Object.entries(figure.charts(all)))
    await draw([FILES, `figure${figure.number}`, suffix].filter(Boolean).join('-'), chart);
  return all;
}

/** Guesses that concern one of the benchmarks. */
const ONLY: Partial<Record<ParameterName, Figure['benchmark']>> = {
  memoryBt: 'BT',
  ethernetLatency: 'BT',
  memoryCg: 'CG',
  myrinetTcp: 'CG',
  myrinetTcpLatency: 'CG',
  gmLatency: 'CG',
};

/** Whether a shape depends on a guess: figures at small sizes with each guess halved and doubled. */
function sensitivity(options: PaperOptions): void {
  const small = (name?: ParameterName, factor = 1): Map<string, Verdict> => {
    const parameters = name ? { ...DEFAULTS, [name]: DEFAULTS[name] * factor } : DEFAULTS;
    const setting: Setting = { parameters, seeds: [options.seed], sizes: 'small' };
    const found = new Map<string, Verdict>();
    for (const f of FIGURES) {
      if (name && ONLY[name] && ONLY[name] !== f.benchmark) continue;
      const all = f.experiments('small').map((e) => measure(e, setting));
      for (const v of [...f.verdicts(all), property(all)]) found.set(`Figure ${f.number}, ${v.shape}`, v);
    }
    return found;
  };
  console.log('\nEach guess halved and doubled, at small sizes: shapes whose verdict changes');
  const normal = small();
  const guesses = (Object.keys(PARAMETERS) as ParameterName[]).filter((n) => PARAMETERS[n].source === 'guess');
  const rows = guesses.flatMap((name) =>
    [0.5, 2].flatMap((factor) => {
      const { value, unit } = PARAMETERS[name];
      const title = `${name} ${value * factor} ${unit}`;
      const changed = [...small(name, factor)].filter(([shape, v]) => v.holds !== normal.get(shape)!.holds);
      if (changed.length === 0) return [[title, 'none', '']];
      return changed.map(([shape, v]) => [title, shape, `${v.holds ? 'then holds' : 'then does not hold'}: ${v.ours}`]);
    }),
  );
  print(['guess', 'shape', 'verdict'], rows);
}

async function run(options: PaperOptions): Promise<boolean> {
  const { long, seed } = options;
  const seeds = long ? [seed, seed + 1, seed + 2] : [seed];
  const setting: Setting = { parameters: DEFAULTS, seeds, sizes: long ? 'long' : usually('default', 'small') };
  parameters();
  const verdicts: [figure: string, verdict: Verdict][] = [];
  let held = true;
  for (const figure of FIGURES) {
    const all = await show(figure, setting, options.draw);
    for (const v of [...figure.verdicts(all), property(all)]) {
      verdicts.push([String(figure.number), v]);
      if (v.beside === undefined) held &&= v.holds;
    }
  }
  if (options.sensitivity) sensitivity(options);
  const beside = options.virtual ? [] : await real();
  console.log('\nVerdicts, in virtual time');
  for (const [figure, v] of verdicts) tell(figure, v);
  if (beside.length > 0) console.log('\nVerdicts on real nodes');
  for (const [figure, v] of beside) tell(figure, v);
  return held;
}

export const blockingVsNonblocking: Paper = {
  name: 'blocking-vs-nonblocking',
  title: 'Buntinas et al., Blocking vs. non-blocking coordinated checkpointing (2008)',
  about: 'Figures 5 to 10: vcl and pcl on NAS BT and CG, 4 to 529 ranks, in virtual time; some of it on real nodes',
  run,
};
