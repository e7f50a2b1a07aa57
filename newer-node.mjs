/**
 * `npm run newer`: a share of the tests on the LTS that the README recommends; `npm test` runs on the Node that started
 * it. The binary comes from the npm registry, into a folder that goes with node_modules.
 */
import { mkdirSync } from 'node:fs';
import { delimiter, join } from 'node:path';

const VERSION = '24.21.0';
/** Where the version matters: processes, threads, WebAssembly, files, sockets and permissions. */
const SHARE = [
  'packages/node/test/on-server.test.ts',
  'packages/node/test/sandbox.test.ts',
  'packages/node/test/wasm.test.ts',
  'packages/storage/test',
  'packages/libmpi/test/host.test.ts',
  'apps/server/test/serving.test.ts',
  'apps/cli/test/mpiexec.test.ts',
  'apps/cli/test/start-up.test.ts',
  'apps/cli/test/volunteer-package.test.ts',
];

/**
 * @param args files of tests in place of the share
 * @param run and `works`: bootstrap.mjs
 * @returns the exit code
 */
export async function runOnNewerNode({ root, run, works, args, env }) {
  const windows = process.platform === 'win32';
  const name = `node-${windows ? 'win' : process.platform}-${process.arch}`;
  const folder = join(root, 'node_modules', '.mayfly-node', VERSION);
  const bin = join(folder, 'node_modules', name, 'bin');
  const node = join(bin, windows ? 'node.exe' : 'node');
  if (!works(node)) {
    console.error(`mayfly: installing Node ${VERSION} (${name})`);
    mkdirSync(folder, { recursive: true });
    const code = await run(
      'npm',
      ['install', '--prefix', folder, '--no-save', '--no-audit', '--no-fund', `${name}@${VERSION}`],
      { cwd: folder, quiet: true },
    );
    if (code !== 0 || !works(node)) {
      console.error(`mayfly: Node ${VERSION} is not available here as the npm package ${name}`);
      return 1;
    }
  }
  // What the tests start by its name (npm, npx) runs on it as well.
  const PATH = `${bin}${delimiter}${process.env.PATH}`;
  return run(node, [join(root, 'node_modules/vitest/vitest.mjs'), 'run', ...(args.length > 0 ? args : SHARE)], {
    env: { ...env, PATH },
  });
}
