/** F5 of pessimistic/unheard.ts: what a node says of its rank's position is checked against the logs. */
import { expect, test } from 'vitest';
import {
  EMPTY,
  Kind,
  WORLD,
  emptyHeader,
  encodeDeterminants,
  encodeFrame,
  incarnation,
  type DeterminantBlock,
} from '@mayfly/wire';
import { positionOf, protocols } from '../../src/index.ts';
import { Bench, T, arrivals, codes, fresh, line, pair } from './bench.ts';

const determinants = (d: Pick<DeterminantBlock, 'first' | 'entries'>): Uint8Array =>
  encodeFrame(emptyHeader(Kind.DETERMINANTS), EMPTY, encodeDeterminants({ consumed: 0, openPolls: 0, ...d }));

test.each<[string, { first?: number; consumed?: number; entries?: { type: 'clock'; ms: number }[] }]>([
  ['more arrivals consumed than came', { consumed: 1 }],
  ['events that it has not told', { first: 1 }],
  ['both, with an event', { first: 7, consumed: 3, entries: [{ type: 'clock', ms: 7 }] }],
])('a stated position of %s costs the incarnation that states it, and no job its logs', (_, det) => {
  for (const dst of [1, WORLD]) {
    const b = pair();
    b.send(10, 0, 1, 1, 8, { det: { entries: [{ type: 'clock', ms: 7 }] } });
    b.frame(10, b.chunks(0, dst, dst === 1 ? 2 : 1, 8, { det: { ...det, first: (det.first ?? 0) + 1 } })[0]!);
    expect(codes(b)).toEqual(['OUT_OF_SEQUENCE']);
    // As the dispatcher asks before the next incarnation begins.
    b.step({ type: 'fence', task: T(0), incarnation: incarnation(1) });
    const { logs } = b.core.progress(T(0));
    expect(logs).toMatchObject({ consumed: 0, determinants: 1, held: [[0, 1]] });
    const { recovery } = protocols.pessimistic;
    expect(recovery.lacks(recovery.start, [logs])).toBeUndefined();
  }
});

test.each([
  ['more arrivals consumed than its home has numbered', { consumed: 2 }],
  ['events that no Channel Memory knows', { first: 4 }],
])('with several Channel Memories, of which each has a part of the logs: %s', (_, det) => {
  // Task 0 is at home at CM 0, which has its first arrival and its events 0 and 1; task 1 at CM 1.
  const benches: Bench[] = [];
  const of = (index: number): Bench =>
    new Bench({ index, count: 2, others: (task) => [benches[1 - index]?.core.witness(task)] });
  benches.push(of(0), of(1));
  const [home, other] = benches as [Bench, Bench];
  for (const b of benches) for (const t of [0, 1]) b.attach(10 + t, t);
  home.send(11, 1, 0, 1);
  const clock = { type: 'clock', ms: 7 } as const;
  home.send(10, 0, -1, 1, 8, { det: { entries: [clock, clock], consumed: 1 } });
  // All true: 1 arrival, 2 events before the one that comes.
  other.send(10, 0, 1, 1, 8, { det: { first: 2, entries: [clock], consumed: 1 } });
  expect(arrivals(other, 11)).toEqual([1]);
  other.send(10, 0, 1, 2, 8, { det: { first: 3, consumed: 1, ...det } });
  expect(codes(other)).toEqual(['OUT_OF_SEQUENCE']);
  const logs = benches.map((b) => {
    b.step({ type: 'fence', task: T(0), incarnation: incarnation(1) });
    return b.core.progress(T(0)).logs;
  });
  const { recovery } = protocols.pessimistic;
  expect(recovery.lacks(recovery.start, logs)).toBeUndefined();
});

test('what another Channel Memory may have lost is believed', () => {
  for (const said of [undefined, { arrivals: undefined, events: 0, whole: false }]) {
    const b = new Bench({ index: 1, count: 2, others: () => [said] });
    for (const t of [0, 1]) b.attach(10 + t, t);
    b.send(10, 0, 1, 1, 8, { det: { first: 5, consumed: 5 } });
    expect(arrivals(b, 11)).toEqual([1]);
  }
});

test('an incarnation that begins at an image continues behind events that were trimmed before the server restarted', () => {
  const b = pair();
  const entries = [7, 8, 9].map((ms) => ({ type: 'clock', ms }) as const);
  // Nothing but a determinant block of its own says that there are three.
  entries.forEach((e, first) => b.frame(10, determinants({ first, entries: [e] })));
  const image = line({ determinants: 3 });
  b.step({ type: 'trim', task: T(0), position: positionOf({ ...fresh, image }) });
  b.start(false);
  b.attach(20, 0, { inc: 1, replay: { ...fresh, image } });
  b.send(20, 0, 1, 1, 8, { inc: 1, det: { first: 3 } });
  expect(codes(b)).toEqual([]);
});
