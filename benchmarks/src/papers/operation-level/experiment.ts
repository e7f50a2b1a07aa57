/**
 * The paper's measurements with the MPI_Ckpt calls on real nodes: 4 ranks on 4 headless nodes with one slot each, and a
 * spare one, under protocol `app` with FT-MPI's modes rebuild and reset. The program is
 * benchmarks/programs/operation-level.c; it checks the bytes of each rollback itself.
 */
import type { JobView } from '@mayfly/wire';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { MayflySide, ROOT } from '../../mayfly-side.ts';
import { SHORT, usually } from '../../short.ts';
import { mean, median } from '../../table.ts';

export const RANKS = 4;
export const SIZES = [
  { name: '400B', bytes: 400 },
  { name: '40KB', bytes: 40_000 },
  { name: '4MB', bytes: 4_000_000 },
] as const;
export type SizeName = (typeof SIZES)[number]['name'];

/** MPI_Ckpt_options.algorithm */
const ALGORITHM = { memory: 1, disk: 2 } as const;

export interface Setting {
  /** Unique among settings. */
  readonly name: string;
  readonly size: SizeName;
  readonly algorithm: keyof typeof ALGORITHM;
  readonly nof?: number;
  /** Every so many-th checkpoint goes to the disk. */
  readonly ratio?: number;
  /** MB */
  readonly memory?: number;
  /** Neighbours that are lost at once; 0: nobody is lost. */
  readonly atOnce: number;
}

const sized = (of: (size: SizeName) => Setting): Setting[] => SIZES.map(({ name }) => of(name));
export const stable = (size: SizeName): Setting => ({ name: `stable ${size}`, size, algorithm: 'disk', atOnce: 1 });
/** Losses only with one copy, as in Table 2. */
export const inMemory = (size: SizeName, nof: number): Setting => ({
  ...{ name: `memory ${size} nof ${nof}`, size, nof },
  ...{ algorithm: 'memory', atOnce: nof === 1 ? 1 : 0 },
});
/** Two neighbours are lost, with one copy: the disk has to have the data. */
export const twoLevel: Setting = {
  ...{ name: 'two levels', size: '40KB', nof: 1, ratio: 10 },
  ...{ algorithm: 'memory', atOnce: 2 },
};
/** "is there enough memory to tolerate nof number of simultaneous failures" (section 5.4): 4 MB do not fit into 1. */
export const full: Setting = { name: 'no memory', size: '4MB', nof: 1, memory: 1, algorithm: 'memory', atOnce: 2 };

export const SETTINGS: readonly Setting[] = [
  ...sized(stable),
  ...[1, 2, 3].flatMap((nof) => sized((size) => inMemory(size, nof))),
  twoLevel,
  full,
];

/** What one process printed about one loss; s. */
export interface Loss {
  readonly loss: number;
  readonly rank: number;
  readonly isNew: boolean;
  /** From the error to the end of the recovery; 0 at a new process. */
  readonly recovery: number;
  /** MPI_Rollback, at a new process with MPI_Ckpt_open before it. */
  readonly rollback: number;
  /** A further MPI_Rollback. */
  readonly copy: number;
}

export interface Outcome {
  /** s: the caller stands still; until the checkpoint is whole. */
  readonly stands: number;
  readonly whole: number;
  readonly losses: readonly Loss[];
  /** Losses that the program should have had, and processes that ended with them behind them. */
  readonly expected: number;
  readonly ended: number;
}

/** Lines of name=value. */
const values = (line: string): Record<string, number> =>
  Object.fromEntries([...line.matchAll(/([a-z]+)=(\S+)/g)].map(([, name, x]) => [name!, Number(x)]));

/** Of what all processes printed. Pure. */
export function outcomeOf(text: string, expected: number): Outcome {
  const lines = text.split('\n').map(values);
  const checkpoints = lines.filter((l) => l['whole'] !== undefined);
  return {
    stands: mean(checkpoints.map((l) => l['stands']!)),
    whole: mean(checkpoints.map((l) => l['whole']!)),
    losses: lines
      .filter((l) => l['rollback'] !== undefined)
      .map((l) => ({
        ...{ loss: l['loss']!, rank: l['rank']!, isNew: l['new'] === 1 },
        ...{ recovery: l['recovery']!, rollback: l['rollback']!, copy: l['copy']! },
      })),
    expected,
    ended: lines.filter((l) => l['ended'] === expected).length,
  };
}

/** By what a process does after the loss of one: Table 2's rows. Loss k is that of rank k modulo 4. */
export const ROLES = ['sender', 'recver', 'normal'] as const;
export type Role = (typeof ROLES)[number];
export function roleOf({ loss, rank, isNew }: Loss): Role {
  if (isNew) return 'recver';
  return rank === (loss + 1) % RANKS ? 'sender' : 'normal';
}

/** The middle one of those that `which` takes. */
export const typical = (o: Outcome, which: (l: Loss) => boolean, of: (l: Loss) => number): number =>
  median(o.losses.filter(which).map(of));

export interface Effort {
  readonly rounds: (size: SizeName) => number;
  readonly losses: number;
}
export const EFFORT: Effort = {
  rounds: (size) => (SHORT ? 3 : { '400B': 100, '40KB': 100, '4MB': 10 }[size]),
  losses: usually(4, 1),
};
/** The paper does not say how many; COORDINATED asks for 1000 where they are small. */
export const LONG: Effort = { rounds: (size) => ({ '400B': 1000, '40KB': 1000, '4MB': 50 })[size], losses: 12 };

const argumentsOf = (s: Setting, effort: Effort): string[] => {
  const rounds = Math.max(effort.rounds(s.size), 2 * (s.ratio ?? 0));
  const all: Record<string, number | undefined> = {
    ...{ bytes: SIZES.find((x) => x.name === s.size)!.bytes, algorithm: ALGORITHM[s.algorithm] },
    ...{ nof: s.nof, ratio: s.ratio, memory: s.memory, rounds },
    ...{ losses: s.atOnce === 0 ? 0 : effort.losses, 'at-once': s.atOnce },
  };
  return Object.entries(all).flatMap(([name, x]) => (x === undefined ? [] : [`${name}=${x}`]));
};

const LIMIT_MS = 120_000;

export class Nodes {
  private constructor(
    private readonly side: MayflySide,
    private readonly source: string,
  ) {}

  static async start(): Promise<Nodes> {
    const source = await readFile(join(ROOT, 'benchmarks', 'programs', 'operation-level.c'), 'utf8');
    const side = await MayflySide.start();
    try {
      await side.headless(RANKS + 1, 1);
    } catch (error) {
      await side.stop();
      throw error;
    }
    return new Nodes(side, source);
  }

  stop(): Promise<void> {
    return this.side.stop();
  }

  /** @throws Error where a process finds data that are not its own, or the job fails */
  async run(setting: Setting, effort: Effort): Promise<Outcome> {
    const { side } = this;
    const program = { language: 'c' as const, sources: { 'main.c': this.source }, flags: ['-O2'] };
    const id = await side.submitSources(
      { name: `operation-level, ${setting.name}`, ...program },
      RANKS,
      argumentsOf(setting, effort),
      { protocol: 'app', ft: { communicators: 'rebuild', messages: 'reset' } },
    );
    const over = (j: JobView): boolean => j.endedAt !== undefined;
    const job: JobView = await side.until(id, 'its end', over, 50, LIMIT_MS);
    const texts = await Promise.all(job.tasks.map((t) => side.text(`/api/jobs/${id}/tasks/${t.task}/stdout?from=0`)));
    const wrong = texts.flatMap((t) => t.match(/^wrong=.*$/m) ?? []);
    if (job.state !== 'done') throw new Error(`${job.name}: ${[...wrong, job.error?.message, job.state].join('; ')}`);
    return outcomeOf(texts.join('\n'), setting.atOnce === 0 ? 0 : effort.losses);
  }
}
