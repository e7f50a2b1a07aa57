/**
 * The same shapes on real nodes: NAS CG class W, 4 ranks on 4 headless nodes, under the coordinated protocols that a
 * job can choose, by the time between waves. Real server, real images. It stands beside virtual time and does not
 * decide: nodes and server share this machine's processors.
 */
import { goesBackTogether } from '@mayfly/protocols/manifests';
import type { ProtocolName } from '@mayfly/wire';
import { Cluster } from '../../protocols/cluster.ts';
import { PROTOCOL_NAMES } from '../../protocols/names.ts';
import { PROGRAMS } from '../../protocols/programs.ts';
import { usually } from '../../short.ts';
import { median, print } from '../../table.ts';
import { line, neverFalls, type Point, type Verdict } from '../shapes.ts';
import { list, percent, seconds } from './figure.ts';

/** s */
const PERIODS = usually([0.5, 1, 2, 4], [0.5]);
const ROUNDS = usually(2, 1);
/** No run is begun after this time. */
const LIMIT_MS = 240_000;

export interface RealRun {
  readonly protocol: string;
  /** s; undefined: without waves. */
  readonly period?: number;
  /** s */
  readonly time: number;
  readonly waves: number;
}

/** Under which protocols waves are compared. */
export const COORDINATED = PROTOCOL_NAMES.filter(goesBackTogether);

async function realRuns(): Promise<RealRun[]> {
  const program = PROGRAMS.find((p) => p.name === 'cg')!;
  const cluster = await Cluster.start();
  const began = performance.now();
  const all: RealRun[] = [];
  const one = async (protocol: ProtocolName, period?: number): Promise<RealRun> => {
    const wave = period === undefined ? {} : { checkpointMs: 1000 * period };
    const { job, took } = await cluster.run(program, program.args, { protocol, ...wave });
    const waves = Math.max(...job.tasks.map((t) => t.images));
    process.stderr.write(`  on nodes: ${protocol}${period ? `, ${period} s` : ''}: ${seconds(took)}, ${waves} waves\n`);
    return { protocol, ...(period === undefined ? {} : { period }), time: took, waves };
  };
  try {
    await one('none'); // Compiles, and warms the nodes up.
    for (let round = 0; round < ROUNDS; round++)
      for (const period of [undefined, ...PERIODS])
        for (const protocol of period === undefined ? (['none'] as const) : COORDINATED)
          if (performance.now() - began < LIMIT_MS) all.push(await one(protocol, period));
    return all;
  } finally {
    await cluster.stop();
  }
}

const BESIDE = 'real nodes, on this machine';

/** By the number of the figure that has the shape. Pure. */
export function realVerdicts(all: readonly RealRun[]): [figure: string, verdict: Verdict][] {
  const base = median(all.filter((r) => r.protocol === 'none').map((r) => r.time));
  const verdicts: [string, Verdict][] = [];
  const slopes = new Map<string, number>();
  for (const protocol of [...new Set(all.map((r) => r.protocol))].filter((p) => p !== 'none')) {
    const runs = all.filter((r) => r.protocol === protocol);
    const periods = [...new Set(runs.map((r) => r.period!))].sort((a, b) => a - b);
    const at = (period: number, of: (r: RealRun) => number): number =>
      median(runs.filter((r) => r.period === period).map(of));
    const overheads = periods.map((p) => at(p, (r) => r.time) / base - 1);
    const add = (figure: string, shape: string, ours: string, holds: boolean): void =>
      void verdicts.push([figure, { shape: `${protocol}: ${shape}`, ours, holds, beside: BESIDE }]);
    add(
      '6',
      'the overhead falls with the time between waves',
      periods.map((p, i) => `${p} s: ${percent(overheads[i]!)}`).join('; '),
      neverFalls(overheads.map((o) => -o)),
    );
    const points: Point[] = [[0, base], ...runs.map((r): Point => [r.waves, r.time])];
    const { slope, r2 } = line(points);
    slopes.set(protocol, slope);
    add('9', 'the time is linear in the number of waves (r² > 0.9)', fitted(slope, r2), r2 > 0.9);
    const waves = periods.map((p): Point => [1 / p, at(p, (r) => r.waves)]);
    add(
      '9',
      'the number of waves is proportional to the inverse of the period (r² > 0.9)',
      `${list(
        waves.map(([, n]) => n),
        String,
      )}; r² ${line(waves).r2.toFixed(3)}`,
      line(waves).r2 > 0.9,
    );
  }
  const [vcl, pcl] = [slopes.get('vcl'), slopes.get('pcl')];
  if (vcl !== undefined && pcl !== undefined)
    verdicts.push([
      '7',
      {
        shape: 'vcl: a wave costs less than 20 % of what it costs pcl',
        ours: `${seconds(vcl)} against ${seconds(pcl)}`,
        holds: pcl > 0 && Math.abs(vcl) < 0.2 * pcl,
        beside: BESIDE,
      },
    ]);
  return verdicts;
}

const fitted = (slope: number, r2: number): string => `${seconds(slope)} a wave, r² ${r2.toFixed(3)}`;

/** @returns verdicts, which do not decide */
export async function real(): Promise<[figure: string, verdict: Verdict][]> {
  console.log('\nOn real nodes: NAS CG class W, 4 ranks on 4 headless nodes (does not decide)');
  const all = await realRuns();
  print(
    ['protocol', 'period', 'time', 'waves'],
    all.map((r) => [r.protocol, r.period === undefined ? '–' : `${r.period} s`, seconds(r.time), String(r.waves)]),
  );
  return realVerdicts(all);
}
