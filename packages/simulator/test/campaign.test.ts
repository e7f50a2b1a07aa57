/** The smoke share of the campaign: a fixed range of seeds, and the proof that a run is a function of its seed. */
import { describe, expect, test } from 'vitest';
import { run, runAndCompare } from '../src/index.ts';

describe('simulated faults', () => {
  test('every seed ends with a correct answer', { timeout: 120_000 }, () => {
    let faults = 0;
    for (let seed = 1; seed <= 120; seed++) {
      const r = runAndCompare(seed);
      expect(r.violation, `seed ${seed}: ${r.parameters}\n${r.notes.slice(-30).join('\n')}`).toBeUndefined();
      faults += Object.values(r.faults).reduce((a, b) => a + b, 0);
    }
    expect(faults).toBeGreaterThan(300);
  });

  test('the same seed replays byte for byte', () => {
    for (const seed of [3, 17, 40]) expect(JSON.stringify(run(seed))).toBe(JSON.stringify(run(seed)));
  });

  test('the single counter of the paper\'s Figure 4 is found out with several Channel Memories', { timeout: 120_000 }, () => {
    // "limit ← nbmessage + limit": one sum over all CMs loses what is in flight to one of them and repeats what another has
    const found = Array.from({ length: 60 }, (_, i) => i + 1).find(
      (seed) => runAndCompare(seed, { endpoint: { limitRule: 'single-counter' }, setup: { channelMemories: 3 } }).violation !== undefined,
    );
    expect(found).toBeDefined();
  });
});
