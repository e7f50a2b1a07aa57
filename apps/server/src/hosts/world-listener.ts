/** The output of jobs: the options of the world's host, and the listener that it calls. */
import type { StreamName } from '@mayfly/storage/ports';
import type { ExitReport, Incarnation, JobId, SpawnGroup, TaskId } from '@mayfly/wire';

export interface WorldListener {
  /** Fresh bytes of a stream (not on a repeated delivery). `bytes` may be reused after the call. */
  output(job: JobId, task: TaskId, stream: StreamName, offset: number, bytes: Uint8Array): void;
  file(job: JobId, path: string, bytes: number): void;
  /** The EXIT message: the last one of a task, which this incarnation sent. May come again. */
  exit(job: JobId, task: TaskId, incarnation: Incarnation, report: ExitReport): void;
  /** Sum of all output of the job has changed. */
  total(job: JobId, bytes: number): void;
  /** The job cannot go on because of what it wrote. */
  failed(job: JobId, error: { code: string; message: string }): void;
  /** A request to the membership service. @returns whether the job has one */
  member(job: JobId, task: TaskId, body: Uint8Array): boolean;
  /** Answers to requests of this task may be taken, up to WorldHost.answerable. */
  answers(job: JobId, task: TaskId): void;
  /** Why so many tasks cannot be added to the job now, which has `tasks`, for this one (SpawnRefusal); 0: they can. */
  refusal(job: JobId, task: TaskId, count: number, tasks: number, underWay: number): number;
  /** A spawn is granted, durably: resolves when messages to its tasks can be taken. May come again. */
  spawned(job: JobId, group: SpawnGroup): Promise<void>;
  /** Answers to this task that are durable in its log. */
  durableAnswers(job: JobId, task: TaskId): number;
  /** An error of the file system. @returns whether storage is stopped, so that it may pass */
  stopped(error: unknown, job: JobId): boolean;
}

export interface WorldOptions {
  /** Input files of the job: name, length, BLAKE3. */
  inputs?: readonly { path: string; bytes: number; hash: string }[];
  /** Tasks that the job was started with. */
  tasks?: number;
  /** How long a spawn waits for tasks that may be about to leave, in ms. */
  leavingMs?: number;
  /** False: the job does not survive the server anyway (protocol `none`), so nothing waits for the disk. */
  durable?: boolean;
}
