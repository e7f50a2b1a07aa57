import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  CHUNK_BYTES,
  Flag,
  HEADER_BYTES,
  Kind,
  MalformedFrame,
  MAX_FRAME_BYTES,
  WORLD,
  emptyHeader,
  encodeFrame,
  frameBytes,
  patchArrival,
  readFrame,
  readFrames,
  readHeader,
  homeOf,
  routeOf,
  taskId,
  type Header,
} from '../src/index.ts';

const u32 = fc.integer({ min: 0, max: 0xffff_ffff });
const u53 = fc.integer({ min: 0, max: Number.MAX_SAFE_INTEGER });
const bytes = (max: number) => fc.uint8Array({ maxLength: max });

/** A header whose part lies inside its message, so that it is well formed for every kind. */
const header = fc.record({
  kind: fc.constantFrom(...Object.values(Kind)),
  flags: fc.integer({ min: 0, max: 7 }),
  mode: fc.integer({ min: 0, max: 255 }),
  src: u32,
  dst: u32,
  incarnation: u32,
  epoch: u32,
  channel: u53,
  arrival: u53,
  context: u32,
  tag: fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 }),
  word: u32,
});

describe('frames', () => {
  test('what is written is read, field for field, several to a message', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(header, bytes(300), bytes(5)), { minLength: 1, maxLength: 6 }), (parts) => {
        const frames = parts.map(([h, body, d]) => {
          const full = { ...emptyHeader(0), ...h, offset: 0, size: body.length } as Header;
          const determinants = new Uint8Array(d.length * 8).fill(7);
          return { full, body, determinants, bytes: encodeFrame(full, body, determinants) };
        });
        const message = new Uint8Array(frames.reduce((n, f) => n + f.bytes.length, 0));
        frames.reduce((o, f) => (message.set(f.bytes, o), o + f.bytes.length), 0);
        const back = readFrames(message);
        expect(back.length).toBe(frames.length);
        back.forEach((f, i) => {
          expect(f.header).toEqual(frames[i]!.full);
          expect([...f.body]).toEqual([...frames[i]!.body]);
          expect(f.determinants.length).toBe(frames[i]!.determinants.length);
        });
      }),
      { numRuns: 300 },
    );
  });

  test('any bytes at all are either frames or a MalformedFrame, never another error', () => {
    fc.assert(
      fc.property(bytes(400), fc.boolean(), (noise, plausible) => {
        if (plausible && noise.length > 1) noise[1] = 1;
        try {
          for (const f of readFrames(noise)) expect(frameBytes(f.header)).toBeGreaterThanOrEqual(HEADER_BYTES);
        } catch (e) {
          expect(e).toBeInstanceOf(MalformedFrame);
        }
      }),
      { numRuns: 5000 },
    );
  });

  test('a truncated frame, a foreign version and an oversized length are refused', () => {
    const whole = encodeFrame({ ...emptyHeader(Kind.DATA), size: 10 }, new Uint8Array(10));
    for (let cut = 1; cut < HEADER_BYTES + 10; cut++)
      expect(() => readFrames(whole.subarray(0, cut))).toThrow(MalformedFrame);
    const foreign = whole.slice();
    foreign[1] = 9;
    expect(() => readFrames(foreign)).toThrow(/version 9/);
    const huge = whole.slice();
    new DataView(huge.buffer).setUint32(4, MAX_FRAME_BYTES + 1, true);
    expect(() => readFrames(huge)).toThrow(MalformedFrame);
  });

  test('a part outside its message is refused', () => {
    const f = encodeFrame({ ...emptyHeader(Kind.DATA), size: 4, offset: 2 }, new Uint8Array(4));
    expect(() => readFrames(f)).toThrow(/outside its message/);
  });

  test('a DATA frame becomes an ARRIVAL in place, its body untouched', () => {
    const body = Uint8Array.from({ length: 33 }, (_, i) => i);
    const f = encodeFrame(
      { ...emptyHeader(Kind.DATA), src: taskId(3), dst: taskId(1), channel: 2 ** 40 + 5, size: 33, flags: Flag.LAST },
      body,
    );
    const v = new DataView(f.buffer);
    patchArrival(v, 0, 2 ** 33 + 7, 4 as Header['incarnation']);
    const got = readFrame(f, v, 0);
    expect(got.header).toMatchObject({
      kind: Kind.ARRIVAL,
      arrival: 2 ** 33 + 7,
      channel: 2 ** 40 + 5,
      incarnation: 4,
      src: 3,
      dst: 1,
    });
    expect([...got.body]).toEqual([...body]);
    expect(readHeader(v, 0).flags).toBe(Flag.LAST);
  });

  test('frames stay aligned to 8 bytes and a chunk fits the limit', () => {
    for (const n of [0, 1, 7, 8, 9, CHUNK_BYTES]) expect(frameBytes({ bytes: n, detBytes: 16 }) % 8).toBe(0);
    expect(frameBytes({ bytes: CHUNK_BYTES, detBytes: 1 << 20 })).toBeLessThan(MAX_FRAME_BYTES);
  });
});

describe('routes', () => {
  test('"a given receiver always receives its messages from the same CM, called its home CM" (MPICH-V §3)', () => {
    for (const cms of [1, 2, 3])
      for (let dst = 0; dst < 8; dst++) {
        const homes = new Set(Array.from({ length: 8 }, (_, src) => routeOf(taskId(src), taskId(dst), cms)));
        expect([...homes]).toEqual([homeOf(taskId(dst), cms)]);
      }
  });
  test("a task's messages to the world are logged at its own home", () => {
    expect(routeOf(taskId(5), WORLD, 3)).toBe(homeOf(taskId(5), 3));
  });
});
