/** What must hold at the end of a run of the model (J1–J4), without the cores: from the histories of the programs. */
import { WORLD, taskId, type TaskId } from '@mayfly/wire';
import { Wrong } from '../coordinated/wrong.ts';
import { LOGS, logOf, type ModelLog } from './model-log.ts';
import type { InRing } from '../../src/pessimistic/teams/image-cut.ts';
import type { Message, ModelRank } from './model-rank.ts';

/** What is judged of a job. */
interface Judged {
  readonly ranks: readonly ModelRank[];
  readonly logs: readonly ModelLog[];
  ring: (src: TaskId, dst: TaskId) => readonly InRing<Message>[];
}

type Pair = readonly [n: number, payload: number];
const same = (a: readonly Pair[], b: readonly Pair[]): boolean => JSON.stringify(a) === JSON.stringify(b);

export function judge(model: Judged): void {
  const { ranks } = model;
  const sent = (src: TaskId, dst: TaskId): Pair[] =>
    ranks[src]!.program.history.flatMap(([k, other, n, p]) => (k === 'sent' && other === dst ? [[n, p] as const] : []));
  for (const r of ranks) {
    if (r.ep.repeating) throw new Wrong(`J4: task ${r.task} is stuck in its replay`);
    const written = model.logs[logOf(r.task, WORLD, LOGS)]!.written(r.task);
    if (!same(written, sent(r.task, WORLD)))
      throw new Wrong(`J1: the output of task ${r.task} is not that of its execution`);
  }
  for (const d of ranks)
    for (let s = taskId(0); s < ranks.length; s = taskId(s + 1)) {
      const all = sent(s, d.task);
      const consumed = d.program.history.flatMap(([k, other, n, p]) =>
        k === 'consumed' && other === s ? [[n, p] as const] : [],
      );
      if (!same(consumed, all.slice(0, consumed.length)))
        throw new Wrong(`J2: task ${d.task} consumed of task ${s} what its execution did not send`);
      const rest = waiting(model, s, d.task).sort((a, b) => a[0] - b[0]);
      if (!same([...consumed, ...rest], all))
        throw new Wrong(`J3: ${s} > ${d.task}: ${all.length} sent, ${consumed.length} consumed, ${rest.length} wait`);
    }
}

/** What of a channel is sent and not consumed, wherever it lies. */
function waiting(model: Judged, src: TaskId, dst: TaskId): Pair[] {
  const d = model.ranks[dst]!;
  const out: Pair[] = d.bodies.state.flatMap(({ channels }) =>
    (channels.get(src) ?? []).map((m): Pair => [m.n, m.payload]),
  );
  for (const item of model.ring(src, dst)) if ('message' in item) out.push([item.message.n, item.message.payload]);
  for (let m = d.cut.head(src); m; m = d.cut.head(src)) {
    out.push([m.n, m.payload]);
    d.cut.take(src);
  }
  const log = model.logs[logOf(src, dst, LOGS)]!;
  for (let i = d.ep.consumed + 1, a = log.arrival(dst, i); a; a = log.arrival(dst, ++i))
    if (a.src === src) out.push([a.n, a.payload]);
  return out;
}

/** What is judged of a job of the real cores. */
interface JudgedJob {
  readonly ranks: readonly ModelRank[];
  readonly teams: readonly { readonly life: { readonly ranks: ReadonlyMap<TaskId, ModelRank> } | undefined }[];
  written: (task: TaskId) => Pair[];
  arrivals: (task: TaskId) => (readonly [src: TaskId, n: number, payload: number])[];
  ring: (src: TaskId, dst: TaskId) => readonly InRing<Message>[];
}

/** J1–J4, where the logs are no model's. A task that ended before its team began again has nothing that waits (T12). */
export function judgeJob(job: JudgedJob): void {
  const { ranks } = job;
  const sent = (src: TaskId, dst: TaskId): Pair[] =>
    ranks[src]!.program.history.flatMap(([k, other, n, p]) => (k === 'sent' && other === dst ? [[n, p] as const] : []));
  for (const d of ranks) {
    const here = job.teams.some((t) => t.life?.ranks.get(d.task) === d);
    if (here && d.ep.repeating) throw new Wrong(`J4: task ${d.task} is stuck in its replay`);
    if (!same(job.written(d.task), sent(d.task, WORLD)))
      throw new Wrong(`J1: the output of task ${d.task} is not that of its execution`);
    for (let s = taskId(0); s < ranks.length; s = taskId(s + 1)) {
      const all = sent(s, d.task);
      const consumed = d.program.history.flatMap(([k, other, n, p]) =>
        k === 'consumed' && other === s ? [[n, p] as const] : [],
      );
      if (!same(consumed, all.slice(0, consumed.length)))
        throw new Wrong(`J2: task ${d.task} consumed of task ${s} what its execution did not send`);
      if (!here || d.program.exited) continue;
      const rest: Pair[] = job.arrivals(d.task).flatMap(([src, n, p]) => (src === s ? [[n, p] as const] : []));
      for (let m = d.cut.head(s); m; m = d.cut.head(s)) {
        rest.push([m.n, m.payload]);
        d.cut.take(s);
      }
      for (const item of job.ring(s, d.task)) if ('message' in item) rest.push([item.message.n, item.message.payload]);
      if (!same([...consumed, ...rest.sort((a, b) => a[0] - b[0])], all))
        throw new Wrong(`J3: ${s} > ${d.task}: ${all.length} sent, ${consumed.length} consumed, ${rest.length} wait`);
    }
  }
}
