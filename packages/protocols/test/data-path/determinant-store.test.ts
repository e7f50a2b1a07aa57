/** The store against the truth: what the Channel Memories of the test really hold, and hold durably. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { decodeDeterminants, type Determinant } from '@mayfly/wire';
import { addRange } from '../../src/channel-memory/ranges.ts';
import { DeterminantStore } from '../../src/pessimistic/determinant-store.ts';

interface Cm {
  /** Numbers in log order. */
  log: number[];
  synced: number;
  block: [number, number];
  /** ACKs under way: [first, appended, synced]. */
  acks: [number, number, number][];
}

const heldRanges = (log: readonly number[]): [number, number][] => {
  const out: [number, number][] = [];
  for (const n of log) addRange(out, n, n + 1);
  return out;
};
/** Highest number below which everything held is durable. */
const durableUpTo = (c: Cm): number => {
  const durable = new Set(c.log.slice(0, c.synced));
  for (const n of [...c.log].sort((a, b) => a - b)) if (!durable.has(n)) return n;
  return Math.max(0, ...c.log.map((n) => n + 1));
};

test('D1 D2 nothing is believed to be logged that is not, and nothing durable is believed that could be lost', () => {
  const op = fc.tuple(fc.constantFrom('add', 'send', 'send', 'ack', 'ack', 'sync', 'lose'), fc.nat(2), fc.nat(3));
  fc.assert(
    fc.property(fc.array(op, { maxLength: 80 }), (ops) => {
      const store = new DeterminantStore(3);
      const cms: Cm[] = [0, 1, 2].map(() => ({ log: [], synced: 0, block: [0, 0], acks: [] }));
      for (const [what, i, k] of ops) {
        const c = cms[i]!;
        if (what === 'add')
          store.add(
            store.end,
            Array.from({ length: k }, (_, x): Determinant => ({ type: 'clock', ms: store.end + x })),
          );
        else if (what === 'send' && !store.allLogged) {
          const b = decodeDeterminants(store.block(0, 0));
          b.entries.forEach((_, x) => c.log.includes(b.first + x) || c.log.push(b.first + x));
          c.block = [b.first, b.first + b.entries.length];
          c.acks.push([...c.block, durableUpTo(c)]);
        } else if (what === 'ack' && c.acks.length > 0) store.acknowledged(i, ...c.acks.shift()!);
        else if (what === 'sync') {
          c.synced = c.log.length;
          c.acks.push([...c.block, durableUpTo(c)]);
        } else if (what === 'lose') {
          // Power loss: an un-synced tail goes, the connection and its ACKs with it; then it comes back.
          c.log.length = Math.max(c.synced, c.log.length - k);
          c.acks = [];
          c.block = [0, 0];
          store.returned(i, heldRanges(c.log));
        }
        const held = new Set(cms.flatMap((x) => x.log));
        const durable = new Set(cms.flatMap((x) => x.log.slice(0, x.synced)));
        const frontier = store.allLogged ? store.end : decodeDeterminants(store.block(0, 0)).first;
        for (let n = 0; n < frontier; n++) expect(held.has(n)).toBe(true);
        for (let n = 0; n < store.base; n++) expect(durable.has(n)).toBe(true);
      }
    }),
    { numRuns: 4000 },
  );
});

test('D1 a Channel Memory that comes back without what was durable, and trimmed since, has lost nothing', () => {
  const s = new DeterminantStore(1);
  s.add(
    0,
    Array.from({ length: 10 }, (_, ms) => ({ type: 'clock' as const, ms })),
  );
  s.acknowledged(0, 0, 10, 6);
  expect(s.base).toBe(6);
  s.returned(0, [[6, 10]]); // those below 6 stand behind an image
  expect(s.allLogged).toBe(true);
  s.returned(0, [[6, 8]]);
  expect(decodeDeterminants(s.block(0, 0))).toMatchObject({ first: 8, entries: [{ ms: 8 }, { ms: 9 }] });
});
