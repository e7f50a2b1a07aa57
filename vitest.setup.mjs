/**
 * Builds once, before any test file, what tests start as processes, workers and pages. Test files run beside each other: one that built
 * for itself would replace a file that another is reading.
 */
import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

export default function setup() {
  for (const name of ['libm', 'toolchain', 'node'])
    execFileSync(process.execPath, [fileURLToPath(new URL(`packages/${name}/build.mjs`, import.meta.url)), '--if-needed'], { stdio: 'inherit' });
}
