/** What a Channel Memory holds of messages to WORLD: world.ts, W1 and W2. */
import { expect, test } from 'vitest';
import {
  FileOp,
  Flag,
  Kind,
  WORLD,
  WORLD_BYTES,
  WorldMode,
  emptyHeader,
  encodeFileRequest,
  encodeFrame,
} from '@mayfly/wire';
import { readWorldBody, type CmEffect } from '../../src/index.ts';
import { type Bench, T, closed, codes, pair } from './bench.ts';

/** Messages that came out. */
const shown = (b: Bench): { task: number; channel: number; body: Uint8Array }[] =>
  b.effects
    .filter((e): e is Extract<CmEffect, { type: 'world' }> => e.type === 'world')
    .map(({ task, channel, body }) => ({
      task,
      channel,
      body: readWorldBody(body, (stream, lsn) => b.logs.get(stream)![lsn]!),
    }));

/** A message of `parts` parts, of which the last is left out. */
const unfinished = (b: Bench, task: number, parts: number, mode: number = WorldMode.STDOUT): void => {
  for (const c of b.chunks(task, -1, 1, parts * 64, { mode }).slice(0, -1)) b.frame(10 + task, c);
};
const request = (b: Bench, task: number, body: Uint8Array): void => {
  for (let at = 0; at < body.length; at += 64) {
    const bytes = body.subarray(at, at + 64);
    const h = { ...emptyHeader(Kind.DATA), src: T(task), dst: WORLD, channel: 1, mode: WorldMode.REQUEST as number };
    const flags = at + bytes.length === body.length ? Flag.LAST : 0;
    b.frame(10 + task, encodeFrame({ ...h, offset: at, size: body.length, flags }, bytes));
  }
};

test('W1: of unfinished messages the log has the parts, and memory their places', () => {
  for (const mode of [WorldMode.STDOUT, WorldMode.FILE, WorldMode.REQUEST]) {
    const b = pair();
    for (const task of [0, 1, 2]) unfinished(b, task, 100, mode);
    expect(b.core.memory().bytes).toBeLessThanOrEqual(3 * 64);
  }
});

test('W1: bodies that wait beyond the limit wait in the log', () => {
  const b = pair({ worldMemory: { waiting: 100, parts: 0 } });
  b.autoSync = false;
  for (let n = 1; n <= 10; n++) b.send(10, 0, -1, n, 60);
  expect(b.core.memory().bytes).toBe(60);
  b.autoSync = true;
  while (b.tickets.length > 0) b.step({ type: 'synced', ticket: b.tickets.shift()! });
  b.step({ type: 'tick' });
  expect(shown(b).map((m) => [m.channel, m.body.length, m.body[0]])).toEqual(
    Array.from({ length: 10 }, (_, i) => [i + 1, 60, i + 1]),
  );
  expect(b.core.memory().bytes).toBe(0);
});

test('W2: a message of several parts comes out whole, after a restart as well', () => {
  const b = pair();
  b.send(10, 0, -1, 1, 200);
  b.step({ type: 'tick' });
  expect(shown(b)).toEqual([{ task: 0, channel: 1, body: new Uint8Array(200).fill(1) }]);
  b.effects.length = 0;
  b.start(false);
  b.step({ type: 'tick' });
  expect(shown(b)).toEqual([{ task: 0, channel: 1, body: new Uint8Array(200).fill(1) }]);
});

test('W1: where output is not logged, parts have a limit, and one that begins again gives its bytes back', () => {
  const b = pair({ worldMemory: { waiting: 0, parts: 64 * 10 } }, 'none');
  for (let i = 0; i < 5; i++) unfinished(b, 0, 9);
  expect(b.core.memory().bytes).toBe(8 * 64);
  unfinished(b, 1, 5);
  expect(codes(b)).toEqual(['TOO_MANY']);
  b.send(10, 0, -1, 1, 9 * 64);
  expect(shown(b).map((m) => m.body.length)).toEqual([9 * 64]);
  expect(b.core.memory().bytes).toBeLessThanOrEqual(2 * 64);
});

test('a message to the world that is too long is refused at its first part', () => {
  for (const [mode, size] of [
    [WorldMode.STDOUT, WORLD_BYTES + 1],
    [WorldMode.MEMBER, (1 << 20) + 1],
    [WorldMode.EXIT, (1 << 20) + 1],
  ] as const) {
    const b = pair();
    const h = { ...emptyHeader(Kind.DATA), src: T(0), dst: WORLD, channel: 1, mode: mode as number, size };
    b.frame(10, encodeFrame(h, new Uint8Array(64)));
    expect(closed(b)).toBe(true);
  }
});

test('C6: the head of a request of several parts is checked before it is whole in the log', () => {
  const segments = Array.from({ length: 40 }, (_, i) => i);
  const { body } = encodeFileRequest(FileOp.READ, { name: 'x', session: 1, segments });
  const b = pair();
  request(b, 0, body);
  b.step({ type: 'tick' });
  expect(shown(b).map((m) => m.body)).toEqual([body]);
  new DataView(body.buffer).setUint32(4, 11, true); // one segment more than there is
  request(b, 1, body);
  expect(codes(b)).toEqual(['BAD_FRAME']);
});

test('W3: one step lets a few hundred messages out, and asks for the next one', () => {
  const b = pair();
  b.autoSync = false;
  for (let n = 1; n <= 1000; n++) b.send(10, 0, -1, n, 8);
  b.step({ type: 'tick' });
  const turns = [];
  for (let before = 0; ; before = shown(b).length) {
    if (before === 0) b.step({ type: 'synced', ticket: b.tickets.shift()! });
    else b.step({ type: 'flush' });
    turns.push(shown(b).length - before);
    if (!b.core.worldDue) break;
  }
  expect(turns).toEqual([256, 256, 256, 232]);
  expect(shown(b).map((m) => m.channel)).toEqual(Array.from({ length: 1000 }, (_, i) => i + 1));
});

test('W3: so it does with output that is not logged, which comes with one frame after the other', () => {
  for (const protocol of ['none', 'app'] as const) {
    const b = pair({}, protocol);
    const frames = Array.from({ length: 600 }, (_, i) => b.chunks(0, -1, i + 1, 8)[0]!);
    b.frame(10, Buffer.concat(frames));
    const turns = [shown(b).length];
    while (b.core.worldDue) {
      const before = shown(b).length;
      b.step({ type: 'flush' });
      turns.push(shown(b).length - before);
    }
    expect(turns).toEqual([256, 256, 88]);
    expect(shown(b).map((m) => [m.channel, m.body[0]])).toEqual(
      Array.from({ length: 600 }, (_, i) => [i + 1, (i + 1) % 256]),
    );
    expect(b.core.memory().bytes).toBe(0);
  }
});

test('W3: long messages count as several, and a request as sixteen', () => {
  const { body: read } = encodeFileRequest(FileOp.READ, { name: 'x', session: 1, segments: [0, 1, 1, 0] });
  for (const [mode, body, expected] of [
    [WorldMode.STDOUT, new Uint8Array(64 * 1024), [52, 48]],
    [WorldMode.REQUEST, read, [16, 16, 16, 16, 16, 16, 4]],
  ] as const) {
    const b = pair({ chunkBytes: 64 * 1024 }, 'none');
    const frames = Array.from({ length: 100 }, (_, i) => {
      const h = { ...emptyHeader(Kind.DATA), src: T(0), dst: WORLD, channel: i + 1, mode: mode as number };
      return encodeFrame({ ...h, size: body.length, flags: Flag.LAST }, body);
    });
    b.frame(10, Buffer.concat(frames));
    const turns = [shown(b).length];
    while (b.core.worldDue) {
      const before = shown(b).length;
      b.step({ type: 'flush' });
      turns.push(shown(b).length - before);
    }
    expect(turns).toEqual(expected);
  }
});
