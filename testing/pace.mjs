/**
 * How slow this machine is: the factor by which every limit of the tests is multiplied. A limit is there to end a hang,
 * never to judge how fast a machine is, so it has to follow the machine.
 *
 * The factor is measured once for a run of the tests, by whoever asks first, and reaches the processes that are started
 * from there by the environment (`MAYFLY_PACE`). It is the product of two numbers, each at least 1: how much longer a
 * fixed piece of work takes than on a quiet machine, and how many processes wait for each core. The load of the tests
 * themselves is not in it: the limits have been chosen for a machine that runs the tests.
 *
 * Example: eight busy loops on two cores. The load is 8, so four processes wait for a core; the fixed work takes twice
 * as long. The factor is 8, and a limit of 5 minutes becomes 40.
 */
import { availableParallelism, loadavg } from 'node:os';

/** The work below on one quiet core, ms: a slow laptop. */
const QUIET_MS = 60;
/** More than this would only make a hang longer. */
const MOST = 20;

/** @returns the factor now, between 1 and 20 */
function measure() {
  let best = Infinity;
  // The best of three: the first one also pays for the optimizing compiler.
  for (let round = 0; round < 3; round++) {
    const began = performance.now();
    let x = 1;
    for (let i = 0; i < 10_000_000; i++) x = (Math.imul(x, 1_664_525) + 1_013_904_223) ^ (x >>> 7);
    best = Math.min(best, performance.now() - began + (x === 0.5 ? 1 : 0));
  }
  const slow = Math.max(1, best / QUIET_MS);
  const load = Math.max(1, loadavg()[0] / availableParallelism());
  return Math.min(MOST, Math.round(10 * slow * load) / 10);
}

/** @returns the factor of this run of the tests */
export function pace() {
  const given = Number(process.env.MAYFLY_PACE);
  if (given >= 1) return given;
  const factor = measure();
  process.env.MAYFLY_PACE = String(factor);
  return factor;
}

/**
 * @param {number} ms a limit for a machine that is busy with the tests alone
 * @returns {number} the limit on this machine, ms
 */
export const patient = (ms) => Math.round(ms * pace());
