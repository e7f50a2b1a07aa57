import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { packArrows, patchOf, patched, unpackArrows } from '../src/index.ts';

describe('what a viewer is sent of a change', () => {
  it('makes the new value of the old one, whatever they are, and survives JSON', () => {
    const value = fc.object({
      key: fc.constantFrom('a', 'b', 'c', 'length', '0'),
      maxDepth: 3,
      values: [
        fc.integer(),
        fc.string(),
        fc.boolean(),
        fc.constant(null),
        fc.array(fc.integer({ max: 3 }), { maxLength: 4 }),
      ],
    });
    fc.assert(
      fc.property(value, value, (a, b) => {
        const p = patchOf(a, b);
        expect(patched(a, p === undefined ? undefined : (JSON.parse(JSON.stringify(p)) as never))).toEqual(b);
      }),
      { numRuns: 150 },
    );
  });
  it('says only what is another, and what has not changed stays the very same', () => {
    const before = {
      state: 'running',
      tasks: [
        { task: 0, n: 1, a: { call: 'x', n: 1 } },
        { task: 1, n: 1, node: 'd' },
      ],
      faults: [{ at: 1 }],
    };
    const after = {
      state: 'running',
      tasks: [
        { task: 0, n: 2, a: { call: 'x', n: 3 } },
        { task: 1, n: 1 },
      ],
      faults: [{ at: 1 }, { at: 2 }],
    };
    const p = patchOf(before, after);
    expect(p).toEqual({
      tasks: { 0: { n: [2], a: { n: [3] } }, 1: { node: 0 } },
      faults: { length: 2, 1: [{ at: 2 }] },
    });
    const made = patched(before, p) as typeof after;
    expect(made).toEqual(after);
    expect(made.faults[0]).toBe(before.faults[0]);
    expect(patchOf(after, made)).toBeUndefined();
  });
  it('and messages as arrows stand in sixteen bytes each', () => {
    const at = 1_700_000_000_000;
    const arrows = [
      [at, 0, 1, 5, 7],
      [at + 999, 65_535, 2, 4_294_967_295, -1],
    ] as const;
    const packed = packArrows(arrows);
    expect(packed.arrows.byteLength).toBe(32);
    expect(unpackArrows(packed)).toEqual(arrows);
    expect(
      unpackArrows(
        packArrows([
          [at, 0, 1, 2 ** 40, 7],
          [at, 70_000, 1, 1, 1],
        ]),
      ),
    ).toEqual([[at, 0, 1, 4_294_967_295, 7]]);
  });
});
