/**
 * Chen et al., Fault tolerant high performance computing by a coding approach (PPoPP 2005): Tables 1 to 7, Figures 6
 * and 7, as far as one thread can follow them with the real codes. Residuals and bits decide; times stand beside.
 */
import { usually } from '../../short.ts';
import { ms, percent, print } from '../../table.ts';
import type { Paper, PaperOptions } from '../paper.ts';
import { CODES, PAPER_PLAN, experiment, type CodeName, type Result } from './experiment.ts';
import { NAMES, PAPER, PROBLEMS, verdicts } from './tables.ts';

const MOST = 5;
/** Of the unknowns of the paper, without `--long`. */
const PART = usually(16, 64);
const HEAD = ['', ...PROBLEMS.map((p) => `problem ${p.name}`)];
const COUNTS = Array.from({ length: MOST }, (_, i) => i + 1);

function table(title: string, rows: readonly (readonly string[])[]): void {
  console.log(`\n${title}`);
  print(HEAD, rows);
}

const seconds = (row: readonly number[]): string[] => row.map((x) => `${x} s`);

function times(results: readonly Result[]): void {
  console.log(`
Times of ours are of one thread for all processes, by the clock: no network, and no process is started again. So they
are beside the paper's seconds, and only their growth can be compared.`);
  const none = PAPER.withCheckpoints[0]!;
  const part = (row: readonly number[]): string[] => row.map((x, i) => percent(x / none[i]! - 1, 2));
  const ours = (title: string, of: (r: Result) => number, shown: (x: number, r: Result) => string): string[] => [
    title,
    ...results.map((r) => shown(of(r), r)),
  ];
  const both = (title: (k: number, code: CodeName) => string, of: (r: Result, k: number, code: CodeName) => number) =>
    CODES.flatMap((code) =>
      COUNTS.map((k) =>
        ours(
          title(k, code),
          (r) => of(r, k, code),
          (x) => ms(x),
        ),
      ),
    );
  const parts = (title: (k: number, code: CodeName) => string, of: (r: Result, k: number, code: CodeName) => number) =>
    CODES.flatMap((code) =>
      COUNTS.map((k) =>
        ours(
          title(k, code),
          (r) => of(r, k, code),
          (x, r) => percent(x / r.pcgMs, 2),
        ),
      ),
    );
  const encoded = (r: Result, k: number, code: CodeName): number => r.checkpointMs[code][k - 1]!;
  const decoded = (r: Result, k: number, code: CodeName): number =>
    r.recovered.find((x) => x.code === code && x.losses === k)!.decodeMs;

  table('Table 2: PCG by implementation (ours starts no processes)', [
    ...Object.entries(PAPER.implementations).map(([name, row]) => [`paper, ${name}`, ...seconds(row)]),
    ours(
      'ours, without checkpoints',
      (r) => r.pcgMs,
      (x) => ms(x),
    ),
  ]);
  table('Tables 3 and 4: 20 checkpoints', [
    ...PAPER.checkpoint.map((row, i) => [`paper, ${i + 1} checksums`, ...seconds(row)]),
    ...both((k, code) => `${NAMES[code]}, ${k} checksums`, encoded),
  ]);
  table('Figure 6: overhead of checkpoints', [
    ...PAPER.withCheckpoints.slice(1).map((row, i) => [`paper, ${i + 1} checksums`, ...part(row)]),
    ...parts((k, code) => `${NAMES[code]}, ${k} checksums`, encoded),
  ]);
  table('Tables 5 and 6: recovery (ours: encoding once and decoding; the paper starts processes as well)', [
    ...PAPER.recovery.map((row, i) => [`paper, ${i + 1} losses`, ...seconds(row)]),
    ...both((k, code) => `${NAMES[code]}, ${k} losses`, decoded),
  ]);
  table('Figure 7: overhead of recovery (paper: with checkpoints)', [
    ...PAPER.withRecovery.slice(1).map((row, i) => [`paper, ${i + 1} losses`, ...part(row)]),
    ...parts((k, code) => `${NAMES[code]}, ${k} losses`, decoded),
  ]);
}

function residuals(results: readonly Result[]): void {
  table('Table 7: norm of the residual ("=" has the bits of the run without losses)', [
    ...PAPER.residual.map((row, i) => [`paper, ${i} losses`, ...row.map((x) => x.toExponential(3))]),
    ['ours, 0 losses', ...results.map((r) => r.residual.toExponential(3))],
    ...CODES.flatMap((code) =>
      COUNTS.map((k) => [
        `${NAMES[code]}, ${k} losses`,
        ...results.map((r) => {
          const x = r.recovered.find((y) => y.code === code && y.losses === k)!;
          return `${x.identical ? '= ' : ''}${x.residual.toExponential(3)}`;
        }),
      ]),
    ),
  ]);
}

function run(options: PaperOptions): Promise<boolean> {
  const problems = PROBLEMS.map((p) => ({ ...p, unknowns: options.long ? p.unknowns : Math.round(p.unknowns / PART) }));
  table('Table 1: problems', [
    ['paper, unknowns', ...PROBLEMS.map((p) => String(p.unknowns))],
    ['ours, unknowns', ...problems.map((p) => String(p.unknowns))],
    ['processes', ...PROBLEMS.map((p) => String(p.processes))],
  ]);
  console.log(`  paper: ${PAPER_PLAN.iterations} iterations, a checkpoint every ${PAPER_PLAN.every}, losses at the ${PAPER_PLAN.lossAt}th; ours too.
  The paper does not name its matrices; ours is a 5-point matrix on a long strip.`);
  const results = problems.map((p) => experiment(p, PAPER_PLAN, MOST, options.seed));
  times(results);
  residuals(results);
  console.log('\nVerdicts');
  let held = true;
  for (const [name, v] of verdicts(results)) {
    const verdict = v.holds ? 'holds' : v.beside === undefined ? 'DOES NOT HOLD' : 'does not hold';
    const beside = v.beside === undefined ? '' : ` (does not decide: ${v.beside})`;
    console.log(`  ${name.padEnd(9)} ${verdict.padEnd(14)} ${v.shape}${beside}\n${' '.repeat(27)}${v.ours}`);
    if (v.beside === undefined) held &&= v.holds;
  }
  return Promise.resolve(held);
}

export const diskless: Paper = {
  name: 'diskless',
  title: 'Chen et al., Fault tolerant high performance computing by a coding approach (PPoPP 2005)',
  about: 'Tables 1 to 7, Figures 6 and 7: PCG with real codes in one thread; residuals and bits decide. A minute',
  run,
};
