/**
 * The commands of the README's table that measure: each benchmark and each paper in its short form, as the built
 * command of its own process. What fails here fails for whoever runs the command.
 */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { BENCH_NAMES, PAPER_NAMES } from './short-names.ts';

const run = promisify(execFile);

/** @returns what it printed @throws with that, when its exit code is not 0 */
async function short(command: 'bench' | 'papers', name: string): Promise<string> {
  const built = fileURLToPath(new URL(`../dist/${command}.js`, import.meta.url));
  if (!existsSync(built)) throw new Error(`${built} is missing: npm run build`);
  const { stdout } = await run(process.execPath, [built, name, '--short'], { maxBuffer: 1 << 26 });
  return stdout;
}

test.each(BENCH_NAMES)('npm run bench -- %s --short', async (name) => {
  expect(await short('bench', name)).not.toBe('');
});

test.each(PAPER_NAMES)('npm run papers -- %s --short', async (name) => {
  expect(await short('papers', name)).toContain('All shapes hold.');
});
