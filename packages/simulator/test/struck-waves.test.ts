/**
 * Faults that strike at the steps of waves and rollbacks: in the middle of a cut, within a commit, while all go back.
 * MAYFLY_STRUCK=100 strikes each step in a hundred seeds:
 * MAYFLY_STRUCK=100 npx vitest run packages/simulator/test/struck-waves.test.ts
 */
import { expect, test } from 'vitest';
import { Random, run, type FaultKind, type RunReport } from '../src/index.ts';
import { Striker } from '../src/faults.ts';

declare const process: { env: Record<string, string | undefined> };
const SEEDS = Number(process.env['MAYFLY_STRUCK'] ?? 2);

/** What loses something, and is no damage that may end a job. */
const KINDS: readonly FaultKind[] = [
  'kill server',
  'kill CM',
  'power loss',
  'CM power loss',
  'rank crash',
  'crash',
  'half-open crash',
  'reload',
  'cut off',
  'zombie',
  'broken link',
  'server and nodes',
  'full disk',
  'pause',
];

/** Without a loss there is no rollback to strike at. */
const LOSSES = [300, 1200, 2500].map((at, i) => ({ at, kind: 'rank crash', n: 1000 + i }) as const);

/** A run in which faults of one kind strike soon after some of the steps. */
function struckAt(step: RegExp, seed: number): RunReport & { readonly strikes: number } {
  const r = Random.named(seed, 'struck');
  const kind = r.pick(KINDS);
  const late = r.pick([0, 1, 5, 30, 200]);
  const chance = r.pick([0.2, 0.6, 1]);
  let [strikes, left] = [0, r.between(1, 8)];
  let striker: Striker | undefined;
  const report = run(seed, {
    faults: LOSSES,
    setup: { protocol: 'vcl', checkpointMs: r.pick([100, 300, 1000]) },
    spec: { rounds: 16 },
    trace(world, line) {
      striker ??= new Striker(world);
      if (left === 0 || !step.test(line) || !r.chance(chance)) return;
      left--;
      world.agenda.after(late * r.next(), () => {
        if (!world.end) striker!.strike({ at: world.agenda.now, kind, n: ++strikes });
      });
    },
  });
  return { ...report, strikes };
}

test.each<[string, RegExp]>([
  ['a wave begins', /^wave \d+ begins/],
  ['a task cuts', /^cm\d+: task \d+ cut/],
  ['channels are recorded', /^cm\d+: task \d+ recorded/],
  ['an image is complete', /^cs: image .* is complete/],
  ['a wave is committed', /^wave \d+ is committed/],
  ['all ranks go back', /^all ranks go back/],
  ['a Channel Memory has gone back', /^cm\d+ has gone back/],
  ['everybody has gone back', /^everybody has gone back/],
  ['a rank gets an image', /^dispatcher assigns .* with /],
])('the answer is right whatever strikes when %s', (_what, step) => {
  const reports = Array.from({ length: SEEDS }, (_, i) => struckAt(step, i + 1));
  expect(reports.flatMap(({ seed, violation }) => (violation ? [`seed ${seed}: ${violation}`] : []))).toEqual([]);
  expect(reports.reduce((sum, { strikes }) => sum + strikes, 0)).toBeGreaterThan(0);
});
