/** The machines and implementations of the paper's experiments, as jobs in virtual time. */
import {
  CORES,
  MB_PER_S,
  Platform,
  US,
  nasBt,
  nasCg,
  runVirtually,
  type Cores,
  type Implementation,
  type Parameters,
  type VirtualJob,
  type VirtualRun,
} from '@mayfly/simulator';

/** The implementations of the paper; `Continues` is Pcl as section 4.2 has it, and as Mayfly does it. */
export const SERIES = {
  none: 'without',
  vcl: 'Vcl',
  pcl: 'Pcl',
  continues: 'Pcl, goes on at once',
  nemesis: 'Pcl/Nemesis',
  nemesisContinues: 'Pcl/Nemesis, goes on at once',
} as const;
export type SeriesName = keyof typeof SERIES;

export interface Setting {
  readonly parameters: Parameters;
  readonly seeds: readonly number[];
  readonly sizes: 'small' | 'default' | 'long';
  /** What a test breaks. */
  readonly broken?: Partial<Record<SeriesName, Partial<Implementation>>>;
  readonly cores?: Cores;
}

export interface Experiment {
  readonly series: SeriesName;
  readonly benchmark: 'BT' | 'CG';
  readonly network: 'ethernet' | 'myrinet' | 'grid';
  readonly ranks: number;
  readonly perNode: number;
  /** Of each site. */
  readonly servers: number;
  /** s; without: nothing. */
  readonly period?: number;
}

/** Sites of the grid: "This included 6 of the 13 clusters of Grid5000". */
const SITES = 6;

function implementationOf({ series }: Experiment, { parameters: p, broken }: Setting): Implementation {
  const daemon = { latency: p.daemonLatency * US, rate: p.daemonRate * MB_PER_S };
  const pcl: Implementation = { name: 'Pcl', protocol: 'pcl', resumes: 'stored' };
  const all: Record<SeriesName, Implementation> = {
    none: { name: 'none', protocol: 'none', resumes: 'copied' },
    vcl: { name: 'Vcl', protocol: 'vcl', resumes: 'copied', daemon },
    pcl,
    nemesis: pcl,
    continues: { ...pcl, resumes: 'copied' },
    nemesisContinues: { ...pcl, resumes: 'copied' },
  };
  return { ...all[series], ...broken?.[series] };
}

function platformOf(e: Experiment, { parameters: p }: Setting, seed: number): Platform {
  const gm = e.series.startsWith('nemesis');
  const myrinet = e.network === 'myrinet';
  const latency = (myrinet ? (gm ? p.gmLatency : p.myrinetTcpLatency) : p.ethernetLatency) * US;
  const bandwidth = (myrinet ? (gm ? p.myrinet : p.myrinetTcp) : p.ethernet) * MB_PER_S;
  const within = { latency: p.memoryLatency * US, rate: p.memoryRate * MB_PER_S };
  const sites = { count: SITES, flow: bandwidth / p.gridBandwidth, latency: latency * p.gridLatency, seed };
  const { ranks, perNode, servers } = e;
  return new Platform({
    ...{ ranks, perNode, servers, bandwidth, latency, within },
    ...(e.network === 'grid' ? { sites } : {}),
  });
}

export function jobOf(e: Experiment, setting: Setting, seed: number): VirtualJob {
  const { parameters: p, cores } = setting;
  const bt = e.benchmark === 'BT';
  return {
    pattern: bt ? nasBt('B', e.ranks) : nasCg('C', e.ranks),
    platform: platformOf(e, setting, seed),
    implementation: implementationOf(e, setting),
    parameters: p,
    speed: (bt ? p.ourBt : p.ourCg) / p.slowdown / (e.perNode === 1 ? p.alone : 1),
    image: ((bt ? p.memoryBt : p.memoryCg) / e.ranks + p.imageBase) * 1e6,
    periodMs: (e.period ?? 0) * 1000,
    seed,
    cores: cores ?? CORES,
  };
}

/** s in place of ms where the figures have s; mean over the seeds. */
export interface Measured extends Omit<VirtualRun, 'time'> {
  readonly experiment: Experiment;
  /** s */
  readonly time: number;
}

export function measure(e: Experiment, setting: Setting): Measured {
  const runs = setting.seeds.map((seed) => runVirtually(jobOf(e, setting, seed)));
  const mean = (of: (r: VirtualRun) => number): number => runs.reduce((sum, r) => sum + of(r), 0) / runs.length;
  const keys = Object.keys(runs[0]!) as (keyof VirtualRun)[];
  const means = Object.fromEntries(keys.map((k) => [k, mean((r) => r[k])])) as unknown as VirtualRun;
  return { ...means, experiment: e, time: means.time / 1000 };
}
