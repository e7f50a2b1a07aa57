/** What a run of the model (job-model.ts) must have come to: Q2, Q3, Q5. */
import type { ModelTask } from './model-task.ts';
import { Wrong } from './wrong.ts';

/** @param shown output that was shown, by task */
export function judge(tasks: readonly ModelTask[], shown: readonly (readonly string[])[]): void {
  for (const p of tasks) {
    for (const q of tasks) {
      const [got, sent] = [p.memory.received[q.task]!, q.memory.sent[p.task]!];
      if (got.join() !== sent.slice(0, got.length).join())
        throw new Wrong(`Q3: task ${p.task} has received of ${q.task} what its surviving life did not send`);
      if (got.length !== sent.length && !p.over) throw new Wrong(`Q2: task ${p.task} lacks messages of ${q.task}`);
    }
    if (shown[p.task]!.join() !== p.memory.outputs.join())
      throw new Wrong(`Q5: the outside has seen what the surviving life of task ${p.task} did not write`);
  }
}
