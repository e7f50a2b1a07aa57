/**
 * The programs of the differential set under an installed MPI: compiled by its mpicc, started by its mpiexec. Debian has several side by side: mpicc.mpich,
 * mpicc.openmpi; without a name it is the one that the system has chosen.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { collate, type Conformance } from '@mayfly/libmpi/conformance';

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
    return version ? `MPICH ${version}` : r.stdout.split('\n')[0]?.replace(/^mpiexec\S* \(Open(RTE| MPI)\)/, 'Open MPI');
  }

  /**
   * Runs a program. One that does not come to its end there is run test by test: what a test of it brings down is missing in the answer.
   */
  run(program: Conformance, ranks: number): string {
    const all = this.start(program, ranks, []);
    if (all.whole) return collate(program, [all.text]);
    const texts: string[] = [];
    for (const [test, least] of program.tests) {
      if (least > ranks) continue;
      const one = this.start(program, ranks, [test]);
      if (one.whole) texts.push(one.text);
    }
    return collate(program, texts);
  }

  private start(program: Conformance, ranks: number, args: string[]): { whole: boolean; text: string } {
    const env = { ...process.env, OMPI_ALLOW_RUN_AS_ROOT: '1', OMPI_ALLOW_RUN_AS_ROOT_CONFIRM: '1', OMPI_MCA_rmaps_base_oversubscribe: '1' };
    const built = this.build(program);
    if (built === undefined) return { whole: false, text: '' };
    const r = spawnSync(named('mpiexec', this.mpi), ['-n', String(ranks), built, ...args], { encoding: 'utf8', timeout: 120_000, cwd: this.dir, env, maxBuffer: 1 << 26 });
    return { whole: r.status === 0, text: r.stdout };
  }

  /** Undefined where that library lacks what the program calls. */
  private build(program: Conformance): string | undefined {
    if (this.built.has(program.name)) return this.built.get(program.name);
    const path = join(this.dir, program.name);
    const r = spawnSync(named('mpicc', this.mpi), ['-O1', '-w', '-o', path, join(this.folder, `${program.name}.c`), '-lm'], { encoding: 'utf8' });
    this.built.set(program.name, r.status === 0 ? path : undefined);
    if (r.status !== 0) console.error(`${program.name}.c cannot be built there: ${[...r.stderr.matchAll(/(?:undefined reference to|error:) .*/g)].map((m) => m[0]).slice(0, 3).join('; ')}`);
    return this.built.get(program.name);
  }

  close(): void {
    rmSync(this.dir, { recursive: true, force: true });
  }
}

const named = (command: string, mpi: string | undefined): string => (mpi === undefined ? command : `${command}.${mpi}`);
