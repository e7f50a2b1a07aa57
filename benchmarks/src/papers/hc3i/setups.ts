/** The paper's experiments (hc3i, section 5) as files of its simulator, and what runs with many seeds measured. */
import {
  checkFiles,
  simulateFederation,
  type CheckpointCosts,
  type FederationStatistics,
  type SimulationFiles,
} from '@mayfly/simulator';

const NODES = 100;
const HOURS = 10;
const NODE_S = NODES * HOURS * 3600;

/** "Myrinet-like" (10 µs, 80 Mb/s), and "Ethernet-like" between clusters (150 µs, 100 Mb/s). */
const WITHIN = { latencyUs: 10, bandwidthMbps: 80 };
const BETWEEN = { latencyUs: 150, bandwidthMbps: 100 };

export interface Experiment {
  /** Messages that leave cluster i for cluster j, on average. */
  readonly messages: readonly (readonly number[])[];
  /** By cluster, minutes; null: infinite. */
  readonly clcMinutes: readonly (number | null)[];
  readonly garbageHours?: number;
  readonly mtbfHours?: number;
  /** One cluster of all nodes, as `vcl` has it. */
  readonly united?: boolean;
}

/** Table 1, the diagonal: within clusters 0 and 1. */
export const within = [2920, 2497, 2497];

/** As the three files. */
export function filesOf(e: Experiment): SimulationFiles {
  const { messages, clcMinutes, garbageHours, mtbfHours } = e;
  const k = e.united ? 1 : messages.length;
  const rows = messages.map((row, i) => row.map((m, j) => (i === j ? within[i]! : m)));
  const total = (row: readonly number[]): number => row.reduce((a, b) => a + b, 0);
  const all = total(rows.map(total));
  return checkFiles(
    {
      clusters: Array.from({ length: k }, () => ({ nodes: e.united ? NODES * messages.length : NODES, ...WITHIN })),
      between: Array.from({ length: k }, (_, i) => Array.from({ length: i }, () => BETWEEN)),
      ...(mtbfHours === undefined ? {} : { mtbfHours }),
    },
    {
      hours: HOURS,
      clusters: e.united
        ? [{ computationS: (NODE_S * messages.length) / all, to: [1] }]
        : rows.map((row) => ({ computationS: NODE_S / total(row), to: row.map((m) => m / total(row)) })),
    },
    {
      clusters: clcMinutes.slice(0, k).map((minutes) => ({ clcMinutes: minutes })),
      garbageHours: garbageHours ?? null,
    },
  );
}

/** The paper names none of these. */
export const COSTS: CheckpointCosts = { stateMB: 100, copyRate: 1000, commitMs: 5, detectMs: 1000, messageKB: 1 };

export interface Setting {
  readonly seeds: readonly number[];
  /** Also with {@link COSTS}. */
  readonly costs: boolean;
}

export interface Runs {
  /** Checkpoints take no time. */
  readonly instant: readonly FederationStatistics[];
  /** With {@link COSTS}; none: not run. */
  readonly costly: readonly FederationStatistics[];
}

export function runsOf(e: Experiment, { seeds, costs }: Setting): Runs {
  const files = filesOf(e);
  return {
    instant: seeds.map((seed) => simulateFederation({ files, seed })),
    costly: costs ? seeds.map((seed) => simulateFederation({ files, seed, costs: COSTS })) : [],
  };
}

export interface Sample {
  readonly mean: number;
  /** Standard deviation of one run. */
  readonly deviation: number;
  readonly least: number;
  readonly most: number;
  readonly count: number;
}

export function sample(numbers: readonly number[]): Sample {
  const count = numbers.length;
  const mean = numbers.reduce((a, b) => a + b, 0) / count;
  const squares = numbers.reduce((sum, x) => sum + (x - mean) ** 2, 0);
  const deviation = Math.sqrt(squares / Math.max(1, count - 1));
  return { mean, deviation, least: Math.min(...numbers), most: Math.max(...numbers), count };
}
