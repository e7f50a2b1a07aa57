import { describe, expect, it } from 'vitest';
import { decodeNetpbm } from './netpbm.ts';

const enc = new TextEncoder();
const join = (head: string, body: number[]) => new Uint8Array([...enc.encode(head), ...body]);
const pixel = (p: ReturnType<typeof decodeNetpbm>, i: number) => [...p!.rgba.subarray(i * 4, i * 4 + 4)];

describe('decodeNetpbm', () => {
  it('reads P6 with comments', () => {
    const p = decodeNetpbm(join('P6\n# made by a rank\n2 1\n255\n', [255, 0, 0, 0, 128, 9]));
    expect(p).toMatchObject({ width: 2, height: 1, rows: 1 });
    expect([pixel(p, 0), pixel(p, 1)]).toEqual([
      [255, 0, 0, 255],
      [0, 128, 9, 255],
    ]);
  });
  it('shows as much of a growing file as there is', () => {
    const p = decodeNetpbm(join('P5 2 3 255\n', [10, 20, 30]));
    expect(p).toMatchObject({ height: 3, rows: 1 });
    expect([pixel(p, 1), pixel(p, 2)]).toEqual([
      [20, 20, 20, 255],
      [0, 0, 0, 0],
    ]);
  });
  it('reads 16-bit, text and bit forms', () => {
    expect(pixel(decodeNetpbm(join('P5 1 1 65535 ', [0x80, 0])), 0)[0]).toBe(128);
    expect(pixel(decodeNetpbm(enc.encode('P3 1 1 10 10 5 0')), 0)).toEqual([255, 128, 0, 255]);
    expect(pixel(decodeNetpbm(enc.encode('P1 2 1 01')), 1)).toEqual([0, 0, 0, 255]);
    expect(pixel(decodeNetpbm(join('P4 2 1\n', [0b0100_0000])), 0)[0]).toBe(255);
  });
  it('refuses what it is not, and headers that are not whole or too large', () => {
    for (const bad of ['PNG', 'P6 2', 'P6\n', 'P6 0 3 255\n', 'P6 100000 100000 255\n', 'P5 1 1 99999 '])
      expect(decodeNetpbm(enc.encode(bad))).toBeUndefined();
  });
});
