/**
 * A node with a capability for one rank, and nothing good in mind: whatever frames it sends, before and after the
 * Channel Memory has lost its memory, nothing throws, no job ends, and the messages between others go on (C6).
 */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  Flag,
  Kind,
  WORLD,
  WorldMode,
  FILES,
  encodeDeterminants,
  encodeFrame,
  emptyHeader,
  incarnation,
  type Header,
} from '@mayfly/wire';
import { positionOf, protocols, zeroLine } from '../../src/index.ts';
import { type Bench, T, pair } from './bench.ts';

const { recovery } = protocols.pessimistic;
const text = new TextEncoder();
/** Numbers at the borders of what a field may hold, and ordinary ones. */
const number = fc.oneof(fc.nat(5), fc.constantFrom(63, 64, 65, 128, 1000, 1024, 2 ** 30, 2 ** 31, 2 ** 32 - 1));
const wide = fc.oneof(number, fc.constantFrom(2 ** 32, 2 ** 40, Number.MAX_SAFE_INTEGER - 1, Number.MAX_SAFE_INTEGER));
/** Mostly numbers that may be next. */
const low = fc.oneof({ arbitrary: fc.nat(3), weight: 4 }, { arbitrary: wide, weight: 1 });
const KINDS = [
  Kind.DATA,
  Kind.DATA,
  Kind.RESUPPLY,
  Kind.RESUPPLY,
  Kind.RESUPPLIED,
  Kind.CREDIT,
  Kind.PULL,
  Kind.DETERMINANTS,
  Kind.DETACH,
  Kind.ACK,
  Kind.ARRIVAL,
  64,
  65,
];

const frame = fc
  .record({
    kind: fc.constantFrom(...KINDS),
    flags: fc.constantFrom(0, Flag.LAST, Flag.LAST, Flag.LAST, Flag.NO_BODY, Flag.SYNC, Flag.ENVELOPE_ONLY, 255),
    mode: fc.constantFrom(0, ...Object.values(WorldMode), 200),
    src: fc.constantFrom(1, 1, 1, 0, 2, 9, WORLD, FILES),
    dst: fc.constantFrom(0, 1, 1, 2, 9, WORLD, FILES),
    inc: fc.constantFrom(0, 0, 0, 1, 2 ** 32 - 1),
    channel: low,
    arrival: low,
    offset: fc.oneof({ arbitrary: fc.constant(0), weight: 3 }, { arbitrary: number, weight: 1 }),
    size: number,
    word: number,
    bytes: fc.nat(70),
    det: fc.option(fc.record({ first: wide, consumed: wide, openPolls: number, clocks: fc.nat(2) })),
  })
  .map(({ inc, bytes, det, ...h }) => {
    const block = det
      ? encodeDeterminants({
          first: det.first,
          consumed: det.consumed,
          openPolls: det.openPolls,
          entries: Array.from({ length: det.clocks }, (_, ms) => ({ type: 'clock' as const, ms })),
        })
      : undefined;
    // most messages are what they should be, but for their numbers
    const size = h.offset === 0 && h.kind !== Kind.CREDIT ? Math.min(bytes, 64) : h.size;
    return encodeFrame(
      { ...emptyHeader(h.kind), ...h, size, incarnation: incarnation(inc) } as Header,
      new Uint8Array(Math.min(bytes, 64)),
      block,
    );
  });
/** What it may say when the log has lost its arrivals, but for what it says of others with it. */
const resupply = fc
  .record({
    src: fc.constantFrom(0, 2, WORLD, FILES),
    n: fc.integer({ min: 1, max: 3 }),
    arrival: fc.integer({ min: 1, max: 3 }),
    offset: fc.constantFrom(0, 0, 0, 8),
    first: fc.constantFrom(0, 1, 2 ** 40),
    consumed: fc.constantFrom(0, 1, 2 ** 40),
    clocks: fc.nat(1),
  })
  .map((r) => {
    const h = {
      ...emptyHeader(Kind.RESUPPLY),
      src: r.src,
      dst: T(1),
      channel: r.n,
      arrival: r.arrival,
      offset: r.offset,
      size: 8,
      flags: Flag.LAST,
    } as Header;
    const entries = Array.from({ length: r.clocks }, (_, ms) => ({ type: 'clock' as const, ms }));
    return encodeFrame(
      h,
      new Uint8Array(8),
      encodeDeterminants({ first: r.first, consumed: r.consumed, openPolls: 0, entries }),
    );
  });
const line = fc.record({
  arrivals: wide,
  determinants: wide,
  openPolls: number,
  sends: fc.array(fc.tuple(fc.nat(9).map(T), wide), { maxLength: 3 }),
});
const attach = fc
  .record({
    nonce: fc.constantFrom('nonce-1-0', 'another-one'),
    received: wide,
    resume: fc.boolean(),
    image: fc.option(line),
    prologue: fc.option(line),
    held: fc.array(wide, { maxLength: 3 }),
    foreign: fc.option(fc.record({ protocol: fc.constantFrom('none', 'another'), version: fc.nat(3), at: fc.json() })),
  })
  .map(({ image, prologue, held, foreign, ...m }) => {
    const h = { ...emptyHeader(Kind.ATTACH), src: T(1), dst: T(1) };
    return encodeFrame(
      h,
      text.encode(
        JSON.stringify({
          capability: '1.0',
          ...m,
          position: {
            ...positionOf({ prologue: prologue ?? zeroLine(), image: image ?? zeroLine(), held }),
            ...foreign,
          },
        }),
      ),
    );
  });
const noise = fc.uint8Array({ maxLength: 120 });
const said = fc.array(
  fc.oneof(
    { arbitrary: frame, weight: 12 },
    { arbitrary: resupply, weight: 5 },
    { arbitrary: attach, weight: 3 },
    { arbitrary: noise, weight: 1 },
  ),
  { maxLength: 24 },
);

/** The honest ranks 0 and 2 send each other one message more. */
function honest(b: Bench, conns: readonly [number, number], n: number): void {
  b.take(Kind.ARRIVAL);
  b.send(conns[0], 0, 2, n);
  b.send(conns[1], 2, 0, n);
  const came = (conn: number, src: number): number[] =>
    b
      .take(Kind.ARRIVAL, conn)
      .filter((s) => s.header.src === src)
      .map((s) => s.header.channel);
  expect([came(conns[1], 0), came(conns[0], 2)], 'they arrive, and once').toEqual([[n], [n]]);
}

test.each(['behind', 'strict'] as const)(
  'C6 %s: nothing that it sends throws, ends the job, or stands between others',
  (durability) => {
    fc.assert(
      fc.property(said, said, (before, after) => {
        const b = pair({ durability });
        let conn = 11;
        const hostile = (frames: readonly Uint8Array[]): void => {
          for (const f of frames) {
            b.frame(conn, f.slice());
            b.step({ type: 'flush' });
            if (!b.effects.some((e) => e.type === 'close' && e.conn === conn)) continue;
            conn++; // it comes again
            while ([10, 12, 13, 20, 22].includes(conn)) conn++;
            b.attach(conn, 1, { resume: true });
          }
        };
        hostile(before);
        honest(b, [10, 12], 1);
        b.start(false);
        b.effects.length = 0;
        conn = 100;
        for (const t of [0, 2]) {
          b.attach(20 + t, t, { resume: true, received: b.core.progress(T(t)).logs.arrivals });
          b.control(20 + t, Kind.RESUPPLIED, t);
        }
        honest(b, [20, 22], 2);
        b.attach(conn, 1, { resume: true });
        hostile(after);
        honest(b, [20, 22], 3);
        expect(b.effects.filter((e) => e.type === 'failed' || (e.type === 'refused' && e.task !== 1))).toEqual([]);
        // the log can be read again, and a restart of the others finds nothing lost
        for (const again of [false, true]) {
          if (again) b.start(false);
          for (const t of [0, 2]) expect(recovery.lacks(recovery.start, [b.core.progress(T(t)).logs])).toBeUndefined();
        }
      }),
      { numRuns: 150 },
    );
  },
);
