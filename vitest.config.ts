import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['{packages,apps,benchmarks,examples}/**/*.test.{ts,tsx}'],
    exclude: ['**/node_modules/**', '**/dist/**'],
    globalSetup: ['./vitest.setup.mjs'],
    // Real processes, sockets and disks on shared cores: a limit is there to end a hang, never to judge how fast a machine is.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    // More than cores: many wait for processes and sockets most of the time.
    maxWorkers: 4,
    reporters: process.env.MAYFLY_VITEST_REPORT ? ['default', ['json', { outputFile: process.env.MAYFLY_VITEST_REPORT }]] : ['default'],
  },
});
