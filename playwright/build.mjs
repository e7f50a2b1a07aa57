/** Bundles the fault campaign's command (dist/faults.js). */
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const here = fileURLToPath(new URL('.', import.meta.url));
await build({
  entryPoints: [`${here}src/campaign/main.ts`],
  outfile: `${here}dist/faults.js`,
  bundle: true,
  platform: 'node',
  format: 'esm',
  target: 'node20',
  external: ['@playwright/test'],
  logLevel: 'warning',
});
