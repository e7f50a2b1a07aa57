/** D15, D16: the ranks of a cluster go back together, and no others. */
import { expect, it } from 'vitest';
import { I, J, N, Stage, T, job } from './stage.ts';

/** Four ranks in two clusters, each at a node of its own. */
function running(): Stage {
  const s = new Stage();
  for (const n of [0, 1, 2, 3]) s.come(n);
  s.send('submit', { job: job(4, { protocol: 'hc3i', clusters: [0, 0, 1, 1] }) });
  for (const n of [0, 1, 2, 3])
    s.send('heartbeat', {
      connection: `c${n}`,
      tasks: [0, 1, 2, 3].filter((t) => at(s, t) === N(n)).map((t) => s.beat(t, 0)),
    });
  return s;
}
const at = (s: Stage, task: number) => s.record(task).node;
const incarnations = (s: Stage): number[] => s.view().tasks.map((t) => t.incarnation);

it('raises and restarts the ranks of the cluster of a lost one; the others stay where they are', () => {
  const s = running();
  s.send('kill', { job: J(), task: T(2) });
  expect(s.of('goesBack')).toEqual([{ type: 'goesBack', job: J(), task: T(2), cause: 'killed' }]);
  s.pass(1000);
  expect(s.assigned()).toHaveLength(4);
  s.send('rollBack', { job: J(), epoch: 1, changes: [['line', 1]], clusters: [1] });
  expect(s.registry.get('line')).toBe(1);
  expect(s.of('revoke').map((r) => r.task)).toEqual(expect.arrayContaining([3]));
  expect(s.of('revoke').some((r) => r.task < 2)).toBe(false);
  expect(s.of('rolledBack').at(-1)).toMatchObject({ epoch: 1 });
  s.send('goOn', { job: J(), ended: [], cluster: 1 });
  s.pass(1000);
  expect(incarnations(s).map((n) => n > 0)).toEqual([false, false, true, true]);
  expect(
    s
      .assigned()
      .slice(4)
      .map((a) => a[0])
      .sort(),
  ).toEqual(['2', '3']);
  expect(s.view().faults).toHaveLength(1);
});

it('keeps a cluster back until it may go on, while another one is assigned', () => {
  const s = running();
  s.send('kill', { job: J(), task: T(0) });
  s.send('kill', { job: J(), task: T(3) });
  s.send('rollBack', { job: J(), epoch: 1, changes: [], clusters: [0, 1] });
  s.send('goOn', { job: J(), ended: [T(2)], cluster: 1 });
  s.pass(1000);
  expect(
    s
      .assigned()
      .slice(4)
      .map((a) => a[0]),
  ).toEqual(['3']);
  s.send('goOn', { job: J(), ended: [], cluster: 0 });
  s.pass(1000);
  expect(
    s
      .assigned()
      .slice(5)
      .map((a) => a[0])
      .sort(),
  ).toEqual(['0', '1']);
});

it('after a restart of the server every cluster waits for its own line', () => {
  const s = running();
  s.crash();
  for (const n of [0, 1, 2, 3]) s.come(n + 10);
  s.pass(1000);
  expect(s.assigned()).toHaveLength(4);
  s.send('rollBack', { job: J(), epoch: 1, changes: [], clusters: [0, 1] });
  s.send('goOn', { job: J(), ended: [], cluster: 0 });
  s.pass(1000);
  expect(
    s
      .assigned()
      .slice(4)
      .map((a) => a[0])
      .sort(),
  ).toEqual(['0', '1']);
  expect(incarnations(s).every((n) => n >= I(1))).toBe(true);
});

/** Clusters of ranks 0, 1 and 2, 3, in rooms A and B (null: no room). */
const inRooms = (rooms: (string | null)[], more = {}) =>
  job(4, { protocol: 'hc3i', clusters: [0, 0, 1, 1], rooms, ...more });

it('D4: begins once the room of each cluster has the slots, and a node gets ranks of its room’s cluster only', () => {
  const s = new Stage();
  s.come(1, 4, { room: 'A' });
  s.send('submit', { job: inRooms(['A', 'B']) });
  expect(s.view()).toMatchObject({
    state: 'waiting',
    rooms: [
      { code: 'A', ranks: [0, 1] },
      { code: 'B', ranks: [2, 3] },
    ],
    reason: 'needs 2 slots; none available in room B',
  });
  s.come(2, 4);
  s.come(3, 1, { room: 'B' });
  expect(s.view().reason).toBe('needs 2 slots; 1 available in room B');
  s.come(4, 1, { room: 'B' });
  expect(s.view().state).toBe('running');
  expect(s.assigned().sort()).toEqual(['0.0@1', '1.0@1', '2.0@3', '3.0@4']);
});

it('a rank that goes back waits for a slot of its own cluster’s room', () => {
  const s = new Stage();
  s.come(1, 4, { room: 'A' });
  s.come(2, 2);
  s.send('submit', { job: inRooms(['A', null]) });
  expect(s.assigned().sort()).toEqual(['0.0@1', '1.0@1', '2.0@2', '3.0@2']);
  s.send('goodbye', { connection: 'c2', reason: 'closed' });
  s.send('rollBack', { job: J(), epoch: 1, changes: [], clusters: [1] });
  s.send('goOn', { job: J(), ended: [], cluster: 1 });
  s.pass(1000);
  expect(s.view()).toMatchObject({ state: 'stalled', reason: 'ranks 2, 3 wait for slots; no node is connected' });
  expect(s.assigned()).toHaveLength(4);
  s.come(3, 2);
  expect(
    s
      .assigned()
      .slice(4)
      .map((a) => a.replace(/\.\d+/, ''))
      .sort(),
  ).toEqual(['2@3', '3@3']);
});

it('D4: holds back what is behind it in each of its rooms, and nothing in others', () => {
  const s = new Stage();
  s.send('submit', { job: inRooms(['A', 'B'], { id: J(1) }) });
  s.come(1, 2, { room: 'A' });
  s.come(2, 1, { room: 'C' });
  for (const [id, room] of [
    [J(2), 'A'],
    [J(3), 'C'],
  ] as const)
    s.send('submit', { job: job(1, { id, room }) });
  expect([1, 2, 3].map((id) => s.view(J(id)).state)).toEqual(['waiting', 'waiting', 'running']);
  expect(s.view(J(2)).reason).toBe('waits behind 1 job; needs 1 slot; 2 of 2 are free in room A');
  s.come(3, 2, { room: 'B' });
  expect(s.view(J(1)).state).toBe('running');
});

it('wants a wave for the ranks of a node that may soon be lost', () => {
  const s = running();
  s.send('foresees', { connection: 'c2' });
  const of = [0, 1, 2, 3].filter((t) => at(s, t) === N(2)).map(T);
  expect(s.of('wantsWave')).toEqual([{ type: 'wantsWave', job: J(), for: of }]);
  const alone = new Stage();
  alone.come(0);
  alone.send('submit', { job: job(1) });
  alone.send('heartbeat', { connection: 'c0', tasks: [alone.beat(0, 0)] });
  alone.send('foresees', { connection: 'c0' });
  expect(alone.of('wantsWave')).toEqual([]);
});
