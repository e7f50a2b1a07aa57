/** Builds dist/: the compile process, and the declarations and the template that it and the apps hand out. */
import { build } from 'esbuild';
import { copyFile, mkdir, readdir, rename, rm } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';

const here = fileURLToPath(new URL('.', import.meta.url));
const types = fileURLToPath(new URL('../mpi/types/', import.meta.url));

/** Concurrent readers must not see half a file. */
async function put(from, to) {
  await copyFile(from, `${here}dist/.${process.pid}`);
  await rename(`${here}dist/.${process.pid}`, `${here}dist/${to}`);
}

await mkdir(`${here}dist/types`, { recursive: true });
await mkdir(`${here}dist/template`, { recursive: true });
for (const name of ['mayfly.d.ts', 'globals.d.ts']) await put(types + name, `types/${name}`);
for (const name of await readdir(`${here}template`)) await put(`${here}template/${name}`, `template/${name}`);
await put(`${types}mayfly.d.ts`, 'template/mayfly.d.ts');
await put(`${types}globals.d.ts`, 'template/mayfly-globals.d.ts');

const temporary = `${here}dist/.${process.pid}.mjs`;
await build({
  entryPoints: [`${here}src/compile-server.ts`],
  outfile: temporary,
  bundle: true,
  platform: 'node',
  format: 'esm',
  target: 'node20',
  // Both find their own files (the library, the native binary) beside themselves.
  external: ['typescript', 'esbuild'],
  logLevel: 'warning',
});
await rename(temporary, `${here}dist/compile-server.mjs`);
await rm(temporary, { force: true });
