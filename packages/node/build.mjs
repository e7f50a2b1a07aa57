// Bundles everything of this package that does not run from source: the sandboxed frame with its workers inside, and
// the worker threads and
// processes of a headless node. The daemon worker of the page is bundled by the web app; `--test-page` bundles page and
// daemon without it.
import { mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const at = (path) => fileURLToPath(new URL(path, import.meta.url));
const production = !process.argv.includes('--dev');
const common = {
  bundle: true,
  minify: production,
  legalComments: 'none',
  logLevel: 'warning',
  target: ['chrome111', 'firefox115', 'safari16.4', 'node20'],
  charset: 'utf8',
};

// A program runs in the same global scope as the rank host. What the host needs of it afterwards is held in constants
// that the program cannot
// reach; what the program gets is installed by rank/program-globals.ts.
const KEPT =
  'Atomics, SharedArrayBuffer, WebAssembly, Math, Date, TextEncoder, TextDecoder, Error, TypeError, ' +
  'RangeError, ReferenceError, EvalError, Map, Set, WeakMap, Proxy, Reflect, Object, Array, JSON, Number, ' +
  'String, Promise, Uint8Array, Int32Array, Float64Array, DataView, BigInt, Function, URL, Blob, atob';
const rank = { banner: { js: `(()=>{"use strict";const {${KEPT}}=globalThis;` }, footer: { js: '})();' } };

const textOf = async (entry, extra = {}) =>
  (await build({ ...common, ...extra, entryPoints: [at(entry)], format: 'iife', platform: 'browser', write: false }))
    .outputFiles[0].text;
const [comm, rankWorker] = await Promise.all([
  textOf('src/comm/entry-browser.ts'),
  textOf('src/rank/entry-browser.ts', rank),
]);
const sources = { 'mayfly:comm-worker': comm, 'mayfly:rank-worker': rankWorker };

/** Concurrent readers (nodes that start, another build) must not see half a file. */
function put(name, text) {
  const temporary = at(`dist/.${process.pid}-${name.replaceAll('/', '-')}`);
  writeFileSync(temporary, text);
  renameSync(temporary, at(`dist/${name}`));
}
const bundle = async (name, options) =>
  put(name, (await build({ ...common, ...options, write: false })).outputFiles[0].contents);

for (const folder of ['dist/frame', 'dist/headless']) mkdirSync(at(folder), { recursive: true });
await Promise.all([
  bundle('frame/frame.js', {
    entryPoints: [at('src/frame/entry.ts')],
    format: 'iife',
    platform: 'browser',
    plugins: [
      {
        name: 'worker sources as text',
        setup(b) {
          b.onResolve({ filter: /^mayfly:/ }, ({ path }) => ({ path, namespace: 'worker' }));
          b.onLoad({ filter: /.*/, namespace: 'worker' }, ({ path }) => ({ contents: sources[path], loader: 'text' }));
        },
      },
    ],
  }),
  // Not minified: stacks are read in logs.
  bundle('headless/comm.cjs', {
    minify: false,
    entryPoints: [at('src/comm/entry-node.ts')],
    format: 'cjs',
    platform: 'node',
    external: ['bufferutil', 'utf-8-validate'],
  }),
  bundle('headless/frame.cjs', {
    minify: false,
    entryPoints: [at('src/child/entry.ts')],
    format: 'cjs',
    platform: 'node',
    external: ['bufferutil', 'utf-8-validate'],
  }),
  bundle('headless/probe.mjs', {
    minify: false,
    entryPoints: [at('src/child/probe.ts')],
    format: 'esm',
    platform: 'node',
  }),
  bundle('headless/rank.cjs', {
    ...rank,
    minify: false,
    entryPoints: [at('src/rank/entry-node.ts')],
    format: 'cjs',
    platform: 'node',
  }),
]);
put(
  'frame/index.html',
  '<!doctype html>\n<meta charset="utf-8">\n<title>A job of a Mayfly volunteer</title>\n<script ' +
    'src="frame.js" crossorigin="anonymous"></script>\n',
);
