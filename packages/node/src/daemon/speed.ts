/**
 * How fast one core of this machine is, by a short fixed loop: millions of steps per second, where a step is one
 * multiply-add of doubles and one multiply-and-shift of integers, in JavaScript as this engine compiles it. It compares
 * nodes with each other; it is no figure of merit of a program, whose memory and messages count as well. About 40 ms of
 * one core.
 */
const WINDOW_MS = 10;
const WINDOWS = 4;
const STEPS = 20_000;

function loop(seed: number): number {
  let x = 0.5;
  let h = seed | 0;
  for (let i = 0; i < STEPS; i++) {
    h = Math.imul(h ^ (h >>> 15), 0x2c1b3c6d) + i;
    x = x * 0.999_999 + (h & 255) * 1e-9;
  }
  return x + h;
}

/**
 * `now`: ms, monotonic. The best of a few windows: what others took of the core in between is not this machine's speed.
 */
export function measureSpeed(now: () => number): number {
  let best = 0;
  let sink = 1;
  for (let w = 0; w < WINDOWS; w++) {
    const begun = now();
    let steps = 0;
    let elapsed = 0;
    do {
      sink = loop(sink);
      steps += STEPS;
      elapsed = now() - begun;
    } while (elapsed < WINDOW_MS);
    best = Math.max(best, steps / elapsed / 1000);
  }
  // The result is used, so that no engine leaves the loop out.
  return Number.isNaN(sink) ? 0 : Math.round(best * 10) / 10;
}
