/** P1, P2, P3: places that strangers hold, shared among networks. */
import { expect, it } from 'vitest';
import { NetworkPlaces, type Holder } from '../src/serve/network-places.ts';

interface Tab extends Holder {
  what: ReturnType<Holder['use']>;
}
const tab = (network: string, what: Tab['what'] = 'nothing'): Tab => {
  const t: Tab = { network, what, use: () => t.what };
  return t;
};

function bench(most: number) {
  const time = { now: 0 };
  const places = new NetworkPlaces<Tab>(most, () => time.now);
  const gone: Tab[] = [];
  const take = (t: Tab): boolean => places.take(t, (g) => gone.push(g));
  return { time, places, gone, take };
}

it('P1: a network may have all places while nobody else wants them', () => {
  const { places, gone, take } = bench(2000);
  for (let n = 0; n < 2000; n++) expect(take(tab('flood'))).toBe(true);
  expect(take(tab('flood'))).toBe(false);
  expect([places.size, gone.length]).toEqual([2000, 0]);
});

it('P2, P3: two thousand silent connections of one network turn nobody away, and those that work stay', () => {
  const { places, gone, take } = bench(2000);
  const busy = Array.from({ length: 10 }, () => tab('flood', 'works'));
  for (const t of busy) take(t);
  for (let n = busy.length; n < 2000; n++) take(tab('flood'));
  for (let n = 0; n < 300; n++) expect(take(tab(`home-${n}`))).toBe(true);
  expect(places.size).toBe(2000);
  expect(gone).toHaveLength(300);
  expect(gone.every((t) => t.network === 'flood' && t.what === 'nothing')).toBe(true);
  // Neither is the flood's next one let in for those of others.
  expect(take(tab('flood'))).toBe(false);
  for (const t of busy) expect(places.take(t, () => undefined)).toBe(false);
});

it('P2: of one network those go first that offer nothing; its share is what others have, not less', () => {
  const { gone, take } = bench(4);
  const [idle, silent] = [tab('a', 'idle'), tab('a')];
  for (const t of [silent, idle, tab('a', 'works'), tab('b', 'idle')]) expect(take(t)).toBe(true);
  expect(take(tab('c', 'idle'))).toBe(true);
  expect(gone).toEqual([silent]);
  // a has two, b one, c one: a second of c would take from a what c has itself.
  expect(take(tab('c', 'idle'))).toBe(false);
  expect(take(tab('d', 'idle'))).toBe(true);
  expect(gone).toEqual([silent, idle]);
});

it('P2: where each network has one, a newcomer takes the place of one that offered nothing for a while', () => {
  const { time, gone, take } = bench(3);
  const silent = tab('b');
  for (const t of [tab('a', 'idle'), silent, tab('c', 'works')]) take(t);
  expect(take(tab('d'))).toBe(false);
  time.now = 5000;
  expect(take(tab('b'))).toBe(false);
  expect(take(tab('d'))).toBe(true);
  expect(gone).toEqual([silent]);
});
