/**
 * Seeded runs of the dispatcher against a small model of nodes, CMs, CS and registry, with faults of every kind; then
 * the faults stop and every job has to end. The model (model.ts) judges effects.
 *
 * A failing seed replays: MAYFLY_SEED=<seed> npx vitest run packages/protocols/test/dispatcher/random.test.ts
 */
import { PROGRAM_KINDS } from '@mayfly/wire';
import { expect, it } from 'vitest';
import {
  Dispatcher,
  nodeViews,
  protocols,
  type DispatcherEffect,
  type DispatcherEvent,
  type JobRecord,
} from '../../src/index.ts';
import { fault } from './model-faults.ts';
import { Model } from './model.ts';
import { Volunteer } from './model-volunteer.ts';
import { randomOf } from '../random.ts';

declare const process: { env: Record<string, string | undefined> };

function run(seed: number, make?: () => Dispatcher, merges = false): Model {
  const below = randomOf(seed);
  const m = new Model(below, make, merges);
  try {
    m.limit([undefined, 5, 7][seed % 3]); // no job is larger than 5
    // In half of the seeds with images few nodes have room for a team.
    const large = merges && below(2) === 0 ? 2 : 3;
    const some = [undefined, undefined, PROGRAM_KINDS, ['wasm'], ['wasm'], ['typescript']] as const;
    for (let i = 2 + below(5); i > 0; i--) m.volunteers.push(new Volunteer(1 + below(large), some[below(some.length)]));
    // Whatever they are, each kind has a node.
    m.volunteers.push(new Volunteer(large === 2 ? 3 : 1 + below(3), undefined));
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

it('holds D1–D6, D8, D9, D20, D22–D26, D28–D30 under faults of every kind, and ends every job', () => {
  const only = process.env['MAYFLY_SEED'];
  let incarnations = 0;
  let pauses = 0;
  let [teams, crowded, again, dissolved, moved, merged, stopped] = [0, 0, 0, 0, 0, 0, 0];
  for (let seed = 1; seed <= 300; seed++) {
    const at = only === undefined ? seed : Number(only);
    const m = run(at, undefined, at % 2 === 0);
    for (const n of m.assigned.values()) incarnations += n;
    pauses += m.pauses;
    teams += m.teams;
    crowded += m.crowded;
    again += m.again;
    dissolved += m.dissolved.size;
    moved += m.moved;
    merged += m.merged;
    stopped += m.stopped;
    if (only !== undefined) break;
  }
  if (only === undefined) {
    expect(incarnations, 'the faults were real').toBeGreaterThan(1000);
    expect(pauses, 'and so were the pauses').toBeGreaterThan(300);
    expect(teams, 'teams began').toBeGreaterThan(300);
    expect(crowded, 'some on too few slots').toBeGreaterThan(20);
    expect(again, 'and some members again').toBeGreaterThan(10);
    expect(dissolved, 'and some teams were dissolved').toBeGreaterThan(5);
    expect(moved, 'and some moved').toBeGreaterThan(0);
    expect(merged, 'and some merged').toBeGreaterThan(5);
    expect(stopped, 'and some stopped to be dissolved').toBeGreaterThan(2);
  }
});

it('one seed is one run, to the letter', () => {
  expect(run(42).log).toEqual(run(42).log);
});

/** Without the rules of teams: what the dispatcher hears, does and decides, changed. */
const settings = { crashLimit: 10_000 };
class Generous extends Dispatcher {
  override step(e: DispatcherEvent): DispatcherEffect[] {
    return super.step(e.type === 'quotas' ? { ...e, quotas: { of: new Map() } } : e);
  }
}
class Fenced extends Dispatcher {
  /** Whoever has fenced one member has fenced its team. */
  override step(e: DispatcherEvent): DispatcherEffect[] {
    const before: DispatcherEffect[] = [];
    if (e.type === 'fencedCm') {
      const { team = [] } = this.core.find(e.job, e.task) ?? {};
      for (const task of team) {
        const { incarnation } = this.core.find(e.job, task)!;
        if (task !== e.task && incarnation !== undefined) before.push(...super.step({ ...e, task, incarnation }));
      }
    }
    return [...before, ...super.step(e)];
  }
}
class Split extends Dispatcher {
  #later: DispatcherEffect[] = [];
  /** One of several assignments waits for the next step. */
  override step(e: DispatcherEvent): DispatcherEffect[] {
    const effects = [...this.#later.splice(0), ...super.step(e)];
    const last = effects.filter((x) => x.type === 'assign' && x.team).at(-1);
    if (!last) return effects;
    this.#later = [last];
    return effects.filter((x) => x !== last);
  }
}
class Forgetful extends Dispatcher {
  override step(e: DispatcherEvent): DispatcherEffect[] {
    if (e.type !== 'recover') return super.step(e);
    const forget = (value: unknown): unknown => ({ ...(value as object), teams: undefined });
    return super.step({ ...e, entries: e.entries.map(([k, v]) => [k, k.startsWith('job/') ? forget(v) : v] as const) });
  }
}
class Silent extends Dispatcher {
  /** Nobody hears of teams that are dissolved. */
  override step(e: DispatcherEvent): DispatcherEffect[] {
    return super.step(e).filter((x) => x.type !== 'teams' || !x.dissolved);
  }
}
class MovesInSteps extends Dispatcher {
  /** Of a team that moves, one member is given a node a step before the others. */
  #later: DispatcherEffect[] = [];
  #moved = new Set<string>();
  override step(e: DispatcherEvent): DispatcherEffect[] {
    const effects = [...this.#later.splice(0), ...super.step(e)];
    for (const x of effects)
      if (x.type === 'log' && x.message.includes('share too few slots and move')) this.#moved.add(`${x.job}/${x.task}`);
    const first = effects.find((x) => x.type === 'assign' && this.#moved.delete(`${x.job}/${x.task}`));
    if (first) this.#later = [first];
    return effects.filter((x) => x !== first);
  }
}
class TakesAny extends Dispatcher {
  /** An image that the Checkpoint Server chooses counts as the newest. */
  override step(e: DispatcherEvent): DispatcherEffect[] {
    const t = e.type === 'imageChosen' ? this.core.find(e.job, e.task) : undefined;
    if (e.type === 'imageChosen' && t?.newest && e.image !== undefined) t.newest = { ...t.newest, image: e.image };
    return super.step(e);
  }
}
class ForgetsAsked extends Dispatcher {
  /** Ranks that were asked for last images are forgotten. */
  override step(e: DispatcherEvent): DispatcherEffect[] {
    for (const job of this.core.jobs.values()) {
      if (job.regrouping?.by !== undefined) job.regrouping = { ...job.regrouping, tasks: [], by: Infinity };
      for (const t of job.tasks) t.parkedAt = undefined;
    }
    return super.step(e);
  }
}
const alone = {
  ...protocols.pessimistic,
  recovery: { ...protocols.pessimistic.recovery, teams: 'transport' as const },
};

it.each([
  ['a lost member is raised alone', 'D2[24]', () => new Dispatcher(settings, { ...protocols, pessimistic: alone })],
  ['members are assigned before all are fenced', '(D1|D23): everyone', () => new Fenced(settings)],
  ['a team restarts in two steps', 'D23: all members', () => new Split(settings)],
  ['a team moves in two steps', 'D23: all members', () => new MovesInSteps({ ...settings, moveAfterMs: 0 })],
  ['there are no quotas', 'D26', () => new Generous(settings)],
  ['nobody hears that a team is dissolved', 'D28: shown', () => new Silent(settings)],
  ['teams are forgotten when the server restarts', 'D2[245]', () => new Forgetful(settings)],
  [
    'a team is made with images that are not the newest',
    'D28, D30: a new team',
    () => new TakesAny({ ...settings, mergeAfterMs: 0 }),
    true,
  ],
  [
    'what was asked for a last image is forgotten',
    'every job ends',
    () => new ForgetsAsked({ ...settings, moveAfterMs: 0, mergeAfterMs: 0 }),
    true,
  ],
])('notices: %s', (_, rule, make, merges = false) => {
  expect(() => {
    for (let seed = 1; seed <= (merges ? 400 : 100); seed++) run(seed, make, merges);
  }).toThrow(new RegExp(rule));
});
