/**
 * Import directions: apps → node, storage, toolchain, simulator → libmpi, checkpoint → mpi, protocols, rest → wire.
 * A package is reached through its name and its declared exports only (eslint.config.js refuses relative paths);
 * cycles are forbidden.
 */
const LEVELS = [
  ['packages/wire', 'packages/libm'],
  ['packages/protocols', 'packages/mpi', 'packages/rest'],
  ['packages/libmpi', 'packages/checkpoint'],
  ['packages/node', 'packages/storage', 'packages/toolchain', 'packages/simulator'],
  ['apps/server', 'apps/web'],
  ['apps/cli'],
  ['playwright', 'benchmarks'],
];
const TESTS = '(\\.test\\.tsx?$|\\.spec\\.tsx?$|/test/|/tests/|/bench/|for-tests)';

const directions = LEVELS.flatMap((level, height) =>
  level.map((from) => {
    const siblings = level.filter((p) => p !== from);
    const forbidden = [...siblings, ...LEVELS.slice(height + 1).flat()];
    return {
      name: `downward-only-from-${from.replace('/', '-')}`,
      comment: `${from} may import what is below it in docs/architecture.md, and neither siblings nor what is above.`,
      severity: 'error',
      from: { path: `^${from}/`, pathNot: TESTS },
      to: { path: `^(${forbidden.join('|') || 'nothing'})/` },
    };
  }),
);

module.exports = {
  forbidden: [
    ...directions,
    {
      name: 'protocols-are-siblings',
      comment:
        'Ask a policy. Only table.ts, manifests.ts and the index of the package know a V-protocol by its folder.',
      severity: 'error',
      from: {
        path: '^packages/protocols/src/([^/]+)',
        pathNot: '^packages/protocols/src/((table|manifests|index)[.]ts$|hc3i/)',
      },
      to: {
        path: '^packages/protocols/src/(pessimistic|none|coordinated|hc3i|app)/',
        pathNot: '^packages/protocols/src/$1/',
      },
    },
    {
      name: 'clusters-are-made-of-waves',
      comment: 'hc3i may use coordinated checkpointing, and no other V-protocol.',
      severity: 'error',
      from: { path: '^packages/protocols/src/hc3i/' },
      to: { path: '^packages/protocols/src/(pessimistic|none|app)/' },
    },
    {
      name: 'no-cycles',
      comment: 'Two modules that need each other are one, or hide a third.',
      severity: 'error',
      from: {},
      to: { circular: true },
    },
    {
      name: 'resolvable',
      comment: 'The import leads nowhere, or to something that the package does not export.',
      severity: 'error',
      from: {},
      // made by a build, or by the bundler of the importing package
      to: { couldNotResolve: true, pathNot: '(/dist/|^#|^virtual:|^mayfly(:|$))' },
    },
    {
      name: 'declared',
      comment: 'Declare the package in the package.json of the importing workspace.',
      severity: 'error',
      from: { pathNot: TESTS },
      to: { dependencyTypes: ['npm-no-pkg', 'npm-unknown'] },
    },
  ],
  options: {
    doNotFollow: { path: ['node_modules', 'dist/'] },
    exclude: { path: ['/dist/', 'test-results', 'packages/toolchain/template', 'benchmarks/programs', '^examples/'] },
    tsPreCompilationDeps: true,
    combinedDependencies: true,
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['types', 'import', 'browser', 'default', 'require'],
      extensions: ['.ts', '.tsx', '.mts', '.js', '.mjs', '.cjs', '.json'],
      mainFields: ['module', 'main', 'types'],
    },
  },
};
