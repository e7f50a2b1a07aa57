/** D31 to D33: what a stranger's connections may leave in the list of nodes, and ask of the server. */
import type { Incarnation } from '@mayfly/wire';
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

it('D31: of images that a node names two of each task are kept, if there is that task', () => {
  const s = new Stage({ trustNewcomers: true });
  s.come(1);
  s.send('submit', { job: job(1) });
  const named = (task: number, serial: number) => ({ job: J(), task: T(task), image: image(task, serial).image });
  const foreign = Array.from({ length: 100 }, (_, n) => ({ ...named(0, 1), job: J(1 + n) }));
  s.come(2, 0, { images: [...foreign, named(1, 1), named(0, 1), named(0, 2), named(0, 3), named(0, 3)] });
  const task = s.dispatcher.core.find(J(), T(0))!;
  const node = s.dispatcher.core.nodes.get(N(2))!;
  expect(node.images.get(task)).toEqual([named(0, 2).image, named(0, 3).image]);
  // Bound to tasks that there are: nothing else can be in it.
  expect(node.images).toBeInstanceOf(WeakMap);
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

it('D33: a heartbeat of a thousand ranks that are not there is answered with a few revocations; the next one goes on', () => {
  const s = new Stage();
  s.come(1);
  const ranks = Array.from({ length: 1000 }, (_, task) => ({
    job: J(),
    task: T(task),
    incarnation: 0 as Incarnation,
    started: true,
    activity: { state: 'computing' as const, arrivals: 0, sends: 0 },
  }));
  const revoked = (tasks: typeof ranks) => {
    s.effects.length = 0;
    s.send('heartbeat', { connection: 'c1', tasks });
    return s.effects.filter((e) => e.type === 'revoke').map((e) => e.task);
  };
  const first = revoked(ranks);
  expect(first).toEqual(ranks.slice(0, 32).map((r) => r.task));
  // An honest node drops them, and names the others again.
  expect(revoked(ranks.slice(32, 40))).toEqual(ranks.slice(32, 40).map((r) => r.task));
});
