/**
 * Seeded runs of the dispatcher against a small model of nodes, CMs, CS and registry, with faults of every kind; then
 * the faults stop and every job has to end. The model (model.ts) judges effects.
 *
 * A failing seed replays: MAYFLY_SEED=<seed> npx vitest run packages/protocols/test/dispatcher/random.test.ts
 */
import { PROGRAM_KINDS } from '@mayfly/wire';
import { expect, it } from 'vitest';
import { nodeViews, type JobRecord } from '../../src/index.ts';
import { fault } from './model-faults.ts';
import { Model, Volunteer } from './model.ts';
import { randomOf } from '../random.ts';

declare const process: { env: Record<string, string | undefined> };

function run(seed: number): Model {
  const below = randomOf(seed);
  const m = new Model(below);
  try {
    const some = [undefined, undefined, PROGRAM_KINDS, ['wasm'], ['wasm'], ['typescript']] as const;
    for (let i = 2 + below(5); i > 0; i--) m.volunteers.push(new Volunteer(1 + below(3), some[below(some.length)]));
    // Whatever they are, each kind has a node.
    m.volunteers.push(new Volunteer(1 + below(3), undefined));
    const jobs = 1 + below(4);
    let submitted = 0;
    const faultEvery = 2 + below(12);
    m.pace = 2 + below(6);
    for (let turn = 0; turn < 400; turn++) {
      if (submitted < jobs && below(30) === 0) m.submit(submitted++, 1 + below(5));
      if (below(faultEvery) === 0) fault(m);
      m.turn();
    }
    while (submitted < jobs) m.submit(submitted++, 1 + below(5));
    // Faults stop, there are slots, and nothing is paused.
    m.pace = 6;
    for (const id of m.sizes.keys()) m.resume(id);
    for (const v of m.volunteers) {
      v.frozen = false;
      v.slots = 5;
      if (v.connection !== undefined) m.step({ type: 'slots', now: m.now, connection: v.connection, slots: 5 });
    }
    for (let turn = 0; turn < 3000 && !m.quiet(); turn++) m.turn();
    expect(m.quiet() ? '' : m.stuck(), 'every job ends when faults stop and slots exist').toBe('');
    for (const id of m.sizes.keys()) {
      const record = m.registry.get(`job/${id}`) as JobRecord;
      expect(record.state, `${id}: ${record.error?.message ?? ''}`).toBe('done');
    }
    for (const n of nodeViews(m.dispatcher)) expect(n.busy, 'D8').toBe(0);
  } catch (e) {
    const tail = process.env['MAYFLY_SEED'] ? `\n${m.log.slice(-200).join('\n')}` : '';
    throw new Error(`seed ${seed}: ${(e as Error).message}${tail}`, { cause: e });
  }
  return m;
}

it('holds D1–D6, D8, D9 and D20 under faults of every kind, and ends every job', { timeout: 120_000 }, () => {
  const only = process.env['MAYFLY_SEED'];
  let incarnations = 0;
  let pauses = 0;
  for (let seed = 1; seed <= 300; seed++) {
    const m = run(only === undefined ? seed : Number(only));
    for (const n of m.assigned.values()) incarnations += n;
    pauses += m.pauses;
    if (only !== undefined) break;
  }
  if (only === undefined) {
    expect(incarnations, 'the faults were real').toBeGreaterThan(1000);
    expect(pauses, 'and so were the pauses').toBeGreaterThan(300);
  }
});

it('one seed is one run, to the letter', () => {
  expect(run(42).log).toEqual(run(42).log);
});
