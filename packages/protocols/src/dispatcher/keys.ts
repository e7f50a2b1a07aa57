/** Where the dispatcher's records stand in the registry. */
import type { JobId, TaskId } from '@mayfly/wire';

/** Registry: when the dispatcher was last there while a job ran, to {@link ALIVE_MS}. */
export const ALIVE_KEY = 'alive';
export const ALIVE_MS = 10_000;
/** Registry: what owners used lately, to {@link ALIVE_MS}. */
export const SHARES_KEY = 'shares';
export const jobKey = (job: JobId): string => `job/${job}`;
export const taskKey = (job: JobId, task: TaskId): string => `task/${job}/${task}`;
export const faultKey = (job: JobId, n: number): string => `fault/${job}/${String(n).padStart(6, '0')}`;
