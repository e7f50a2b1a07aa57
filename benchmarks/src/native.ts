/**
 * Programs of examples/ and benchmarks/programs built by the C compilers of an installed MPICH, for comparison; what
 * such a program prints about its time.
 */
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { ROOT } from './mayfly-side.ts';

const EXAMPLES = join(ROOT, 'examples');

const found = (...names: string[]): string | undefined =>
  names.find((c) => spawnSync(c, ['--version'], { stdio: 'ignore' }).status === 0);
/** Commands of MPICH; undefined where none is installed. */
export const NATIVE = {
  c: found('mpicc.mpich', 'mpicc'),
  'c++': found('mpicxx.mpich', 'mpicxx'),
  mpiexec: found('mpiexec.mpich', 'mpiexec'),
};

export interface Sources {
  readonly language: 'c' | 'c++';
  readonly flags: readonly string[];
  /** Source texts, by path below `root`. */
  readonly texts: Readonly<Record<string, string>>;
  readonly root: string;
}

export function sourcesOf(name: string): Sources {
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

export const units = ({ texts }: Sources): string[] => Object.keys(texts).filter((p) => /\.(c|cc)$/.test(p));

/** Seconds that a program says it took. @throws when its own check fails */
export function seconds(command: string, args: readonly string[], cwd: string): number {
  const done = spawnSync(command, args, { encoding: 'utf8', cwd });
  const time = /^([\d.]+) s\b/m.exec(done.stderr)?.[1];
  // Node 20 may die of SIGSEGV in its own teardown, while V8 still compiles beside: what the kernel printed is whole by
  // then.
  const ended = done.status === 0 || done.signal === 'SIGSEGV';
  if (!ended || time === undefined || !/^(Verification SUCCESSFUL|PASS)/m.test(done.stdout))
    throw new Error(`${command} ${args.join(' ')}: ${done.status ?? done.signal}\n${done.stdout}${done.stderr}`);
  return Number(time);
}

/** What native kernels read in place of MPI_Wtime. */
const CPU_CLOCK =
  '#include <time.h>\n#ifdef __cplusplus\nextern "C"\n#endif\ndouble nas_processor(void) { struct timespec ' +
  't; clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t); return t.tv_sec + 1e-9 * t.tv_nsec; }\n';

/** Flags and sources with which a program reads the processor time of its thread in place of MPI_Wtime. */
export function threadClock(scratch: string): string[] {
  const clock = join(scratch, 'clock.c');
  writeFileSync(clock, CPU_CLOCK);
  return ['-include', 'mpi.h', '-DMPI_Wtime=nas_processor', clock];
}

/** Optimises as the toolchain does (-O3). @throws with the compiler's errors */
export function buildNative(driver: string, s: Sources, program: string, more: readonly string[] = []): void {
  const sources = units(s).map((p) => join(s.root, p));
  const compiled = spawnSync(driver, [...s.flags, '-O3', ...more, '-o', program, ...sources, '-lm'], {
    encoding: 'utf8',
  });
  if (compiled.status !== 0) throw new Error(compiled.stderr);
}
