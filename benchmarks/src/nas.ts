/**
 * What it costs a C or C++ program to be WebAssembly, and to be checkpointable: the NAS kernels, a ray tracer whose
 * every ray goes through virtual calls, and a recursion of tiny functions that MPI can be reached from, on one rank,
 * compiled by our toolchain with and without the instrumentation, against gcc -O3 with MPICH in the same run. Runs
 * alternate, and the best of each is compared, by processor time of the thread that computes.
 *
 * Engines run a function first as quickly made code, and never exchange the code of one that runs. A rank gets out of
 * that by its re-entries (packages/libmpi, life.ts), and so does the checkpointable kernel here; the plain one cannot.
 * Each is also run with V8's optimised code from the start.
 *
 * Does not measure: messages, checkpoints, logging (`bt-faults`, `overhead`), several ranks.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { cc, MemoryFiles } from '@mayfly/toolchain/c';
import { NATIVE, buildNative, seconds, sourcesOf, threadClock, units, type Sources } from './native.ts';
import { quick, usually } from './short.ts';
import { print, times } from './table.ts';

interface Program {
  /** Of an example, or what the recursion does. */
  readonly name: string;
  readonly args: readonly string[];
  /** What being checkpointable may cost against plain; absent: it is only told. */
  readonly goal?: number;
}
const kernel = (name: string, nasClass: string): Program => ({ name, args: [nasClass], goal: 1.05 });
/** Runs of a tenth of a second to some seconds. */
const PROGRAMS: readonly Program[] = [
  kernel('nas-ep', 'W'),
  kernel('nas-ep', 'A'),
  kernel('nas-is', 'A'),
  kernel('nas-cg', 'A'),
  kernel('nas-mg', 'W'),
  kernel('nas-mg', 'A'),
  kernel('nas-bt', 'W'),
  { name: 'cxx-raytracer', args: ['--width', '320', '--height', '240', '--samples', '2'], goal: 1.1 },
  { name: 'recursion', args: ['reaching', '33'] },
  { name: 'recursion', args: ['apart', '33'] },
];
/** MAYFLY_NAS=nas-ep: only these. */
const ONLY = (process.env['MAYFLY_NAS'] ?? usually(undefined, 'nas-is,nas-cg'))?.split(',');
const ROUNDS = Number(process.env['MAYFLY_NAS_ROUNDS'] ?? usually(5, 1));
/** Goal of the kernels against native code. */
const NATIVE_GOAL = 1.2;
const SINGLE = join(dirname(fileURLToPath(import.meta.url)), 'nas-single.js');

function build(s: Sources, plain: boolean): Uint8Array {
  const files = new MemoryFiles(s.texts);
  // A plain module has nobody who defines the calls that an exception may leave.
  const flags = plain && s.language === 'c++' ? [...s.flags, '-fignore-exceptions'] : s.flags;
  const r = cc([...flags, ...units(s), '-o', '/a.out'], {
    files,
    cwd: '/',
    driver: s.language === 'c' ? 'mpicc' : 'mpicxx',
    plain,
  });
  if (r.exit !== 0) throw new Error(new TextDecoder().decode(r.stderr));
  return files.read('/a.out')!;
}

export async function nas(): Promise<boolean> {
  console.log('nas: one rank, best of', ROUNDS, 'alternating runs');
  if (NATIVE.c === undefined)
    console.log('  measures only the instrumentation: no native MPI found (Debian: apt-get install mpich)');
  const scratch = mkdtempSync(join(tmpdir(), 'mayfly-nas-'));
  const rows: string[][] = [];
  let held = true;
  try {
    for (const { name, args, goal } of PROGRAMS.filter((p) => ONLY?.includes(p.name) ?? true)) {
      const s = sourcesOf(name);
      const [plain, checkpointable, program] = ['plain.wasm', 'checkpointable.wasm', 'native'].map((f) =>
        join(scratch, `${name}-${f}`),
      ) as [string, string, string];
      writeFileSync(plain, build(s, true));
      writeFileSync(checkpointable, build(s, false));
      const driver = NATIVE[s.language];
      if (driver !== undefined) buildNative(driver, s, program, threadClock(scratch));
      const alone = (flags: string[], module: string): number =>
        seconds(process.execPath, ['--no-warnings', ...flags, SINGLE, module, ...args], scratch);
      const runs: Record<string, () => number> = {
        optimised: () => alone(['--no-liftoff'], checkpointable),
        plain: () => alone([], plain),
        checkpointable: () => alone([], checkpointable),
        ...(driver === undefined ? {} : { native: () => seconds(program, args, scratch) }),
      };
      const best: Record<string, number> = {};
      for (let round = 0; round < ROUNDS; round++)
        for (const [kind, run] of Object.entries(runs)) best[kind] = Math.min(best[kind] ?? Infinity, run());
      const [cost, ratio] = [
        best['checkpointable']! / best['plain']!,
        driver === undefined ? undefined : best['checkpointable']! / best['native']!,
      ];
      const title = `${name} ${name === 'cxx-raytracer' ? '(virtual calls)' : args[0]!}`;
      process.stderr.write(
        `  ${title}: ${Object.entries(best)
          .map(([kind, t]) => `${kind} ${t.toFixed(2)} s`)
          .join(', ')}\n`,
      );
      // Twice the goal's loss, as everywhere.
      if (goal !== undefined)
        held &&=
          cost <= 2 * goal - 1 && (ratio === undefined || !name.startsWith('nas-') || ratio <= 2 * NATIVE_GOAL - 1);
      const against = (kind: string): string => (driver === undefined ? '–' : times(best[kind]! / best['native']!));
      rows.push([
        title,
        against('checkpointable'),
        against('optimised'),
        against('plain'),
        times(cost),
        goal === undefined ? 'none' : times(goal),
      ]);
    }
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
  print(
    [
      'program',
      'checkpointable / native',
      'with optimised code from the start',
      'plain wasm / native',
      'checkpointable / plain',
      'its goal',
    ],
    rows,
  );
  console.log(
    `  goal of kernels against native: ${times(NATIVE_GOAL)}. Not measured: messages, checkpoints, several ranks.`,
  );
  return Promise.resolve(quick(held));
}
