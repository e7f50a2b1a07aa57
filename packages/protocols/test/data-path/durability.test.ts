/** What of a Channel Memory is durable when: acknowledgements, power loss, recovered logs, and who is told what. */
import { describe, expect, test } from 'vitest';
import {
  Flag,
  Kind,
  WorldMode,
  decodeAck,
  emptyHeader,
  encodeDeterminants,
  encodeFrame,
  WORLD,
  imageId,
  incarnation,
} from '@mayfly/wire';
import { positionOf, protocols } from '../../src/index.ts';
import { T, arrivals, closed, codes, line, pair } from './bench.ts';

describe('durability', () => {
  test('C4 behind: forwarded at once; C5 told synced only after the sync', () => {
    const b = pair();
    b.autoSync = false;
    b.send(10, 0, 1, 1);
    expect(arrivals(b, 11)).toEqual([1]);
    expect(b.take(Kind.ACK)).toHaveLength(0);
    b.autoSync = true;
    b.step({ type: 'tick' });
    expect(decodeAck(b.take(Kind.ACK, 10)[0]!.body).channels).toEqual([{ dst: 1, appended: 1, synced: 1 }]);
    expect(decodeAck(b.take(Kind.ACK, 11)[0]!.body).arrivalsSynced).toBe(1);
  });
  test(
    'C5 what nobody waits for is synced at every so many ticks, or when its senders keep much of it; what ' +
      'somebody waits for, at once',
    () => {
      const b = pair({ lazyTicks: 10, window: 10_000_000 });
      b.effects = [];
      b.autoSync = false;
      const syncs = (): number => b.effects.filter((e) => e.type === 'sync').length;
      const done = (): void => {
        b.autoSync = true;
        b.perform([]);
        b.autoSync = false;
      };
      for (let t = 0; t < 9; t++) b.step({ type: 'tick' });
      b.send(10, 0, 1, 1);
      expect(syncs()).toBe(0);
      b.step({ type: 'tick' });
      expect(syncs()).toBe(1);
      done();
      // much
      b.send(10, 0, 1, 2, 60_000);
      b.step({ type: 'tick' });
      expect(syncs()).toBe(1);
      for (let n = 3; n <= 72; n++) b.send(10, 0, 1, n, 60_000);
      b.step({ type: 'tick' });
      expect(syncs()).toBe(2);
      done();
      // output
      b.send(10, 0, -1, 1, 3, { mode: WorldMode.STDOUT });
      b.step({ type: 'tick' });
      expect(syncs()).toBe(3);
      done();
      // a sender that has ended
      b.send(10, 0, 1, 73);
      b.step({ type: 'flush' });
      expect(syncs()).toBe(3);
      b.frame(
        10,
        encodeFrame({ ...emptyHeader(Kind.DETERMINANTS), src: T(0), dst: T(0), flags: Flag.SYNC }, new Uint8Array(0)),
      );
      b.step({ type: 'flush' });
      expect(syncs()).toBe(4);
      done();
      expect(decodeAck(b.take(Kind.ACK, 10).at(-1)!.body).channels).toEqual([{ dst: 1, appended: 73, synced: 73 }]);
    },
  );
  test(
    'C5 what became durable while its source was away is told when it is back, also where it had sent ' +
      'determinants alone',
    () => {
      const b = pair();
      b.autoSync = false;
      const block = encodeDeterminants({ first: 0, consumed: 0, openPolls: 0, entries: [{ type: 'clock', ms: 1 }] });
      b.frame(10, encodeFrame({ ...emptyHeader(Kind.DETERMINANTS), src: T(0), dst: T(0) }, new Uint8Array(0), block));
      b.step({ type: 'flush' });
      expect(b.take(Kind.ACK, 10).map((s) => decodeAck(s.body))).toMatchObject([
        { determinantsAppended: 1, determinantsSynced: 0 },
      ]);
      b.step({ type: 'closed', conn: 10 });
      b.autoSync = true;
      b.step({ type: 'tick' });
      b.attach(20, 0, { resume: true });
      // its EXIT waits for that: nothing else will come from here
      expect(b.take(Kind.ACK, 20).map((s) => decodeAck(s.body))).toMatchObject([{ determinantsSynced: 1 }]);
    },
  );
  test('C4 strict: forwarded after the sync', () => {
    const b = pair({ durability: 'strict' });
    b.autoSync = false;
    b.send(10, 0, 1, 1);
    expect(arrivals(b, 11)).toEqual([]);
    b.autoSync = true;
    b.perform([]);
    expect(arrivals(b, 11)).toEqual([1]);
  });
  test('the world sees a message once it is durable: it cannot be taken back', () => {
    const b = pair();
    b.autoSync = false;
    b.send(10, 0, -1, 1, 3, { mode: WorldMode.STDOUT });
    b.send(10, 0, -1, 2, 3, { mode: WorldMode.EXIT });
    const world = () => b.effects.flatMap((e) => (e.type === 'world' ? [e.channel] : []));
    expect(world()).toEqual([]);
    b.autoSync = true;
    b.perform([]);
    expect(world()).toEqual([1, 2]);
  });
  test('an image is covered when its sends, arrivals and determinants here are durable', () => {
    const b = pair();
    b.autoSync = false;
    b.send(10, 0, 1, 1, 8, { det: { first: 0, entries: [{ type: 'clock', ms: 1 }] } });
    b.step({
      type: 'cover',
      task: T(0),
      image: imageId('i'),
      position: positionOf({ prologue: line({}), image: line({ determinants: 1, sends: [[T(1), 1]] }), held: [] }),
    });
    const covered = () => b.effects.flatMap((e) => (e.type === 'covered' ? [e.determinants] : []));
    expect(covered()).toEqual([]);
    b.autoSync = true;
    b.step({ type: 'tick' });
    expect(covered()).toEqual([[[0, 1]]]);
  });
  test('F3 a recovered log takes nothing new before its receiver has given back what was lost', () => {
    const b = pair();
    for (const n of [1, 2, 3]) b.send(10, 0, 1, n, 8, { fill: n });
    const pushed = b.take(Kind.ARRIVAL, 11);
    b.logs.get('t1')!.length = 1; // power loss
    b.start(false);
    b.attach(20, 0, { resume: true });
    b.send(20, 0, 1, 4, 8);
    b.attach(21, 1, { resume: true, received: 3 });
    expect(b.take(Kind.ATTACHED, 21)[0]!.json()).toMatchObject({ arrivals: 1, resupplyFrom: 1 });
    for (const s of pushed.slice(1))
      b.frame(
        21,
        b.chunks(0, 1, s.header.channel, 8, { fill: s.header.channel }).map((f) => {
          f[0] = Kind.RESUPPLY;
          new DataView(f.buffer).setUint32(32, s.header.arrival, true);
          return f;
        })[0]!,
      );
    b.control(21, Kind.RESUPPLIED, 1);
    expect(b.take(Kind.RESEND, 20).map((s) => [s.header.dst, s.header.channel])).toEqual([[1, 3]]);
    b.send(20, 0, 1, 4, 8);
    expect(arrivals(b, 21)).toEqual([4]);
  });
  test(
    'F2 a new incarnation is told of messages that are durable, also of those that a receiver gives back while ' +
      'it waits for the answer',
    () => {
      const b = pair();
      b.send(10, 0, 1, 1, 8);
      const [arrival] = b.take(Kind.ARRIVAL, 11);
      b.logs.get('t1')!.length = 0; // power loss
      b.start(false);
      b.autoSync = false;
      const synced = (): void => void b.step({ type: 'synced', ticket: b.tickets.shift()! });
      b.attach(20, 0, { inc: 1 });
      b.attach(21, 1, { resume: true, received: 1 });
      const [again] = b.chunks(0, 1, 1, 8);
      again![0] = Kind.RESUPPLY;
      new DataView(again!.buffer).setUint32(32, arrival!.header.arrival, true);
      b.frame(21, again!);
      synced();
      expect(b.take(Kind.ATTACHED, 20)).toHaveLength(0);
      b.step({ type: 'tick' });
      synced();
      expect(b.take(Kind.ATTACHED, 20)[0]!.json()).toMatchObject({ received: [[1, 1]] });
    },
  );
  test.each(['restarted', 'killed once more before the receiver reports'])(
    'F4 a receiver that knows more of a sender than its new incarnation was told goes (%s)',
    (how) => {
      const b = pair();
      const clock = { entries: [{ type: 'clock' as const, ms: 7 }] };
      b.send(10, 0, 1, 1, 8, { det: clock });
      b.take(Kind.ARRIVAL);
      // power loss: the message, and the reading that it depends on
      for (const s of ['t1', 'd0']) b.logs.get(s)!.length = s === 'd0' ? 1 : 0;
      b.start(false);
      b.attach(20, 0, { inc: 1 });
      expect(b.take(Kind.ATTACHED, 20)).toHaveLength(1); // it will read the clock itself
      if (how !== 'restarted') {
        b.start(false);
        b.attach(20, 0, { inc: 1, resume: true });
      }
      b.attach(21, 1, { resume: true, received: 1 });
      const [f] = b.chunks(0, 1, 1, 8, { det: { first: 1 } });
      f![0] = Kind.RESUPPLY;
      new DataView(f!.buffer).setUint32(32, 1, true);
      b.frame(21, f!);
      expect(b.take(Kind.REFUSED, 21).map((s) => s.json().code)).toEqual(['OUT_OF_SEQUENCE']);
      b.attach(22, 1, { inc: 1 });
      expect(b.take(Kind.ATTACHED, 22)[0]!.json()).toMatchObject({ arrivals: 0, resupplyFrom: 0 });
      b.control(22, Kind.RESUPPLIED, 1, { incarnation: incarnation(1) });
      b.send(20, 0, 1, 1, 8, { inc: 1, det: { entries: [{ type: 'clock', ms: 8 }] } });
      expect(arrivals(b, 22)).toEqual([1]);
      // its own history may be given back
      b.logs.get('t1')!.length = 0;
      b.start(false);
      b.attach(30, 0, { inc: 1, resume: true });
      b.attach(32, 1, { inc: 1, resume: true, received: 1 });
      new DataView(f!.buffer).setUint32(16, 1, true);
      b.frame(32, f!);
      b.control(32, Kind.RESUPPLIED, 1, { incarnation: incarnation(1) });
      expect(codes(b)).toEqual([]);
    },
  );
  test('F3 standard input that the log lost is given back by who received it, at its place among the arrivals', () => {
    const b = pair();
    b.step({ type: 'world', task: T(1), channel: 1, mode: WorldMode.STDIN, body: new Uint8Array(8).fill(1) });
    b.send(10, 0, 1, 1);
    b.logs.get('t1')!.length = 0;
    b.start(false);
    // the host gives it again
    b.step({ type: 'world', task: T(1), channel: 1, mode: WorldMode.STDIN, body: new Uint8Array(8).fill(1) });
    b.attach(20, 0, { resume: true });
    b.attach(21, 1, { resume: true, received: 2 });
    for (const [src, arrival] of [
      [WORLD, 1],
      [T(0), 2],
    ] as const) {
      const [f] = b.chunks(0, 1, 1, 8);
      f![0] = Kind.RESUPPLY;
      const v = new DataView(f!.buffer);
      v.setUint32(8, src, true);
      v.setUint32(32, arrival, true);
      b.frame(21, f!);
    }
    b.control(21, Kind.RESUPPLIED, 1);
    expect(codes(b)).toEqual([]);
    expect(closed(b)).toBe(false);
    expect(b.core.logged(WORLD, T(1))).toBe(1);
    b.send(10, 0, 1, 2); // on the replaced connection: not heard
    b.send(20, 0, 1, 2);
    expect(arrivals(b, 21)).toEqual([3]);
  });
  test.each([
    ['a mode that nobody knows', 9],
    ['standard input, which goes the other way', WorldMode.STDIN],
    ['a request that cannot be read', WorldMode.REQUEST],
  ])('C6 %s is not logged: it ends the incarnation that says it, not the job', (_, mode) => {
    const b = pair();
    b.send(10, 0, -1, 1, 100, { mode });
    expect(b.effects.at(-1)).toMatchObject({ type: 'refused', task: 0, incarnation: 0, error: { code: 'BAD_FRAME' } });
    expect(b.effects.some((e) => e.type === 'world' || e.type === 'close')).toBe(false);
    b.start(false);
    expect(b.core.progress(T(0)).sends).toBe(0);
    b.attach(20, 0, { inc: 1 });
    b.send(20, 0, -1, 1, 100, { inc: 1, mode: WorldMode.STDOUT });
    b.step({ type: 'tick' });
    expect(b.effects.filter((e) => e.type === 'world')).toMatchObject([{ task: 0, channel: 1 }]);
  });
  test('C6 nothing is given back to a log that is open: it lacks nothing', () => {
    const b = pair();
    const [f] = b.chunks(0, 1, 1, 8);
    f![0] = Kind.RESUPPLY;
    new DataView(f!.buffer).setUint32(32, 1, true);
    b.frame(11, f!);
    expect(codes(b)).toEqual(['BAD_FRAME']);
    const c = pair();
    c.control(11, Kind.RESUPPLIED, 1);
    expect(codes(c)).toEqual(['BAD_FRAME']);
    for (const x of [b, c]) expect(x.core.progress(T(1)).logs.arrivals).toBe(0);
    // nor before the answer, which says from where on
    const d = pair();
    d.start(false);
    d.autoSync = false;
    d.attach(21, 1, { inc: 1 });
    d.frame(
      21,
      Uint8Array.from(f!, (x, i) => (i === 16 ? 1 : x)),
    );
    expect(codes(d)).toEqual(['BAD_FRAME']);
  });
  test('C6 what is given back comes from a task of the job', () => {
    const b = pair();
    b.start(false);
    b.attach(21, 1, { resume: true });
    const [f] = b.chunks(0, 1, 1, 8);
    f![0] = Kind.RESUPPLY;
    new DataView(f!.buffer).setUint32(8, 99, true);
    b.frame(21, f!);
    expect(codes(b)).toEqual(['BAD_FRAME']);
    expect(closed(b)).toBe(true);
  });
  test.each([
    ['determinants of their sender', { entries: [{ type: 'clock' as const, ms: 7 }] }, 'BAD_FRAME'],
    ['that their sender consumed more than has ever come to it', { consumed: 9 }, 'OUT_OF_SEQUENCE'],
    ['that their sender made more events than it says itself', { first: 9 }, 'OUT_OF_SEQUENCE'],
  ])('C6 who gives arrivals back does not say with them %s: it may not speak for another task', (_, det, code) => {
    const b = pair();
    b.send(10, 0, 1, 1);
    b.logs.get('t1')!.length = 0;
    b.start(false);
    b.attach(20, 0, { resume: true });
    b.control(20, Kind.RESUPPLIED, 0);
    b.send(20, 0, 2, 1); // to a log that is closed as yet
    b.attach(21, 1, { resume: true, received: 1 });
    b.take(Kind.REFUSED);
    const [f] = b.chunks(0, 1, 1, 8, { det });
    f![0] = Kind.RESUPPLY;
    new DataView(f!.buffer).setUint32(32, 1, true);
    b.frame(21, f!);
    expect(b.take(Kind.REFUSED, 21).map((s) => s.json().code)).toEqual([code]);
    // its own restart hears nothing of it
    expect(b.core.progress(T(0)).logs).toMatchObject({ consumed: 0, determinants: 0, held: [] });
    expect(b.logs.get('t1')).toHaveLength(0);
  });
  test(
    'F4 who had not reported when an incarnation began for the second time (its answer was lost) is remembered ' +
      'when the memory is lost once more',
    () => {
      const b = pair();
      b.send(10, 0, 1, 1, 8, { det: { entries: [{ type: 'clock', ms: 7 }] } });
      b.take(Kind.ARRIVAL);
      b.attach(20, 0, { inc: 1 }); // all is there as yet
      for (const s of ['t1', 'd0'])
        b.logs.set(
          s,
          b.logs.get(s)!.filter((r) => r?.[0] === 65),
        ); // power loss: the message, and the reading that it depends on
      b.start(false);
      b.attach(21, 0, { inc: 1 });
      expect(b.take(Kind.ATTACHED, 21).at(-1)!.json().determinants).toEqual([]);
      b.start(false);
      b.attach(22, 0, { inc: 1, resume: true });
      b.attach(23, 1, { resume: true, received: 1 });
      b.take(Kind.REFUSED);
      const [f] = b.chunks(0, 1, 1, 8, { det: { first: 1 } });
      f![0] = Kind.RESUPPLY;
      new DataView(f!.buffer).setUint32(32, 1, true);
      b.frame(23, f!);
      expect(codes(b)).toEqual(['OUT_OF_SEQUENCE']);
    },
  );
  test('with `none` nothing of the events is logged: nobody will ask', () => {
    const b = pair({}, 'none');
    b.send(10, 0, 1, 1, 8, { det: { entries: [{ type: 'clock', ms: 7 }] } });
    expect(b.effects.flatMap((e) => (e.type === 'append' ? [e.stream] : []))).toEqual(['t1']);
  });
  test('a flush is due when somebody waits for it, and not else', () => {
    const b = pair();
    expect(b.core.flushDue).toBe(false);
    b.frame(10, b.chunks(0, 1, 1, 8, { det: { entries: [{ type: 'clock', ms: 7 }] } })[0]!);
    expect(b.core.flushDue).toBe(true);
    b.step({ type: 'flush' });
    expect(b.core.flushDue).toBe(false);
  });
  test("a frame of an epoch that is not its sender's is no part of the log", () => {
    const b = pair();
    const frame = (epoch: number): Uint8Array =>
      encodeFrame(
        { ...emptyHeader(Kind.DATA), src: T(0), dst: T(1), channel: 1, size: 8, flags: Flag.LAST, epoch },
        new Uint8Array(8),
      );
    b.frame(10, frame(1));
    expect(b.effects.filter((e) => e.type === 'close')).toMatchObject([{ conn: 10, error: { code: 'BAD_FRAME' } }]);
    expect(arrivals(b, 11)).toEqual([]);
    b.attach(20, 0, { resume: true });
    b.frame(20, frame(0));
    expect(arrivals(b, 11)).toEqual([1]);
  });
  test('C6 who pulls more at once than a link may have waiting is closed, and nobody else', () => {
    const b = pair();
    b.send(10, 0, 1, 1, 64 * 1000);
    const pull = encodeFrame({ ...emptyHeader(Kind.PULL), src: T(1), dst: T(1), arrival: 1 });
    const flood = new Uint8Array(70 * pull.length);
    for (let i = 0; i < 70; i++) flood.set(pull, i * pull.length);
    const effects = b.frame(11, flood);
    expect(effects.length).toBeLessThan(6000);
    expect(effects.at(-1)).toMatchObject({ type: 'close', conn: 11, error: { code: 'TOO_MANY' } });
    b.send(10, 0, 2, 1);
    expect(arrivals(b, 12)).toEqual([1]);
  });
  test('what a node says it received, and does not give back, ends its incarnation and not the job', () => {
    const b = pair();
    for (const n of [1, 2]) b.send(10, 0, 1, n);
    b.logs.get('t1')!.length = 0;
    b.start(false);
    b.attach(21, 1, { resume: true, received: 2 });
    b.control(21, Kind.RESUPPLIED, 1);
    expect(b.effects.at(-1)).toMatchObject({
      type: 'refused',
      task: 1,
      incarnation: 0,
      error: { code: 'OUT_OF_SEQUENCE' },
    });
    expect(codes(b)).toEqual(['OUT_OF_SEQUENCE']);
    expect(b.effects.some((e) => e.type === 'failed')).toBe(false);
  });
});

describe('C8: a BASE record says of senders what is durable', () => {
  const clock = { type: 'clock', ms: 7 } as const;
  const logsOf = (b: ReturnType<typeof pair>, incarnationOf0: number) => {
    b.step({ type: 'fence', task: T(0), incarnation: incarnation(incarnationOf0) });
    return b.core.progress(T(0)).logs;
  };

  test('and no more: it may outlive what came while it was written', () => {
    const b = pair({ durability: 'strict' });
    b.send(10, 0, -1, 1, 8, { det: { entries: [clock] } });
    b.step({ type: 'tick' });
    expect(b.effects.some((e) => e.type === 'world')).toBe(true);
    b.autoSync = false;
    const next = (): void => void b.step({ type: 'synced', ticket: b.tickets.shift()! });
    const lengths = (): Map<string, number> => new Map([...b.logs].map(([name, log]) => [name, log.length]));
    b.send(10, 0, 1, 1, 8, { det: { first: 1, entries: [clock] } });
    b.send(10, 0, 1, 2, 8, { det: { first: 2, entries: [clock] } });
    b.step({ type: 'worldDone', task: T(0), channel: 1 });
    next();
    const durable = lengths();
    // One more event, which the sync under way does not take. When that ends, `w0` gets its BASE record.
    b.send(10, 0, 1, 3, 8, { det: { first: 3, entries: [clock] } });
    expect(b.tickets).toHaveLength(1);
    next();
    expect(b.logs.get('w0')!.length).toBe(durable.get('w0')! + 1);
    // The power goes; of the streams `w0` alone keeps what was not synced.
    for (const [name, log] of b.logs) if (name !== 'w0') log.length = durable.get(name)!;
    b.tickets = [];
    b.autoSync = true;
    b.start(false);
    const { recovery } = protocols.pessimistic;
    expect(recovery.lacks(recovery.start, [logsOf(b, 1)])).toBeUndefined();
  });

  test('and no less: after a restart it waits until what was read is durable again', () => {
    const b = pair({ durability: 'strict' });
    b.send(11, 1, 0, 1);
    b.send(10, 0, -1, 1, 8, { det: { consumed: 1 } });
    b.step({ type: 'tick' });
    b.start(false);
    expect(logsOf(b, 1).consumed).toBe(1);
    b.step({ type: 'worldDone', task: T(0), channel: 1 });
    for (let i = 0; i < 3; i++) b.step({ type: 'tick' });
    expect(b.effects.some((e) => e.type === 'trim' && e.stream === 'w0')).toBe(true);
    b.start(false);
    expect(logsOf(b, 2).consumed).toBe(1);
  });
});
