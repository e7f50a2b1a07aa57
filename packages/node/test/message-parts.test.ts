/** Chunks of several senders mixed, parts that are void, and what a body that was handed out is good for. */
import { emptyHeader, Flag, Kind, taskId, type Header } from '@mayfly/wire';
import { expect, it } from 'vitest';
import { Parts } from '../src/rank/message-parts.ts';

const chunk = (src: number, size: number, offset: number, bytes: number): Header => ({
  ...emptyHeader(Kind.ARRIVAL),
  src: taskId(src),
  size,
  offset,
  bytes,
  flags: offset + bytes === size ? Flag.LAST : 0,
});
const of = (value: number, n: number): Uint8Array => new Uint8Array(n).fill(value);

it('chunks of several senders may be mixed', () => {
  const p = new Parts();
  expect(p.add(chunk(0, 10, 0, 8), of(1, 8))).toBeUndefined();
  expect(p.add(chunk(1, 12, 0, 8), of(2, 8))).toBeUndefined();
  expect([...p.add(chunk(0, 10, 8, 2), of(1, 2))!]).toEqual(Array(10).fill(1));
  expect([...p.add(chunk(1, 12, 8, 4), of(3, 4))!]).toEqual([...Array(8).fill(2), ...Array(4).fill(3)]);
});

it("Q1: a first chunk begins its sender's message anew; one without a beginning is an error", () => {
  const p = new Parts();
  p.add(chunk(0, 24, 0, 8), of(1, 8));
  p.add(chunk(0, 24, 8, 8), of(1, 8));
  p.add(chunk(0, 16, 0, 8), of(2, 8));
  expect([...p.add(chunk(0, 16, 8, 8), of(2, 8))!]).toEqual(Array(16).fill(2));
  expect(() => p.add(chunk(0, 16, 8, 8), of(2, 8))).toThrow('did not begin');
});

it('Q2: a body stays as it is until the next one is handed out, also while that one comes', () => {
  const p = new Parts();
  const message = (value: number): Uint8Array => {
    p.add(chunk(0, 16, 0, 8), of(value, 8));
    return p.add(chunk(0, 16, 8, 8), of(value, 8))!;
  };
  const first = message(1);
  p.hand(first);
  const second = message(2);
  expect([...first]).toEqual(Array(16).fill(1));
  p.hand(second);
  const third = message(3);
  expect([...second]).toEqual(Array(16).fill(2));
  expect(third.buffer).toBe(first.buffer);
});
