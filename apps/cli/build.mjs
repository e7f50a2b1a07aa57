/**
 * Bundles the command line with the server, the headless node and the compiler's client into dist/mayfly.js and its
 * parts, and lays what these read at run time beside it: web/, frame/, toolchain/, headless/, examples/. Our own
 * packages go in, and of the registry's those that package.json does not list: @fastify/static, because what it
 * depends on asks for Node 22, and the overrides that replace it hold in this repository only. THIRD-PARTY.txt has
 * their licences.
 */
import { build } from 'esbuild';
import { thirdParty } from './third-party.mjs';
import { chmod, cp, mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = fileURLToPath(new URL('.', import.meta.url));
const root = join(here, '../..');
const dist = join(here, 'dist');
const about = JSON.parse(await readFile(join(here, 'package.json'), 'utf8'));

const external = Object.keys(about.dependencies);
await mkdir(dist, { recursive: true });
for (const name of await readdir(dist)) if (/^part-.*\.js/.test(name)) await rm(join(dist, name));
const { metafile } = await build({
  entryPoints: {
    mayfly: join(here, 'src/mayfly.ts'),
    'mayfly-compile-server': join(here, 'src/drivers/compile-server.ts'),
    'simulate-worker': join(here, 'src/simulate-worker.ts'),
  },
  outdir: dist,
  bundle: true,
  // Commands are loaded when called. All parts lie in one folder: what lies beside them is found from each.
  splitting: true,
  chunkNames: 'part-[hash]',
  platform: 'node',
  format: 'esm',
  target: 'node20',
  external: external.flatMap((name) => [name, `${name}/*`]),
  define: { MAYFLY_VERSION: JSON.stringify(about.version) },
  // What is bundled and CommonJS may still call require, in whichever part it lies.
  banner: {
    js: `#!/usr/bin/env node
import { createRequire as requireFrom } from 'node:module';
const require = requireFrom(import.meta.url);`,
  },
  legalComments: 'linked',
  metafile: true,
  logLevel: 'warning',
});
await chmod(join(dist, 'mayfly.js'), 0o755);
await writeFile(join(dist, 'THIRD-PARTY.txt'), await thirdParty(metafile));
// Drivers under names of one word, for tools that take no other.
for (const [bin, path] of Object.entries(about.bin)) {
  if (bin === 'mayfly') continue;
  await writeFile(
    join(here, path),
    `#!/usr/bin/env node\nprocess.argv.splice(2, 0, '${bin.slice('mayfly-'.length)}');\nawait import('./mayfly.js');\n`,
  );
  await chmod(join(here, path), 0o755);
}

/** Copies a folder that another package built; one that is missing is an error, told by name. */
async function lay(from, to, filter) {
  await stat(from).catch(() => {
    throw new Error(`${from} is missing: build its package first (npm run build)`);
  });
  await rm(join(dist, to), { recursive: true, force: true });
  await cp(from, join(dist, to), { recursive: true, filter });
}
await lay(join(root, 'apps/web/dist'), 'web');
await lay(join(root, 'packages/node/dist/frame'), 'frame');
await lay(join(root, 'packages/node/dist/headless'), 'headless');
await lay(join(root, 'packages/toolchain/dist'), 'toolchain', (path) => !/\/dist\/\.\d/.test(path));
await lay(join(root, 'examples'), 'examples', (path) => !/(\.test\.ts|tsconfig\.json|node_modules)$/.test(path));
await lay(join(here, 'cmake'), 'cmake');
await cp(join(root, 'LICENSE'), join(dist, 'LICENSE'));
