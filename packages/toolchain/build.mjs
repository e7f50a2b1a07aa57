/**
 * Builds dist/: the compile processes, and what they and the apps hand out: declarations, the template, mpi.h and the
 * files of the C side.
 */
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

/** A folder with all in it. */
async function putTree(from, to) {
  await mkdir(`${here}dist/${to}`, { recursive: true });
  for (const entry of await readdir(from, { withFileTypes: true }))
    if (entry.isDirectory()) await putTree(`${from}${entry.name}/`, `${to}/${entry.name}`);
    else await put(from + entry.name, `${to}/${entry.name}`);
}
await putTree(`${here}compat/`, 'c/compat');
await putTree(fileURLToPath(new URL('../libmpi/include/', import.meta.url)), 'c/include');

/**
 * TypeScript is one file of CommonJS, of nine megabytes. Where it is imported, Node first searches the file for the
 * names that it exports, and that takes 0.34 s, longer than to load it.
 */
const typescriptByRequire = {
  name: 'typescript by require',
  setup(b) {
    b.onResolve({ filter: /^typescript$/ }, ({ path }) => ({ path, namespace: 'require' }));
    b.onLoad({ filter: /.*/, namespace: 'require' }, ({ path }) => ({
      contents: `import { createRequire } from 'node:module';\nexport default createRequire(import.meta.url)('${path}');`,
    }));
  },
};

// Parts (part-….mjs) that are loaded with the first program of their language; the entry comes last, so that it finds
// its own.
const temporary = `${here}dist/.${process.pid}.parts/`;
await build({
  entryPoints: [`${here}src/compile-server.ts`],
  outdir: temporary,
  outExtension: { '.js': '.mjs' },
  bundle: true,
  splitting: true,
  chunkNames: 'part-[hash]',
  platform: 'node',
  format: 'esm',
  target: 'node20',
  // They find their own files (the native binary, clang) beside themselves.
  external: ['esbuild', 'binaryen', '@yowasp/clang'],
  plugins: [typescriptByRequire],
  logLevel: 'warning',
});
const parts = (await readdir(temporary)).sort(
  (a, b) => Number(a === 'compile-server.mjs') - Number(b === 'compile-server.mjs'),
);
for (const name of parts) await rename(temporary + name, `${here}dist/${name}`);
await rm(temporary, { recursive: true });
for (const name of await readdir(`${here}dist`))
  if (/^part-.*\.mjs$/.test(name) && !parts.includes(name)) await rm(`${here}dist/${name}`, { force: true });

// The compatibility layer, compiled by the drivers' own code.
const compat = `${here}dist/.${process.pid}.compat.mjs`;
await build({
  entryPoints: [`${here}src/c/driver/compat.ts`],
  outfile: compat,
  bundle: true,
  platform: 'node',
  format: 'esm',
  target: 'node20',
  external: ['@yowasp/clang'],
  logLevel: 'warning',
});
try {
  const { buildCompat } = await import(compat);
  buildCompat();
} finally {
  await rm(compat, { force: true });
}
