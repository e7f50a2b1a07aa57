/** D31 and D32: what a stranger's connections may leave in the list of nodes. */
import { expect, it } from 'vitest';
import { job, image, J, N, Stage, T } from './stage.ts';

it('D31: a connection that repeats Hello has one node, also when it claims another or begins a new session', () => {
  const s = new Stage();
  s.come(1);
  s.come(2);
  const again = { connection: 'c1', name: 'again', engine: 'e', slots: 3, holds: [], images: [] };
  for (let n = 10; n < 30; n++) s.send('hello', { ...again, fresh: N(n) });
  s.send('hello', { ...again, fresh: N(30), session: 'other' });
  s.send('hello', { ...again, fresh: N(31), claimed: N(2) });
  const { nodes, connections } = s.dispatcher.core;
  expect([...nodes.keys()]).toEqual([N(1), N(2)]);
  expect(nodes.get(N(1))).toMatchObject({ name: 'again', slots: 3, connection: 'c1' });
  expect([...connections.keys()]).toEqual(['c1', 'c2']);
  // With its connection it goes.
  s.send('disconnected', { connection: 'c1' });
  s.pass(s.dispatcher.core.settings.forgetMs + 1000, { c2: [] });
  expect([...nodes.keys()]).toEqual([N(2)]);
});

it('D31: of images that a node names only those are kept that a rank would need', () => {
  const s = new Stage({ trustNewcomers: true });
  s.come(1);
  s.send('submit', { job: job(1) });
  s.send('image', { ...image(0, 1), job: J(), task: T(0) });
  const newest = s.dispatcher.core.find(J(), T(0))!.newest!.image;
  const foreign = Array.from({ length: 1024 }, (_, n) => ({ job: J(n % 9), task: T(n), image: image(n, 2).image }));
  s.come(2, 0, { images: [...foreign, { job: J(), task: T(0), image: newest }] });
  const { images } = s.dispatcher.core.nodes.get(N(2))!;
  expect(images).toBeInstanceOf(WeakMap);
  expect(images.get(s.dispatcher.core.find(J(), T(0))!)).toBe(newest);
});

it('D32: a silent connection without ranks is closed and its node forgotten; one that is heard or works stays', () => {
  const s = new Stage({ trustNewcomers: true, forgetMs: 5000, silentMs: 60_000 });
  s.come(1);
  s.send('submit', { job: job(1) });
  s.come(2, 0);
  s.come(3, 0);
  s.pass(20_000, { c3: [] });
  expect([...s.dispatcher.core.nodes.keys()]).toEqual([N(1), N(3)]);
  expect(s.effects.filter((e) => e.type === 'close')).toEqual([{ type: 'close', connection: 'c2' }]);
  // Nothing of it counts any more.
  s.send('heartbeat', { connection: 'c2', tasks: [] });
  expect([...s.dispatcher.core.connections.keys()]).toEqual(['c1', 'c3']);
});
