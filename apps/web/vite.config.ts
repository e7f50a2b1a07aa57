import react from '@vitejs/plugin-react';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { defineConfig, type Plugin } from 'vite';
import { markdown } from './markdown.ts';
import { DOCUMENTS } from './src/docs/documents.ts';

const server = 'http://127.0.0.1:7070';
// SharedArrayBuffer needs these on every response; in production the Mayfly server sends them.
const isolation = { 'Cross-Origin-Opener-Policy': 'same-origin', 'Cross-Origin-Embedder-Policy': 'require-corp' };

/** A compressed copy beside each file that is worth it: the server sends it as it is. */
const compressedCopies: Plugin = {
  name: 'compressed copies',
  apply: 'build',
  writeBundle({ dir }, bundle) {
    for (const name of Object.keys(bundle))
      if (/\.(js|css)$/.test(name))
        writeFileSync(join(dir!, `${name}.gz`), gzipSync(readFileSync(join(dir!, name)), { level: 9 }));
  },
};

export default defineConfig({
  // The repository's public/ holds what is served as it is, for whatever page comes next.
  publicDir: '../../public',
  plugins: [
    markdown(
      join(import.meta.dirname, '../../docs'),
      DOCUMENTS.map((d) => d.name),
    ),
    react(),
    compressedCopies,
  ],
  build: { target: 'es2023', sourcemap: true, chunkSizeWarningLimit: 700 },
  worker: { format: 'es' },
  server: {
    headers: isolation,
    proxy: {
      '/api': server,
      '/openapi.json': server,
      '/frame': server,
      '/data': { target: server, ws: true },
      '/socket.io': { target: server, ws: true },
    },
  },
});
