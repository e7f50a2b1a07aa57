import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { FILES, Flag, Kind, WORLD, WorldMode, decodeAck, incarnation } from '@mayfly/wire';
import { positionOf } from '../../src/index.ts';
import { type Bench, T, arrivals, closed, codes, fresh, line, pair } from './bench.ts';

describe(
  '"numbering all communications for a dedicated receiver provides a total order over the communication events ' +
    'for that receiver"',
  () => {
    test('C3 arrivals are numbered in the order in which they became whole', () => {
      const b = pair();
      const [a0, a1, a2] = b.chunks(0, 3, 1, 150);
      const [c0, c1] = b.chunks(1, 3, 1, 100);
      for (const [conn, f] of [
        [10, a0],
        [11, c0],
        [10, a1],
        [11, c1],
        [12, b.chunks(2, 3, 1, 8)[0]],
        [10, a2],
      ] as const)
        b.frame(conn, f!);
      expect(
        b
          .take(Kind.ARRIVAL, 13)
          .filter((s) => s.header.flags & Flag.LAST)
          .map((s) => [s.header.arrival, s.header.src]),
      ).toEqual([
        [1, 1],
        [2, 2],
        [3, 0],
      ]);
    });
    test('C1 a message comes once, however often it is sent', () => {
      const b = pair();
      for (const n of [1, 1, 2, 1, 2, 3]) b.send(10, 0, 1, n);
      expect(arrivals(b, 11)).toEqual([1, 2, 3]);
    });
    test('chunks are pushed ahead as they come, with no number; "a pipeline inside the CM"', () => {
      const b = pair();
      const [c0, c1] = b.chunks(0, 1, 1, 100);
      b.frame(10, c0!);
      expect(b.take(Kind.ARRIVAL, 11).map((s) => [s.header.offset, s.header.arrival])).toEqual([[0, 0]]);
      b.frame(10, c1!);
      expect(b.take(Kind.ARRIVAL, 11).map((s) => [s.header.offset, s.header.arrival])).toEqual([[64, 1]]);
    });
    test('a new incarnation sends a partial message again from its start', () => {
      const b = pair();
      b.frame(10, b.chunks(0, 1, 1, 100)[0]!);
      b.attach(20, 0, { inc: 1 });
      b.take(Kind.ARRIVAL);
      b.send(20, 0, 1, 1, 100, { inc: 1, fill: 9 });
      const got = b.take(Kind.ARRIVAL, 11);
      expect(got.map((s) => s.header.offset)).toEqual([0, 64]);
      expect([...got[0]!.body, ...got[1]!.body].every((x) => x === 9)).toBe(true);
    });
  },
);

describe('incarnations', () => {
  test('F1 the higher closes the lower: a laptop that slept with an open connection does not lock its successor out', () => {
    const b = pair();
    b.attach(20, 0, { inc: 1 });
    expect(b.take(Kind.REFUSED, 10)[0]!.json().code).toBe('FENCED');
    b.send(10, 0, 1, 1);
    expect(arrivals(b, 11)).toEqual([]);
    b.send(20, 0, 1, 1, 8, { inc: 1 });
    expect(arrivals(b, 11)).toEqual([1]);
    b.attach(21, 0, { inc: 0 });
    expect(codes(b)).toEqual(['FENCED']);
  });
  test(
    'F1 "only the first node among the clones will be able to open a connection": an equal incarnation with ' +
      'another nonce is a clone',
    () => {
      const b = pair();
      b.attach(20, 0, { nonce: 'another-one' });
      expect(b.take(Kind.REFUSED, 20)[0]!.json().code).toBe('CLONE');
      b.send(10, 0, 1, 1);
      expect(arrivals(b, 11)).toEqual([1]);
    },
  );
  test('F1 a clone does not come first after a restart of the Channel Memory: the nonce is in the log', () => {
    const b = pair();
    b.start(false);
    b.attach(20, 0, { nonce: 'another-one' });
    expect(b.take(Kind.REFUSED, 20)[0]!.json().code).toBe('CLONE');
    b.attach(21, 0, { resume: true });
    expect(b.take(Kind.ATTACHED, 21)).toHaveLength(1);
  });
  test('F1 of two connections of a comm worker the older may be heard last: the other one ends, and is made again', () => {
    const b = pair();
    b.attach(20, 0);
    expect(b.take(Kind.ATTACHED, 20)).toHaveLength(1);
    expect(b.take(Kind.REFUSED, 10)[0]!.json().code).toBe('SUPERSEDED');
    expect(b.effects.findLast((e) => e.type === 'close')).toMatchObject({ conn: 10, error: { code: 'SUPERSEDED' } });
    b.attach(21, 0, { resume: true });
    b.send(21, 0, 1, 1);
    expect(arrivals(b, 11)).toEqual([1]);
  });
  test('F1 the same nonce replaces its own dead socket', () => {
    const b = pair();
    b.attach(20, 0, { resume: true });
    expect(b.take(Kind.ATTACHED, 20)).toHaveLength(1);
    b.send(20, 0, 1, 1);
    b.send(10, 0, 1, 2);
    expect(arrivals(b, 11)).toEqual([1]);
  });
  test(
    'F2 "send received messages [W\'] to W\'": a restart is answered with the count of each channel, once all ' +
      'is durable',
    () => {
      const b = pair();
      b.send(10, 0, 1, 1);
      b.send(10, 0, 1, 2);
      b.send(10, 0, 2, 1);
      b.send(10, 0, -1, 1, 5, { mode: WorldMode.STDOUT });
      b.autoSync = false;
      b.attach(20, 0, { inc: 1 });
      expect(b.take(Kind.ATTACHED)).toHaveLength(0);
      b.autoSync = true;
      b.perform([]);
      expect(b.take(Kind.ATTACHED, 20)[0]!.json().received).toEqual([
        [1, 2],
        [2, 1],
        [WORLD, 1],
      ]);
    },
  );
  test('fence by the dispatcher is answered at once and closes', () => {
    const b = pair();
    expect(b.step({ type: 'fence', task: T(0), incarnation: incarnation(3) }).at(-1)).toEqual({
      type: 'fenced',
      task: 0,
      incarnation: 3,
    });
    expect(codes(b)).toEqual(['FENCED']);
    b.attach(20, 0, { inc: 2 });
    expect(codes(b)).toEqual(['FENCED']);
  });
});

describe('replay: "re-sending the message being already sent to the failed task"', () => {
  test('a restart gets all arrivals in their order, then new ones', () => {
    const b = pair();
    b.send(10, 0, 1, 1, 150);
    b.send(12, 2, 1, 1);
    b.attach(20, 1, { inc: 1 });
    b.send(10, 0, 1, 2);
    expect(arrivals(b, 20)).toEqual([1, 2, 3]);
  });
  test('a resumed connection goes on behind what was received', () => {
    const b = pair();
    for (const n of [1, 2, 3]) b.send(10, 0, 1, n);
    b.attach(20, 1, { resume: true, received: 2 });
    expect(arrivals(b, 20)).toEqual([3]);
  });
  test('with an image: the prologue, then behind the image; trimmed in between, held ones can still be pulled', () => {
    const b = pair();
    for (let n = 1; n <= 9; n++) b.send(10, 0, 1, n, 8, { fill: n });
    const replay = { prologue: line({ arrivals: 2 }), image: line({ arrivals: 7 }), held: [5] };
    b.step({ type: 'trim', task: T(1), position: positionOf(replay) });
    b.step({ type: 'flush' });
    expect(b.logs.get('t1')!.flatMap((r, i) => (r ? [i + 1] : []))).toEqual([1, 2, 5, 8, 9, 10]);
    for (const recover of [false, true]) {
      if (recover) b.start(false);
      b.take(Kind.ARRIVAL);
      b.attach(30, 1, { inc: recover ? 2 : 1, replay });
      if (recover) b.control(30, Kind.RESUPPLIED, 1, { incarnation: incarnation(2) });
      expect(arrivals(b, 30)).toEqual([1, 2, 8, 9]);
      b.control(30, Kind.PULL, 1, { arrival: 5, incarnation: incarnation(recover ? 2 : 1) });
      expect(b.take(Kind.BODY, 30).map((s) => s.body[0])).toEqual([5]);
    }
    b.attach(31, 0, { inc: 0, resume: true });
    expect(b.take(Kind.ATTACHED, 31)[0]!.json().received).toEqual([[1, 9]]);
  });
  test('C6 an attachment whose replay begins before what is kept ends itself, not the job', () => {
    const b = pair();
    for (let n = 1; n <= 9; n++) b.send(10, 0, 1, n);
    const replay = { prologue: line({ arrivals: 2 }), image: line({ arrivals: 7 }), held: [] };
    b.step({ type: 'trim', task: T(1), position: positionOf(replay) });
    b.step({ type: 'flush' });
    b.take(Kind.ARRIVAL);
    b.step({ type: 'fence', task: T(1), incarnation: incarnation(1) });
    b.take(Kind.REFUSED);
    b.attach(20, 1, { inc: 1, replay: { prologue: line({}), image: line({ arrivals: 4 }), held: [] } });
    expect(arrivals(b, 20)).toEqual([]);
    expect(codes(b)).toEqual(['OUT_OF_SEQUENCE']);
    expect(b.effects.filter((e) => e.type === 'failed')).toEqual([]);
    // The connection serves its other tasks, senders go on, and the next incarnation has what it needs.
    b.send(10, 0, 1, 10);
    b.attach(21, 1, { inc: 2, replay });
    expect(arrivals(b, 21)).toEqual([1, 2, 8, 9, 10]);
  });
  test.each([7, 9])('C6 the same after a recovery, where nothing is left of the first %i arrivals', (trimmed) => {
    const b = pair();
    for (let n = 1; n <= 9; n++) b.send(10, 0, 1, n);
    b.step({
      type: 'trim',
      task: T(1),
      position: positionOf({ prologue: line({}), image: line({ arrivals: trimmed }), held: [] }),
    });
    b.step({ type: 'flush' });
    b.start(false);
    b.sent = [];
    b.attach(20, 1, { inc: 1 });
    b.control(20, Kind.RESUPPLIED, 1, { incarnation: incarnation(1) });
    expect(arrivals(b, 20)).toEqual([]);
    expect(codes(b)).toEqual(['OUT_OF_SEQUENCE']);
  });
  test('C2 determinants come back from the asked positions', () => {
    const b = pair();
    const clock = (ms: number) => ({ type: 'clock', ms }) as const;
    b.send(10, 0, 1, 1, 8, { det: { first: 0, entries: [clock(1), clock(2)] } });
    b.send(10, 0, 1, 2, 8, { det: { first: 1, entries: [clock(2), clock(3)], openPolls: 6 } });
    expect(b.logs.get('d0')!.length).toBe(3); // whose session it is, and two records of determinants
    expect(decodeAck(b.take(Kind.ACK, 10).at(-1)!.body)).toMatchObject({
      determinantsFirst: 1,
      determinantsAppended: 3,
    });
    b.attach(20, 0, { inc: 1 });
    const dets = b.take(Kind.DETERMINANTS, 20);
    expect(dets).toHaveLength(3);
    expect(dets.at(-1)!.header.detBytes).toBe(24);
  });
});

describe('flow control', () => {
  test('P1 P2 no more than the window is pushed; credit lets it go on', () => {
    const b = pair();
    for (let n = 1; n <= 20; n++) b.send(10, 0, 1, n, 120);
    const first = arrivals(b, 11);
    expect(first.length).toBeLessThan(10);
    b.control(11, Kind.CREDIT, 1, { arrival: first.length, size: 1024 });
    expect(arrivals(b, 11)[0]).toBe(first.length + 1);
  });
  test('P1 messages of one chunk count as well, each with something for its header', () => {
    const b = pair();
    for (let n = 1; n <= 60; n++) b.send(10, 0, 1, n, 40);
    const first = arrivals(b, 11);
    expect(first.length).toBeGreaterThanOrEqual(9);
    expect(first.length * (40 + 64)).toBeLessThanOrEqual(2.25 * 1024);
    b.control(11, Kind.CREDIT, 1, { arrival: first.length, size: 1024 });
    expect(arrivals(b, 11)).toEqual(first.map((n) => n + first.length));
  });
  test('P4 a body above the window stays in the log, "out-of-core", and is pulled in parts', () => {
    const b = pair();
    b.send(10, 0, 1, 1, 2000);
    b.step({ type: 'flush' });
    const [e] = b.take(Kind.ARRIVAL, 11);
    expect(e!.header).toMatchObject({ flags: Flag.LAST | Flag.NO_BODY, size: 2000, bytes: 0, arrival: 1 });
    b.control(11, Kind.PULL, 1, { arrival: 1, offset: 1920, word: 640 });
    expect(b.take(Kind.BODY, 11).map((s) => s.header.offset)).toEqual([1920, 1984]);
  });
  test('P4 an envelope is pushed only when its body is durable', () => {
    const b = pair();
    b.autoSync = false;
    b.send(10, 0, 1, 1, 2000);
    expect(arrivals(b, 11)).toEqual([]);
    b.autoSync = true;
    b.perform([]);
    expect(arrivals(b, 11)).toEqual([1]);
  });
  test('P4 ENVELOPE_ONLY: rank 0 waits for tag B behind much of tag A, and still gets B', () => {
    const b = pair();
    b.control(11, Kind.CREDIT, 1, { arrival: 0, size: 1024, flags: Flag.ENVELOPE_ONLY });
    for (let n = 1; n <= 50; n++) b.send(10, 0, 1, n, 500);
    let consumed = 0;
    for (let i = 0; i < 60 && consumed < 50; i++) {
      const got = b.take(Kind.ARRIVAL, 11);
      expect(got.every((s) => s.header.flags & Flag.NO_BODY)).toBe(true);
      consumed = got.at(-1)?.header.arrival ?? consumed;
      b.control(11, Kind.CREDIT, 1, { arrival: consumed, size: 1024, flags: Flag.ENVELOPE_ONLY });
      b.step({ type: 'flush' }); // as the host does after each batch
      expect(got.length).toBeLessThanOrEqual(20); // envelopes take credit, too
    }
    expect(consumed).toBe(50);
  });
  test('a congested socket waits, and goes on where it was', () => {
    const b = pair();
    b.step({ type: 'congested', conn: 11, congested: true });
    b.send(10, 0, 1, 1);
    expect(arrivals(b, 11)).toEqual([]);
    b.step({ type: 'congested', conn: 11, congested: false });
    expect(arrivals(b, 11)).toEqual([1]);
  });
});

describe('C6 what a node sends is untrusted', () => {
  const cases: [string, (b: Bench) => void, string][] = [
    ['a skipped message', (b) => b.send(10, 0, 1, 2), 'OUT_OF_SEQUENCE'],
    ['a skipped part', (b) => b.frame(10, b.chunks(0, 1, 1, 100)[1]!), 'OUT_OF_SEQUENCE'],
    ['another task', (b) => b.send(10, 2, 1, 1), 'FORBIDDEN'],
    ['another incarnation', (b) => b.send(10, 0, 1, 1, 8, { inc: 1 }), 'FORBIDDEN'],
    ['no such receiver', (b) => b.send(10, 0, 9, 1), 'BAD_FRAME'],
    ['a forged capability', (b) => b.attach(12, 2, { capability: 'forged' }), 'FORBIDDEN'],
    ['the capability of another task', (b) => b.attach(12, 2, { capability: '3.0' }), 'FORBIDDEN'],
    ['credit for what was not pushed', (b) => b.control(11, Kind.CREDIT, 1, { arrival: 5, size: 1 }), 'BAD_FRAME'],
    ['a pull of what is not there', (b) => b.control(11, Kind.PULL, 1, { arrival: 5 }), 'BAD_REQUEST'],
    ['an unknown kind', (b) => b.control(10, 99, 0), 'BAD_FRAME'],
    ['resupply that nobody asked for', (b) => b.control(11, Kind.RESUPPLIED, 1), 'BAD_FRAME'],
    ['more received than there is', (b) => b.attach(11, 1, { resume: true, received: 1e9 }), 'OUT_OF_SEQUENCE'],
    [
      'a body that is too large',
      (b) =>
        b.frame(
          10,
          (() => {
            const f = b.chunks(0, 1, 1, 64)[0]!;
            const v = new DataView(f.buffer);
            v.setUint32(44, 0xffffffff, true);
            v.setUint8(2, 0);
            return f;
          })(),
        ),
      'TOO_LARGE',
    ],
    ['half a frame', (b) => b.frame(10, new Uint8Array(40)), 'BAD_FRAME'],
  ];
  test.each(cases)('%s ends who sent it, and nobody else', (_, act, code) => {
    const b = pair();
    act(b);
    expect(codes(b)).toEqual([code]);
    b.attach(30, 2, { resume: true });
    b.attach(31, 3, { resume: true });
    b.send(30, 2, 3, 1);
    expect(arrivals(b, 31)).toEqual([1]);
  });
  test('noise never throws', () => {
    fc.assert(
      fc.property(
        fc.array(
          fc.oneof(
            fc.uint8Array({ maxLength: 200 }),
            fc.tuple(fc.nat(70), fc.nat(255)).map(([at, x]) => ({ at, x })),
          ),
          { maxLength: 12 },
        ),
        (list) => {
          const b = pair();
          const good = b.chunks(0, 1, 1, 100, { det: { entries: [{ type: 'polls', vain: 1, consumed: 1 }] } });
          for (const n of list) {
            if (n instanceof Uint8Array) b.frame(10, n);
            else {
              const f = good[n.x % good.length]!.slice();
              f[n.at] = n.x;
              b.frame(10, f);
            }
            if (closed(b)) break;
          }
        },
      ),
      { numRuns: 400 },
    );
  });
});

test('a task that is done takes everything, before and after a recovery', () => {
  const b = pair();
  b.send(10, 0, 1, 1);
  b.step({ type: 'done', task: T(1) });
  b.send(10, 0, 1, 2);
  b.step({ type: 'tick' });
  expect(decodeAck(b.take(Kind.ACK, 10).at(-1)!.body).channels[0]!.synced).toBe(Number.MAX_SAFE_INTEGER);
  b.start(false);
  b.step({ type: 'done', task: T(1) });
  b.attach(20, 0, { resume: true });
  expect(b.take(Kind.ATTACHED, 20)[0]!.json().received).toEqual([[1, Number.MAX_SAFE_INTEGER]]);
  expect(fresh.held).toEqual([]);
});

test('standard input is a logged arrival; given again after a recovery it comes once', () => {
  const b = pair();
  const say = (channel: number, text: string) =>
    b.step({ type: 'world', task: T(0), channel, mode: WorldMode.STDIN, body: new TextEncoder().encode(text) });
  say(1, 'a');
  b.start(false);
  say(1, 'a');
  say(2, 'b');
  b.attach(20, 0, { resume: true, received: 1 });
  b.control(20, Kind.RESUPPLIED, 0);
  expect(
    b
      .take(Kind.ARRIVAL, 20)
      .map((s) => [s.header.arrival, s.header.src, new TextDecoder().decode(s.body.subarray(0, s.header.bytes))]),
  ).toEqual([[2, WORLD, 'b']]);
});

describe('a job that gets more tasks', () => {
  test('one that is not there yet gets nothing; when it is, it is as any other, also after a restart', () => {
    const b = pair();
    b.send(10, 0, 4, 1);
    expect(closed(b)).toBe(true);
    b.effects.length = 0;
    b.attach(20, 0);
    b.step({ type: 'grow', size: 6 });
    for (const name of b.core.streams()) if (!b.logs.has(name)) b.logs.set(name, []);
    expect(b.core.streams()).toEqual(expect.arrayContaining(['t4', 'd5', 'w5']));
    b.send(20, 0, 4, 1);
    b.attach(14, 4);
    b.send(14, 4, 0, 1);
    b.send(14, 4, -1, 1);
    b.step({ type: 'world', task: T(4), src: FILES, channel: 1, mode: WorldMode.ANSWER, body: new Uint8Array(8) });
    expect([arrivals(b, 14), arrivals(b, 20)]).toEqual([[1, 2], [1]]);
    const logged = (): number[] => [
      b.core.logged(T(0), T(4)),
      b.core.logged(T(4), T(0)),
      b.core.logged(T(4), WORLD),
      b.core.logged(FILES, T(4)),
    ];
    expect(logged()).toEqual([1, 1, 1, 1]);
    Object.assign(b.options, { size: 6 });
    b.start(false);
    expect(logged()).toEqual([1, 1, 1, 1]);
  });
});
