/** Whole runs in virtual time: what the production cores decide there, and what leaving out steps costs. */
import { expect, test } from 'vitest';
import { Freeze, Gate } from '@mayfly/protocols';
import {
  CORES,
  DEFAULTS,
  Platform,
  nasBt,
  nasCg,
  runVirtually,
  type Cores,
  type Implementation,
  type Pattern,
  type VirtualJob,
  type VirtualRun,
} from '../../src/virtual/index.ts';
import type { Act } from '../../src/virtual/pattern.ts';

const VCL: Implementation = { name: 'Vcl', protocol: 'vcl', resumes: 'copied' };
const PCL: Implementation = { name: 'Pcl', protocol: 'pcl', resumes: 'copied' };

function job(implementation: Implementation, more: Partial<VirtualJob> = {}): VirtualJob {
  const pattern: Pattern = more.pattern ?? nasBt('A', 9);
  const platform = new Platform({
    ...{ ranks: pattern.ranks, perNode: 2, servers: 2, bandwidth: 125_000, latency: 0.05 },
    within: { latency: 0.002, rate: 1e6 },
  });
  return {
    ...{ pattern, platform, implementation, parameters: DEFAULTS, speed: 110, image: 50e6, periodMs: 30_000, seed: 1 },
    ...more,
  };
}
const run = (implementation: Implementation, more: Partial<VirtualJob> = {}): VirtualRun =>
  runVirtually(job(implementation, more));

test('a run alone takes its operations, and the network a little', () => {
  const { time, messages } = run({ ...VCL, protocol: 'none' });
  // 168.3 Gop on 9 ranks at 110 Mop/s, at most 1 % slower.
  expect(time).toBeGreaterThan(168.2e3 / 9 / 110 / 0.001);
  expect(time).toBeLessThan((168.3e3 / 9 / 110 / 0.001) * 1.03);
  expect(messages).toBe(200 * 9 * 18);
});

test.each([
  ['BT', nasBt('A', 9)],
  ['CG', nasCg('B', 4)],
])('%s: leaving out steps that are alike changes the time by less than 0.3 %%', (_, pattern) => {
  for (const implementation of [VCL, PCL]) {
    const [some, every] = [false, true].map((everyStep) => run(implementation, { pattern, everyStep })) as [
      VirtualRun,
      VirtualRun,
    ];
    expect(some.simulated).toBeLessThan(every.simulated);
    expect(some.messages).toBe(every.simulated);
    expect(some.waves).toBe(every.waves);
    expect(Math.abs(some.time / every.time - 1)).toBeLessThan(0.003);
  }
});

test('"the system waits for 30 s before beginning a new checkpoint wave" (section 5.2)', () => {
  const { time, waves, waveMs } = run(VCL);
  expect(waves).toBe(Math.floor(time / (30_000 + waveMs)));
  // 9 images of 50 MB on 5 nodes, by turns to two servers of 125 MB/s: one of them has five.
  expect(waveMs).toBeGreaterThan((5 * 50e6) / 125_000);
});

test('a seed repeats its run', () => {
  const first = run(PCL);
  expect(run(PCL)).toEqual(first);
  expect(run(PCL, { seed: 2 }).time).not.toBe(first.time);
});

test('"the delay induced by the checkpoint corresponds only to the local checkpointing": Vcl (section 2)', () => {
  const { stallMs, frozenMs } = run(VCL);
  expect(stallMs).toBeLessThan(1.7 * 50);
  expect(frozenMs).toBe(0);
});

test('Pcl: "during the checkpoint wave, no messages are being exchanged": its state is what was delayed', () => {
  const { stateBytes, delayedBytes, waves, frozenMs } = run(PCL, { periodMs: 5000 });
  expect(waves).toBeGreaterThan(20);
  expect(frozenMs).toBeGreaterThan(0);
  expect(stateBytes).toBeLessThanOrEqual(delayedBytes);
});

/** `pcl` that does not freeze: what is sent between mark and image leaves at once. */
class Open<Frame> extends Freeze<Frame> {
  override holds(): boolean {
    return false;
  }
}
/** G1 undone: what is after a cut is pushed. */
class Ajar extends Gate {
  protected override holds(): boolean {
    return false;
  }
}

test('Pcl that does not freeze is found: messages cross the wave', () => {
  const cores: Cores = { ...CORES, freeze: () => new Open() };
  const { stateBytes, delayedBytes } = run(PCL, { cores, periodMs: 5000 });
  expect(stateBytes).toBeGreaterThan(delayedBytes);
});

test('a gate that holds nothing back is found: the scheduler rejects the cut', () => {
  const cores: Cores = { ...CORES, gate: (tasks, home) => new Ajar(tasks, home) };
  // Rank 0 computes for a second; meanwhile rank 1 takes its image and goes on sending to it.
  const second = 110e6;
  const pattern: Pattern = {
    ...{ name: 'one waits', ranks: 2, steps: 10 },
    step: (rank) =>
      Array.from({ length: 10 }, (_, i): Act[] =>
        rank === 1
          ? [
              { kind: 'compute', operations: second / 10 },
              { kind: 'send', to: 0, bytes: 8 },
            ]
          : [...(i === 0 ? [{ kind: 'compute', operations: second } as const] : []), { kind: 'receive', from: 1 }],
      ).flat(),
  };
  const more = { pattern, image: 1000, periodMs: 1300 };
  expect(() => run(VCL, { ...more, cores })).toThrow('has consumed what rank 1 has not sent');
  const { held, longestHeldMs, waves } = run(VCL, more);
  expect(waves).toBeGreaterThan(3);
  expect(held).toBeGreaterThan(waves);
  expect(longestHeldMs).toBeLessThan(1000);
});
