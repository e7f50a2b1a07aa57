/**
 * Builds once, before any test file, what tests start as processes, workers and pages. Test files run beside each
 * other: one that built for itself would replace a file that another is reading. Then starts the compiler that the
 * servers of all tests share; MAYFLY_TEST_COMPILE_SERVER names it.
 */
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

export default async function setup() {
  // `npm test` has built everything before
  if (!process.env.MAYFLY_BUILT) build();
  const { shareCompiler } = await import('@mayfly/toolchain/shared-compiler-for-tests');
  const shared = await shareCompiler();
  process.env.MAYFLY_TEST_COMPILE_SERVER = shared.compileServer;
  return () => shared.close();
}

function build() {
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
