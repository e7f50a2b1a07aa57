/**
 * Do the C and C++ examples answer the same natively and on Mayfly?
 *
 *     node examples/compare-native.mjs [example …] [--ranks n] [--native-only] [--write]
 *
 * Builds each example of native-runs.json twice, with Debian's MPICH and gcc (`mpicc.mpich`, `mpicxx.mpich`) and with
 * `mayfly mpicc`, runs both on the listed numbers of ranks, and compares standard output byte by byte: with each other
 * and with the committed expectation. What is not installed is said and left out; only a difference or a failing run
 * makes the exit code 1, and 2 says that nothing could be compared.
 *
 * --native-only skips Mayfly; --write makes the native output the expectation.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const here = dirname(fileURLToPath(import.meta.url));
const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: { ranks: { type: 'string' }, 'native-only': { type: 'boolean' }, write: { type: 'boolean' } },
});
const runs = JSON.parse(readFileSync(join(here, 'native-runs.json'), 'utf8'));
const unknown = positionals.filter((name) => !runs.some((run) => run.name === name));
if (unknown.length > 0) {
  console.error(`not in native-runs.json: ${unknown.join(', ')}`);
  process.exit(2);
}
const chosen = runs.filter((run) => positionals.length === 0 || positionals.includes(run.name));

/** A command that answers `--version`, by its first name which does. */
const find = (...names) => names.find((name) => spawnSync(name, ['--version'], { stdio: 'ignore' }).status === 0);
const native = {
  c: find('mpicc.mpich', 'mpicc'),
  'c++': find('mpicxx.mpich', 'mpicxx'),
  mpiexec: find('mpiexec.mpich', 'mpiexec'),
};
const mayfly = options['native-only'] ? undefined : [process.execPath, resolve(here, '../apps/cli/dist/mayfly.js')];
if (!native.c || !native.mpiexec)
  console.log('no native MPI here (Debian: apt-get install mpich): Mayfly is compared with the committed output only');
if (mayfly && !existsSync(mayfly[1])) {
  console.log('Mayfly is not built (npm run build): natively only');
  mayfly.length = 0;
}

const scratch = mkdtempSync(join(tmpdir(), 'mayfly-compare-'));
process.on('exit', () => rmSync(scratch, { recursive: true, force: true }));

function command([program, ...args], cwd = here) {
  const done = spawnSync(program, args, {
    cwd,
    encoding: 'utf8',
    maxBuffer: 1 << 28,
    timeout: 900_000,
    env: { ...process.env, TURBO_TELEMETRY_DISABLED: '1' },
  });
  return {
    ok: done.status === 0,
    stdout: done.stdout ?? '',
    stderr: `${done.stderr ?? ''}${done.error ? `${done.error.message}\n` : ''}`,
    status: done.status ?? done.signal,
  };
}
const manifests = new Map();
function manifest(name) {
  if (!manifests.has(name)) manifests.set(name, JSON.parse(readFileSync(join(here, name, 'example.json'), 'utf8')));
  return manifests.get(name);
}
const programs = new Map();
/**
 * The built program, or undefined after saying why not. Contraction into fused operations would change last digits: it
 * is switched off.
 */
function build(name, where) {
  const key = `${name} ${where}`;
  if (programs.has(key)) return programs.get(key);
  const about = manifest(name);
  const sources = about.sources.filter((s) => /\.(c|cc|cpp|cxx)$/.test(s)).map((s) => join(here, name, s));
  const out = join(scratch, key.replace(/\W/g, '-'));
  const driver =
    where === 'native' ? [native[about.language]] : [...mayfly, about.language === 'c' ? 'mpicc' : 'mpicxx'];
  const built = command([
    ...driver,
    ...(about.flags ?? []),
    ...(where === 'native' ? ['-ffp-contract=off'] : []),
    '-o',
    out,
    ...sources,
    '-lm',
  ]);
  if (!built.ok) console.log(`${name}: ${where} build failed (${built.status})\n${built.stderr}`);
  programs.set(key, built.ok ? out : undefined);
  return programs.get(key);
}
function run(where, program, { name, args }, ranks) {
  const files = manifest(name).files ?? [];
  const folder = mkdtempSync(join(scratch, 'run-'));
  for (const f of files) writeFileSync(join(folder, basename(f)), readFileSync(join(here, name, f)));
  const launcher = where === 'native' ? [native.mpiexec] : [...mayfly, 'mpiexec'];
  const inputs = where === 'native' ? [] : files.flatMap((f) => ['--file', join(here, name, f)]);
  return command([...launcher, '-n', String(ranks), ...inputs, program, ...args], folder);
}

let compared = 0;
let wrong = 0;
for (const row of chosen) {
  for (const ranks of row.ranks.filter((n) => options.ranks === undefined || n === Number(options.ranks))) {
    const expectation = join(here, row.name, `${row.expected ?? 'expected'}-${ranks}.txt`);
    const outputs = new Map();
    for (const where of ['native', 'mayfly']) {
      if (
        where === 'native' ? !(native.mpiexec && native[manifest(row.name).language]) : !mayfly || mayfly.length === 0
      )
        continue;
      const program = build(row.name, where);
      const done = program && run(where, program, row, ranks);
      if (!done?.ok) {
        wrong++;
        if (done)
          console.log(
            `${row.name} ${row.args.join(' ')} on ${ranks}: ${where} run ended with ` +
              `${done.status}\n${done.stderr}${done.stdout}`,
          );
        continue;
      }
      outputs.set(where, done.stdout);
    }
    if (options.write && outputs.has('native')) writeFileSync(expectation, outputs.get('native'));
    if (existsSync(expectation)) outputs.set('committed', readFileSync(expectation, 'utf8'));
    const [first, ...others] = outputs.keys();
    const different = others.filter((o) => outputs.get(o) !== outputs.get(first));
    if (others.length > 0) compared++;
    if (different.length > 0) {
      wrong++;
      for (const where of [first, ...different]) console.log(`--- ${where}\n${outputs.get(where)}`);
    }
    const verdict = different.length > 0 ? 'DIFFERENT' : others.length > 0 ? 'same' : 'nothing to compare with';
    console.log(
      `${verdict}: ${row.name} ${row.args.join(' ')} on ${ranks} (${[...outputs.keys()].join(', ') || 'no output'})`,
    );
  }
}
console.log(`${compared} compared, ${wrong} wrong`);
process.exitCode = wrong > 0 ? 1 : compared === 0 ? 2 : 0;
