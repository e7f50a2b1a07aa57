/** Real processes that are killed with SIGKILL in the middle of their work. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { build } from 'esbuild';
import { expect } from 'vitest';

/** @param entry a program beside this file */
export async function bundleOf(entry: string, folder: string): Promise<string> {
  const bundle = join(folder, entry.replace('.ts', '.mjs'));
  await build({
    entryPoints: [join(import.meta.dirname, entry)],
    outfile: bundle,
    bundle: true,
    platform: 'node',
    format: 'esm',
    external: ['pg-native'],
    banner: { js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);" },
  });
  return bundle;
}

/**
 * Ends it once it has printed so many lines, of so many kinds.
 * @param end instead of SIGKILL
 * @returns what it printed whole, by its first word: the greatest number of each, or its text
 */
export async function killAfter(
  lines: number,
  kinds: number,
  bundle: string,
  args: string[],
  end = (child: ChildProcess): unknown => child.kill('SIGKILL'),
): Promise<Map<string, string>> {
  const child = spawn(process.execPath, [bundle, ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
  let out = '';
  const printed = (): [string, string][] =>
    out
      .split('\n')
      .slice(0, -1)
      .map((line) => line.split(' ') as [string, string]);
  let ended = false;
  for await (const chunk of child.stdout) {
    out += String(chunk);
    if (ended || out.split('\n').length <= lines || new Map(printed()).size < kinds) continue;
    ended = true;
    await end(child);
  }
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  expect(child.signalCode).toBe('SIGKILL');
  return new Map(printed());
}
