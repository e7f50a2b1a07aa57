/**
 * The programs of the differential set under an installed MPI: compiled by its mpicc, started by its mpiexec. Debian
 * has several side by side: mpicc.mpich, mpicc.openmpi; without a name it is the one that the system has chosen.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { collate, type Conformance } from '@mayfly/libmpi/conformance';

/** Only to end a hang: of a whole program, of one test. */
const WHOLE = 120_000;
const SINGLE = 30_000;

export class Native {
  private readonly dir = mkdtempSync(join(tmpdir(), 'mayfly-native-'));
  private readonly built = new Map<string, string | undefined>();

  constructor(
    private readonly folder: string,
    private readonly mpi?: string,
  ) {}

  /** The first line that names the library; undefined when none is installed. */
  static version(mpi?: string): string | undefined {
    const r = spawnSync(named('mpiexec', mpi), ['--version'], { encoding: 'utf8' });
    if (r.status !== 0 || spawnSync(named('mpicc', mpi), ['-v']).error) return undefined;
    const version = /Version:\s*(\S+)/.exec(r.stdout)?.[1];
    return version
      ? `MPICH ${version}`
      : r.stdout.split('\n')[0]?.replace(/^mpiexec\S* \(Open(RTE| MPI)\)/, 'Open MPI');
  }

  /** Why tests of the last run have no line. Those that are not compiled natively are in neither. */
  readonly missing = new Map<string, string>();

  /**
   * Runs a program. One that does not come to its end there is run test by test: what a test of it brings down is
   * missing in the answer.
   */
  run(program: Conformance, ranks: number): string {
    this.missing.clear();
    const tests = [...program.tests].filter(([, least]) => least <= ranks).map(([test]) => test);
    const built = this.build(program);
    if (built === undefined) {
      for (const test of tests) this.missing.set(test, 'the program does not link there');
      return '';
    }
    const all = this.start(built, ranks, [], WHOLE);
    if (all.broke === undefined) return collate(program, all.texts);
    const texts: string[] = [];
    for (const test of tests) {
      const one = this.start(built, ranks, [test], SINGLE);
      if (one.broke === undefined) texts.push(...one.texts);
      else this.missing.set(test, one.broke);
    }
    return collate(program, texts);
  }

  /**
   * Every rank writes into a file of its own: mpiexec's own output may mix the lines of two ranks. Every rank is ended
   * by itself when it takes too long: an mpiexec that is killed may leave its ranks behind.
   */
  private start(
    built: string,
    ranks: number,
    args: string[],
    timeout: number,
  ): { texts: string[]; broke: string | undefined } {
    const env = {
      ...process.env,
      OMPI_ALLOW_RUN_AS_ROOT: '1',
      OMPI_ALLOW_RUN_AS_ROOT_CONFIRM: '1',
      OMPI_MCA_rmaps_base_oversubscribe: '1',
    };
    const cwd = mkdtempSync(join(this.dir, 'run-'));
    const script = `exec timeout -s KILL ${timeout / 1000} "$0" "$@" > "rank.\${PMI_RANK:-$OMPI_COMM_WORLD_RANK}.out"`;
    const began = Date.now();
    const r = spawnSync(named('mpiexec', this.mpi), ['-n', String(ranks), 'sh', '-c', script, built, ...args], {
      encoding: 'utf8',
      timeout: 2 * timeout,
      killSignal: 'SIGKILL',
      cwd,
      env,
      maxBuffer: 1 << 26,
    });
    const texts = readdirSync(cwd)
      .filter((f) => /^rank\.\d+\.out$/.test(f))
      .map((f) => readFileSync(join(cwd, f), 'utf8'));
    const said = /(?:exited on signal|BAD TERMINATION|MPI_ERR_\w+|Fatal error in \w+).*/.exec(
      `${r.stdout}${r.stderr}`,
    )?.[0];
    const broke =
      r.status === 0
        ? undefined
        : Date.now() - began >= timeout
          ? `still running after ${timeout / 1000} s`
          : `ended with ${r.status}${said ? `: ${said}` : ''}`;
    rmSync(cwd, { recursive: true, force: true });
    return { texts, broke };
  }

  /** Undefined where that library lacks what the program calls. */
  private build(program: Conformance): string | undefined {
    if (this.built.has(program.name)) return this.built.get(program.name);
    const path = join(this.dir, program.name);
    const r = spawnSync(
      named('mpicc', this.mpi),
      ['-O1', '-w', '-o', path, join(this.folder, `${program.name}.c`), '-lm'],
      { encoding: 'utf8' },
    );
    this.built.set(program.name, r.status === 0 ? path : undefined);
    if (r.status !== 0)
      console.error(
        `${program.name}.c cannot be built there: ${[...r.stderr.matchAll(/(?:undefined reference to|error:) .*/g)]
          .map((m) => m[0])
          .slice(0, 3)
          .join('; ')}`,
      );
    return this.built.get(program.name);
  }

  close(): void {
    rmSync(this.dir, { recursive: true, force: true });
  }
}

const named = (command: string, mpi: string | undefined): string => (mpi === undefined ? command : `${command}.${mpi}`);
