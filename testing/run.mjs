/**
 * `npm test` and `npm run verify`: runs the parts beside each other, says how they get on, and sums up.
 *
 * A part is one command (parts.mjs). Its output goes to a file; what the terminal gets is a line when the part ends, a
 * line every half minute for a part that counts tests, and a line for each failure at once. A part in which no test
 * begins or ends for a long time is ended: progress begins that limit anew, and it follows the machine (pace.mjs).
 *
 * A file of tests in which one failed runs once more when everything has ended, alone. If all of it passes, that test
 * is *unsteady*: the summary has it with what it said, and the exit code is 0. What fails alone too is a failure. When
 * many files fail, none runs again: that is no chance.
 */
import { spawn } from 'node:child_process';
import { createWriteStream, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join, relative } from 'node:path';
import { pace, patient } from './pace.mjs';

/** A part in which nothing has begun or ended for so long hangs, ms (times the pace). */
const SILENCE_MS = 20 * 60_000;
/** With failures in more files than these, none runs again. */
const MOST_AGAIN = 5;
/** How often a part that counts tells how far it is, ms. */
const TELL_MS = 30_000;

const seconds = (ms) => `${(ms / 1000).toFixed(0)} s`;
const clock = (ms) => `${Math.floor(ms / 60_000)}:${String(Math.floor(ms / 1000) % 60).padStart(2, '0')}`;

/**
 * @param {{ name: string, command: string, args: string[], repeat: string | ((failure) => string), counts?: boolean,
 *   alone?: (file: string) => string[], env?: object, cwd?: string }[]} parts what runs beside each other
 * @param {{ root: string, title: string }} about
 * @returns {Promise<number>} the exit code: 0 when every test passed, beside the others or alone
 */
export async function runParts(parts, { root, title }) {
  const began = Date.now();
  const say = (line) => console.log(`${clock(Date.now() - began).padStart(6)}  ${line}`);
  const logs = join(root, 'node_modules', '.mayfly-reports');
  rmSync(logs, { recursive: true, force: true });
  mkdirSync(logs, { recursive: true });
  console.log(`\n${title}`);
  console.log(`Parts: ${parts.map((p) => p.name).join(', ')}. Their output is in ${relative(root, logs)}.`);
  console.log(
    pace() === 1
      ? 'This machine is quiet: limits that end a hang are as they are.\n'
      : `This machine is slow or busy now: limits that end a hang are ${pace()} times as long.\n`,
  );
  const results = await Promise.all(parts.map((part) => runPart(part, { root, logs, say })));
  await runAgain(results, { parts, root, logs, say });
  return sum(results, Date.now() - began);
}

/** Files with a failure once more, one after the other; what failed in one that passes is unsteady. */
async function runAgain(results, { parts, root, logs, say }) {
  const files = new Set(results.flatMap((r) => r.failures.map((f) => f.file)));
  if (files.size > MOST_AGAIN || files.has(undefined)) return;
  let runs = 0;
  for (const result of results) {
    const part = parts.find(({ name }) => name === result.name);
    for (const file of new Set(result.failures.map((f) => f.file))) {
      say(`${file} runs again, alone`);
      const again = { ...part, name: `${part.name} again ${++runs}`, args: part.alone(file) };
      const { passed, failures } = await runPart(again, { root, logs, say });
      if (passed === 0 || failures.length > 0) continue;
      result.unsteady.push(...result.failures.filter((f) => f.file === file));
      result.failures = result.failures.filter((f) => f.file !== file);
    }
    result.passed += result.unsteady.length;
  }
}

async function runPart(part, { root, logs, say }) {
  const began = Date.now();
  const failures = [];
  const running = new Map();
  let [files, ended, passed, skipped, told] = [0, 0, 0, 0, Date.now()];
  const path = join(logs, `${part.name}.log`);
  const log = createWriteStream(path);
  const child = spawn(part.command, part.args, {
    cwd: part.cwd ?? root,
    env: { ...process.env, ...part.env, MAYFLY_PACE: String(pace()) },
    stdio: part.counts ? ['ignore', 'pipe', 'pipe', 'ipc'] : ['ignore', 'pipe', 'pipe'],
    // A group of its own on Linux and macOS: what a part has started ends with it.
    detached: process.platform !== 'win32',
    shell: process.platform === 'win32',
  });
  child.stdout.on('data', (bytes) => log.write(bytes));
  child.stderr.on('data', (bytes) => log.write(bytes));
  const fail = (name, message, failure) => {
    say(`${part.name.padEnd(8)} FAILED  ${name}`);
    failures.push({ name, message, repeat: repeatOf(part, failure), file: part.alone && failure?.file });
  };
  const end = (signal) => {
    try {
      if (process.platform === 'win32') child.kill(signal);
      else process.kill(-child.pid, signal);
    } catch {
      // It has ended.
    }
  };
  let silent;
  const heard = () => {
    clearTimeout(silent);
    if (!part.counts) return;
    silent = setTimeout(() => {
      const tests = [...running.keys()].map((name) => `\n  ${name}`).join('');
      fail(`${part.name} stood still`, `No test began or ended for ${seconds(patient(SILENCE_MS))}.${tests}`);
      end('SIGTERM');
      setTimeout(() => end('SIGKILL'), 10_000).unref();
    }, patient(SILENCE_MS));
  };
  const tell = () => {
    if (!part.counts || Date.now() - told < TELL_MS) return;
    told = Date.now();
    const names = [...running.entries()].sort((a, b) => a[1] - b[1]).map(([name]) => name);
    say(`${part.name.padEnd(8)} ${ended} of ${files} files${names.length > 0 ? `, now ${names[0]}` : ''}`);
  };
  const teller = setInterval(tell, 1000);
  child.on('message', (m) => {
    heard();
    if (m.files !== undefined) files = m.files;
    else if (m.begins !== undefined) running.set(m.begins, Date.now());
    else if (m.broken !== undefined) fail(m.broken, m.message, m);
    else if (m.ends === undefined) ended++;
    else {
      running.delete(m.ends);
      if (m.state === 'passed') passed++;
      else if (m.state === 'failed') fail(m.ends, m.message, m);
      else skipped++;
    }
  });
  heard();
  const stop = (signal) => end(signal);
  process.on('SIGINT', stop).on('SIGTERM', stop);
  const code = await new Promise((resolve) => {
    child.on('error', (error) => {
      log.write(`cannot run ${part.command}: ${error.message}\n`);
      resolve(127);
    });
    child.on('close', (status, signal) => resolve(status ?? 128 + (signal === 'SIGINT' ? 2 : 15)));
  });
  process.off('SIGINT', stop).off('SIGTERM', stop);
  clearTimeout(silent);
  clearInterval(teller);
  // Nothing of a part outlives it.
  end('SIGKILL');
  await new Promise((resolve) => log.end(resolve));
  if (!part.counts) passed = code === 0 ? 1 : 0;
  // A part that fails without a failing test (an error outside of tests, or no test at all) is one failure.
  if (failures.length === 0 && (code !== 0 || passed === 0))
    fail(`${part.name} ended with code ${code}`, readFileSync(path, 'utf8').slice(-6000));
  const took = Date.now() - began;
  say(
    `${part.name.padEnd(8)} ${failures.length === 0 ? 'ok' : 'FAILED'}  ` +
      `${part.counts ? `${passed} passed, ${failures.length} failed, ${skipped} skipped, ` : ''}${seconds(took)}`,
  );
  return { name: part.name, passed, skipped, failures, unsteady: [], took };
}

function repeatOf({ name, repeat }, failure) {
  if (typeof repeat === 'string') return repeat;
  return failure?.file === undefined ? `npm run verify -- ${name}` : repeat(failure);
}

function sum(results, took) {
  const failures = results.flatMap((r) => r.failures);
  const unsteady = results.flatMap((r) => r.unsteady);
  const tell = (title, { message, repeat }) => {
    console.log(`\n${title}`);
    if (message) console.log(message.replace(/^/gm, '    ').trimEnd());
    console.log(`  again: ${repeat}`);
  };
  for (const failure of failures) tell(`FAILED ${failure.name}`, failure);
  for (const failure of unsteady) tell(`UNSTEADY ${failure.name} failed beside the others and passed alone`, failure);
  const total = (what) => results.reduce((n, r) => n + r[what], 0);
  console.log('');
  for (const r of results)
    console.log(
      `  ${r.name.padEnd(8)} ${r.failures.length === 0 ? 'ok    ' : 'FAILED'} ${String(r.passed).padStart(5)} passed, ` +
        `${r.failures.length} failed, ${r.skipped} skipped ${seconds(r.took).padStart(8)}`,
    );
  console.log(`  all      ${clock(took)} min\n`);
  const skipped = total('skipped');
  console.log(
    `${total('passed')} passed, ${failures.length} failed${skipped > 0 ? `, ${skipped} skipped` : ''}` +
      (unsteady.length > 0 ? `; ${unsteady.length} of those that passed were unsteady` : ''),
  );
  return failures.length === 0 ? 0 : 1;
}
