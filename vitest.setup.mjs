/**
 * Builds once, before any test file, what tests start as processes, workers and pages. Test files run beside each
 * other: one that built for itself would replace a file that another is reading.
 */
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

export default function setup() {
  if (process.env.MAYFLY_VITEST_REPORT) return; // `npm test` has built everything before
  for (const name of ['libm', 'libmpi', 'checkpoint', 'toolchain', 'node']) {
    const built = spawnSync(
      process.execPath,
      [fileURLToPath(new URL(`packages/${name}/build.mjs`, import.meta.url)), '--if-needed'],
      { stdio: 'inherit' },
    );
    // Most tests need none of it.
    if (built.status !== 0)
      console.error(`packages/${name} does not build: tests that start it use an older build, or fail`);
  }
}
