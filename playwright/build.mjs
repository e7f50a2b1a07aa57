/**
 * Bundles the commands of the fault campaign (dist/faults.js) of the conformance set (dist/conformance.js) and of the
 * attacks (dist/attack.js).
 */
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const here = fileURLToPath(new URL('.', import.meta.url));
await build({
  entryPoints: {
    faults: `${here}src/campaign/main.ts`,
    conformance: `${here}src/conformance/main.ts`,
    attack: `${here}src/attack/main.ts`,
  },
  outdir: `${here}dist`,
  bundle: true,
  platform: 'node',
  format: 'esm',
  target: 'node20',
  external: ['@playwright/test', 'binaryen', 'pg', 'socket.io-client', 'ws'],
  logLevel: 'warning',
});
