/** Tests drive the real compile process: build it from the sources as they are now. A fraction of a second. */
import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

export function buildForTests(): void {
  execFileSync(process.execPath, [fileURLToPath(new URL('../build.mjs', import.meta.url))], { stdio: 'inherit' });
}
