/** Progress that a program states: the numbers are those of job-progress.ts. */
import { expect, it } from 'vitest';
import { J, job, Stage, T } from './stage.ts';

/** `n` ranks at one node; `at`: what they state from now on, for `ms`. */
function stage(n: number): { s: Stage; at: (stated: (number | undefined)[], ms?: number) => void } {
  const s = new Stage();
  s.come(1, n);
  s.send('submit', { job: job(n) });
  const at = (stated: (number | undefined)[], ms = 1000): void => {
    const tasks = stated.map((progress, task) =>
      s.beat(task, s.record(task).incarnation, progress === undefined ? {} : { progress }),
    );
    s.pass(ms, { c1: tasks });
  };
  return { s, at };
}

it('is the least of what the ranks state, and absent where none does', () => {
  const { s, at } = stage(3);
  at([undefined, undefined, undefined]);
  expect(s.view()).not.toHaveProperty('progress');
  at([0.5, undefined, 0.3333333]);
  expect(s.view().progress).toEqual({ fraction: 0.333, repeating: [] });
});

it('G2: no estimate before 5 % and ten seconds are measured; then by the mean rate, and none in a pause', () => {
  const { s, at } = stage(1);
  at([0.1], 20_000);
  expect(s.view().progress).toEqual({ fraction: 0.1, repeating: [] });
  at([0.14], 1000);
  expect(s.view().progress).not.toHaveProperty('remainingMs');
  at([0.2], 1000);
  const { remainingMs } = s.view().progress!;
  // 0.1 took 22 s: 0.8 take 176 s
  expect(remainingMs).toBeGreaterThanOrEqual(170_000);
  expect(remainingMs).toBeLessThanOrEqual(180_000);
  expect(remainingMs! % 10_000).toBe(0);
  s.send('pause', { job: J(), waitMs: 0 });
  expect(s.view().progress).toEqual({ fraction: 0.2, repeating: [] });
});

it('G2: no estimate while a rank waits for a slot', () => {
  const { s, at } = stage(1);
  at([0.1], 20_000);
  at([0.5], 1000);
  expect(s.view().progress).toHaveProperty('remainingMs');
  s.send('goodbye', { connection: 'c1', reason: 'closed' });
  expect(s.view()).toMatchObject({ state: 'stalled', progress: { fraction: 0.5, repeating: [0] } });
  expect(s.view().progress).not.toHaveProperty('remainingMs');
});

it('G2: the time that a rank waited for a slot is not in the rate', () => {
  const { s, at } = stage(1);
  at([0.1], 20_000);
  at([0.5], 1000);
  const before = s.view().progress!.remainingMs!;
  s.send('goodbye', { connection: 'c1', reason: 'closed' });
  s.pass(3_600_000);
  s.come(2);
  const resumed = [s.beat(0, s.record(0).incarnation, { progress: 0.52 })];
  s.pass(2000, { c2: resumed });
  const { remainingMs } = s.view().progress!;
  expect(remainingMs).toBeGreaterThan(before / 2);
  expect(remainingMs).toBeLessThan(before * 2);
});

it('G3: an estimate goes when nothing gets further, and the view changes then without a report of any node', () => {
  const { s, at } = stage(1);
  at([0.1], 20_000);
  at([0.5], 1000);
  expect(s.view().progress).toHaveProperty('remainingMs');
  // It takes 20 s for a step; three of these pass, and it may be more.
  at([0.5], 55_000);
  expect(s.view().progress).toHaveProperty('remainingMs');
  const tasks = [s.beat(0, s.record(0).incarnation, { progress: 0.5 })];
  let shown;
  for (let i = 0; i < 60 && s.view().progress?.remainingMs !== undefined; i++) {
    s.now += 250;
    s.send('heartbeat', { connection: 'c1', tasks });
    shown = s.send('tick', {});
  }
  expect(shown).toContainEqual({ type: 'jobChanged', job: J() });
  expect(s.view().progress).toEqual({ fraction: 0.5, repeating: [] });
  at([0.6], 1000);
  expect(s.view().progress).toHaveProperty('remainingMs');
});

it('G2: 5 % in less than ten seconds are not enough', () => {
  const { s, at } = stage(1);
  at([0.1], 1000);
  at([0.6], 5000);
  expect(s.view().progress).toEqual({ fraction: 0.6, repeating: [] });
});

it('G1: a rank that repeats work does not take the job back, and is named until it is there again', () => {
  const { s, at } = stage(2);
  at([0.6, 0.6], 1000);
  s.send('kill', { job: J(), task: T(0) });
  expect(s.view().progress).toEqual({ fraction: 0.6, repeating: [0] });
  at([undefined, 0.6]);
  expect(s.view().progress).toEqual({ fraction: 0.6, repeating: [0] });
  at([0.2, 0.7]);
  at([0.5, 0.7]);
  expect(s.view().progress).toEqual({ fraction: 0.6, repeating: [0] });
  at([0.65, 0.7]);
  expect(s.view().progress).toEqual({ fraction: 0.65, repeating: [] });
});

it('G1: a lost rank without a slot is named, too', () => {
  const { s, at } = stage(1);
  at([0.6]);
  s.send('disconnected', { connection: 'c1' });
  s.pass(60_000);
  expect(s.view().state).toBe('stalled');
  expect(s.view().progress).toEqual({ fraction: 0.6, repeating: [0] });
});

it('G1: the program itself may go back, and the rate is measured from there', () => {
  const { s, at } = stage(1);
  at([0.9], 20_000);
  at([0.1], 1000);
  expect(s.view().progress).toEqual({ fraction: 0.1, repeating: [] });
  at([0.3], 1000);
  expect(s.view().progress).toEqual({ fraction: 0.3, repeating: [] });
});

it('a rank that has ended has done its share; a job that has ended shows none', () => {
  const { s, at } = stage(2);
  at([0.4, 0.8]);
  s.exit(0);
  expect(s.view().progress).toEqual({ fraction: 0.8, repeating: [] });
  s.exit(1);
  expect(s.view().state).toBe('done');
  expect(s.view()).not.toHaveProperty('progress');
});
