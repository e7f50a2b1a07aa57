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
