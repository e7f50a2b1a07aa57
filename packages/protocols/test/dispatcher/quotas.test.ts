/** Quotas of slots (D26). Owners are words; the jobs of each are numbered over the test. */
import { FIRST_TOKEN } from '@mayfly/wire';
import { expect, it } from 'vitest';
import { slotsByOwner, slotsFor, type JobSpec } from '../../src/index.ts';
import { J, job, Stage, T } from './stage.ts';

const of = (owner: string, n: number, size: number, over: Partial<JobSpec> = {}): JobSpec =>
  job(size, { id: J(n), owner, ...over });
const states = (s: Stage, ...jobs: number[]): string[] => jobs.map((n) => s.view(J(n)).state);
const quotas = (s: Stage, each: number | undefined, more: [string, number | undefined][] = []): void =>
  void s.send('quotas', { quotas: { each, of: new Map(more) } });

it('a job waits while its owner uses what the quota allows, and holds back nobody else', () => {
  const s = new Stage();
  quotas(s, 4);
  s.come(1, 8);
  s.send('submit', { job: of('ada', 1, 3) });
  s.send('submit', { job: of('ada', 2, 2) });
  s.send('submit', { job: of('bob', 3, 4) });
  expect(states(s, 1, 2, 3)).toEqual(['running', 'waiting', 'running']);
  expect(s.view(J(2)).reason).toBe(
    'needs 2 slots; ada uses 3 of the 4 that the quota allows: starts when other jobs of ada end',
  );
  expect(Object.fromEntries(slotsByOwner(s.dispatcher))).toEqual({ ada: 3, bob: 4 });
  // One rank of three ends: its slot counts no more.
  s.exit(0, { code: 0 }, J(1));
  expect(states(s, 2)).toEqual(['running']);
});

it('later jobs of the same owner do not pass one that waits for the quota, unless it is larger than all of it', () => {
  const s = new Stage();
  quotas(s, undefined, [['ada', 4]]);
  s.come(1, 8);
  s.send('submit', { job: of('ada', 1, 2) });
  s.send('submit', { job: of('ada', 2, 4) });
  s.send('submit', { job: of('ada', 3, 1) });
  expect(states(s, 1, 2, 3)).toEqual(['running', 'waiting', 'waiting']);
  s.exit(0, { code: 0 }, J(1));
  s.exit(1, { code: 0 }, J(1));
  expect(states(s, 2, 3)).toEqual(['running', 'waiting']);
  s.send('submit', { job: of('ada', 4, 5) });
  for (const task of [0, 1, 2, 3]) s.exit(task, { code: 0 }, J(2));
  s.send('submit', { job: of('ada', 5, 2) });
  expect(states(s, 3, 4, 5)).toEqual(['running', 'waiting', 'running']);
  expect(s.view(J(4)).reason).toMatch(/needs 5 slots, and the quota of ada is 4 slots at once/);
  // The owner of the server gives more.
  quotas(s, undefined, [['ada', 8]]);
  expect(states(s, 4)).toEqual(['running']);
});

it('a lost rank is within the quota: no other job starts with its slot; a lower quota stops nothing that runs', () => {
  const s = new Stage();
  quotas(s, 3);
  s.come(1, 2);
  s.come(2, 1);
  s.send('submit', { job: of('ada', 1, 3) });
  s.send('goodbye', { connection: 'c2', reason: 'closed' });
  expect(states(s, 1)).toEqual(['stalled']);
  s.send('submit', { job: of('ada', 2, 1) });
  quotas(s, 1);
  s.come(3, 2);
  // Its own rank got the slot; the new job has to wait, though another is free.
  expect(states(s, 1, 2)).toEqual(['running', 'waiting']);
});

it('paused jobs use nothing once their ranks have left, and resume within the quota', () => {
  const s = new Stage();
  quotas(s, 2);
  s.come(1, 4);
  s.send('submit', { job: of('ada', 1, 2) });
  s.send('pause', { job: J(1), waitMs: 0 });
  s.pass(500, { c1: [] });
  expect(states(s, 1)).toEqual(['paused']);
  s.send('submit', { job: of('ada', 2, 2) });
  expect(states(s, 2)).toEqual(['running']);
  s.send('resume', { job: J(1) });
  expect(states(s, 1)).toEqual(['waiting']);
  s.send('cancel', { job: J(2) });
  expect(states(s, 1)).toEqual(['running']);
});

it('a job may spawn, and knows of, as many more ranks as the quota leaves', () => {
  const s = new Stage();
  quotas(s, 3, [[FIRST_TOKEN, undefined]]);
  s.come(1, 8);
  s.send('submit', { job: of('ada', 1, 2, { capacity: 16 }) });
  s.send('submit', { job: job(1, { id: J(2), capacity: 16 }) });
  expect(slotsFor(s.dispatcher, J(1))).toBe(1);
  expect(slotsFor(s.dispatcher, J(2))).toBe(5);
  expect(s.dispatcher.core.jobs.get(J(1))!.record.universe).toBe(3);
  s.send('spawn', {
    job: J(1),
    group: { root: T(0), channel: 0, first: T(2), parts: [{ count: 1, args: [] }] } as never,
  });
  expect(slotsByOwner(s.dispatcher).get('ada')).toBe(3);
  expect(slotsFor(s.dispatcher, J(1))).toBe(0);
});
