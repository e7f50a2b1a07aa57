/** Whose job is next (D27): the rule alone, with random owners, and the dispatcher that follows it. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decayed, next, type Head } from '../../src/dispatcher/fair-share.ts';
import { type JobSpec } from '../../src/index.ts';
import { J, job, Stage } from './stage.ts';

const HOUR = 3_600_000;
const head = (over: Partial<Head>): Head => ({ inUse: 0, recent: 0, since: 0, order: 0, ...over });
/** Which of them comes first. */
const first = (now: number, ...heads: Partial<Head>[]): number => {
  const all = heads.map(head);
  return all.indexOf(next(all, now, HOUR)!);
};

describe('the rule', () => {
  it('least in use, then least used lately, then first submitted; overdue before all, the longest wait first', () => {
    expect(first(0, { inUse: 2 }, { inUse: 1, recent: 9, order: 5 })).toBe(1);
    expect(first(0, { inUse: 1, recent: 9 }, { inUse: 1, recent: 8, order: 5 })).toBe(1);
    expect(first(0, { order: 7 }, { order: 6 })).toBe(1);
    expect(first(HOUR, { since: 1 }, { inUse: 9, order: 9 })).toBe(1);
    expect(first(2 * HOUR, { since: 5 }, { since: 4, inUse: 9, order: 9 })).toBe(1);
    expect(next([], 0, HOUR)).toBeUndefined();
  });

  it('half of what was used is forgotten in each half-life, in one step or in many', () => {
    expect(decayed(8000, 0, 2 * HOUR, HOUR)).toBeCloseTo(2000);
    expect(decayed(0, 3, 10, HOUR)).toBeCloseTo(30, 2);
    const steps = fc.array(fc.integer({ min: 0, max: HOUR }), { maxLength: 8 });
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 1e6 }), fc.nat(8), steps, (recent, slots, parts) => {
        const whole = parts.reduce((a, b) => a + b, 0);
        const inSteps = parts.reduce((r, ms) => decayed(r, slots, ms, HOUR), recent);
        expect(inSteps).toBeCloseTo(decayed(recent, slots, whole, HOUR), 0);
      }),
    );
  });
});

/** Owners, some slots, and the rule with what D4 makes of it: who is next and does not fit holds back the others. */
class Cluster {
  now = 0;
  readonly recent = new Map<string, number>();
  readonly startedAt = new Map<string, number>();
  running: { owner: string; size: number; until: number }[] = [];
  readonly queue: { owner: string; size: number; ms: number; at: number; order: number }[] = [];
  #order = 0;
  constructor(
    readonly slots: number,
    readonly overdueMs: number,
  ) {}

  inUse = (owner?: string): number =>
    this.running.reduce((n, r) => n + (owner === undefined || r.owner === owner ? r.size : 0), 0);

  submit(owner: string, size: number, ms: number): number {
    this.queue.push({ owner, size, ms, at: this.now, order: this.#order });
    return this.#order++;
  }

  pass(ms: number): void {
    for (const owner of new Set([...this.recent.keys(), ...this.running.map((r) => r.owner)]))
      this.recent.set(owner, decayed(this.recent.get(owner) ?? 0, this.inUse(owner), ms, HOUR));
    this.now += ms;
    this.running = this.running.filter((r) => r.until > this.now);
    for (;;) {
      const heads = [...new Set(this.queue.map((j) => j.owner))].map((owner) => {
        const j = this.queue.find((q) => q.owner === owner)!;
        const since = Math.max(j.at, this.startedAt.get(owner) ?? 0);
        return { j, inUse: this.inUse(owner), recent: this.recent.get(owner) ?? 0, since, order: j.order };
      });
      const j = next(heads, this.now, this.overdueMs)?.j;
      if (!j || this.inUse() + j.size > this.slots) return;
      this.queue.splice(this.queue.indexOf(j), 1);
      this.running.push({ owner: j.owner, size: j.size, until: this.now + j.ms });
      this.startedAt.set(j.owner, this.now);
    }
  }
}

describe('with random owners', () => {
  const MINUTE = 60_000;
  it('a job that needs all slots starts, however many owners keep coming with small ones', () => {
    const arrivals = fc.array(
      fc.record({ size: fc.integer({ min: 1, max: 4 }), minutes: fc.integer({ min: 1, max: 20 }) }),
      {
        minLength: 1,
        maxLength: 3,
      },
    );
    fc.assert(
      fc.property(fc.array(arrivals, { minLength: 5, maxLength: 40 }), fc.nat(3 * HOUR), (turns, used) => {
        const c = new Cluster(8, HOUR);
        c.recent.set('big', used); // and it is not the one that used least
        for (let i = 0; i < 8; i++) c.submit(`early ${i}`, 1, 5 * MINUTE);
        c.pass(MINUTE);
        const order = c.submit('big', 8, MINUTE);
        // New owners with nothing in use come in every minute, for ever.
        for (let t = 0; c.queue.some((j) => j.order === order); t++) {
          // Overdue after an hour, behind what was overdue before; then no job is longer than 20 minutes.
          expect(t).toBeLessThan(60 + 20 + 8 * 5 + 5);
          for (const [n, j] of turns[t % turns.length]!.entries())
            c.submit(`late ${t} ${n}`, j.size, j.minutes * MINUTE);
          c.pass(MINUTE);
        }
      }),
      { numRuns: 60 },
    );
  });

  it('owners that always have jobs waiting get the same slot-time, whoever came first with however many', () => {
    const many = fc.integer({ min: 6, max: 30 });
    fc.assert(
      fc.property(fc.tuple(many, many, many), fc.integer({ min: 1, max: 9 }), (lead, minutes) => {
        const c = new Cluster(6, 100 * HOUR);
        const owners = ['ada', 'bob', 'cyd'];
        const time = new Map(owners.map((o) => [o, 0]));
        for (let t = 0; t < 300; t++) {
          for (const [i, o] of owners.entries())
            // They come one after the other.
            if (t >= 10 * i)
              while (c.queue.filter((j) => j.owner === o).length < lead[i]!) c.submit(o, 1, minutes * MINUTE);
          c.pass(MINUTE);
          if (t >= 40) for (const o of owners) time.set(o, time.get(o)! + c.inUse(o));
        }
        const [least, , most] = [...time.values()].sort((a, b) => a - b) as [number, number, number];
        expect(most - least).toBeLessThanOrEqual(0.1 * most);
      }),
      { numRuns: 30 },
    );
  });
});

const of = (owner: string, n: number, size: number, over: Partial<JobSpec> = {}): JobSpec =>
  job(size, { id: J(n), owner, ...over });
const running = (s: Stage): number[] =>
  [...s.dispatcher.core.jobs.values()]
    .filter((j) => j.record.state === 'running')
    .map((j) => Number(j.record.spec.id.slice(3)));
const end = (s: Stage, n: number): void => s.exit(0, { code: 0 }, J(n));

describe('the dispatcher', () => {
  it('gives free slots to the owner that has the fewest, not to the one that came first with many jobs', () => {
    const s = new Stage();
    s.come(1, 4);
    for (let n = 1; n <= 8; n++) s.send('submit', { job: of('ada', n, 1) });
    for (let n = 11; n <= 14; n++) s.send('submit', { job: of('bob', n, 1) });
    expect(running(s)).toEqual([1, 2, 3, 4]);
    s.pass(1000, { c1: [1, 2, 3, 4].map((n) => s.beat(0, 0, {}, J(n))) });
    end(s, 1);
    end(s, 2);
    expect(running(s)).toEqual([3, 4, 11, 12]);
    expect(s.view(J(5)).reason).toBe('waits behind 2 jobs; needs 1 slot; 0 of 4 are free');
    s.pass(250, { c1: [3, 4, 11, 12].map((n) => s.beat(0, 0, {}, J(n))) });
    end(s, 11);
    // Both have as many then: the one that used less lately is next.
    expect(running(s)).toEqual([3, 4, 12, 13]);
  });

  it('an owner whose big job waits for all slots is not passed by small ones of those that use some', () => {
    const s = new Stage();
    s.come(1, 3);
    s.send('submit', { job: of('bob', 1, 1) });
    s.send('submit', { job: of('cyd', 2, 1) });
    s.send('submit', { job: of('ada', 3, 3) });
    for (let n = 4; n < 9; n++) s.send('submit', { job: of(n % 2 ? 'bob' : 'cyd', n, 1) });
    end(s, 1);
    expect(running(s)).toEqual([2]);
    end(s, 2);
    expect(running(s)).toEqual([3]);
  });

  it('nor for ever by owners that never used anything: after an hour it comes first', () => {
    const s = new Stage();
    s.come(1, 2);
    s.send('submit', { job: of('ada', 1, 2) });
    s.pass(60_000, { c1: [s.beat(0, 0, {}, J(1)), s.beat(1, 0, {}, J(1))] });
    s.send('submit', { job: of('ada', 2, 2) });
    for (let n = 3; n < 6; n++) s.send('submit', { job: of(`new ${n}`, n, 1) });
    for (const t of [0, 1]) s.exit(t, { code: 0 }, J(1));
    expect(running(s)).toEqual([3, 4]);
    s.now += HOUR;
    s.come(1, 2, { holds: [3, 4].map((n) => ({ job: J(n), task: 0, incarnation: 0 })) as never });
    s.send('submit', { job: of('new', 9, 1) });
    end(s, 3);
    expect(running(s)).toEqual([4]);
    end(s, 4);
    expect(running(s)).toEqual([2]);
  });

  it('a restart of the server remembers what was used', () => {
    const s = new Stage();
    s.come(1, 1);
    s.send('submit', { job: of('ada', 1, 1) });
    s.pass(60_000, { c1: [s.beat(0, 0, {}, J(1))] });
    s.send('submit', { job: of('ada', 2, 1) });
    s.send('submit', { job: of('bob', 3, 1) });
    end(s, 1);
    expect(running(s)).toEqual([3]);
    s.crash();
    expect(s.dispatcher.core.shares.recent('ada')).toBeGreaterThan(45_000);
    expect(s.dispatcher.core.shares.recent('bob')).toBeLessThan(1000);
  });
});
