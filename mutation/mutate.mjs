#!/usr/bin/env node
/**
 * `npm run mutate`: do the tests of the protocol cores notice when a core is wrong? Draws mutants of
 * packages/protocols/src, runs the unit tests of packages/protocols on each and, if these pass, a share of the
 * simulator; prints the score and the survivors. docs/mutation.md describes it.
 */
import { readFileSync } from 'node:fs';
import { basename, dirname, join, relative, resolve, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { compiler, drawn, filesBelow } from './draw.mjs';
import { Judge } from './judge.mjs';
import { changed } from './operators.mjs';
import { hashOf, Results } from './results.mjs';

const HELP = `npm run mutate -- [options]

  --seed S       seed that draws the mutants (default 1)
  --count N      number of mutants, without those that do not compile (default 100)
  --only TEXT    mutate only sources whose path contains TEXT, such as dispatcher/
  --kept FILE    file of results (default node_modules/.cache/mayfly/mutants.jsonl); the command resumes from it
  --help
`;

const root = fileURLToPath(new URL('..', import.meta.url)).replace(/[\\/]$/, '');
const FOLDER = 'packages/protocols/src';
const SHARE = ['packages/simulator/test/transcripts.test.ts', 'mutation/share.mjs'];
/** Test folders of source folders, where they have other names. */
const DATA_PATH = /\/(channel-memory|comm|endpoint)/;
const local = (path) => relative(root, path).split(sep).join('/');
const fail = (message) => {
  console.error(`mutate: ${message}`);
  process.exit(1);
};

function options() {
  try {
    const { values } = parseArgs({
      options: {
        seed: { type: 'string', default: '1' },
        count: { type: 'string', default: '100' },
        only: { type: 'string' },
        kept: { type: 'string' },
        help: { type: 'boolean' },
      },
    });
    if (!/^[1-9]\d{0,5}$/.test(values.count))
      throw new Error(`--count ${values.count}: a whole number from 1 is expected`);
    const kept =
      values.kept === undefined
        ? join(root, 'node_modules/.cache/mayfly/mutants.jsonl')
        : resolve(process.env.INIT_CWD ?? process.cwd(), values.kept);
    return { ...values, count: Number(values.count), kept };
  } catch (error) {
    return fail(`${error.message}\n\n${HELP}`);
  }
}

const o = options();
if (o.help) {
  process.stdout.write(HELP);
  process.exit(0);
}

const unit = filesBelow(join(root, 'packages/protocols/test'), '.test.ts').map(local);
const tests = [...unit, ...SHARE];
const sources = [FOLDER, 'packages/wire/src'].flatMap((folder) => filesBelow(join(root, folder)));
const around = ['packages/protocols/test', 'packages/simulator/src', 'packages/simulator/test'].flatMap((folder) =>
  filesBelow(join(root, folder), ''),
);
const others = ['mutation/share.mjs', 'mutation/runner.mjs', 'docs/incarnations.md'].map((name) => join(root, name));
function keptResults() {
  try {
    return new Results(o.kept, {
      sources: hashOf(root, sources),
      tests: hashOf(root, [...sources, ...around, ...others]),
    });
  } catch (error) {
    return fail(`${o.kept} cannot be read or written: ${error.message}`);
  }
}
const results = keptResults();
const judge = new Judge();
process.on('exit', () => judge.close());

/** The tests as they are must pass; how long they take orders them, and says when a mutant hangs. */
async function baseline() {
  if (results.baseline) return results.baseline;
  console.error('mutate: the tests without a mutant');
  const { verdict, by, test, message } = await judge.run({ tests }, 600_000);
  if (verdict !== 'passed')
    fail(`the tests fail without a mutant: ${by ?? verdict}${test ? ` > ${test}` : ''}\n${message ?? ''}`);
  results.setBaseline({ durations: Object.fromEntries(judge.durations), silence: judge.silence });
  return results.baseline ?? fail('the file of results cannot be written');
}

/** How near a test is to a source, by their names. */
function distance(file, test) {
  const name = basename(file, '.ts');
  if (basename(test).startsWith(name)) return 0;
  const folder = basename(dirname(file));
  return test.includes(`/${folder}/`) ||
    (DATA_PATH.test(file) && test.includes('/data-path/')) ||
    (folder === 'src' && basename(test).startsWith(name.split('-')[0]))
    ? 1
    : 2;
}

/** Those first that are likely to fail, and quick. */
function inOrder(m, durations) {
  const hint = results.hint(m.id);
  const rank = (test) => [
    test === hint ? 0 : 1,
    SHARE.includes(test) ? 1 : 0,
    -results.kills(m.file, test),
    distance(m.file, test),
    durations[test] ?? 0,
  ];
  return tests
    .map((test) => ({ test, rank: rank(test) }))
    .sort((a, b) => a.rank.map((x, i) => x - b.rank[i]).find((d) => d !== 0) ?? 0)
    .map(({ test }) => test);
}

/** The lines that a mutant changes, before and after. */
function shown(m) {
  const text = readFileSync(join(root, m.file), 'utf8');
  const from = text.lastIndexOf('\n', m.start - 1) + 1;
  const lines = (whole, end) => {
    const to = whole.indexOf('\n', end);
    const part = whole.slice(from, to < 0 ? whole.length : to).split('\n');
    return part.length > 6 ? [...part.slice(0, 3), '  …', ...part.slice(-2)] : part;
  };
  const before = lines(text, m.end).map((l) => `  - ${l}`);
  const after = lines(changed(text, m), m.start + m.after.length).map((l) => `  + ${l}`);
  return [...before, ...after].join('\n');
}

const where = (m) => `${m.file}:${m.line}  ${m.operator}`;
const counts = { killed: 0, simulator: 0, endless: 0, crashed: 0, survived: 0, invalid: 0 };
/** @type {import('./draw.mjs').Mutant[]} */
const survivors = [];
const judged = () => counts.killed + counts.simulator + counts.endless + counts.crashed + counts.survived;

function count(m, row) {
  if (row.verdict === 'does not compile') counts.invalid++;
  else if (row.verdict === 'passed') {
    counts.survived++;
    survivors.push(m);
  } else if (row.verdict === 'killed') counts[SHARE.includes(row.by) ? 'simulator' : 'killed']++;
  else counts[row.verdict]++;
}

function report() {
  const n = judged();
  for (const m of survivors)
    console.log(
      `\nSURVIVED ${where(m)}${results.of(m.id)?.loaded === false ? '  (no test loads this file)' : ''}\n${shown(m)}`,
    );
  const killed = n - counts.survived;
  const score = n === 0 ? '-' : `${((100 * killed) / n).toFixed(1)} %`;
  console.log(`\nseed ${o.seed}: ${n} mutants, ${killed} killed, ${counts.survived} survived: score ${score}`);
  console.log(
    `killed by unit tests ${counts.killed}, by the simulator ${counts.simulator}, by the limit of time ` +
      `${counts.endless}, ended the process ${counts.crashed}; ${counts.invalid} more did not compile`,
  );
}

process.on('SIGINT', () => {
  report();
  console.log('interrupted: the same command goes on from here');
  process.exit(130);
});

const { durations, silence } = await baseline();
const limitMs = 10_000 + 4 * silence;
let compiles;
const queue = drawn({ root, folder: FOLDER, seed: o.seed, only: o.only });
if (queue.length === 0) fail(`no source in ${FOLDER} has "${o.only}" in its path`);
for (const m of queue) {
  if (judged() >= o.count) break;
  const known = results.of(m.id);
  if (!known) {
    compiles ??= compiler(root, FOLDER);
    if (!results.compiles(m.id) && !compiles(m)) results.add({ id: m.id, file: m.file, verdict: 'does not compile' });
    else {
      const began = Date.now();
      const text = changed(readFileSync(join(root, m.file), 'utf8'), m);
      const row = await judge.run({ file: m.file, text, tests: inOrder(m, durations) }, limitMs);
      results.add({ id: m.id, file: m.file, ...row });
      const how =
        row.verdict === 'killed' ? `killed by ${row.by}` : row.verdict === 'passed' ? 'SURVIVED' : row.verdict;
      console.error(
        `${String(judged() + 1).padStart(4)}  ${where(m)}  ${((Date.now() - began) / 1000).toFixed(1)} s  ${how}`,
      );
    }
  }
  const row = results.of(m.id);
  if (!row) fail(`${o.kept} does not keep what is written to it`);
  count(m, row);
}
report();
judge.close();
process.exit(0);
