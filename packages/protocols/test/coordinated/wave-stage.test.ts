/**
 * The stage of `vcl` in a Channel Memory that works at another server: tasks whose home is elsewhere may hear of a wave
 * before it does (G5 of gate.ts). This one is the home of task 1; tasks 0 and 2 have another.
 */
import { Kind, emptyHeader, encodeFrame, type Cut } from '@mayfly/wire';
import { expect, test } from 'vitest';
import type { WaveLogEvent } from '../../src/contract/waves.ts';
import { startOf } from '../../src/coordinated/position.ts';
import { Bench, T, arrivals, codes } from '../data-path/bench.ts';

const wave = (over: Partial<Extract<WaveLogEvent, { type: 'wave' }>> = {}): WaveLogEvent => ({
  type: 'wave',
  wave: 1,
  tasks: 2,
  ended: [],
  starting: [],
  ...over,
});

function bench(): Bench {
  const b = new Bench({ size: 2, index: 1, count: 2 }, 'vcl');
  for (const t of [0, 1]) b.attach(10 + t, t, { position: startOf('vcl') });
  return b;
}

function cut(b: Bench, task: number, of: number, sends: Cut['sends'], consumed = 0): void {
  const h = { ...emptyHeader(Kind.CUT), src: T(task), dst: T(task), word: of };
  const body: Cut = { arrivals: consumed, sends, receives: [], held: [] };
  b.frame(10 + task, encodeFrame(h, new TextEncoder().encode(JSON.stringify(body))));
  b.step({ type: 'flush' });
}

test('what a task sends behind a cut of which word has not come yet waits for the cut of its receiver', () => {
  const b = bench();
  b.send(10, 0, 1, 1);
  cut(b, 0, 1, [[T(1), 1]]);
  b.send(10, 0, 1, 2);
  expect(arrivals(b)).toEqual([1]);
  // Over a new connection CUT comes again, with messages that have come.
  cut(b, 0, 1, [[T(1), 1]]);
  expect(codes(b)).toEqual([]);
  b.step(wave());
  expect(b.take(Kind.WAVE).map((f) => [f.header.dst, f.header.word])).toEqual([[1, 1]]);
  expect(arrivals(b)).toEqual([]);
  cut(b, 1, 1, [], 1);
  expect(arrivals(b)).toEqual([2]);
  b.step({ type: 'mark', wave: 1 });
  expect(b.effects).toContainEqual({ type: 'recorded', task: 1, wave: 1 });
  // One that comes after its wave means nothing.
  b.step({ type: 'waveOver', wave: 1 });
  cut(b, 0, 1, [[T(1), 2]]);
  b.send(10, 0, 1, 3);
  expect(arrivals(b)).toEqual([3]);
});

test('a wave of which word never comes lets go what waits for it when another one begins', () => {
  const b = bench();
  cut(b, 0, 1, []);
  b.send(10, 0, 1, 1);
  expect(arrivals(b)).toEqual([]);
  b.step(wave({ wave: 2 }));
  expect(arrivals(b)).toEqual([1]);
});

test('a wave cannot be had that takes a task to be at its start which has sent or consumed', () => {
  const b = bench();
  b.send(10, 0, 1, 1);
  b.step(wave({ starting: [T(0)] }));
  expect(b.effects.filter((e) => e.type === 'cannot')).toMatchObject([{ task: 0, wave: 1 }]);
  b.step({ type: 'waveOver', wave: 1 });
  b.control(11, Kind.CREDIT, 1, { arrival: 1 });
  b.step(wave({ wave: 2, starting: [T(1)] }));
  expect(b.effects.filter((e) => e.type === 'cannot').slice(1)).toMatchObject([{ task: 1, wave: 2 }]);
});

test('a task that was spawned while word of a wave was on its way begins behind it', () => {
  const b = bench();
  b.logs.set('d2', []);
  b.step({ type: 'grow', size: 3 });
  b.step(wave());
  b.attach(12, 2, { position: startOf('vcl') });
  b.send(12, 2, 1, 1);
  expect(arrivals(b)).toEqual([]);
  cut(b, 0, 1, []);
  cut(b, 1, 1, []);
  expect(arrivals(b)).toEqual([1]);
  b.step({ type: 'mark', wave: 1 });
  expect(b.effects).toContainEqual({ type: 'recorded', task: 1, wave: 1 });
});
