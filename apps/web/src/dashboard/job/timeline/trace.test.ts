import { LANE_KINDS, jobId, taskId } from '@mayfly/wire';
import { describe, expect, it } from 'vitest';
import { traceOf } from './trace.ts';

const K = LANE_KINDS.length;

describe('a trace for other viewers', () => {
  it(
    'has a thread per rank, a slice for each run of columns of the same kind with its shares, nothing where ' +
      'nothing is known or behind the end, and what happened',
    () => {
      // Columns of 1 s: rank 0 computes for two (of the second a part), then it is not known; rank 1 waits, replays,
      // waits.
      const bytes = new Uint8Array(3 * 2 * K);
      const set = (column: number, rank: number, kind: (typeof LANE_KINDS)[number], share: number) =>
        (bytes[(column * 2 + rank) * K + LANE_KINDS.indexOf(kind)] = share);
      set(0, 0, 'computing', 255);
      set(1, 0, 'computing', 153);
      set(1, 0, 'waiting', 102);
      for (const [c, kind] of ['waiting', 'replaying', 'waiting'].entries()) set(c, 1, kind as 'waiting', 255);
      const { traceEvents } = traceOf(
        'ring',
        {
          job: jobId('abcdefghijkl'),
          size: 2,
          kinds: [...LANE_KINDS],
          since: 5000,
          until: 7600,
          now: 9000,
          ended: true,
          from: 5000,
          widthMs: 1000,
          columns: 3,
          first: 0,
          last: 1,
          eventsLeftOut: 0,
          events: [
            { at: 6000, kind: 'fault', task: taskId(1), cause: 'killed' },
            { at: 7500, kind: 'server' },
          ],
        },
        bytes,
      );
      const { pid } = traceEvents[0]!;
      expect(traceEvents.filter((e) => e.name === 'thread_name').map((e) => [e.tid, e.args])).toEqual([
        [1, { name: 'rank 0' }],
        [2, { name: 'rank 1' }],
      ]);
      expect(traceEvents.filter((e) => e.ph === 'X').map((e) => [e.tid, e.name, e.ts, e.dur, e.args])).toEqual([
        [1, 'computing', 0, 2_000_000, { computing: '80.0 %', waiting: '20.0 %' }],
        [2, 'waiting', 0, 1_000_000, { waiting: '100.0 %' }],
        [2, 'replaying', 1_000_000, 1_000_000, { replaying: '100.0 %' }],
        [2, 'waiting', 2_000_000, 600_000, { waiting: '100.0 %' }],
      ]);
      expect(traceEvents.filter((e) => e.ph === 'i').map((e) => [e.name, e.tid, e.ts, e.s, e.args])).toEqual([
        ['fault', 2, 1_000_000, 't', { cause: 'killed' }],
        ['server', pid, 2_500_000, 'p', {}],
      ]);

      // What viewers ask of each event (Trace Event Format): whole microseconds, slices of a thread that do not
      // overlap,
      // an instant's scope; and numbers without a meaning of their own.
      const ends = new Map<number, number>();
      for (const e of traceEvents) {
        expect(e).toMatchObject({ name: expect.stringMatching(/./), ph: expect.stringMatching(/^[MXi]$/), pid });
        expect(e.tid).toBeGreaterThan(0);
        if (e.ph === 'M') {
          expect(Object.keys(e.args!)).toEqual([e.name.endsWith('sort_index') ? 'sort_index' : 'name']);
          continue;
        }
        expect(Number.isSafeInteger(e.ts) && e.ts! >= 0).toBe(true);
        if (e.ph === 'i') expect(e.s).toBe(e.tid === pid ? 'p' : 't');
        else {
          expect(e.tid).not.toBe(pid);
          expect(Number.isSafeInteger(e.dur) && e.dur! > 0 && e.ts! >= (ends.get(e.tid) ?? 0)).toBe(true);
          ends.set(e.tid, e.ts! + e.dur!);
        }
      }
    },
  );
});
