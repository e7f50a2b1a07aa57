/**
 * Ranks of one headless node against as many processes of native MPICH over shared memory, on the same cores, in the
 * same run: NAS CG, MG and IS of class A, and an exchange of borders. Runs alternate, and medians are compared: of 2
 * ranks the time that the program states, of 4 the processor time, because processes of MPICH spin where ranks
 * outnumber cores. One rank alone sends no messages to others: its time is what the engine makes of the program.
 *
 * Goals: at most 1.5 times native, of 2 and of 4 ranks.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { JobOptions } from '@mayfly/wire';
import { spent, type MayflySide } from './mayfly-side.ts';
import { NATIVE, buildNative, sourcesOf } from './native.ts';
import { quick, usually } from './short.ts';
import { median, print, times } from './table.ts';

const PROGRAMS: readonly (readonly [name: string, ...args: string[]])[] = [
  ['nas-cg', usually('A', 'S')],
  ['nas-mg', usually('A', 'S')],
  ['nas-is', usually('A', 'S')],
  ['c-heat', '--points', '510', '--steps', usually('2000', '50'), '--pictures', '0'],
];
const GOAL = 1.5;

/** Seconds that the program states, and processor seconds of all its ranks. */
interface Run {
  readonly stated: number;
  readonly processor: number;
}

const statedIn = (text: string): number => Number(/^([\d.]+) s\b/m.exec(text)?.[1]);

function runNative(program: string, ranks: number, args: readonly string[], cwd: string): Run {
  // bash prints the processor time of its children.
  const command = ['TIMEFORMAT="processor %U %S"; time "$@"', 'bash', NATIVE.mpiexec!, '-n', String(ranks), program];
  const done = spawnSync('bash', ['-c', ...command, ...args], { encoding: 'utf8', cwd });
  const processor = /^processor ([\d.]+) ([\d.]+)$/m.exec(done.stderr);
  if (done.status !== 0 || !processor || Number.isNaN(statedIn(done.stderr)))
    throw new Error(`${program} ${args.join(' ')}: ${done.status ?? done.signal}\n${done.stdout}${done.stderr}`);
  return { stated: statedIn(done.stderr), processor: Number(processor[1]) + Number(processor[2]) };
}

async function runHere(
  side: MayflySide,
  [name, ...args]: (typeof PROGRAMS)[number],
  ranks: number,
  options: JobOptions,
): Promise<Run> {
  const id = await side.submitExample(name, ranks, args, options);
  const before = await side.processor();
  await side.done(id);
  const after = await side.processor();
  return {
    stated: statedIn(await side.text(`/api/jobs/${id}/tasks/0/stderr?from=0`)),
    processor: (spent(before.server, after.server) + spent(before.nodes, after.nodes)) / 1000,
  };
}

/** False: a figure is worse than twice its goal. */
export async function teamAgainstNative(side: MayflySide, options: JobOptions, rounds: number): Promise<boolean> {
  if (NATIVE.c === undefined || NATIVE.mpiexec === undefined) {
    console.log('\n  not compared with native MPI: none is installed (Debian: apt-get install mpich)');
    return true;
  }
  const scratch = mkdtempSync(join(tmpdir(), 'mayfly-team-'));
  const rows: string[][] = [];
  let held = true;
  try {
    for (const example of PROGRAMS) {
      const [name, ...args] = example;
      const program = join(scratch, name);
      buildNative(NATIVE.c, sourcesOf(name), program);
      for (const ranks of [1, 2, 4]) {
        const native: Run[] = [];
        const ours: Run[] = [];
        for (let round = 0; round < rounds; round++) {
          native.push(runNative(program, ranks, args, scratch));
          ours.push(await runHere(side, example, ranks, options));
        }
        const what = ranks === 4 ? 'processor' : 'stated';
        const [there, here] = [native, ours].map((runs) => median(runs.map((r) => r[what]))) as [number, number];
        const ratio = here / there;
        held &&= ranks === 1 || ratio <= 2 * GOAL;
        rows.push([
          `${name} ${args[0]!.startsWith('-') ? '' : args[0]!}`.trim(),
          String(ranks),
          ranks === 4 ? 'processor time' : 'time',
          `${there.toFixed(2)} s`,
          `${here.toFixed(2)} s`,
          times(ratio),
        ]);
      }
    }
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
  console.log(
    `\none headless node against native MPICH, median of ${rounds} alternating runs (goal ${times(GOAL)}, of 2 and 4 ranks)`,
  );
  print(['program', 'ranks', 'what', 'native', 'mayfly', 'ratio'], rows);
  return quick(held);
}
