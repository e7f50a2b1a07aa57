/**
 * What it costs a C program to be WebAssembly, and to be checkpointable: the NAS kernels on one rank, compiled by our toolchain with and
 * without the instrumentation, against gcc -O3 with MPICH in the same run. Runs alternate, and the best of each is compared, by processor time of the thread that computes.
 *
 * Engines run a function first as quickly made code, and never exchange the code of one that runs. A rank gets out of that by its re-entries (packages/libmpi, life.ts), and so does
 * the checkpointable kernel here; the plain one cannot. Each is also run with V8's optimised code from the start.
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

/** Classes that take between a tenth of a second and some seconds. */
const KERNELS: [name: string, nasClass: string][] = [['nas-ep', 'W'], ['nas-is', 'A'], ['nas-cg', 'A'], ['nas-mg', 'W'], ['nas-bt', 'W']];
const ROUNDS = Number(process.env['MAYFLY_NAS_ROUNDS'] ?? 5);
/** Goals: against native code, and what checkpointable costs against plain. */
const GOAL = { native: 1.2, instrumented: 1.05 };
const SINGLE = join(dirname(fileURLToPath(import.meta.url)), 'nas-single.js');
/** What native kernels read in place of MPI_Wtime. */
const CPU_CLOCK = '#include <time.h>\ndouble nas_processor(void) { struct timespec t; clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t); return t.tv_sec + 1e-9 * t.tv_nsec; }\n';
const EXAMPLES = join(ROOT, 'examples');

/** Source texts by path below examples/, and the flags of the manifest. */
function sourcesOf(name: string): { sources: Record<string, string>; flags: string[] } {
  const about = JSON.parse(readFileSync(join(EXAMPLES, name, 'example.json'), 'utf8')) as { sources: string[]; flags: string[] };
  const paths = about.sources.map((s) => relative(EXAMPLES, join(EXAMPLES, name, s)));
  return { sources: Object.fromEntries(paths.map((p) => [`/${p}`, readFileSync(join(EXAMPLES, p), 'utf8')])), flags: about.flags };
}

function build(sources: Record<string, string>, flags: string[], plain: boolean): Uint8Array {
  const files = new MemoryFiles(sources);
  const r = cc([...flags, ...Object.keys(sources).filter((p) => p.endsWith('.c')), '-o', '/a.out'], { files, cwd: '/', driver: 'mpicc', plain });
  if (r.exit !== 0) throw new Error(new TextDecoder().decode(r.stderr));
  return files.read('/a.out')!;
}

/** Seconds that a kernel says it took. @throws when its own check fails */
function seconds(command: string, args: string[]): number {
  const done = spawnSync(command, args, { encoding: 'utf8' });
  const time = /^([\d.]+) s, /m.exec(done.stderr)?.[1];
  // Node 20 may die of SIGSEGV in its own teardown, while V8 still compiles beside: what the kernel printed is whole by then.
  const ended = done.status === 0 || done.signal === 'SIGSEGV';
  if (!ended || time === undefined || !done.stdout.includes('Verification SUCCESSFUL')) throw new Error(`${command} ${args.join(' ')}: ${done.status ?? done.signal}\n${done.stdout}${done.stderr}`);
  return Number(time);
}

export async function nas(): Promise<boolean> {
  const native = ['mpicc.mpich', 'mpicc'].find((c) => spawnSync(c, ['--version'], { stdio: 'ignore' }).status === 0);
  console.log('nas: one rank, best of', ROUNDS, 'alternating runs');
  if (native === undefined) console.log('  no native MPI here (Debian: apt-get install mpich): only the instrumentation is measured');
  const scratch = mkdtempSync(join(tmpdir(), 'mayfly-nas-'));
  const rows: string[][] = [];
  let held = true;
  try {
    for (const [name, nasClass] of KERNELS) {
      const { sources, flags } = sourcesOf(name);
      const [plain, checkpointable, program] = ['plain.wasm', 'checkpointable.wasm', 'native'].map((f) => join(scratch, `${name}-${f}`)) as [string, string, string];
      writeFileSync(plain, build(sources, flags, true));
      writeFileSync(checkpointable, build(sources, flags, false));
      if (native !== undefined) {
        const units = Object.keys(sources).filter((p) => p.endsWith('.c')).map((p) => join(EXAMPLES, p));
        const clock = join(scratch, 'clock.c');
        writeFileSync(clock, CPU_CLOCK);
        const compiled = spawnSync(native, ['-O3', '-include', 'mpi.h', '-DMPI_Wtime=nas_processor', '-o', program, ...units, clock, '-lm'], { encoding: 'utf8' });
        if (compiled.status !== 0) throw new Error(compiled.stderr);
      }
      const runs: Record<string, () => number> = {
        optimised: () => seconds(process.execPath, ['--no-warnings', '--no-liftoff', SINGLE, checkpointable, nasClass]),
        plain: () => seconds(process.execPath, ['--no-warnings', SINGLE, plain, nasClass]),
        checkpointable: () => seconds(process.execPath, ['--no-warnings', SINGLE, checkpointable, nasClass]),
        ...(native === undefined ? {} : { native: () => seconds(program, [nasClass]) }),
      };
      const best: Record<string, number> = {};
      for (let round = 0; round < ROUNDS; round++) for (const [kind, run] of Object.entries(runs)) best[kind] = Math.min(best[kind] ?? Infinity, run());
      const [cost, ratio] = [best['checkpointable']! / best['plain']!, native === undefined ? undefined : best['checkpointable']! / best['native']!];
      process.stderr.write(`  ${name} ${nasClass}: ${Object.entries(best).map(([kind, t]) => `${kind} ${t.toFixed(2)} s`).join(', ')}\n`);
      // Twice the goal's loss, as everywhere.
      held &&= cost <= 2 * GOAL.instrumented - 1 && (ratio === undefined || ratio <= 2 * GOAL.native - 1);
      const against = (kind: string): string => (native === undefined ? '–' : times(best[kind]! / best['native']!));
      rows.push([`${name} ${nasClass}`, against('checkpointable'), against('optimised'), against('plain'), times(cost)]);
    }
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
  print(['kernel', 'checkpointable / native', 'with optimised code from the start', 'plain wasm / native', 'checkpointable / plain'], rows);
  console.log(`  goals: ${times(GOAL.native)} against native, ${times(GOAL.instrumented)} against plain. Not measured: messages, checkpoints, several ranks.`);
  return Promise.resolve(held);
}
