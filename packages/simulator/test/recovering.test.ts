/** Programs that recover themselves (`app`, FT-MPI's modes): Q16 and Q22 with every fault, and real losses. */
import { expect, test } from 'vitest';
import { NODES_COME_AND_GO, run } from '../src/index.ts';

test('all that are left see the same, whatever happens to nodes and links', () => {
  const modes = new Set<string>();
  let heard = 0;
  let done = 0;
  for (let seed = 1; seed <= 16; seed++) {
    const r = run(seed, NODES_COME_AND_GO);
    expect(r.violation, `seed ${seed}: ${r.parameters}\n${r.notes.slice(-30).join('\n')}`).toBeUndefined();
    expect([undefined, 'LOST_NODES']).toContain(r.endedBy);
    if (r.endedBy === undefined) done++;
    const { communicators } = (JSON.parse(r.parameters) as { ft: { communicators: string } }).ft;
    if ((r.counts['recoveries heard of'] ?? 0) > 0) modes.add(communicators);
    heard += r.counts['recoveries heard of'] ?? 0;
  }
  expect([...modes].sort()).toEqual(['blank', 'rebuild', 'shrink']);
  expect(heard).toBeGreaterThan(40);
  expect(done).toBeGreaterThan(5);
});

test('every kind of fault: such a job does not outlive its server', () => {
  const ends = Array.from({ length: 8 }, (_, i) => run(i + 1, { setup: { protocol: 'app' } }));
  expect(ends.flatMap((r) => r.violation ?? [])).toEqual([]);
  expect(ends.some((r) => r.endedBy === 'SERVER_RESTARTED')).toBe(true);
});
