/** Two ends of a team in one thread: every message comes once, whole and in order, whatever is full when. */
import type { Arrival } from '@mayfly/mpi';
import { taskId } from '@mayfly/wire';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Teammates } from '../src/rank/teammates.ts';
import { DATA } from '../src/ring/memory.ts';
import { createTeamMemory, TeamMemory } from '../src/ring/team-memory.ts';

const members = [3, 5, 8].map(taskId);
const team = (): { memory: SharedArrayBuffer; ends: Teammates[] } => {
  const memory = createTeamMemory(members.length, 0);
  return { memory, ends: members.map((task) => new Teammates({ members, memory }, task)) };
};
const contents = (size: number, seed: number): Uint8Array =>
  Uint8Array.from({ length: size }, (_, i) => (i * 31 + seed + (i >> 8)) & 255);
const never = (): void => {
  throw new Error('it would block');
};

function bodyOf(end: Teammates, a: Arrival): Uint8Array {
  if (a.body) return a.body.slice();
  const into = new Uint8Array(a.size);
  end.pull(a.number, into, never);
  return into;
}

describe('a team', () => {
  it('N1, N2, N3: any order of sends, receives and drains gives each message once, whole and in order', () => {
    const step = fc.record({
      what: fc.constantFrom('send', 'send', 'take', 'takeLater', 'drain'),
      from: fc.nat(2),
      to: fc.nat(2),
      size: fc.oneof(fc.nat(64), fc.nat(5000), fc.nat(400_000)),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const { ends } = team();
        const sent = new Map<string, { size: number; seed: number }[]>();
        const later: { end: Teammates; a: Arrival; e: { size: number; seed: number } }[] = [];
        let seed = 0;
        const check = (end: Teammates, a: Arrival, e: { size: number; seed: number }): void => {
          expect(a.size).toBe(e.size);
          expect(Buffer.compare(bodyOf(end, a), contents(e.size, e.seed))).toBe(0);
        };
        const took = (to: number, keep: boolean): boolean => {
          const end = ends[to]!;
          const a = end.take();
          if (!a) return false;
          const e = sent.get(`${a.src} ${members[to]!}`)!.shift()!;
          expect(a.tag).toBe(e.seed);
          if (keep && !a.body) later.push({ end, a, e });
          else check(end, a, e);
          return true;
        };
        for (const s of steps) {
          if (s.what === 'send') {
            const e = { size: s.size, seed: ++seed };
            const key = `${members[s.from]!} ${members[s.to]!}`;
            sent.set(key, [...(sent.get(key) ?? []), e]);
            const end = ends[s.from]!;
            const h = end.header(members[s.to]!, seed, 1, 7, e.seed, 0, e.size);
            // The receiver waits for something else meanwhile.
            end.send(s.to, h, contents(e.size, e.seed), (ready) => {
              while (!ready()) ends[s.to]!.drain();
            });
          } else if (s.what === 'drain') ends[s.to]!.drain();
          else took(s.to, s.what === 'takeLater');
        }
        for (let to = 0; to < 3; to++) while (took(to, false));
        for (const { end, a, e } of later) check(end, a, e);
        for (const left of sent.values()) expect(left).toEqual([]);
      }),
      { numRuns: 150 },
    );
  });

  it('counts what each channel carries', () => {
    const { memory, ends } = team();
    const [a, b] = ends as [Teammates, Teammates];
    for (const size of [0, 10, 100_000])
      a.send(1, a.header(members[1]!, 1, 1, 0, 0, 0, size), contents(size, 1), never);
    a.send(0, a.header(members[0]!, 1, 1, 0, 0, 0, 5), contents(5, 1), never);
    b.take();
    const view = new TeamMemory(memory);
    expect(view.channel(0, 1)).toEqual({ sent: 3, bytes: 100_010, consumed: 1 });
    expect(view.channel(0, 0)).toEqual({ sent: 1, bytes: 5, consumed: 0 });
    expect(view.channel(1, 0)).toEqual({ sent: 0, bytes: 0, consumed: 0 });
  });

  it('N5: wakes a receiver that sleeps once for a message of several parts, and not at all one that does not', () => {
    const { memory, ends } = team();
    const [a, b] = ends as [Teammates, Teammates];
    const bell = new TeamMemory(memory).bell(1);
    const rings = (size: number, sleeps: boolean): number => {
      const before = bell.count;
      bell.mask = sleeps ? DATA : 0;
      a.send(1, a.header(members[1]!, 1, 1, 0, 0, 0, size), contents(size, 1), never);
      bodyOf(b, b.take()!);
      b.release();
      return bell.count - before;
    };
    for (const size of [0, 8, 4096, 32_704, 32_705, 250_000]) {
      expect(rings(size, true)).toBe(1);
      expect(rings(size, false)).toBe(0);
    }
  });

  it('a rank that is done lets a sender go on that waits for room', () => {
    const { ends } = team();
    const [a, b] = ends as [Teammates, Teammates];
    const full = contents(300_000, 1);
    a.send(1, a.header(members[1]!, 1, 1, 0, 0, 0, full.length), full, (ready) => {
      expect(ready()).toBe(false);
      b.leave();
      expect(ready()).toBe(true);
    });
  });

  it('N4: refuses parts that do not follow each other', () => {
    const { memory, ends } = team();
    const [a, b] = ends as [Teammates, Teammates];
    const body = contents(100_000, 1);
    a.send(1, a.header(members[1]!, 1, 1, 0, 0, 0, body.length), body, never);
    const m = new TeamMemory(memory);
    const ring = m.reader(0, 1);
    ring.peek();
    ring.view.setUint32(40, 8, true);
    b.take();
    expect(() => b.drain()).toThrow('is not the next');
  });
});
