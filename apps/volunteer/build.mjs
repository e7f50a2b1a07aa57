/**
 * Bundles the command `mayfly volunteer` of the command line's sources into dist/volunteer.js and its parts, with the
 * bundles of a headless node beside it. No compiler, no server: the package is small. Packages of the registry stay
 * outside where package.json lists them; THIRD-PARTY.txt has the licences of the others.
 */
import { build } from 'esbuild';
import { chmod, cp, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { thirdParty } from '../cli/third-party.mjs';

const here = fileURLToPath(new URL('.', import.meta.url));
const root = join(here, '../..');
const dist = join(here, 'dist');
const about = JSON.parse(await readFile(join(here, 'package.json'), 'utf8'));

await rm(dist, { recursive: true, force: true });
await mkdir(dist);
const { metafile } = await build({
  entryPoints: { volunteer: join(root, 'apps/cli/src/volunteer-alone.ts') },
  outdir: dist,
  bundle: true,
  splitting: true,
  chunkNames: 'part-[hash]',
  platform: 'node',
  format: 'esm',
  target: 'node20',
  external: Object.keys(about.dependencies).flatMap((name) => [name, `${name}/*`]),
  define: {
    MAYFLY_VERSION: JSON.stringify(about.version),
    MAYFLY_VOLUNTEER: JSON.stringify('mayfly-volunteer'),
  },
  banner: { js: '#!/usr/bin/env node' },
  legalComments: 'linked',
  metafile: true,
  logLevel: 'warning',
});
await chmod(join(dist, 'volunteer.js'), 0o755);
await writeFile(join(dist, 'THIRD-PARTY.txt'), await thirdParty(metafile));
await cp(join(root, 'packages/node/dist/headless'), join(dist, 'headless'), {
  recursive: true,
  filter: (path) => !/[/\\]\.\d/.test(path),
});
await cp(join(root, 'LICENSE'), join(dist, 'LICENSE'));
