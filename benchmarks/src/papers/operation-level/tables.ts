/** Tables 1 and 2 of the paper (s), and what must come out of ours. */
import type { Verdict } from '../shapes.ts';
import { RANKS, SIZES, full, inMemory, roleOf, stable, twoLevel, typical } from './experiment.ts';
import type { Outcome, Role, Setting, SizeName } from './experiment.ts';

/** "T_… ckpt" and "T_ckpt total"; "T_… rollback" and "T_rollback total". */
interface Cells {
  readonly checkpoint?: readonly [number, number];
  readonly rollback: readonly [number, number];
}

export const PAPER = {
  /** T_recover loop, by size; none is there for 4 MB. */
  recovery: { '400B': 0.6684, '40KB': 0.6434, '4MB': undefined } as Readonly<Record<SizeName, number | undefined>>,
  /** Table 1. */
  stable: {
    '400B': {
      old: { checkpoint: [0.0151, 0.0185], rollback: [0.0033, 0.0051] },
      new: { rollback: [0.004, 0.0094] },
    },
    '40KB': {
      old: { checkpoint: [0.0295, 0.0356], rollback: [0.0033, 0.0047] },
      new: { rollback: [0.04767, 0.06037] },
    },
    '4MB': { old: { checkpoint: [3.0704, 3.2319], rollback: [0.038, 0.0453] }, new: { rollback: [1.5401, 1.5781] } },
  } satisfies Record<SizeName, Record<'old' | 'new', Cells>> as Readonly<
    Record<SizeName, Readonly<Record<'old' | 'new', Cells>>>
  >,
  /** Table 2. */
  memory: {
    '400B': {
      sender: { checkpoint: [0.0026, 0.0062], rollback: [0.000151, 0.0016] },
      recver: { rollback: [0.000151, 0.0015] },
      normal: { rollback: [0.000004, 0.0046] },
    },
    '40KB': {
      sender: { checkpoint: [0.0261, 0.0269], rollback: [0.000893, 0.002584] },
      recver: { rollback: [0.001431, 0.037701] },
      normal: { rollback: [0.000143, 0.035958] },
    },
    '4MB': {
      sender: { checkpoint: [0.6907, 1.0701], rollback: [0.35399, 0.391026] },
      recver: { rollback: [0.34404, 0.381836] },
      normal: { rollback: [0.022379, 0.059456] },
    },
  } as Readonly<Record<SizeName, Readonly<Record<Role, Cells>>>>,
};

export type Outcomes = ReadonlyMap<string, Outcome>;
export const outcome = (all: Outcomes, s: Setting): Outcome => all.get(s.name)!;

const BESIDE = 'times on this machine';
const list = (a: readonly number[]): string => a.map((x) => x.toPrecision(2)).join(', ');
const rising = (a: readonly number[]): boolean => a.at(-1)! > a[0]!;
const NAMES = SIZES.map(({ name }) => name);

/** Every loss is behind all processes: what they print of a loss, they print with the right bytes. */
export function recovered(o: Outcome, processes = RANKS): boolean {
  const reported = Array.from({ length: o.expected }, (_, i) => o.losses.filter((l) => l.loss === i + 1).length);
  return o.ended === processes && reported.every((n) => n >= processes);
}

export function verdicts(all: Outcomes): [table: string, verdict: Verdict][] {
  const out: [string, Verdict][] = [];
  const at = (s: Setting): Outcome => outcome(all, s);
  const decides = (table: string, shape: string, settings: readonly Setting[]): void => {
    const bad = settings.filter((s) => !recovered(at(s)));
    const losses = settings.reduce((n, s) => n + at(s).expected * s.atOnce, 0);
    const ours = bad.length === 0 ? `${losses} lost processes, right bytes at all` : bad.map((s) => s.name).join(', ');
    out.push([table, { shape, ours, holds: bad.length === 0 && losses > 0 }]);
  };
  const beside = (table: string, shape: string, ours: string, holds: boolean, why = BESIDE): void =>
    void out.push([table, { shape, ours, holds, beside: why }]);

  decides('1', 'stable disk: after each loss all processes have their data', NAMES.map(stable));
  const ones = NAMES.map((n) => inMemory(n, 1));
  decides('2', 'one copy in memory: after each loss all processes have their data', ones);
  decides('5.3', 'two neighbours are lost with one copy: the disk has the data', [twoLevel]);
  decides('Figure 4', '4 MB do not fit into 1 MB: the disk has the data of two lost neighbours', [full]);

  for (const [table, of] of [
    ['1', (n: SizeName) => at(stable(n))],
    ['2', (n: SizeName) => at(inMemory(n, 1))],
  ] as const) {
    const whole = NAMES.map((n) => of(n).whole);
    beside(table, 'checkpoints of 4 MB take longer than those of 400 B', `${list(whole)} s`, rising(whole));
    const back = NAMES.map((n) =>
      typical(
        of(n),
        () => true,
        (l) => l.rollback,
      ),
    );
    beside(table, 'so do rollbacks', `${list(back)} s`, rising(back));
  }
  const [old, fresh] = [false, true].map((isNew) =>
    typical(
      at(stable('4MB')),
      (l) => l.isNew === isNew,
      (l) => l.rollback,
    ),
  ) as [number, number];
  beside(
    '1',
    '4 MB from the disk: new processes take three times as long as old ones',
    `${list([fresh, old])} s`,
    fresh >= 3 * old,
    'ours wait for each other',
  );
  const [sender, recver, normal] = (['sender', 'recver', 'normal'] as const).map((role) =>
    typical(
      at(inMemory('4MB', 1)),
      (l) => roleOf(l) === role,
      (l) => l.rollback,
    ),
  ) as [number, number, number];
  beside(
    '2',
    '4 MB from memory: sender and receiver take three times as long as the others',
    `${list([sender, recver, normal])} s`,
    Math.min(sender, recver) >= 3 * normal,
    'ours wait for each other',
  );
  for (const n of ['400B', '4MB'] as const) {
    const ratio = at(stable(n)).whole / at(inMemory(n, 1)).whole;
    beside('1, 2', `${n}: a checkpoint to the disk takes three times as long`, `${ratio.toFixed(1)} times`, ratio >= 3);
  }
  const copies = [1, 2, 3].map((m) => at(inMemory('4MB', m)).whole);
  beside('(ours)', '4 MB: two and three copies take longer than one', `${list(copies)} s`, rising(copies));
  return out;
}
