import { describe, expect, test } from 'vitest';
import {
  EMPTY,
  Flag,
  Kind,
  WORLD,
  WorldMode,
  decodeDeterminants,
  emptyHeader,
  encodeAck,
  encodeDeterminants,
  encodeFrame,
  incarnation,
  readFrames,
  taskId,
  type Ack,
  type Attached,
  type Determinant,
  type Header,
} from '@mayfly/wire';
import { fromTheStart, positionOf, Comm, protocols, type CommEffect, type CommEvent } from '../../src/index.ts';

const T = taskId;
const text = new TextEncoder();
const clock = (ms: number): Determinant => ({ type: 'clock', ms });

/** Task 0 of 4 on a comm core with two Channel Memories: tasks 0, 2 and WORLD at CM 0, tasks 1 and 3 at CM 1. */
class Desk {
  comm = new Comm({ size: 4, channelMemories: 2, policy: protocols.pessimistic.commd, window: 1024, chunkBytes: 64 });
  effects: CommEffect[] = [];
  #determinants = 0;

  constructor(replay = fromTheStart()) {
    for (const cm of [0, 1]) this.step({ type: 'connected', cm });
    this.step({
      type: 'start',
      task: T(0),
      incarnation: incarnation(0),
      capability: 'c',
      nonce: 'nonce-nonce',
      position: positionOf(replay),
    });
  }
  step(e: CommEvent): CommEffect[] {
    const out = this.comm.step(e);
    this.effects.push(...out);
    return out;
  }
  begin(): this {
    this.effects = [];
    this.attached(0);
    this.attached(1);
    return this;
  }
  /** Frames that left for a CM since the last call. */
  sent(cm: number, kind?: number): { header: Header; entries: readonly Determinant[]; first: number; body: string }[] {
    const mine = this.effects.filter((e) => e.type === 'send' && e.cm === cm);
    this.effects = this.effects.filter((e) => !mine.includes(e));
    return mine
      .flatMap((e) => (e.type === 'send' ? readFrames(e.bytes) : []))
      .filter((f) => kind === undefined || f.header.kind === kind)
      .map((f) => ({
        header: f.header,
        ...decodeDeterminants(f.determinants),
        body: new TextDecoder().decode(f.body),
      }));
  }
  down(
    cm: number,
    kind: number,
    over: Partial<Header> = {},
    body: Uint8Array = EMPTY,
    det: Uint8Array = EMPTY,
  ): CommEffect[] {
    return this.step({
      type: 'received',
      cm,
      bytes: encodeFrame({ ...emptyHeader(kind), dst: T(0), ...over }, body, det),
    });
  }
  attached(cm: number, over: Partial<Attached> = {}): CommEffect[] {
    return this.down(
      cm,
      Kind.ATTACHED,
      {},
      text.encode(JSON.stringify({ received: [], arrivals: 0, determinants: [], ...over })),
    );
  }
  ack(cm: number, over: Partial<Ack>): CommEffect[] {
    return this.down(
      cm,
      Kind.ACK,
      {},
      encodeAck({
        determinantsFirst: 0,
        determinantsAppended: 0,
        determinantsSynced: 0,
        arrivalsSynced: 0,
        channels: [],
        ...over,
      }),
    );
  }
  ring(dst: number, channel: number, news: Determinant[] = [], mode = 0): void {
    const h = { ...emptyHeader(Kind.DATA), dst: dst < 0 ? WORLD : T(dst), channel, mode, flags: Flag.LAST, size: 8 };
    const det = encodeDeterminants({ first: this.#determinants, consumed: 0, openPolls: 0, entries: news });
    this.#determinants += news.length;
    this.step({ type: 'ring', task: T(0), bytes: encodeFrame(h, new Uint8Array(8), det) });
  }
  arrival(n: number, over: Partial<Header> = {}, bytes = 8): CommEffect[] {
    return this.down(
      0,
      Kind.ARRIVAL,
      { src: T(1), arrival: n, channel: n, flags: Flag.LAST, size: bytes, ...over },
      new Uint8Array(bytes),
    );
  }
}

describe('start: "For each Channel Memory C, send Restart to C, receive nbmessage"', () => {
  test('M5 the rank begins when every Channel Memory has answered', () => {
    const d = new Desk();
    expect(d.sent(0, Kind.ATTACH)).toHaveLength(1);
    expect(d.sent(1, Kind.ATTACH)).toHaveLength(1);
    expect(d.attached(0, { received: [[T(2), 3]] }).some((e) => e.type === 'ready')).toBe(false);
    const ready = d.attached(1, { received: [[T(1), 5]] }).find((e) => e.type === 'ready');
    expect(ready).toMatchObject({
      start: {
        limits: [
          [2, 3],
          [1, 5],
        ],
      },
    });
  });
  test('M5 determinants come from everywhere; the vain polls of the furthest count', () => {
    const d = new Desk();
    d.down(
      0,
      Kind.DETERMINANTS,
      {},
      EMPTY,
      encodeDeterminants({ first: 2, consumed: 1, openPolls: 4, entries: [clock(3)] }),
    );
    d.down(
      1,
      Kind.DETERMINANTS,
      {},
      EMPTY,
      encodeDeterminants({ first: 0, consumed: 0, openPolls: 9, entries: [clock(1), clock(2)] }),
    );
    d.attached(0, { arrivals: 1 });
    expect(d.attached(1).find((e) => e.type === 'ready')).toMatchObject({
      start: { determinants: [clock(1), clock(2), clock(3)], openPolls: 4, consumed: 1 },
    });
  });
  test.each([
    [
      'a determinant',
      (d: Desk) =>
        d.down(
          1,
          Kind.DETERMINANTS,
          {},
          EMPTY,
          encodeDeterminants({ first: 1, consumed: 0, openPolls: 0, entries: [clock(2)] }),
        ),
    ],
    [
      'an arrival',
      (d: Desk) =>
        d.down(
          1,
          Kind.DETERMINANTS,
          {},
          EMPTY,
          encodeDeterminants({ first: 0, consumed: 3, openPolls: 0, entries: [] }),
        ),
    ],
  ])('%s whose effects are known elsewhere, but that no log has, is LOST_LOG', (_, act) => {
    const d = new Desk();
    act(d);
    d.attached(0, { arrivals: 2 });
    expect(d.attached(1).find((e) => e.type === 'refused')).toMatchObject({ error: { code: 'LOST_LOG' } });
  });
});

describe('M1 every frame that leaves carries all determinants that no Channel Memory is known to have', () => {
  test('whichever Channel Memory it goes to, until one has acknowledged', () => {
    const d = new Desk().begin();
    d.ring(2, 1, [clock(1)]);
    d.ring(1, 1, [clock(2)]);
    d.ring(1, 2);
    expect(d.sent(0, Kind.DATA).map((f) => f.entries.length)).toEqual([1]);
    expect(d.sent(1, Kind.DATA).map((f) => f.entries)).toEqual([
      [clock(1), clock(2)],
      [clock(1), clock(2)],
    ]);
    d.ack(1, { determinantsFirst: 0, determinantsAppended: 2 });
    d.ring(2, 2);
    expect(d.sent(0, Kind.DATA)).toMatchObject([{ first: 2, entries: [] }]);
  });
  test('what a Channel Memory lost travels again', () => {
    const d = new Desk().begin();
    d.ring(1, 1, [clock(1)]);
    d.ack(1, { determinantsFirst: 0, determinantsAppended: 1 });
    d.step({ type: 'disconnected', cm: 1 });
    d.step({ type: 'connected', cm: 1 });
    d.sent(1);
    d.attached(1, { received: [[T(1), 1]], determinants: [] });
    expect(d.sent(1, Kind.DETERMINANTS)).toMatchObject([{ first: 0, entries: [clock(1)] }]);
  });
});

describe('M2 sent messages', () => {
  test("are kept until synced, and sent again from the Channel Memory's counts", () => {
    const d = new Desk().begin();
    for (const n of [1, 2, 3]) d.ring(1, n);
    d.ack(1, { channels: [{ dst: 1, appended: 3, synced: 1 }] });
    d.step({ type: 'disconnected', cm: 1 });
    d.ring(1, 4);
    d.sent(1);
    d.step({ type: 'connected', cm: 1 });
    expect(JSON.parse(d.sent(1, Kind.ATTACH)[0]!.body)).toMatchObject({ resume: true });
    d.attached(1, { received: [[T(1), 2]] });
    expect(d.sent(1, Kind.DATA).map((f) => f.header.channel)).toEqual([3, 4]);
    expect(d.comm.retained(T(0))).toBeGreaterThan(0);
    d.ack(1, { channels: [{ dst: 1, appended: 4, synced: 4 }] });
    expect(d.comm.retained(T(0))).toBe(0);
  });
  test('M6 EXIT waits until everything before it is durable', () => {
    const d = new Desk().begin();
    d.ring(1, 1);
    d.ring(-1, 1, [], WorldMode.EXIT);
    // They are asked to sync, once per connection.
    const asked = (cm: number): number =>
      d.sent(cm).filter((f) => f.header.kind === Kind.DETERMINANTS && (f.header.flags & Flag.SYNC) !== 0).length;
    expect([asked(0), asked(1)]).toEqual([1, 1]);
    d.ack(0, {});
    expect([asked(0), asked(1)]).toEqual([0, 0]);
    d.step({ type: 'disconnected', cm: 1 });
    d.step({ type: 'connected', cm: 1 });
    d.attached(1, { received: [[T(1), 1]] });
    expect([asked(0), asked(1)]).toEqual([0, 1]);
    expect(d.sent(0, Kind.DATA)).toEqual([]);
    d.ack(1, { channels: [{ dst: 1, appended: 1, synced: 1 }] });
    expect(d.sent(0, Kind.DATA).map((f) => f.header.mode)).toEqual([WorldMode.EXIT]);
    expect(d.ack(0, { channels: [{ dst: WORLD, appended: 1, synced: 1 }] }).some((e) => e.type === 'finished')).toBe(
      true,
    );
  });
});

describe('M3 arrivals', () => {
  test('go to the rank chunk by chunk as they come, in order; a partial one begins again after its connection', () => {
    const d = new Desk().begin();
    const part = (offset: number, bytes: number, arrival: number): CommEffect[] =>
      d.down(
        0,
        Kind.ARRIVAL,
        { src: T(2), channel: 1, offset, size: 100, arrival, flags: arrival ? Flag.LAST : 0 },
        new Uint8Array(bytes),
      );
    expect(part(0, 64, 0).map((e) => e.type)).toEqual(['deliver']);
    expect(d.arrival(1).map((e) => e.type)).toEqual(['deliver']);
    d.step({ type: 'disconnected', cm: 0 });
    d.step({ type: 'connected', cm: 0 });
    expect(JSON.parse(d.sent(0, Kind.ATTACH).at(-1)!.body)).toMatchObject({ received: 1 });
    d.attached(0, { arrivals: 2 });
    expect(part(64, 36, 2)).toMatchObject([{ type: 'drop' }]);
    expect(part(0, 64, 0).map((e) => e.type)).toEqual(['deliver']);
    expect(part(64, 36, 2).map((e) => e.type)).toEqual(['deliver']);
    // What is retained for a Channel Memory that loses it is whole all the same.
    d.step({ type: 'disconnected', cm: 0 });
    d.step({ type: 'connected', cm: 0 });
    d.sent(0);
    d.attached(0, { arrivals: 1, resupplyFrom: 1 });
    expect(d.sent(0, Kind.RESUPPLY).map((f) => [f.header.offset, f.header.arrival])).toEqual([
      [0, 0],
      [64, 2],
    ]);
  });
  test("a skipped one is the link's error, a repeated one is ignored", () => {
    const d = new Desk().begin();
    d.arrival(1);
    expect(d.arrival(1)).toEqual([]);
    expect(d.arrival(3)).toMatchObject([{ type: 'drop' }]);
  });
  test('M4 those not yet durable are given back to a Channel Memory that lost them', () => {
    const d = new Desk().begin();
    for (const n of [1, 2, 3]) d.arrival(n);
    d.ack(0, { arrivalsSynced: 1 });
    d.ack(1, { arrivalsSynced: 3 }); // that is not where they are logged
    d.step({ type: 'disconnected', cm: 0 });
    d.step({ type: 'connected', cm: 0 });
    d.sent(0);
    d.attached(0, { arrivals: 1, resupplyFrom: 1 });
    expect(d.sent(0).map((f) => [f.header.kind, f.header.arrival])).toEqual([
      [Kind.RESUPPLY, 2],
      [Kind.RESUPPLY, 3],
      [Kind.RESUPPLIED, 0],
      [Kind.CREDIT, 0],
    ]);
  });
  test('M7 credit is given for each quarter of the window, and when the rank asks for envelopes only', () => {
    const d = new Desk().begin();
    d.sent(0);
    for (let n = 1; n <= 8; n++) d.arrival(n, {}, 64);
    for (let n = 1; n <= 8; n++) d.step({ type: 'consumed', task: T(0), arrivals: n, envelopeOnly: false });
    expect(d.sent(0, Kind.CREDIT).map((f) => f.header.arrival)).toEqual([2, 4, 6, 8]);
    d.step({ type: 'consumed', task: T(0), arrivals: 8, envelopeOnly: true });
    expect(d.sent(0, Kind.CREDIT).map((f) => f.header.flags)).toEqual([Flag.ENVELOPE_ONLY]);
  });
});

test('a refused incarnation is dropped, and what comes for it later is ignored', () => {
  const d = new Desk().begin();
  const out = d.down(
    0,
    Kind.REFUSED,
    { incarnation: incarnation(1) },
    text.encode('{"code":"FENCED","message":"incarnation 1 acts"}'),
  );
  expect(out.find((e) => e.type === 'refused')).toMatchObject({ error: { code: 'FENCED' } });
  expect(d.arrival(1)).toEqual([]);
  expect(d.step({ type: 'consumed', task: T(0), arrivals: 1, envelopeOnly: false })).toEqual([]);
});

test('what fences its predecessor on the same connection does not refuse the incarnation that acts', () => {
  const d = new Desk().begin();
  // A killed rank began at the same node again before the word reached its first incarnation; the header names who
  // acts.
  expect(
    d.down(
      0,
      Kind.REFUSED,
      { incarnation: incarnation(0) },
      text.encode('{"code":"FENCED","message":"incarnation 0 acts"}'),
    ),
  ).toEqual([]);
  expect(d.arrival(1)).not.toEqual([]);
});

test('a body is pulled in ranges until it is whole, and goes on where it was after the link broke', () => {
  const d = new Desk().begin();
  d.arrival(1, { flags: Flag.LAST | Flag.NO_BODY, size: 1000 }, 0);
  d.sent(0);
  d.step({ type: 'ring', task: T(0), bytes: encodeFrame({ ...emptyHeader(Kind.PULL), arrival: 1 }) });
  expect(d.sent(0, Kind.PULL).map((f) => [f.header.offset, f.header.word])).toEqual([[0, 256]]);
  const body = (offset: number): CommEffect[] =>
    d.down(0, Kind.BODY, { arrival: 1, offset, size: 1000 }, new Uint8Array(64));
  expect(body(0).filter((e) => e.type === 'deliver')).toHaveLength(1);
  expect(d.sent(0, Kind.PULL).map((f) => f.header.offset)).toEqual([256]);
  d.step({ type: 'disconnected', cm: 0 });
  d.step({ type: 'connected', cm: 0 });
  d.sent(0);
  d.attached(0, { arrivals: 1 });
  expect(d.sent(0, Kind.PULL).map((f) => f.header.offset)).toEqual([64, 320]);
  expect(body(0).filter((e) => e.type === 'deliver')).toHaveLength(0);
  expect(body(64).filter((e) => e.type === 'deliver')).toHaveLength(1);
});
