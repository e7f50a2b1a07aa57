/**
 * The output of each rank in a file of its own (`-outfile-pattern out.%r`), as MPICH's mpiexec has it. Owns the names
 * of the files that this run has begun: the first piece replaces what an earlier run left.
 */
import { statSync, writeFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { CommandError, Exit } from './exit-codes.ts';

export class OutputFiles {
  readonly #pattern: string;
  readonly #option: string;
  readonly #begun = new Set<string>();

  /**
   * @param pattern a path in which %r stands for the rank; %% is a percent sign
   * @throws CommandError where no file can be written
   */
  constructor(pattern: string, option: string) {
    this.#pattern = pattern;
    this.#option = option;
    const other = /%[^r%]|%$/.exec(pattern.replaceAll('%%', ''))?.[0];
    if (other !== undefined)
      throw new CommandError(`${option}: '${other}' is unknown: %r is the rank, %% a percent sign`, Exit.USAGE);
    const folder = dirname(resolve(this.pathOf(0)));
    if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory())
      throw new CommandError(`${option}: there is no folder ${folder}`, Exit.USAGE);
  }

  pathOf(rank: number): string {
    return this.#pattern.replace(/%[r%]/g, (what) => (what === '%r' ? String(rank) : '%'));
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
