/** `mayfly new <folder>`: a program to start from, with the declarations that an editor needs. */
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { templateFiles } from '@mayfly/toolchain';
import { CommandError, Exit } from '../exit-codes.ts';
import { say } from '../terminal.ts';

export async function newProgram(folder: string): Promise<number> {
  const files = Object.entries(templateFiles());
  for (const [path, text] of files) {
    const full = join(folder, path);
    await mkdir(dirname(full), { recursive: true });
    try {
      await writeFile(full, text, { flag: 'wx' });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'EEXIST')
        throw new CommandError(`${full} is there already; nothing is overwritten`, Exit.USAGE);
      throw error;
    }
  }
  say(`${folder}: ${files.map(([path]) => path).join(', ')}\nRun it: mayfly mpiexec -n 4 ${join(folder, 'main.ts')}`);
  return Exit.OK;
}
