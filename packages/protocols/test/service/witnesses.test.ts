/** N1 and N2 of service/witnesses.ts: what is certain across the cores of a Channel Memory. */
import { expect, test } from 'vitest';
import { taskId } from '@mayfly/wire';
import type { Witness } from '../../src/channel-memory/events.ts';
import { Witnesses } from '../../src/service/witnesses.ts';

const task = taskId(0);

function witnesses(fresh: boolean): { now: Witness | undefined; of: () => Witness | undefined; all: Witnesses } {
  const it = { now: undefined as Witness | undefined, of: () => all.of(task), all: undefined as unknown as Witnesses };
  const all = (it.all = new Witnesses(() => it.now));
  all.begin(fresh);
  return it;
}

test('a core that began with the job is sure of all that it says', () => {
  const it = witnesses(true);
  it.now = { arrivals: 3, events: 5, whole: false };
  expect(it.of()).toEqual({ arrivals: 3, events: 5, whole: true });
});

test('after a restart of the server it is sure when a sender has given back what it knows, and stays so (N2)', () => {
  const it = witnesses(false);
  it.now = { arrivals: undefined, events: 5, whole: false };
  expect(it.of()).toEqual(it.now);
  it.now = { arrivals: 3, events: 6, whole: true };
  expect(it.of()).toEqual(it.now);
  // its connection breaks
  it.now = { arrivals: 3, events: 6, whole: false };
  expect(it.of()).toEqual({ arrivals: 3, events: 6, whole: true });
});

test('an incarnation that begins has nothing to give back', () => {
  const it = witnesses(false);
  it.now = { arrivals: 3, events: 6, whole: false };
  it.all.began(task);
  expect(it.of()?.whole).toBe(true);
});

test('N1 what it said before its core went is the most that can be true', () => {
  const it = witnesses(true);
  it.now = { arrivals: 3, events: 5, whole: false };
  it.all.end([task]);
  it.now = undefined;
  expect(it.of()).toEqual({ arrivals: 3, events: 5, whole: true });
  // The next one has lost an arrival and two events, and some are made meanwhile.
  it.all.begin(false);
  it.now = { arrivals: undefined, events: 3, whole: false };
  expect(it.of()).toEqual({ arrivals: 3, events: 5, whole: true });
  it.now = { arrivals: 4, events: 7, whole: false };
  expect(it.of()).toEqual({ arrivals: 4, events: 7, whole: true });
});
