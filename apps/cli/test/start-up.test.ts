/**
 * What a command loads before it does anything, on the bundle that is shipped: a module counts some milliseconds of
 * every call. With the whole server behind it, `mayfly mpiexec --server` took 0.9 s of processor time before it sent
 * anything; 0.25 s without.
 */
import { builtinModules } from 'node:module';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { expect, test } from 'vitest';

const src = fileURLToPath(new URL('../src/', import.meta.url));

test.each([
  ['commands/mpiexec.ts', ['openapi-fetch', 'socket.io-client']],
  ['commands/jobs.ts', ['openapi-fetch']],
  ['main.ts', ['commander', 'openapi-fetch']],
])('%s loads these packages: %j', async (command, packages) => {
  const about = await build({
    entryPoints: [src + command],
    bundle: true,
    splitting: true,
    write: false,
    metafile: true,
    outdir: '/out',
    platform: 'node',
    format: 'esm',
    logLevel: 'error',
    plugins: [
      {
        name: 'packages stay outside',
        setup: (b) =>
          b.onResolve({ filter: /^[^./]/ }, (a) =>
            a.kind === 'entry-point' || a.path.startsWith('@mayfly/') ? undefined : { path: a.path, external: true },
          ),
      },
    ],
  });
  const { outputs } = about.metafile;
  const found = new Set<string>();
  const seen = new Set<string>();
  const walk = (name: string): void => {
    if (seen.has(name)) return;
    seen.add(name);
    for (const i of outputs[name]!.imports)
      if (i.kind !== 'import-statement') continue;
      else if (!i.external) walk(i.path);
      else if (!i.path.startsWith('node:') && !builtinModules.includes(i.path)) found.add(i.path);
  };
  walk(Object.keys(outputs).find((name) => outputs[name]!.entryPoint?.endsWith(command))!);
  expect([...found].sort()).toEqual(packages);
});
