/** The programs of the differential set under an installed MPI: compiled by its mpicc, started by its mpiexec. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { collate, type Conformance } from '@mayfly/libmpi/conformance';

export class Native {
  private readonly dir = mkdtempSync(join(tmpdir(), 'mayfly-native-'));
  private readonly built = new Map<string, string>();

  constructor(private readonly folder: string) {}

  /** The first line that names the library; undefined when none is installed. */
  static version(): string | undefined {
    const r = spawnSync('mpiexec', ['--version'], { encoding: 'utf8' });
    if (r.status !== 0 || spawnSync('mpicc', ['-v']).error) return undefined;
    const version = /Version:\s*(\S+)/.exec(r.stdout)?.[1];
    return version ? `MPICH ${version}` : r.stdout.split('\n')[0];
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
    const r = spawnSync('mpiexec', ['-n', String(ranks), this.build(program), ...args], { encoding: 'utf8', timeout: 120_000, cwd: this.dir, env, maxBuffer: 1 << 26 });
    return { whole: r.status === 0, text: r.stdout };
  }

  private build(program: Conformance): string {
    let path = this.built.get(program.name);
    if (path) return path;
    path = join(this.dir, program.name);
    const r = spawnSync('mpicc', ['-O1', '-w', '-o', path, join(this.folder, `${program.name}.c`), '-lm'], { encoding: 'utf8' });
    if (r.status !== 0) throw new Error(`mpicc ${program.name}.c: ${r.stderr}`);
    this.built.set(program.name, path);
    return path;
  }

  close(): void {
    rmSync(this.dir, { recursive: true, force: true });
  }
}
