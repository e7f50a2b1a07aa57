/** A worker thread of `mayfly simulate`: runs seeds, or hunts planted bugs, as it is told. Owns nothing. */
import { parentPort } from 'node:worker_threads';
import { PLANTED, hunt, setupOfSeed, run, type Held, type RunReport } from '@mayfly/simulator';

export type SimulateTask =
  | { readonly type: 'seeds'; readonly from: number; readonly count: number; readonly held: Held }
  | { readonly type: 'hunt'; readonly rule: string };
export type SimulateResult =
  | { readonly type: 'seeds'; readonly reports: readonly RunReport[] }
  | {
      readonly type: 'hunt';
      readonly rule: string;
      readonly seeds: number | undefined;
      readonly violation: string;
      readonly innocent: string | undefined;
    };

const NOTES_KEPT = 60;

function work(task: SimulateTask): SimulateResult {
  if (task.type === 'seeds') {
    const reports = Array.from({ length: task.count }, (_, i) => {
      const seed = task.from + i;
      return run(seed, {
        ...task.held,
        setup: { ...setupOfSeed(seed, task.held.setup?.protocol), ...task.held.setup },
      });
    });
    return {
      type: 'seeds',
      reports: reports.map((r) => ({
        ...r,
        answer: [],
        notes: r.violation === undefined ? [] : r.notes.slice(-NOTES_KEPT),
      })),
    };
  }
  const planted = PLANTED.find((p) => p.rule === task.rule)!;
  const found = hunt(planted);
  return {
    type: 'hunt',
    rule: task.rule,
    seeds: found?.seeds,
    violation: found?.report.violation?.split('\n')[0] ?? '',
    innocent: found?.innocent,
  };
}

parentPort!.on('message', (task: SimulateTask) => parentPort!.postMessage(work(task)));
