/** A stage with strangers and nodes that have a record: what the tests of blame and of stragglers share. */
import { nodeViews } from '../../src/index.ts';
import { J, job, N, T, type Stage } from './stage.ts';

/** Node n comes, and does useful work first: a rank of a job in a room of its own ends there. */
export function veteran(s: Stage, n: number, slots = 1, more: object = {}): void {
  const room = `R${n}`;
  s.come(n, slots, { room });
  s.send('submit', { job: job(1, { id: J(100 + n), room }) });
  s.exit(0, { code: 0 }, J(100 + n));
  s.come(n, slots, { ...more, claimed: N(n) });
}
export const crash = (s: Stage, code = 'INTERNAL'): number => {
  const t = s.dispatcher.core.find(J(), T(0))!;
  const at = Number(t.node!.slice(4));
  s.send('report', {
    connection: `c${at}`,
    job: J(),
    task: T(0),
    incarnation: t.incarnation!,
    event: 'crashed',
    error: { code, message: 'gone' },
  });
  return at;
};
export const at = (s: Stage, task = 0): number | undefined => {
  const node = s.dispatcher.core.find(J(), T(task))!.node;
  return node === undefined ? undefined : Number(node.slice(4));
};
export const node = (s: Stage, n: number) => nodeViews(s.dispatcher).find((v) => v.id === N(n))!;
export const quarantined = (s: Stage): number[] =>
  nodeViews(s.dispatcher).flatMap((v) => (v.quarantinedUntil === undefined ? [] : [Number(v.id.slice(4))]));
/** Time passes, while every node names what it has. */
export function pass(s: Stage, ms: number, activity: object = {}): void {
  for (let t = 0; t < ms; t += 250) {
    s.now += 250;
    for (const [c, n] of s.dispatcher.core.connections)
      s.send('heartbeat', {
        connection: c,
        tasks: [...n.tasks].map((o) => ({
          ...s.beat(o.task, o.incarnation!, activity, o.job.record.spec.id),
          started: o.phase === 'running',
        })),
      });
    s.send('tick', {});
  }
}
export const submit = (s: Stage, size = 1, over = {}): void => void s.send('submit', { job: job(size, over) });
