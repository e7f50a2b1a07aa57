/** Who watches the jobs of a server: the dashboard. */
import type { StreamName } from '@mayfly/storage/ports';
import type { JobId, TaskId } from '@mayfly/wire';

/** Called when something changes that pages show. */
export interface RuntimeObserver {
  jobChanged(job: JobId): void;
  nodesChanged(): void;
  output(job: JobId, task: TaskId, stream: StreamName, offset: number, bytes: Uint8Array): void;
  file(job: JobId, path: string, bytes: number): void;
  jobForgotten(job: JobId): void;
}

const nothing = (): void => undefined;
export const noObserver: RuntimeObserver = {
  jobChanged: nothing,
  nodesChanged: nothing,
  output: nothing,
  file: nothing,
  jobForgotten: nothing,
};
