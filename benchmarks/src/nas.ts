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
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { cc, MemoryFiles } from '@mayfly/toolchain/c';
import { ROOT } from './mayfly-side.ts';
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
const ONLY = process.env['MAYFLY_NAS']?.split(',');
const ROUNDS = Number(process.env['MAYFLY_NAS_ROUNDS'] ?? 5);
/** Goal of the kernels against native code. */
const NATIVE_GOAL = 1.2;
const SINGLE = join(dirname(fileURLToPath(import.meta.url)), 'nas-single.js');
/** What native kernels read in place of MPI_Wtime. */
const CPU_CLOCK =
  '#include <time.h>\n#ifdef __cplusplus\nextern "C"\n#endif\ndouble nas_processor(void) { struct timespec ' +
  't; clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t); return t.tv_sec + 1e-9 * t.tv_nsec; }\n';
const EXAMPLES = join(ROOT, 'examples');

interface Sources {
  readonly language: 'c' | 'c++';
  readonly flags: readonly string[];
  /** Of its source texts, by path below `root`. */
  readonly texts: Readonly<Record<string, string>>;
  readonly root: string;
}

function sourcesOf(name: string): Sources {
  if (name === 'recursion') {
    const root = join(ROOT, 'benchmarks/programs');
    return {
      language: 'c',
      flags: ['-O3'],
      texts: { '/recursion.c': readFileSync(join(root, 'recursion.c'), 'utf8') },
      root,
    };
  }
  const about = JSON.parse(readFileSync(join(EXAMPLES, name, 'example.json'), 'utf8')) as {
    language: 'c' | 'c++';
    sources: string[];
    flags: string[];
  };
  const paths = about.sources.map((s) => relative(EXAMPLES, join(EXAMPLES, name, s)));
  return {
    language: about.language,
    flags: about.flags,
    texts: Object.fromEntries(paths.map((p) => [`/${p}`, readFileSync(join(EXAMPLES, p), 'utf8')])),
    root: EXAMPLES,
  };
}

const units = ({ texts }: Sources): string[] => Object.keys(texts).filter((p) => /\.(c|cc)$/.test(p));

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

/** Seconds that a program says it took. @throws when its own check fails */
function seconds(command: string, args: readonly string[], cwd: string): number {
  const done = spawnSync(command, args, { encoding: 'utf8', cwd });
  const time = /^([\d.]+) s\b/m.exec(done.stderr)?.[1];
  // Node 20 may die of SIGSEGV in its own teardown, while V8 still compiles beside: what the kernel printed is whole by
  // then.
  const ended = done.status === 0 || done.signal === 'SIGSEGV';
  if (!ended || time === undefined || !/^(Verification SUCCESSFUL|PASS)/m.test(done.stdout))
    throw new Error(`${command} ${args.join(' ')}: ${done.status ?? done.signal}\n${done.stdout}${done.stderr}`);
  return Number(time);
}

/** gcc's, with the clock of the thread in place of MPI_Wtime. */
function buildNative(driver: string, s: Sources, program: string, scratch: string): void {
  const clock = join(scratch, 'clock.c');
  writeFileSync(clock, CPU_CLOCK);
  const compiled = spawnSync(
    driver,
    [
      ...s.flags,
      '-O3',
      '-include',
      'mpi.h',
      '-DMPI_Wtime=nas_processor',
      '-o',
      program,
      ...units(s).map((p) => join(s.root, p)),
      clock,
      '-lm',
    ],
    { encoding: 'utf8' },
  );
  if (compiled.status !== 0) throw new Error(compiled.stderr);
}

export async function nas(): Promise<boolean> {
  const found = (...names: string[]): string | undefined =>
    names.find((c) => spawnSync(c, ['--version'], { stdio: 'ignore' }).status === 0);
  const native = { c: found('mpicc.mpich', 'mpicc'), 'c++': found('mpicxx.mpich', 'mpicxx') };
  console.log('nas: one rank, best of', ROUNDS, 'alternating runs');
  if (native.c === undefined)
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
      const driver = native[s.language];
      if (driver !== undefined) buildNative(driver, s, program, scratch);
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
  return Promise.resolve(held);
}
