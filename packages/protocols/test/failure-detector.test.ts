import { describe, expect, it } from 'vitest';
import { deadline, judge, ObserverClock, patienceOf, type Presence } from '../src/failure-detector.ts';

const patience = { heartbeatMs: 1000, graceMs: 3000, silentMs: 10_000 };

describe('failure detector', () => {
  it('F1: heard within the limits is never gone', () => {
    const p: Presence = { heard: 0 };
    expect(judge(p, 3000, patience)).toBe('here');
    expect(judge(p, 3001, patience)).toBe('suspect');
    expect(judge(p, 9999, patience)).toBe('suspect');
    expect(judge(p, 10_000, patience)).toBe('gone');
  });

  it('a closed socket shortens the wait, never below the grace', () => {
    expect(deadline({ heard: 5000, closed: 5500 }, patience)).toBe(8500);
    expect(judge({ heard: 5000, closed: 5500 }, 5501, patience)).toBe('suspect');
    // It had been silent for 9 s when its socket closed.
    expect(deadline({ heard: 0, closed: 9000 }, patience)).toBe(10_000);
    expect(judge({ heard: 0, left: true }, 0, patience)).toBe('gone');
  });

  it("a job's grace replaces both; silence shorter than 2.5 heartbeats means nothing", () => {
    expect(patienceOf(patience, undefined)).toEqual(patience);
    expect(patienceOf(patience, 60_000)).toEqual({ heartbeatMs: 1000, graceMs: 60_000, silentMs: 60_000 });
    expect(patienceOf(patience, 200)).toEqual({ heartbeatMs: 1000, graceMs: 200, silentMs: 2500 });
    // Of the server as well: the paper's alive signal comes once a minute.
    expect(patienceOf({ ...patience, heartbeatMs: 60_000 }, undefined).silentMs).toBe(150_000);
  });

  it('F2: the clock stands still while the observer does, and never goes back', () => {
    const c = new ObserverClock(250);
    c.advance(1000);
    expect(c.advance(1250)).toBe(250);
    expect(c.advance(3_601_250)).toBe(500);
    expect(c.advance(5000)).toBe(500);
    expect(c.advance(5250)).toBe(750);
  });
});
