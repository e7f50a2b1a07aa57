import { describe, expect, test } from 'vitest';
import { decodeDeterminants, Flag, incarnation, Kind, taskId, WORLD, type Determinant } from '@mayfly/wire';
import { SingleCounterEndpoint } from '@mayfly/simulator';
import {
  LIVE,
  LoggedEndpoint,
  ReplayDiverged,
  fromTheStart,
  zeroLine,
  type EndpointStart,
  type Line,
  type ReplayFrom,
} from '../../src/index.ts';

const T = taskId;
const start = (over: Partial<EndpointStart> = {}): EndpointStart => ({
  incarnation: incarnation(0),
  limits: [],
  prologue: [],
  determinants: [],
  openPolls: 0,
  consumed: 0,
  ...over,
});
const fresh = (over: Partial<EndpointStart> = {}, replay = fromTheStart()): LoggedEndpoint =>
  new LoggedEndpoint(T(0), 4, replay, start(over));

/** Polls once; `available`: arrivals that are there. */
function poll(e: LoggedEndpoint, available: number): number {
  const n = e.pollBegin();
  const take = n === LIVE ? available : n;
  for (let i = 0; i < take; i++) e.consume(e.consumed + 1);
  e.pollEnd();
  return take;
}
const recorded = (e: LoggedEndpoint): readonly Determinant[] => {
  const b = e.block();
  return b.length === 0 ? [] : decodeDeterminants(b).entries;
};

describe(
  'silent re-execution: "it knows the number of messages to ignore and emissions has no effects on non-crashed ' +
    'processes"',
  () => {
    test('E1 numbers each channel on its own, from 1', () => {
      const e = fresh();
      expect([1, 1, 2, 1].map((d) => e.beginSend(T(d)))).toEqual([1, 2, 1, 3]);
    });
    test('E2 ignores what its channel has logged, and nothing else', () => {
      const e = fresh({ limits: [[T(1), 2]] });
      expect([2, 1, 1, 1].map((d) => e.beginSend(T(d)))).toEqual([1, 0, 0, 3]);
    });
    test('the single counter of Figure 4 loses m1 and repeats m2: m1 to A under way, m2 to B logged, crash', () => {
      const at = (rule: typeof LoggedEndpoint): number[] => {
        const e = new rule(T(0), 4, fromTheStart(), start({ limits: [[T(2), 1]] }));
        return [e.beginSend(T(1)), e.beginSend(T(2))];
      };
      expect(at(SingleCounterEndpoint)).toEqual([0, 1]);
      expect(at(LoggedEndpoint)).toEqual([1, 0]);
    });
  },
);

test('a frame of data that follows one of determinants alone is one of data', () => {
  const e = fresh();
  const header = (): number[] => {
    const { kind, flags, dst, channel, mode, context, tag, word, size, offset, bytes } = e.dataHeader(
      T(2),
      1,
      3,
      4,
      5,
      6,
      16,
      8,
      8,
      e.block(),
    );
    return [kind, flags, dst, channel, mode, context, tag, word, size, offset, bytes];
  };
  expect(header()).toEqual([Kind.DATA, Flag.LAST, 2, 1, 3, 4, 5, 6, 16, 8, 8]);
  expect(e.determinantsHeader(e.block())).toMatchObject({ kind: Kind.DETERMINANTS, flags: 0, dst: 0, size: 0 });
  expect(header()).toEqual([Kind.DATA, Flag.LAST, 2, 1, 3, 4, 5, 6, 16, 8, 8]);
});

describe('logging: "Non-deterministic events are receptions and probes. They are all logged"', () => {
  test('E4 a poll that saw nothing is an event; vain ones are counted, not omitted', () => {
    const e = fresh();
    for (const n of [0, 0, 0, 2, 0, 1]) poll(e, n);
    poll(e, 0);
    expect(recorded(e)).toEqual([
      { type: 'polls', vain: 3, consumed: 2 },
      { type: 'polls', vain: 1, consumed: 1 },
    ]);
    expect(decodeDeterminants(e.block())).toMatchObject({ first: 0, openPolls: 1, consumed: 3 });
  });
  test('E5 each determinant goes on one frame; the evidence goes on every one', () => {
    const e = fresh();
    poll(e, 1);
    expect(recorded(e)).toHaveLength(1);
    e.framed();
    expect(decodeDeterminants(e.block())).toEqual({ first: 1, consumed: 1, openPolls: 0, entries: [] });
    e.clock(() => 5);
    expect(decodeDeterminants(e.block())).toMatchObject({ first: 1, entries: [{ type: 'clock', ms: 5 }] });
  });
  test('a deterministic program pays nothing before its first arrival', () => {
    const e = fresh();
    e.beginSend(T(1));
    expect(e.block()).toHaveLength(0);
  });
  test('waits need no determinant', () => {
    const e = fresh();
    e.consume(1);
    e.consume(2);
    expect(e.pending).toBe(0);
  });
  test('a vain poll before another event keeps its place', () => {
    const e = fresh();
    poll(e, 0);
    e.clock(() => 9);
    expect(recorded(e)).toEqual([
      { type: 'polls', vain: 1, consumed: 0 },
      { type: 'clock', ms: 9 },
    ]);
  });
});

describe('replay', () => {
  const past: Determinant[] = [
    { type: 'polls', vain: 2, consumed: 1 },
    { type: 'polls', vain: 1, consumed: 0 },
    { type: 'clock', ms: 70 },
  ];

  test('E6 polls repeat their outcomes whatever is there, then it goes live', () => {
    const e = fresh({ determinants: past, openPolls: 2, consumed: 1 });
    expect(e.replaying).toBe(true);
    expect([9, 9, 9, 9].map((n) => poll(e, n))).toEqual([0, 0, 1, 0]);
    expect(e.clock(() => 1)).toBe(70);
    expect([9, 9].map((n) => poll(e, n))).toEqual([0, 0]);
    expect(e.replaying).toBe(false);
    expect(poll(e, 3)).toBe(3);
    expect(decodeDeterminants(e.block())).toMatchObject({
      first: 3,
      entries: [{ type: 'polls', vain: 2, consumed: 3 }],
    });
  });
  test('E2 it repeats until each message that is logged was given again, also where its past has no event', () => {
    const e = fresh({
      limits: [
        [T(1), 2],
        [T(2), Number.MAX_SAFE_INTEGER],
        [WORLD, 1],
      ],
    }); // task 2 is done
    const said = (): boolean[] => [e.replaying, e.repeating];
    expect(said()).toEqual([false, true]);
    expect([e.beginSend(T(1)), e.beginSend(T(1)), e.beginSend(T(1)), ...said()]).toEqual([0, 0, 3, false, true]);
    expect([e.beginSend(WORLD), ...said()]).toEqual([0, false, false]);
  });
  test('E6 nothing replayed is recorded again', () => {
    const e = fresh({ determinants: past });
    for (let i = 0; i < 4; i++) poll(e, 0);
    e.clock(() => 1);
    expect(e.pending).toBe(0);
    expect(e.line()).toMatchObject({ determinants: 3, arrivals: 1 });
  });
  test('E8 readings before and behind checkpoint.open share none: the prologue of a restart has its own', () => {
    const e = fresh();
    e.clock(() => 5);
    e.openPrologue();
    for (let i = 0; i < 2; i++) e.clock(() => 5);
    const entries = recorded(e);
    expect(entries).toEqual([
      { type: 'clock', ms: 5 },
      { type: 'clock', ms: 5, count: 2 },
    ]);
    const replay: ReplayFrom = { prologue: e.prologue, image: e.line(), held: [] };
    const again = fresh({ prologue: entries.slice(0, e.prologue.determinants) }, replay);
    again.clock(() => 9);
    again.jump();
    expect(again.line()).toEqual(e.line());
  });
  test('E8 equal readings share a determinant until a frame carries it; a replay gives each of them', () => {
    const first = fresh();
    const times = [5, 5, 5, 6, 6, 6, 6, 7];
    let seen: number[] = times.slice(0, 5).map((t) => first.clock(() => t));
    const carried = [...recorded(first)];
    expect(carried).toEqual([
      { type: 'clock', ms: 5, count: 3 },
      { type: 'clock', ms: 6, count: 2 },
    ]);
    first.framed();
    seen = [...seen, ...times.slice(5).map((t) => first.clock(() => t))];
    const rest = recorded(first);
    expect(rest).toEqual([
      { type: 'clock', ms: 6, count: 2 },
      { type: 'clock', ms: 7 },
    ]);
    const again = fresh({ determinants: [...carried, ...rest] });
    expect(times.map(() => again.clock(() => 99))).toEqual(seen);
    expect(again.replaying).toBe(false);
    expect(again.clock(() => 100)).toBe(100);
    const early = fresh({ determinants: carried });
    early.clock(() => 1);
    expect(() => early.pollBegin()).toThrow(ReplayDiverged);
  });
  test('E7 the clock never goes back, over incarnations too', () => {
    const e = fresh({ determinants: [{ type: 'clock', ms: 1000 }] });
    expect([0, 500, 2000].map((t) => e.clock(() => t))).toEqual([1000, 1000, 2000]);
  });
  test('E7 a script that begins with an image may time what it goes on with', () => {
    const none = { arrivals: 0, openPolls: 0, sends: [] };
    const replay: ReplayFrom = {
      prologue: { ...none, determinants: 0 },
      image: { ...none, determinants: 1 },
      held: [],
    };
    const [before, behind] = [{ type: 'clock', ms: 1000 } as const, { ...past[0]!, vain: 1 }];
    const determinants = [behind, before];
    const after = (script: boolean): LoggedEndpoint => {
      const e = fresh({ determinants, openPolls: 1 }, replay);
      e.jump({ lastClock: 700 }, script);
      return e;
    };
    expect(() => after(false).clock(() => 1)).toThrow(ReplayDiverged);
    const e = after(true);
    expect([e.clock(() => 1), e.clock(() => 1)]).toEqual([700, 700]);
    poll(e, 0);
    poll(e, 1);
    expect([e.clock(() => 1), e.clock(() => 1)]).toEqual([1000, 1000]);
    poll(e, 0);
    // It repeats all that it did; what it reads now is recorded.
    expect([e.replaying, e.clock(() => 2000), e.pending]).toEqual([false, 2000, 2]);
    // Who waits for the clock there is no script that goes on.
    const waits = after(true);
    expect(() => {
      for (;;) waits.clock(() => 1);
    }).toThrow(ReplayDiverged);
  });
  test('place values come from the log', () => {
    expect(fresh({ determinants: [{ type: 'value', value: 'node-a' }] }).place(() => 'node-b')).toBe('node-a');
  });
  test.each<[string, (e: LoggedEndpoint) => unknown]>([
    ['reads the clock where it polled', (e) => e.clock(() => 1)],
    ['reads a place where it polled', (e) => e.place(() => '')],
    ['consumes out of order', (e) => e.consume(2)],
    [
      'consumes more in a poll than it did',
      (e) => {
        poll(e, 0);
        poll(e, 0);
        e.pollBegin();
        e.consume(1);
        e.consume(2);
      },
    ],
    [
      'consumes less in a poll than it did',
      (e) => {
        poll(e, 0);
        poll(e, 0);
        e.pollBegin();
        e.pollEnd();
      },
    ],
  ])('a program that %s is caught', (_, act) => {
    expect(() => act(fresh({ determinants: past }))).toThrow(ReplayDiverged);
  });
});

describe('images', () => {
  const prologue: Line = { arrivals: 1, determinants: 1, openPolls: 1, sends: [[T(1), 1]] };
  const image: Line = {
    arrivals: 7,
    determinants: 4,
    openPolls: 2,
    sends: [
      [T(1), 5],
      [T(3), 2],
    ],
  };
  const replay: ReplayFrom = { prologue, image, held: [] };
  const begin = (): LoggedEndpoint =>
    fresh(
      {
        limits: [
          [T(1), 6],
          [T(3), 2],
        ],
        prologue: [{ type: 'polls', vain: 0, consumed: 1 }],
        determinants: [{ type: 'polls', vain: 3, consumed: 1 }],
        openPolls: 1,
        consumed: 9,
      },
      replay,
    );
  const repeatPrologue = (e: LoggedEndpoint): void => {
    poll(e, 5);
    expect(e.beginSend(T(1))).toBe(0);
    poll(e, 5);
  };

  test('the prologue is replayed silently, then positions jump to the image', () => {
    const e = begin();
    repeatPrologue(e);
    e.jump();
    expect(e.line()).toEqual(image);
    expect(e.beginSend(T(1))).toBe(0);
    expect(e.beginSend(T(1))).toBe(7);
    expect(e.beginSend(T(3))).toBe(3);
    e.consume(8);
    // The image lay in the middle of a run of vain polls: one of the three is left.
    expect([poll(e, 9), poll(e, 9)]).toEqual([0, 1]);
    expect(poll(e, 9)).toBe(0);
    expect(e.replaying).toBe(false);
  });
  test('a prologue that is not repeated does not jump', () => {
    const e = begin();
    poll(e, 5);
    expect(() => e.jump()).toThrow(/checkpoint.open/);
  });
  test('the prologue cannot consume beyond itself', () => {
    const e = begin();
    repeatPrologue(e);
    expect(() => e.consume(2)).toThrow(ReplayDiverged);
    expect(() => poll(begin(), 0) && e.pollBegin()).toThrow(ReplayDiverged);
  });
  test('a transparent image has an empty prologue and jumps at once', () => {
    const e = fresh(
      {
        limits: [
          [T(1), 5],
          [T(3), 2],
        ],
        consumed: 7,
      },
      { prologue: zeroLine(), image, held: [] },
    );
    e.jump({ lastClock: 50 });
    expect(e.line()).toEqual(image);
    expect(e.clock(() => 10)).toBe(50);
  });
});
