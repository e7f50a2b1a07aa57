/**
 * The output of each rank in a file of its own (`-outfile-pattern out.%r`), as MPICH's mpiexec has it, or below a
 * folder, as Open MPI's has it. Owns the names of the files that this run has begun: the first piece replaces what an
 * earlier run left.
 */
import { mkdirSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { CommandError, Exit } from './exit-codes.ts';

export class OutputFiles {
  readonly #pattern: string;
  readonly #option: string;
  /** Of the ranks in names; 0: as many as each has. */
  readonly #digits: number;
  readonly #begun = new Set<string>();

  /**
   * @param pattern a path in which %r stands for the rank; %% is a percent sign
   * @throws CommandError where no file can be written
   */
  constructor(pattern: string, option: string, digits = 0) {
    this.#pattern = pattern;
    this.#option = option;
    this.#digits = digits;
    const other = /%[^r%]|%$/.exec(pattern.replaceAll('%%', ''))?.[0];
    if (other !== undefined)
      throw new CommandError(`${option}: '${other}' is unknown: %r is the rank, %% a percent sign`, Exit.USAGE);
    const folder = dirname(resolve(this.pathOf(0)));
    if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory())
      throw new CommandError(`${option}: there is no folder ${folder}`, Exit.USAGE);
  }

  /** `--output-filename`: folder/1/rank.03/stdout. @throws CommandError where the folder cannot be made */
  static below(folder: string, stream: 'stdout' | 'stderr', ranks: number): OutputFiles {
    const option = '--output-filename';
    const digits = String(ranks - 1).length;
    try {
      for (let rank = 0; rank < ranks; rank++)
        mkdirSync(join(folder, '1', `rank.${String(rank).padStart(digits, '0')}`), { recursive: true });
    } catch (error) {
      throw new CommandError(`${option}: ${(error as Error).message}`, Exit.USAGE);
    }
    return new OutputFiles(join(folder.replaceAll('%', '%%'), '1', 'rank.%r', stream), option, digits);
  }

  pathOf(rank: number): string {
    const name = String(rank).padStart(this.#digits, '0');
    return this.#pattern.replace(/%[r%]/g, (what) => (what === '%r' ? name : '%'));
  }

  /** @throws CommandError when the file cannot be written */
  write(rank: number, bytes: Uint8Array): void {
    const path = this.pathOf(rank);
    try {
      writeFileSync(path, bytes, { flag: this.#begun.has(path) ? 'a' : 'w' });
    } catch (error) {
      throw new CommandError(`${this.#option}: ${(error as Error).message}`, Exit.FAILED);
    }
    this.#begun.add(path);
  }
}
