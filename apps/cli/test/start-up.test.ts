/**
 * What a command loads before it does anything, on the bundle that is shipped: a module counts some milliseconds of
 * every call. With the whole server behind it, `mayfly mpiexec --server` took 0.9 s of processor time before it sent
 * anything; 0.25 s without. All entry points are bundled together, since what they share lies in common parts.
 */
import { builtinModules } from 'node:module';
import { fileURLToPath } from 'node:url';
import { build, type Metafile } from 'esbuild';
import { beforeAll, expect, test } from 'vitest';

const src = fileURLToPath(new URL('../src/', import.meta.url));
let outputs: Metafile['outputs'];

beforeAll(async () => {
  const about = await build({
    entryPoints: ['mayfly.ts', 'drivers/compile-server.ts', 'simulate-worker.ts'].map((f) => src + f),
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
  outputs = about.metafile.outputs;
});

test.each([
  ['src/commands/mpiexec.ts', ['socket.io-client']],
  ['src/commands/submit.ts', []],
  ['src/commands/wait.ts', []],
  ['src/commands/jobs.ts', []],
  ['src/commands/login.ts', []],
  ['src/main.ts', ['commander']],
  // TypeScript is loaded for a program that may import its own files, schemas for a folder with a manifest.
  ['toolchain/src/read-program.ts', []],
  ['toolchain/src/read-native.ts', []],
  ['toolchain/src/project.ts', ['typebox', 'typebox/value']],
])('%s loads these packages: %j', (module, packages) => {
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
  walk(Object.keys(outputs).find((name) => outputs[name]!.entryPoint?.endsWith(module))!);
  expect([...found].sort()).toEqual(packages);
});
