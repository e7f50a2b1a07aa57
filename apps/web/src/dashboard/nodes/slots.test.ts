import { SLOT_KINDS, type SlotKind } from '@mayfly/wire';
import { expect, it } from 'vitest';
import {
  K,
  LOOKS,
  SHOWN,
  lastKnown,
  meanOf,
  merged,
  mostSlots,
  pictureText,
  sharesText,
  stackOf,
  sumOf,
  type Told,
} from './slots.ts';

const T0 = 1_700_000_000_000;
const WIDTH = 5000;
/** Columns of one kind each, by name; '' is unknown. Two slots. */
const told = (column: number, nodes: Record<string, (SlotKind | '')[]>): Told => {
  const columns = Object.values(nodes)[0]?.length ?? 0;
  const slots = new Uint16Array(Object.keys(nodes).length * columns * K);
  Object.values(nodes).forEach((kinds, n) =>
    kinds.forEach((k, c) => k !== '' && (slots[(n * columns + c) * K + SLOT_KINDS.indexOf(k)] = 200)),
  );
  return { from: T0 + column * WIDTH, widthMs: WIDTH, columns, nodes: Object.keys(nodes), slots };
};
const read = (cells: ArrayLike<number>): string[] =>
  Array.from({ length: SHOWN }, (_, c) => SLOT_KINDS.find((_, k) => cells[c * K + k]! > 0) ?? '');

it(
  'columns are joined to those that are here: what is told again replaces, what is old leaves, a node that is ' +
    'forgotten stays as long as there is something of it',
  () => {
    let sheet = merged(undefined, told(0, { a: ['idle', 'computing'], b: ['', 'idle'] }));
    sheet = merged(sheet, told(1, { a: ['waiting', 'silent'] }));
    expect(sheet.until).toBe(T0 + 3 * WIDTH);
    expect(read(sheet.byNode.get('a')!).slice(-4)).toEqual(['', 'idle', 'waiting', 'silent']);
    expect(read(sheet.byNode.get('b')!).slice(-3)).toEqual(['', 'idle', '']);
    expect(merged(sheet, { ...told(3, {}), columns: 0 })).toBe(sheet);
    sheet = merged(sheet, told(100, { a: ['idle'], c: ['idle'] }));
    expect(read(sheet.byNode.get('a')!).filter((k) => k !== '')).toEqual(['idle', 'waiting', 'silent', 'idle']);
    sheet = merged(sheet, told(400, { c: ['idle'] }));
    expect([...sheet.byNode.keys()]).toEqual(['c']);
    expect(read(sheet.byNode.get('c')!).filter((k) => k !== '')).toEqual(['idle']);
  },
);

it('memory is joined as its columns are', () => {
  let sheet = merged(undefined, { ...told(0, { a: ['idle', 'idle', 'idle'] }), memory: [null, 5, 6] });
  sheet = merged(sheet, { ...told(2, { a: ['idle', 'idle'] }), memory: [7, null] });
  expect(sheet.memory.slice(-5)).toEqual([null, null, 5, 7, null]);
  expect(merged(sheet, { ...told(200, { a: ['idle'] }), memory: [8] }).memory.filter((m) => m !== null)).toEqual([8]);
  expect(sheet.memory.length).toBe(SHOWN);
});

it('a picture is said in words: shares of what is known, and of which time', () => {
  const all = (kinds: (SlotKind | '')[]) => merged(undefined, told(0, { a: kinds })).byNode.get('a')!;
  const ten = [
    ...Array<SlotKind>(84).fill('computing'),
    ...Array<SlotKind>(24).fill('waiting'),
    ...Array<SlotKind>(12).fill('idle'),
  ];
  expect(pictureText(all(ten), WIDTH)).toBe('computing 70 %, waiting 20 %, idle 10 % over the last 10 minutes');
  expect(pictureText(all(['idle', 'idle', 'computing']), WIDTH)).toBe('idle 67 %, computing 33 % over the last 15 s');
  expect(pictureText(all(['idle', '', '', 'silent']), WIDTH)).toBe('idle 50 %, silent 50 % in 10 s of the last 20 s');
  expect(pictureText(all(['']), WIDTH)).toBe('no data for the last minutes');
  expect(pictureText(undefined, WIDTH)).toBe('no data for the last minutes');
  expect(sharesText({ by: LOOKS.map((_, k) => (k === 0 ? 999 : k === 1 ? 1 : 0)), known: 1000 })).toBe(
    'computing 100 %, waiting < 1 %',
  );
});

it('nodes are summed by column; the newest that is known, and the most slots, are found', () => {
  const sheet = merged(undefined, told(0, { a: ['computing', 'computing', ''], b: ['', 'idle', ''] }));
  const sum = sumOf(sheet.byNode.values());
  expect(lastKnown(sum)).toBe(SHOWN - 2);
  expect(meanOf(sum, SHOWN - 2, SHOWN - 2)).toEqual({
    by: SLOT_KINDS.map((k) => (k === 'computing' || k === 'idle' ? 2 : 0)),
    known: 4,
  });
  expect(mostSlots(sum)).toBe(4);
  expect(lastKnown(new Uint16Array(SHOWN * K))).toBe(-1);
});

it('kinds are stacked from below, equal columns are one step, and what is not known is left open', () => {
  const cells = new Uint16Array(SHOWN * K);
  const put = (c: number, kind: SlotKind, n: number): void => void (cells[c * K + SLOT_KINDS.indexOf(kind)] = n);
  for (const c of [0, 1]) {
    put(c, 'computing', 100);
    put(c, 'idle', 100);
  }
  put(SHOWN - 1, 'computing', 50);
  expect(stackOf(cells, 2).map(({ look, d }) => [look.kind, d])).toEqual([
    ['computing', `M0 100V50H2V100ZM${SHOWN - 1} 100V75H${SHOWN}V100Z`],
    ['idle', 'M0 50V0H2V50Z'],
  ]);
});
