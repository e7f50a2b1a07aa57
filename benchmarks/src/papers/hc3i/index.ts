/**
 * Monnet, Morin, Badrinath, A Hierarchical Checkpointing Protocol for Parallel Applications in Cluster Federations
 * (2004): its simulation study (section 5) on the production cores of `hc3i` in virtual time.
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { checkFiles, simulateFederation } from '@mayfly/simulator';
import { quick, usually } from '../../short.ts';
import { print } from '../../table.ts';
import type { Paper, PaperOptions } from '../paper.ts';
import { agrees, inRange, tolerance, type Row } from './rows.ts';
import { COSTS, type Setting } from './setups.ts';
import { failures, tables, type Table } from './tables.ts';

const SEEDS = usually(100, 16);
/** The range of a few seeds is too small for the paper's number. */
const right = (r: Row): boolean => agrees(r) && quick(inRange(r));
const number = (x: number): string => x.toFixed(1);

function cells(r: Row): string[] {
  const { instant: i, costly, reference: ref } = r;
  const verdict = r.cannot ? 'cannot follow' : !right(r) ? 'DOES NOT HOLD' : 'holds';
  return [
    r.what,
    r.paper ?? '–',
    ref ? `${ref.mean} ± ${tolerance(r).toFixed(1)}` : '–',
    number(i.mean),
    `${number(i.least)} to ${number(i.most)}`,
    costly ? number(costly.mean) : '–',
    ref && !agrees(r) ? 'DOES NOT HOLD' : verdict,
  ];
}

function show(t: Table): void {
  console.log(`\n${t.name}: ${t.title}`);
  for (const sentence of t.paper) console.log(`  paper: "${sentence}"`);
  print(['', 'paper', 'reference', 'ours', 'seeds', 'with durations', 'verdict'], t.rows.map(cells));
  for (const why of new Set(t.rows.map((r) => r.cannot).filter(Boolean))) console.log(`  cannot follow: ${why}`);
}

function parameters(seeds: number): void {
  console.log(`
Parameters of the paper: 100 nodes in each cluster; within 10 µs and 80 Mb/s, between 150 µs and 100 Mb/s; 10 hours.
From Table 1: cluster 0 computes for 1175 s between messages on average, cluster 1 for 1435 s (exponential).
"reference": the reference model at the level of clusters, ± three standard errors of both means and its rounding.
"ours": mean of ${seeds} seeds, checkpoints take no time. "with durations" is with these guesses, which the paper does not name:
  state of a node ${COSTS.stateMB} MB, copied at ${COSTS.copyRate} MB/s while it stands still, then sent to its neighbour over the
  network of the cluster; ${COSTS.commitMs} ms for a record; ${COSTS.detectMs} ms until a failure is known; ${COSTS.messageKB} kB in a message between clusters.
A row holds if our mean is within that of the reference, and the paper's number among those of the seeds.`);
}

async function own(directory: string, seed: number): Promise<boolean> {
  const read = async (name: string): Promise<unknown> => {
    const path = join(directory, `${name}.json`);
    try {
      return JSON.parse(await readFile(path, 'utf8'));
    } catch (e) {
      throw new Error(`${path}: ${(e as Error).message}`, { cause: e });
    }
  };
  const files = checkFiles(await read('topology'), await read('application'), await read('timers'));
  for (const [title, costs] of [
    ['checkpoints take no time', undefined],
    ['with durations', COSTS],
  ] as const)
    console.log(title, JSON.stringify(simulateFederation({ files, seed, ...(costs ? { costs } : {}) }), undefined, 2));
  return true;
}

async function run(options: PaperOptions): Promise<boolean> {
  if (options.files !== undefined) return own(options.files, options.seed);
  const count = options.long ? 4 * SEEDS : SEEDS;
  const setting: Setting = { seeds: Array.from({ length: count }, (_, i) => options.seed + i), costs: true };
  parameters(count);
  const all: Table[] = [];
  for (const t of tables(setting)) {
    all.push(t);
    show(t);
    if (t.chart) await options.draw(...t.chart);
  }
  console.log('\nBeyond the paper: failures. 30 min between CLCs; for one failure: clusters that go back, work undone');
  print(
    ['MTBF', 'protocol', 'failures in 10 h', 'clusters back', 'node-hours lost', 'with durations'],
    [1, 4]
      .flatMap((mtbf) => failures(mtbf, setting))
      .map((f) => [
        `${f.mtbfHours} h`,
        f.protocol,
        number(f.failures),
        f.clusters === 0 ? '–' : f.clusters.toFixed(2),
        f.lost.toFixed(2),
        f.lostCostly?.toFixed(2) ?? '–',
      ]),
  );
  const rows = all.flatMap((t) => t.rows);
  const wrong = all.flatMap((t) => t.rows.filter((r) => !right(r)).map((r) => `${t.name}, ${r.what}`));
  console.log(`\n${rows.length - wrong.length} of ${rows.length} rows hold or cannot follow.`);
  for (const w of wrong) console.log(`  DOES NOT HOLD: ${w}`);
  return wrong.length === 0;
}

export const hc3i: Paper = {
  name: 'hc3i',
  title: 'Monnet et al., A Hierarchical Checkpointing Protocol for Parallel Applications in Cluster Federations (2004)',
  about:
    'Tables 1 to 3 and Figures 6 to 9: clusters of 100 nodes in virtual time, 100 seeds; failures beyond the paper',
  run,
};
