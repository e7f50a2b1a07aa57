import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['{packages,apps,benchmarks,examples}/**/*.test.{ts,tsx}'],
    exclude: ['**/node_modules/**', '**/dist/**'],
    // Real processes, sockets and disks on two shared cores: generous, but every test ends.
    testTimeout: 30_000,
    hookTimeout: 60_000,
    maxWorkers: 2,
    reporters: process.env.MAYFLY_VITEST_REPORT ? ['default', ['json', { outputFile: process.env.MAYFLY_VITEST_REPORT }]] : ['default'],
  },
});
