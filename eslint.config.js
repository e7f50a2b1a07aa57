/**
 * Lint rules. The packages wire, protocols, mpi and simulator are pure: time, chance and the outside world are inputs
 * there, and the rules below say what to use instead. Import directions between packages are in
 * .dependency-cruiser.cjs.
 */
import reactHooks from 'eslint-plugin-react-hooks';
import tseslint from 'typescript-eslint';
import { checkedLength } from './eslint-checked-length.js';
import { protocolNames } from './eslint-protocol-names.js';

const mayfly = { rules: { 'checked-length': checkedLength, 'protocol-names': protocolNames } };

const time =
  'Time is an input of a pure package: take `now` (milliseconds) from the event, or the clock of the device.';
const chance = 'Chance is an input of a pure package: take a seeded generator, or a number drawn by the host.';
const timers = 'A pure package has no timers: answer with an effect, or expect a `tick` event from the host.';
const world = 'A pure package does no I/O: return an effect that the host carries out.';

const restrictedGlobals = [
  ...['Date', 'performance'].map((name) => ({ name, message: time })),
  ...['crypto'].map((name) => ({ name, message: chance })),
  ...[
    'setTimeout',
    'setInterval',
    'setImmediate',
    'clearTimeout',
    'clearInterval',
    'clearImmediate',
    'queueMicrotask',
    'requestAnimationFrame',
  ].map((name) => ({ name, message: timers })),
  ...[
    'process',
    'fetch',
    'XMLHttpRequest',
    'WebSocket',
    'EventSource',
    'Worker',
    'navigator',
    'location',
    'localStorage',
    'indexedDB',
    'caches',
    'require',
    'Buffer',
    'console',
  ].map((name) => ({
    name,
    message: world,
  })),
  { name: 'globalThis', message: 'Name what you need; a pure package reaches for nothing global.' },
  ...['window', 'self', 'document'].map((name) => ({ name, message: world })),
];

/** Results of these differ between engines in the last bits, so two hosts of one job would disagree. */
const inexact = [
  'sin',
  'cos',
  'tan',
  'asin',
  'acos',
  'atan',
  'atan2',
  'sinh',
  'cosh',
  'tanh',
  'asinh',
  'acosh',
  'atanh',
  'exp',
  'expm1',
  'log',
  'log2',
  'log10',
  'log1p',
  'cbrt',
  'pow',
  'hypot',
];

/** A relative path that leads into another workspace. */
const relativeSibling =
  '^(\\.\\./)+((packages|apps)/)?' +
  '(wire|libm|mpi|protocols|checkpoint|node|storage|toolchain|simulator|server|web|cli)/(src|test|types)/';

export default tseslint.config(
  {
    ignores: [
      '**/dist/',
      '**/node_modules/',
      '**/test-results/',
      '**/playwright-report/',
      '**/.turbo/',
      'mayfly-data/',
      'apps/server/test/recorded/format-*/',
    ],
  },
  ...tseslint.configs.recommended,
  {
    rules: {
      '@typescript-eslint/no-unused-vars': [
        'error',
        { argsIgnorePattern: '^_', varsIgnorePattern: '^_', caughtErrorsIgnorePattern: '^_' },
      ],
      '@typescript-eslint/consistent-type-imports': ['error', { disallowTypeAnnotations: false }],
      // `x!` on an array element whose index was just checked is how noUncheckedIndexedAccess is answered in hot loops.
      '@typescript-eslint/no-non-null-assertion': 'off',
      eqeqeq: ['error', 'always', { null: 'ignore' }],
      'no-eval': 'error',
      'no-implied-eval': 'error',
      'prefer-const': 'error',
      'no-var': 'error',
      'no-restricted-imports': [
        'error',
        {
          patterns: [
            {
              regex: relativeSibling,
              message: 'Another package is imported by its name, which leads through its declared exports.',
            },
          ],
        },
      ],
      'max-lines': ['error', { max: 450, skipBlankLines: true }],
      // Prettier lays out code; this is about comments and strings. Programs within templates keep their own layout.
      'max-len': [
        'error',
        {
          code: 120,
          ignoreUrls: true,
          ignoreTemplateLiterals: true,
          ignoreRegExpLiterals: true,
          // Prettier keeps the title of a test on its line, and a space at the end of a line of JSX.
          ignorePattern: "eslint-disable|^\\s*(it|test|describe|runs)(\\.\\w+)*\\(|\\{' '\\}$",
        },
      ],
    },
  },
  {
    files: ['packages/{wire,protocols,mpi,simulator}/src/**/*.ts'],
    ignores: ['**/*.test.ts', '**/*.d.ts'],
    rules: {
      'no-restricted-globals': ['error', ...restrictedGlobals],
      'no-restricted-properties': [
        'error',
        { object: 'Math', property: 'random', message: chance },
        { object: 'Atomics', property: 'wait', message: 'Only the host blocks.' },
        ...inexact.map((property) => ({
          object: 'Math',
          property,
          message: 'Engines differ in its last bits; use + − × ÷ and sqrt, or integer arithmetic.',
        })),
      ],
      'no-restricted-syntax': [
        'error',
        { selector: 'ImportExpression', message: 'A pure package is loaded whole; import statically.' },
        {
          selector: 'AwaitExpression, ForOfStatement[await=true]',
          message: 'A pure package is synchronous: step(event) returns effects.',
        },
      ],
      'no-restricted-imports': [
        'error',
        {
          patterns: [
            {
              regex: relativeSibling,
              message: 'Another package is imported by its name, which leads through its declared exports.',
            },
            { regex: '^node:', message: world },
            {
              regex:
                '^(fs|net|http|https|http2|tls|dgram|dns|os|path|child_process|worker_threads|cluster|crypto|timers|' +
                'events|stream|util|zlib|v8|vm|perf_hooks|readline|url|assert|buffer)(/|$)',
              message: world,
            },
            {
              regex:
                '^(ws|undici|socket\\.io|engine\\.io|idb|comlink|fastify|pino|esbuild|typescript|hash-wasm)' +
                '([-/]|$)',
              message: world,
            },
            {
              regex: '^@mayfly/(node|storage|toolchain|checkpoint|server|web|libmpi)(/|$)',
              message: 'Dependencies point downward only; hand it in from the host.',
            },
          ],
        },
      ],
    },
  },
  {
    // What is kept goes through the ports of storage. These read what was installed or configured, watch the disk, or
    // check the embedded layout itself.
    files: ['apps/server/src/**/*.ts'],
    ignores: ['options', 'tls', 'disk', 'serve/examples', 'check/*'].map((name) => `apps/server/src/${name}.ts`),
    rules: {
      'no-restricted-imports': [
        'error',
        {
          patterns: [
            {
              regex: relativeSibling,
              message: 'Another package is imported by its name, which leads through its declared exports.',
            },
            {
              regex: '^(node:)?fs(/|$)',
              message: 'The server keeps files through the ports of @mayfly/storage: write an adapter there.',
            },
          ],
        },
      ],
    },
  },
  {
    // The drivers print what is on this machine, the simulator what it made itself.
    files: ['apps/cli/src/**/*.ts'],
    ignores: ['terminal', 'drivers/*', 'simulate', 'simulate-worker'].map((name) => `apps/cli/src/${name}.ts`),
    rules: {
      'no-restricted-syntax': [
        'error',
        {
          selector: "MemberExpression[object.property.name=/^std(out|err)$/][property.name='write']",
          message: 'Nodes and programs write some of what is shown: use say, warn or pass of terminal.ts.',
        },
        { selector: "MemberExpression[object.name='console']", message: 'Use say or warn of terminal.ts.' },
      ],
    },
  },
  {
    // What reads the messages of others, and keeps what they say.
    files: [
      'apps/server/src/{hosts,memories,nodes,rest,serve}/**/*.ts',
      'packages/wire/src/**/*.ts',
      'packages/protocols/src/{channel-memory,files}/**/*.ts',
      'packages/storage/src/embedded/output/**/*.ts',
    ],
    ignores: ['**/*.test.ts'],
    plugins: { mayfly },
    rules: { 'mayfly/checked-length': 'error' },
  },
  {
    // The next protocol is a folder.
    files: ['packages/*/src/**/*.ts', 'apps/*/src/**/*.{ts,tsx}'],
    ignores: [
      '**/*.test.ts',
      'packages/protocols/src/{pessimistic,none,coordinated,hc3i,app}/**',
      // Names every protocol, once: its type.
      'packages/wire/src/job-options.ts',
      // Examples, experiments, names of documents.
      'packages/rest/src/examples.ts',
      'packages/checkpoint/src/acceptance/**',
      'packages/simulator/src/**',
      'apps/cli/src/simulate.ts',
      'apps/web/src/dashboard/job-sample.ts',
      'apps/web/src/docs/documents.ts',
    ],
    plugins: { mayfly },
    rules: { 'mayfly/protocol-names': 'error' },
  },
  {
    files: ['apps/web/src/**/*.{ts,tsx}'],
    plugins: { 'react-hooks': reactHooks },
    rules: { 'react-hooks/rules-of-hooks': 'error', 'react-hooks/exhaustive-deps': 'error' },
  },
  {
    // No result depends on the speed of a machine.
    files: ['**/*.test.ts', '**/*.test.tsx', 'playwright/tests/*.spec.ts'],
    rules: {
      'no-restricted-syntax': [
        'error',
        {
          selector:
            ':matches(CallExpression[callee.name=/^(it|test|describe|(before|after)(All|Each))$/], ' +
            'CallExpression[callee.callee.object.name=/^(it|test|describe)$/]) > ' +
            "Literal.arguments[raw=/^[0-9]/], Property[key.name='timeout'] > Literal[raw=/^[0-9]/]",
          message:
            'A test has no limit of its own: those in vitest.config.ts and playwright.config.ts follow the machine. ' +
            'For a limit elsewhere take patient() of @mayfly/testing.',
        },
        {
          selector: "AwaitExpression > NewExpression[callee.name='Promise'] CallExpression[callee.name='setTimeout']",
          message: 'Do not guess a time: wait for a condition, with until() of @mayfly/testing or expect.poll().',
        },
        {
          selector: "AwaitExpression > CallExpression[callee.name='sleep']",
          message: 'Do not guess a time: wait for a condition, with until() of @mayfly/testing or expect.poll().',
        },
      ],
    },
  },
  {
    // The program's world is written down as it is.
    files: ['**/*.d.ts'],
    rules: {
      'no-var': 'off',
      '@typescript-eslint/no-explicit-any': 'off',
      '@typescript-eslint/consistent-type-imports': 'off',
    },
  },
);
