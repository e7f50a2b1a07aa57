/**
 * Watches a server from a process of its own, so that neither the attacker's work nor the harness's counts: how long
 * `/api/info` goes without an answer, and how much memory the server has.
 *
 *   node watch.mjs URL PID     a line of JSON on standard output for every line `read` on standard input:
 *     gapMs     longest time between two answers since the last `read`, without the time in which this process itself
 *               stood still
 *     rss       most resident memory of the server since the last `read`, bytes
 *     answers   how many there were
 *     ms        how long the work of `yardstick` took meanwhile: the mean of small samples of it
 *   A line `look` is answered as `read` is, and begins nothing again.
 *   A line `yardstick` is answered with {ms}: how long a fixed piece of work takes here now.
 *
 *  W1  One question is under way at a time, over one connection, which is opened again when it breaks.
 *  W2  A gap that is not over counts as far as it has come, so a server that never answers again has a gap as well.
 */
import { readFileSync } from 'node:fs';
import { Agent, get } from 'node:http';
import { createInterface } from 'node:readline';

const [url, pid] = process.argv.slice(2);
const PAUSE_MS = 50;
const TICK_MS = 20;
const WORK = 80_000_000;
const SAMPLE = WORK / 20;
const SAMPLE_EVERY_MS = 500;

let last = performance.now();
let stood = 0;
let gapMs = 0;
let rss = 0;
let answers = 0;
let sampledMs = 0;
let samples = 0;

const gap = () => performance.now() - last - stood;
const note = () => (gapMs = Math.max(gapMs, gap()));

let ticked = performance.now();
setInterval(() => {
  const now = performance.now();
  stood += Math.max(0, now - ticked - 2 * TICK_MS);
  ticked = now;
  try {
    const kib = /^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
    rss = Math.max(rss, Number(kib ?? 0) * 1024);
  } catch {
    // It has ended; the gap says so.
  }
}, TICK_MS);

const agent = new Agent({ keepAlive: true, maxSockets: 1 });
function ask() {
  const again = () => setTimeout(ask, PAUSE_MS);
  get(`${url}/api/info`, { agent }, (answer) => {
    answer.resume();
    answer.on('end', () => {
      note();
      // A refusal is no answer to the question.
      if (answer.statusCode === 200) {
        answers++;
        last = performance.now();
        stood = 0;
      }
      again();
    });
    answer.on('error', again);
  }).on('error', again);
}
ask();

function yardstick(work) {
  const began = performance.now();
  let x = 1;
  for (let i = 0; i < work; i++) x = (Math.imul(x, 1_664_525) + 1_013_904_223) | 0;
  // So that nothing of it is left out.
  return x === 0 ? 0 : performance.now() - began;
}

setInterval(() => {
  sampledMs += yardstick(SAMPLE);
  samples++;
}, SAMPLE_EVERY_MS);

createInterface(process.stdin).on('line', (line) => {
  if (line === 'yardstick') {
    const open = gap();
    const ms = yardstick(WORK);
    // Meanwhile this process could hear no answer.
    last = performance.now() - open;
    stood = 0;
    ticked = performance.now();
    console.log(JSON.stringify({ ms }));
    return;
  }
  note();
  const ms = samples === 0 ? 0 : (sampledMs / samples) * (WORK / SAMPLE);
  console.log(JSON.stringify({ gapMs, rss, answers, ms }));
  if (line === 'look') return;
  gapMs = rss = answers = sampledMs = samples = 0;
  // A gap that is open goes on as a new one: what it was is said.
  last = performance.now();
  stood = 0;
});
process.stdin.on('end', () => process.exit(0));
