/**
 * A process that runs test files on one mutant after another, started by judge.mjs. It keeps one Vitest: what is not
 * mutated is transformed once. Each mutant has a worker thread of its own, whose modules nobody has loaded before. A
 * run ends at the first test that fails.
 *
 * A mutant may loop for ever. Nothing here notices; the process says which test files begin and end, and who started it
 * kills it when it is silent for too long.
 *
 *   → { file, text, tests }    a source and its mutated text (none: the sources as they are), the test files in order
 *   ← { began }                a test file
 *   ← { ended, ms }
 *   ← { done }                 { by?, test?, message?, loaded }: the test that failed, if one did; whether any test
 *                              loaded the mutated file
 */
import { relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createVitest } from 'vitest/node';

const root = fileURLToPath(new URL('..', import.meta.url)).replace(/[\\/]$/, '');
// A transcript that is missing is a failure, and is not written.
process.env.CI = '1';

/** @type {{ file?: string, text?: string, tests: string[] }} */
let now = { tests: [] };
let loaded = false;
const send = (message) => process.send?.(message);
const named = (path) => relative(root, path).split(sep).join('/');

const mutant = {
  name: 'mutant',
  enforce: 'pre',
  load(id) {
    if (now.file === undefined || named(id.split('?', 1)[0]) !== now.file) return undefined;
    loaded = true;
    return { code: now.text ?? '', map: null };
  },
};

/** In the order that was asked for. */
class Order {
  sort(specs) {
    return specs.sort((a, b) => now.tests.indexOf(named(a.moduleId)) - now.tests.indexOf(named(b.moduleId)));
  }
  shard(specs) {
    return specs;
  }
}

/** The modules of this run that ended, and the errors that belong to none. */
let modules = [];
let stray = [];
const reporter = {
  onTestModuleStart: (module) => send({ began: named(module.moduleId) }),
  onTestModuleEnd(module) {
    modules.push(module);
    send({ ended: named(module.moduleId), ms: Math.round(module.diagnostic().duration) });
  },
  onTestRunEnd(_modules, errors) {
    stray = errors;
  },
};

const vitest = await createVitest(
  'test',
  {
    root,
    config: false,
    watch: false,
    pool: 'threads',
    isolate: false,
    maxWorkers: 1,
    fileParallelism: false,
    bail: 1,
    include: [],
    passWithNoTests: true,
    testTimeout: 300_000,
    hookTimeout: 300_000,
    reporters: [reporter],
    sequence: { sequencer: Order },
  },
  { plugins: [mutant], logLevel: 'silent', server: { watch: null } },
);

const firstLine = (text) =>
  String(text ?? '')
    .replace(/\u001b\[[0-9;]*m/g, '')
    .split('\n', 1)[0]
    .slice(0, 200);

async function runTests(job) {
  const before = now.file;
  now = job;
  loaded = false;
  modules = [];
  stray = [];
  for (const file of [before, job.file]) if (file !== undefined) vitest.invalidateFile(`${root}/${file}`);
  const project = vitest.getRootProject();
  await vitest.runTestSpecifications(job.tests.map((path) => project.createSpecification(`${root}/${path}`)));
  for (const module of modules) {
    const by = named(module.moduleId);
    for (const e of module.errors()) return { by, message: firstLine(e.message) };
    for (const t of module.children.allTests('failed'))
      return { by, test: t.fullName, message: firstLine(t.result().errors?.[0]?.message) };
    for (const suite of module.children.allSuites())
      for (const e of suite.errors()) return { by, test: suite.fullName, message: firstLine(e.message) };
  }
  if (stray.length > 0) return { by: 'an error outside of tests', message: firstLine(stray[0]?.message) };
  // What did not run has not passed.
  if (modules.length < job.tests.length) throw new Error(`${modules.length} of ${job.tests.length} test files ran`);
  return {};
}

process.on('message', (job) => {
  runTests(job).then(
    (found) => send({ done: { ...found, loaded } }),
    (error) => {
      console.error(error);
      process.exit(1);
    },
  );
});
process.on('disconnect', () => process.exit(0));
send({ ready: true });
