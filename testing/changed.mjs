/**
 * `npm test -- --changed[=COMMIT]`: the tests that the changed files reach. Vitest follows imports; what tests start as
 * a process, or open in a browser, it cannot see, so the table below says it.
 */
import { spawnSync } from 'node:child_process';

/**
 * A change below the folder runs these as well: unit tests, browser tests (file, or `file > title`).
 * @type {readonly (readonly [folder: string, unit: readonly string[], browser: readonly string[]])[]}
 */
const REACHES = [
  [
    'apps/web/src/dashboard/',
    [],
    [
      'pages.spec.ts',
      'drafts.spec.ts',
      'addresses.spec.ts',
      'result.spec.ts',
      'stage.spec.ts',
      'progress.spec.ts',
      'still.spec.ts',
    ],
  ],
  ['apps/web/src/volunteer/', [], ['visitors.spec.ts', 'nodes.spec.ts']],
  ['apps/web/src/lesson/', [], ['visitors.spec.ts > the lesson']],
  ['apps/web/src/widget/', [], ['visitors.spec.ts > the widget']],
  ['apps/web/src/', [], ['visitors.spec.ts > every page fits a phone', 'pages.spec.ts > a job waits']],
  [
    'apps/server/src/',
    ['packages/node/test/every-protocol.test.ts'],
    ['outage.spec.ts', 'pages.spec.ts > a job waits'],
  ],
  ['apps/cli/src/', ['apps/cli/test/mpiexec.test.ts', 'apps/cli/test/start-up.test.ts'], []],
  ['packages/node/src/', ['packages/node/test/every-protocol.test.ts'], ['outage.spec.ts', 'bad-input.spec.ts']],
  ['packages/protocols/src/', ['packages/node/test/every-protocol.test.ts'], ['recovery.spec.ts']],
  ['packages/mpi/src/', ['packages/node/test/on-server.test.ts'], ['bad-input.spec.ts']],
  ['packages/libmpi/', ['packages/node/test/wasm.test.ts', 'examples/c-on-fabric.test.ts'], []],
  ['packages/toolchain/', ['apps/cli/test/mpiexec.test.ts'], ['bad-input.spec.ts > a program that does not compile']],
  ['packages/wire/src/', ['packages/node/test/every-protocol.test.ts'], ['outage.spec.ts']],
  ['playwright/src/attack/', [], ['attack.spec.ts']],
  ['playwright/src/campaign/', [], ['faults.spec.ts']],
  ['playwright/src/', [], ['outage.spec.ts', 'pages.spec.ts > a job waits']],
  ['examples/', ['examples'], []],
  ['clients/python/', ['apps/cli/test/python-client.test.ts'], []],
];

/** After a change of one of these nobody knows what it reaches: `npm test` as a whole. */
const EVERYTHING =
  /^(package(-lock)?\.json|bootstrap\.mjs|tsconfig\.json|turbo\.json|vitest\.|testing\/|playwright\/playwright\.config)/;

/**
 * @param {string} root
 * @param {string | undefined} since a commit; otherwise what is not committed, or the last commit when all is
 * @returns {{ files: string[], since: string[] }} changed files that exist, relative to `root`, and what Vitest's
 *   `--changed` takes to find the same
 */
export function changedFiles(root, since) {
  const git = (...args) => {
    const r = spawnSync('git', args, { cwd: root, encoding: 'utf8' });
    if (r.status !== 0) throw new Error(`git ${args.join(' ')}: ${r.stderr.trim()}`);
    return r.stdout.split('\n').filter((line) => line !== '');
  };
  const against = (commit) => [
    ...git('diff', '--name-only', '--diff-filter=d', commit),
    ...git('ls-files', '--others', '--exclude-standard'),
  ];
  if (since !== undefined) return { files: against(since), since: [since] };
  const files = against('HEAD');
  return files.length > 0 ? { files, since: [] } : { files: against('HEAD~1'), since: ['HEAD~1'] };
}

/**
 * @param {readonly string[]} files changed ones
 * @returns {{ everything: boolean, unit: string[], browser: string[] }} places (share.mjs) that imports do not show
 */
export function reachedBy(files) {
  const rows = REACHES.filter(([folder]) => files.some((file) => file.startsWith(folder)));
  const specs = files.flatMap((file) => /^playwright\/tests\/(.*\.spec\.ts)$/.exec(file)?.[1] ?? []);
  return {
    everything: files.some((file) => EVERYTHING.test(file)),
    unit: [...new Set(rows.flatMap(([, unit]) => unit))],
    browser: [...new Set([...specs, ...rows.flatMap(([, , browser]) => browser)])],
  };
}
