/** `mayfly cmake-toolchain`: where the toolchain file lies (build.mjs puts it there). */
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { CommandError, Exit } from '../exit-codes.ts';
import { say } from '../terminal.ts';

export async function cmakeToolchain(): Promise<number> {
  const path = fileURLToPath(new URL('./cmake/mayfly.cmake', import.meta.url));
  if (!existsSync(path)) throw new CommandError('the toolchain file is missing: npm run build', Exit.FAILED);
  say(path);
  return Exit.OK;
}
