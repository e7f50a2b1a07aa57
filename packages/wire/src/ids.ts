/**
 * Names of things, branded so that a task is not a node and a position in one log is not a position in another.
 * A brand exists for the compiler only; the constructors are free.
 */
declare const brand: unique symbol;
type Brand<T, Name extends string> = T & { readonly [brand]: Name };

/** One job, for ever. 12 lower-case base-36 characters. */
export type JobId = Brand<string, 'JobId'>;
/** One volunteer node (a tab or a headless process), stable over reloads of the tab. */
export type NodeId = Brand<string, 'NodeId'>;
/** One checkpoint image of one task. */
export type ImageId = Brand<string, 'ImageId'>;
/**
 * One MPI process of a job, from 0. Channels, logs and incarnations name tasks; MPI ranks are a matter of
 * communicators.
 */
export type TaskId = Brand<number, 'TaskId'>;
/** One attempt to run a task, from 0. The higher closes the lower. */
export type Incarnation = Brand<number, 'Incarnation'>;

export const jobId = (s: string): JobId => s as JobId;
export const nodeId = (s: string): NodeId => s as NodeId;
export const imageId = (s: string): ImageId => s as ImageId;
export const taskId = (n: number): TaskId => n as TaskId;
export const incarnation = (n: number): Incarnation => n as Incarnation;

/**
 * The world (terminal, files, result) is a peer: messages to it are numbered sends, messages from it logged arrivals.
 */
export const WORLD = taskId(0xffff_ffff);
/**
 * The file service as a sender: its answers to a task are a channel of their own, message n answers the task's request
 * n. Requests go to WORLD.
 */
export const FILES = taskId(0xffff_fffe);
/** The membership service of a job (protocol `app`) as a sender: its notices to a task are a channel of their own. */
export const MEMBERS = taskId(0xffff_fffd);

/** How many Channel Memories a job has; where each cluster of its tasks has one of its own, by task the home. */
export type Homes = number | readonly number[];

/**
 * The home Channel Memory of a task: messages *to* it, and its messages to the world, are logged there (MPICH-V §3).
 */
export const homeOf = (task: TaskId, homes: Homes): number =>
  typeof homes === 'number' ? task % homes : (homes[task] ?? 0);

/** The Channel Memory that logs the channel `src → dst`. */
export const routeOf = (src: TaskId, dst: TaskId, homes: Homes): number => homeOf(dst === WORLD ? src : dst, homes);
