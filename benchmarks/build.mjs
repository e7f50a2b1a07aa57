// Bundles the benchmarks for Node; the programs that they submit are read as text at run time.
import { cp } from 'node:fs/promises';
import { build } from 'esbuild';

await build({
  entryPoints: [
    'src/bench.ts',
    'src/papers.ts',
    'src/relay-end.ts',
    'src/relay-server.ts',
    'src/ring-stage-rank.ts',
    'src/ring-stage-comm.ts',
    'src/relay-ring.ts',
    'src/team-bare.ts',
    'src/store-peer.ts',
    'src/nas-single.ts',
    'src/closed-kernels.ts',
  ],
  outdir: 'dist',
  bundle: true,
  platform: 'node',
  format: 'esm',
  target: 'node20',
  // Dependencies in CommonJS ask for Node's own modules by require.
  banner: {
    js:
      "import { createRequire as __createRequire } from 'node:module';\nconst require = " +
      '__createRequire(import.meta.url);',
  },
  external: ['@playwright/test', 'ws', 'binaryen', '@yowasp/clang', 'pg-native'],
});
// In a tab as in Node.
await build({
  entryPoints: ['src/codes-tab.ts'],
  outdir: 'dist',
  bundle: true,
  platform: 'browser',
  format: 'iife',
  target: 'chrome111',
});
// What the C toolchain reads beside its code.
await cp('../packages/toolchain/dist/c', 'dist/c', { recursive: true });
