/** What processes print becomes tables and verdicts: data that do not come back decide, times do not. */
import { expect, test } from 'vitest';
import { RANKS, SETTINGS, SIZES, full, inMemory, outcomeOf, roleOf, stable, typical } from './experiment.ts';
import type { Outcome, Setting } from './experiment.ts';
import { PAPER, recovered, verdicts } from './tables.ts';

const ranks = Array.from({ length: RANKS }, (_, r) => r);
/** What the processes of a run with two losses print. */
const printed = (whole = 0.1): string =>
  [
    ...ranks.map((r) => `rank=${r} stands=0.01 whole=${whole}`),
    ...[1, 2].flatMap((loss) =>
      ranks.map((r) => {
        const isNew = r === loss % RANKS;
        return `rank=${r} loss=${loss} new=${isNew ? 1 : 0} recovery=${isNew ? 0 : 0.3} rollback=${0.1 * (r + 1)} copy=0.001`;
      }),
    ),
    ...ranks.map((r) => `rank=${r} ended=2`),
  ].join('\n');

test('lines of all processes become one outcome', () => {
  const o = outcomeOf(printed(), 2);
  expect([o.stands, o.whole, o.losses.length, o.ended]).toEqual([0.01, 0.1, 8, 4]);
  expect(o.losses.filter((l) => l.loss === 1).map(roleOf)).toEqual(['normal', 'recver', 'sender', 'normal']);
  expect(o.losses.filter((l) => l.loss === 2).map(roleOf)).toEqual(['normal', 'normal', 'recver', 'sender']);
  expect(
    typical(
      o,
      (l) => roleOf(l) === 'recver',
      (l) => l.rollback,
    ),
  ).toBeCloseTo(0.25);
});

/** All settings went alike, but some. */
function outcomes(other: Readonly<Record<string, Outcome>> = {}): Map<string, Outcome> {
  const one = (s: Setting): Outcome => outcomeOf(printed(), s.atOnce === 0 ? 0 : 2);
  return new Map(SETTINGS.map((s) => [s.name, other[s.name] ?? one(s)]));
}
const deciding = (all: Map<string, Outcome>): [string, boolean][] =>
  verdicts(all)
    .filter(([, v]) => v.beside === undefined)
    .map(([table, v]) => [table, v.holds]);

test('a process that did not come back decides', () => {
  const good = outcomeOf(printed(), 2);
  expect(recovered(good)).toBe(true);
  expect(recovered({ ...good, ended: 3 })).toBe(false);
  expect(recovered({ ...good, losses: good.losses.slice(1) })).toBe(false);
  const all = ['1', '2', '5.3', 'Figure 4'];
  expect(deciding(outcomes())).toEqual(all.map((t) => [t, true]));
  const lost = { ...good, ended: 0 };
  expect(deciding(outcomes({ [full.name]: lost }))).toEqual(all.map((t) => [t, t !== 'Figure 4']));
  expect(deciding(outcomes({ [stable('4MB').name]: lost }))[0]).toEqual(['1', false]);
});

test('times stand beside', () => {
  const slow = { ...outcomeOf(printed(0.5), 2) };
  const all = verdicts(outcomes({ [stable('400B').name]: slow }));
  const of = (part: string): boolean[] => all.filter(([, v]) => v.shape.includes(part)).map(([, v]) => v.holds);
  expect(of('a checkpoint to the disk takes three times')).toEqual([true, false]);
  expect(of('checkpoints of 4 MB take longer')).toEqual([false, false]);
});

test('"the overhead of the stable disk algorithm is more than ten times higher": its own tables have less', () => {
  const ratio = (of: 0 | 1): number =>
    PAPER.stable['400B'].old.checkpoint![of] / PAPER.memory['400B'].sender.checkpoint![of];
  expect([ratio(0), ratio(1)].map((x) => x.toFixed(1))).toEqual(['5.8', '3.0']);
  expect(SETTINGS.map((s) => s.name)).toEqual(expect.arrayContaining(SIZES.map((z) => inMemory(z.name, 3).name)));
});
