import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

const server = 'http://127.0.0.1:7070';
// SharedArrayBuffer needs these on every response; in production the Mayfly server sends them.
const isolation = { 'Cross-Origin-Opener-Policy': 'same-origin', 'Cross-Origin-Embedder-Policy': 'require-corp' };

export default defineConfig({
  // The repository's public/ holds what is served as it is, for whatever page comes next.
  publicDir: '../../public',
  plugins: [react()],
  build: { target: 'es2023', sourcemap: true, chunkSizeWarningLimit: 700 },
  worker: { format: 'es' },
  server: {
    headers: isolation,
    proxy: {
      '/api': server,
      '/frame': server,
      '/data': { target: server, ws: true },
      '/socket.io': { target: server, ws: true },
    },
  },
});
