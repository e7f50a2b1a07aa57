import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { patient } from './testing/pace.mjs';
import { VitestReport } from './testing/report.mjs';

/**
 * Cores, protocols, words, and clang in this process: what computes and keeps nothing outside of its test. Their files
 * share one load of the modules and a warm clang; the others have a process of their own.
 */
const PURE = [
  'packages/{protocols,mpi,wire,simulator,checkpoint}/**/*.test.ts',
  'packages/libmpi/test/**/*.test.ts',
  'packages/toolchain/src/c/**/*.test.ts',
  'examples/c-on-fabric.test.ts',
  'apps/web/**/*.test.{ts,tsx}',
  'packages/libm/**/*.test.ts',
  'packages/toolchain/src/{fair-queue,launcher,plain-imports,replace-places,resolve}.test.ts',
  'packages/node/test/{carried,message-parts,parity-model,parts,sandbox-messages,status,supplies}.test.ts',
  'packages/node/test/{team-replay,team-ring,team-rounds,transfers,wishes}.test.ts',
  'apps/server/test/{address,board,checkpoint-advice,errors-page,examples,memory-stream,oidc/who}.test.ts',
  'apps/server/test/{places,repeated-work,team-size}.test.ts',
  'apps/cli/test/{mpiexec-words,output-merger,progress-line}.test.ts',
];
const exclude = ['**/node_modules/**', '**/dist/**'];

/**
 * V8 11 (Node 20) optimises a function after little work, and most functions here run for a second or two: a quarter of
 * the processor time of the simulator's tests went into the optimising compiler. With this budget (bytes of code that
 * ran; its own is 67,584) they take a seventh less, and no file was seen to take more.
 */
const execArgv = process.versions.v8.startsWith('11.') ? ['--interrupt-budget=1000000'] : [];

export default defineConfig({
  test: {
    execArgv,
    // Compiler calls are not remembered in the user's home; empty in a fresh clone.
    env: { MAYFLY_COMPILE_CACHE: fileURLToPath(new URL('node_modules/.mayfly-calls', import.meta.url)) },
    globalSetup: ['./vitest.setup.mjs'],
    // Real processes, sockets and disks on shared cores: a limit is there to end a hang, never to judge how fast a
    // machine is. So it follows the machine, and tests have none of their own.
    testTimeout: patient(900_000),
    hookTimeout: patient(900_000),
    expect: { poll: { timeout: patient(240_000) } },
    // More than cores: many wait for processes and sockets most of the time. `npm test` has the browser's tests beside
    // them.
    maxWorkers: process.send ? 3 : 4,
    projects: [
      {
        extends: true,
        test: {
          name: 'processes',
          include: ['{packages,apps,benchmarks,examples}/**/*.test.{ts,tsx}', 'mutation/*.test.mjs'],
          exclude: [...exclude, ...PURE],
        },
      },
      { extends: true, test: { name: 'pure', include: PURE, exclude, isolate: false } },
    ],
    // `npm test` has told the runner's process to listen (testing/run.mjs).
    reporters: process.send ? [['default', { summary: false }], new VitestReport()] : ['default'],
  },
});
