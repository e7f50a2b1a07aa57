// Bundles the benchmarks for Node; the programs that they submit are read as text at run time.
import { build } from 'esbuild';

await build({
  entryPoints: ['src/bench.ts', 'src/relay-end.ts', 'src/relay-server.ts', 'src/ring-stage-rank.ts', 'src/ring-stage-comm.ts', 'src/relay-ring.ts', 'src/store-peer.ts'],
  outdir: 'dist',
  bundle: true,
  platform: 'node',
  format: 'esm',
  target: 'node20',
  external: ['@playwright/test', 'ws', 'lmdb'],
});
