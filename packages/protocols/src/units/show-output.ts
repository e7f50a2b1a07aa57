/** What the world may see of a job whose output waits for checkpoints. Y2 and Y5 say when. */
import { FILES, WORLD, taskId } from '@mayfly/wire';
import { EVERYTHING } from '../channel-memory/tasks.ts';
import { START_OF_TASK, countOf, type TaskOfWave } from '../contract/waves.ts';
import type { ServedLog } from '../service/served-log.ts';

/** What a task had written at its cut, and the answers of the file service that it had; of one that had ended, all. */
export function showUpTo(logs: readonly ServedLog[], t: TaskOfWave): void {
  const { sends, receives } = t.state === 'image' ? t.cut : START_OF_TASK;
  const [written, answers] =
    t.state === 'ended' ? [EVERYTHING, EVERYTHING] : [countOf(sends, WORLD), countOf(receives, FILES)];
  for (const log of logs) log.stable(t.task, written, answers);
}

export function showEverything(logs: readonly ServedLog[]): void {
  for (const log of logs) for (let t = 0; t < log.size; t++) log.stable(taskId(t), EVERYTHING, EVERYTHING);
}
