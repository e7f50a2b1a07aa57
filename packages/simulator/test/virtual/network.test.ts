/** The network model against cases that are computed by hand. */
import { expect, test } from 'vitest';
import { Agenda } from '../../src/agenda.ts';
import { Channel } from '../../src/virtual/channel.ts';
import { Link, Network } from '../../src/virtual/network.ts';
import { Platform } from '../../src/virtual/platform.ts';

/** Starts flows at their times, and tells when each is over, ms. */
function play(flows: readonly { at: number; links: Link[]; bytes: number; own?: number }[]): number[] {
  const agenda = new Agenda();
  const network = new Network(agenda);
  const over: number[] = flows.map(() => Number.NaN);
  flows.forEach(({ at, links, bytes, own }, i) =>
    agenda.after(at, () => network.start(links, bytes, () => (over[i] = agenda.now), own)),
  );
  while (agenda.step());
  return over.map((t) => Math.round(t * 1e6) / 1e6);
}
const edge = (capacity: number): Link => new Link('edge', capacity);
const trunk = (capacity: number): Link => new Link('trunk', capacity, true);

test('N2: one flow is as fast as the slowest of its links, or its own limit', () => {
  expect(play([{ at: 0, links: [edge(100), edge(50)], bytes: 1000 }])).toEqual([20]);
  expect(play([{ at: 5, links: [edge(100)], bytes: 1000, own: 10 }])).toEqual([105]);
  expect(play([{ at: 0, links: [], bytes: 1000, own: 10 }])).toEqual([100]);
});

test('two flows on one link have half of it each, and one that is left has all', () => {
  const link = edge(100);
  // 50 each until 20 ms, when the first is over; the other has 1000 left and all of the link.
  const flows = [1000, 2000].map((bytes) => ({ at: 0, links: [link], bytes }));
  expect(play(flows)).toEqual([20, 30]);
});

test('a flow that comes later shares from then on', () => {
  const link = edge(100);
  // 500 of the first are gone at 5 ms; both have 50 until the first is over at 15 ms.
  expect(
    play([
      { at: 0, links: [link], bytes: 1000 },
      { at: 5, links: [link], bytes: 1000 },
    ]),
  ).toEqual([15, 20]);
});

test('a bottleneck in the middle: what a flow does not use of a card is for the others', () => {
  const [card, other, middle] = [edge(100), edge(100), trunk(10)];
  // The first has 10 by the trunk, the second the 90 that remain of their card.
  expect(
    play([
      { at: 0, links: [card, middle, other], bytes: 1000 },
      { at: 0, links: [card], bytes: 900 },
    ]),
  ).toEqual([100, 10]);
});

test('a trunk divides itself equally, and wider for those that stay', () => {
  const middle = trunk(100);
  // 25 each for 40 ms; three have 1000 left each, at a third: 30 ms more.
  const flows = [1000, 2000, 2000, 2000].map((bytes) => ({ at: 0, links: [edge(80), middle], bytes }));
  expect(play(flows)).toEqual([40, 70, 70, 70]);
});

test('N1: whatever flows there are, the bytes of a link need their time', () => {
  const [a, b, server] = [edge(100), edge(60), trunk(70)];
  const over = play([
    { at: 0, links: [a, server], bytes: 3000 },
    { at: 0, links: [b, server], bytes: 3000 },
    { at: 0, links: [a, b], bytes: 3000 },
    { at: 1, links: [a], bytes: 100 },
  ]);
  expect(Math.max(...over)).toBeGreaterThanOrEqual(6100 / 100);
  expect(Math.max(over[0]!, over[1]!)).toBeGreaterThanOrEqual(6000 / 70);
  expect(Math.max(over[1]!, over[2]!)).toBeGreaterThanOrEqual(6000 / 60);
});

test('latency is added once, and a connection keeps its order', () => {
  const agenda = new Agenda();
  const arrived: [number, number][] = [];
  const route = { links: [edge(100)], own: Infinity, latency: 7 };
  const daemon = { latency: 3, rate: 50 };
  const channel = new Channel(agenda, new Network(agenda), route, daemon, (n) => arrived.push([n, agenda.now]));
  channel.send(1, 1000); // leaves in 10, then 7 + 3 + 20
  channel.send(2, 100); // leaves at 11, would be there at 11 + 7 + 3 + 2 = 23
  while (agenda.step());
  expect(arrived.map(([n, t]) => [n, Math.round(t * 1000) / 1000])).toEqual([
    [1, 40],
    [2, 40],
  ]);
  expect(channel.empty).toBe(true);
});

test('ranks of a node share its card; sites have a latency and a limit of their own', () => {
  const p = new Platform({
    ...{ ranks: 8, perNode: 2, servers: 1, bandwidth: 100, latency: 1, within: { latency: 0.1, rate: 500 } },
    sites: { count: 2, flow: 5, latency: 100, seed: 1 },
  });
  expect(p.route(0, 1)).toEqual({ links: [], own: 500, latency: 0.1 });
  expect(p.route(0, 2).links[0]).toBe(p.route(1, 4).links[0]);
  const sites = [0, 2, 4, 6].map((r) => p.site(r));
  expect(sites.filter((s) => s === 0)).toHaveLength(2);
  const far = [2, 4, 6].find((r) => p.site(r) !== p.site(0))!;
  const near = [2, 4, 6].find((r) => p.site(r) === p.site(0))!;
  expect([p.route(0, far).own, p.latency(0, far)]).toEqual([5, 100]);
  expect([p.route(0, near).own, p.latency(0, near)]).toEqual([Infinity, 1]);
  expect(p.toServer(0).links[1]).toBe(p.toServer(near).links[1]);
  expect(p.toServer(0).links[1]).not.toBe(p.toServer(far).links[1]);
});
