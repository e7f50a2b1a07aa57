/** The few rooms that a new job's ranks are looked for in are those that a look at all rooms would give them. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Room } from '../../src/dispatcher/free-slots.ts';
import { NONE, bestRooms, takeRoomForUnit, type Wanted } from '../../src/dispatcher/placement.ts';
import { J, N, T } from './stage.ts';

const room = fc.record({
  code: fc.constantFrom(undefined, 'ROOM'),
  runs: fc.constantFrom(['wasm'] as const, ['wasm', 'typescript'] as const, ['typescript'] as const),
  free: fc.integer({ min: 0, max: 3 }),
  here: fc.integer({ min: 0, max: 2 }),
  record: fc.boolean(),
  doubtful: fc.boolean(),
  level: fc.integer({ min: 0, max: 2 }),
  since: fc.integer({ min: 0, max: 3 }),
});

test('bestRooms', () => {
  fc.assert(
    fc.property(
      fc.array(room, { maxLength: 12 }),
      fc.integer({ min: 1, max: 10 }),
      fc.boolean(),
      fc.constantFrom('slot' as const, 'node' as const),
      (all, ranks, contested, mapBy) => {
        const rooms = (): Room[] =>
          all.map(({ here, ...r }, i) => ({ ...r, id: N(i), ranks: new Map([[J(), here]]), has: () => false }));
        const wanted: Wanted = {
          job: J(),
          task: T(0),
          avoid: undefined,
          failed: new Set(),
          code: undefined,
          kind: 'wasm',
          held: NONE,
          contested,
          mapBy,
        };
        const takes = (from: readonly Room[]) =>
          Array.from({ length: ranks }, () => takeRoomForUnit(wanted, 1, from)?.node);
        expect(takes(bestRooms(wanted, ranks, rooms()))).toEqual(takes(rooms()));
      },
    ),
    { numRuns: 500 },
  );
});
