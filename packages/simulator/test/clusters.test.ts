/**
 * Jobs with clusters (`hc3i`): the smoke share of their campaign, and the lines of clusters against the definition.
 */
import { garbageLine } from '@mayfly/protocols';
import { expect, test } from 'vitest';
import { oldestNeeded, type Clc } from '../src/checkers/clc-lines.ts';
import { Random } from '../src/random.ts';
import { draw, run, type FaultKind } from '../src/index.ts';

/** What takes tasks, Channel Memories and the server down, and damages no disk. */
const STRIKES: FaultKind[] = [
  'crash',
  'rank crash',
  'close',
  'zombie',
  'kill server',
  'kill CM',
  'power loss',
  'delay',
];

test('every seed ends with its answer; some clusters go back, and others stay', () => {
  const counts: Record<string, number> = {};
  const rooms = new Set<boolean>();
  // In the last two, the only CLC of a cluster is damaged, and a tab closes in a room that has one node for each rank.
  for (const seed of [1, 2, 3, 4, 5, 6, 7, 9047, 9064]) {
    const struck = seed > 2 && seed < 9000;
    const o = { setup: { protocol: 'hc3i' }, ...(struck && { only: STRIKES }) } as const;
    const r = run(seed, o);
    expect(r.violation, `seed ${seed}: ${r.parameters}\n${r.notes.slice(-30).join('\n')}`).toBeUndefined();
    if (struck) expect(r.endedBy).toBeUndefined();
    rooms.add(draw(seed, o).rooms !== undefined);
    for (const [what, n] of Object.entries(r.counts)) counts[what] = (counts[what] ?? 0) + n;
  }
  expect(rooms).toEqual(new Set([true, false]));
  for (const which of ['some', 'several', 'all']) expect(counts[`rollbacks of ${which} clusters`]).toBeGreaterThan(0);
  expect(counts['requests to the file service']).toBeGreaterThan(30);
});

/** Clusters that take CLCs and send to each other by chance, as the rules allow. */
function history(seed: number): Clc[][] {
  const r = Random.named(seed, 'history');
  const kept: Clc[][] = [0, 1, 2].map((i) => [{ sn: 1, ddv: [0, 1, 2].map((j) => Number(i === j)) }]);
  for (let step = r.between(2, 9); step > 0; step--) {
    const to = r.between(0, 2);
    const { sn, ddv } = kept[to]!.at(-1)!;
    const from = r.between(0, 2);
    const next = ddv.map((x, i) => (i === to ? sn + 1 : i === from ? Math.max(x, kept[from]!.at(-1)!.sn) : x));
    kept[to]!.push({ sn: sn + 1, ddv: next });
  }
  return kept;
}

test('Q12: the garbage line of the core is what any loss of one or two clusters needs, by enumeration', () => {
  for (let seed = 1; seed <= 400; seed++) {
    const kept = history(seed);
    expect(garbageLine(kept), JSON.stringify(kept)).toEqual(oldestNeeded(kept));
  }
});
