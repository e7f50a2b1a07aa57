/** What it costs programs that the built-in objects are closed to them: the same loops with and without, in Node. */
import { spawnSync } from 'node:child_process';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { usually } from './short.ts';
import { print, times } from './table.ts';

const ROUNDS = usually(3, 1);

function measure(mode: string): Record<string, number> {
  const { stdout, stderr, status } = spawnSync(
    process.execPath,
    [join(dirname(fileURLToPath(import.meta.url)), 'closed-kernels.js'), mode],
    { encoding: 'utf8' },
  );
  if (status !== 0) throw new Error(stderr);
  return (JSON.parse(stdout) as { times: Record<string, number> }).times;
}

export async function closed(): Promise<boolean> {
  const least: Record<string, Record<string, number>> = { open: {}, closed: {} };
  for (let i = 0; i < ROUNDS; i++)
    for (const mode of ['open', 'closed'])
      for (const [name, t] of Object.entries(measure(mode)))
        least[mode]![name] = Math.min(least[mode]![name] ?? Infinity, t);
  console.log('\nClosed built-in objects: processor time of loops with them, over the time without');
  print(
    ['loop', 'ratio'],
    Object.entries(least['open']!).map(([name, t]) => [name, times(least['closed']![name]! / t)]),
  );
  console.log('  Not measured: other engines, and programs that replace built-in methods, which is forbidden.');
  return Promise.resolve(true);
}
