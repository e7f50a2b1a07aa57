/** Views of a job and of a rank, for tests: what matters to one is given, the rest is as it mostly is. */
import { incarnation, taskId, type JobView, type TaskView } from '@mayfly/wire';

export const rank = (over: Partial<TaskView>): TaskView => ({
  task: taskId(0),
  state: 'running',
  incarnation: incarnation(0),
  messagesIn: 0,
  bytesIn: 0,
  messagesOut: 0,
  bytesOut: 0,
  images: 0,
  imageBytes: 0,
  ...over,
});
export const job = (over: Partial<JobView>): JobView => ({
  id: 'abcdefghijkl' as JobView['id'],
  name: 'j',
  state: 'running',
  size: 2,
  protocol: 'pessimistic',
  durability: 'behind',
  program: { language: 'typescript', entry: 'main.ts', hash: '0'.repeat(64) },
  args: [],
  submittedAt: 0,
  tasks: [],
  faults: [],
  outputs: [],
  outputBytes: 0,
  ...over,
});
