/**
 * Host of the dispatcher core: the registry and the clock. The sockets of nodes are node-sockets.ts.
 *
 *  X1  Commits reach the registry in the order of their tokens, and `persisted` follows the commit. One that fails is
 *      repeated before the next, as soon as storage can be written again (disk.ts); a server that stops meanwhile makes
 *      none of those that are left.
 */
import {
  jobKey,
  type Dispatcher,
  type DispatcherInput,
  type DispatcherIo,
  type JobRecord,
  type JobService,
  type JobSpec,
} from '@mayfly/protocols';
import type { Registry } from '@mayfly/storage/ports';
import {
  MayflyError,
  type Assignment,
  type ErrorBody,
  type ErrorCode,
  type Incarnation,
  type JobId,
  type Manifest,
  type NodeId,
  type TaskId,
} from '@mayfly/wire';
import type { Disk } from '../disk.ts';
import type { Assigned } from '../jobs/assignment.ts';
import type { Logger } from '../logger.ts';
import type { NodeSockets } from './node-sockets.ts';

export interface DispatcherListener {
  /** Makes CMs and CS ready for the job; resolves when they are. */
  openJob(job: JobId): Promise<void>;
  /** What is sent to the node, besides what the dispatcher knows. */
  assignment(job: JobId, assigned: Assigned): Assignment;
  manifest(image: string): Promise<Manifest | undefined>;
  /** The chosen image cannot be read after all. */
  damaged(job: JobId, task: TaskId, image: string): void;
  taskDone(job: JobId, task: TaskId): void;
  jobEnded(job: JobId, state: 'done' | 'failed' | 'cancelled', error: ErrorBody | undefined): void;
  jobChanged(job: JobId): void;
  nodesChanged(): void;
  given(node: NodeId, job: JobId, task: TaskId, incarnation: Incarnation): void;
}

/** While storage is stopped: a commit is tried again so often, and a request waits so long for it. */
const AGAIN_MS = 1000;
const SETTLE_MS = 1500;

export interface DispatcherHostParts {
  service: JobService;
  sockets: NodeSockets;
  registry: Registry;
  disk: Disk;
  logger: Logger;
  listener: DispatcherListener;
}

export class DispatcherHost {
  readonly #service: JobService;
  readonly #sockets: NodeSockets;
  readonly #registry: Registry;
  readonly #disk: Disk;
  readonly #logger: Logger;
  readonly #listener: DispatcherListener;
  #commits: Promise<unknown> = Promise.resolve();
  #closed = false;
  /** X1: a commit was given up. */
  #lost = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(parts: DispatcherHostParts) {
    this.#service = parts.service;
    this.#sockets = parts.sockets;
    this.#registry = parts.registry;
    this.#disk = parts.disk;
    this.#logger = parts.logger;
    this.#listener = parts.listener;
  }

  start(): void {
    this.#timer = setInterval(() => this.#service.tick(), this.core.core.settings.tickMs);
  }

  get core(): Dispatcher {
    return this.#service.dispatcher;
  }

  step(event: DispatcherInput): void {
    this.#service.dispatch(event);
  }

  /**
   * Resolves when everything that the core wanted durable so far is.
   * @throws MayflyError DISK_FULL, STORAGE_FAILED when that has to wait for storage: it will be done then, unless the
   * server ends before
   */
  async settled(): Promise<void> {
    if (await this.#disk.orStopped(this.#commits, SETTLE_MS)) return;
    const { code, message } = this.#disk.stopped ?? { code: 'STORAGE_FAILED', message: 'The server stops.' };
    throw new MayflyError(
      code as ErrorCode,
      `The server accepted this but has not stored it yet; it takes effect once stored. ${message}`,
    );
  }

  /**
   * The job is durable before the core hears of it: one that cannot be stored was never there. @throws MayflyError
   * DISK_FULL, STORAGE_FAILED
   */
  async submit(spec: JobSpec): Promise<void> {
    await this.#registry.commit([
      [jobKey(spec.id), { spec, order: this.core.core.nextOrder, state: 'waiting' } satisfies JobRecord],
    ]);
    this.step({ type: 'submit', job: spec });
  }

  /** Nodes of the job connect to this Channel Memory again. */
  memoryMoved(job: JobId, memory: number): void {
    const { jobs, nodes } = this.core.core;
    for (const node of new Set(jobs.get(job)?.tasks.map((t) => t.node))) {
      const connection = node && nodes.get(node)?.connection;
      if (connection !== undefined)
        this.#sockets.post(connection, (socket) => void socket.emit('memoryMoved', { job, memory }));
    }
  }

  /** X1. */
  commit(changes: readonly (readonly [key: string, value: unknown])[], then: () => void): void {
    this.#commits = this.#commits.then(async () => {
      if (await this.#commit(changes)) then();
    });
  }

  perform(e: DispatcherIo): void {
    switch (e.type) {
      case 'persist':
        return this.commit(e.changes, () => this.step({ type: 'persisted', token: e.token }));
      case 'welcome':
        return this.#sockets.welcome(e);
      case 'close':
        return this.#sockets.disconnect(e.connection);
      case 'openJob':
        this.#listener.openJob(e.job).catch((error: unknown) => {
          this.#logger.error({ err: error, job: e.job }, 'job cannot be opened');
          const code = error instanceof MayflyError ? error.code : 'INTERNAL';
          this.#service.failed(e.job, { code, message: `Cannot open the job: ${(error as Error).message}` });
        });
        return;
      case 'wake':
        // A timer may be a millisecond early by the clock that the core gets.
        setTimeout(() => this.step({ type: 'tick' }), e.afterMs + 2).unref();
        return;
      case 'assign':
        this.#logger.info(
          { job: e.job, task: e.task, incarnation: e.incarnation, node: e.node, image: e.image },
          'rank assigned',
        );
        this.#listener.given(e.node, e.job, e.task, e.incarnation);
        return this.#sockets.post(e.connection, async (socket) => {
          const manifest = e.image === undefined ? undefined : await this.#listener.manifest(e.image);
          if (e.image !== undefined && !manifest) return this.#listener.damaged(e.job, e.task, e.image);
          socket.emit(
            'assign',
            this.#listener.assignment(e.job, { ...e, manifest, team: e.team, ended: e.ended, teams: e.teams }),
          );
        });
      case 'revoke':
        return this.#sockets.post(e.connection, (socket) => {
          socket.emit('revoke', {
            job: e.job,
            task: e.task,
            incarnation: e.incarnation,
            code: e.error.code,
            message: e.error.message,
          });
        });
      case 'checkpoint':
        return this.#sockets.post(e.connection, (socket) => {
          socket.emit('checkpoint', {
            job: e.job,
            task: e.task,
            ...(e.last === undefined ? {} : { last: e.last }),
            ...(e.atCall === undefined ? {} : { atCall: e.atCall }),
          });
        });
      case 'taskDone':
        return this.#listener.taskDone(e.job, e.task);
      case 'jobEnded':
        this.#logger.info({ job: e.job, state: e.state, error: e.error }, 'job ended');
        return this.#listener.jobEnded(e.job, e.state, e.error);
      case 'jobChanged':
        return this.#listener.jobChanged(e.job);
      case 'nodesChanged':
        return this.#listener.nodesChanged();
      case 'log':
        return this.#logger[e.level]({ job: e.job, task: e.task, incarnation: e.incarnation, node: e.node }, e.message);
      default:
        e satisfies never;
    }
  }

  /**
   * X1. Never throws. Nothing that needs the commit happens before it; what is durable stays true. @returns false: the
   * server stops, and it is not made
   */
  async #commit(changes: readonly (readonly [string, unknown])[]): Promise<boolean> {
    for (let wait = 200; ; wait = Math.min(5000, wait * 2)) {
      if (this.#lost) return false;
      try {
        await this.#registry.commit(changes);
        return true;
      } catch (error) {
        if (!this.#disk.failed(error, 'the registry')) {
          this.#logger.error({ err: error }, 'the registry cannot be written; retrying');
          await new Promise((r) => setTimeout(r, wait));
        } else await this.#disk.writableWithin(AGAIN_MS);
        // Those that follow must not be made without it.
        this.#lost ||= this.#closed || this.#disk.closed;
      }
    }
  }

  /** The server stops: the core hears nothing any more. What it wanted durable so far becomes durable. */
  stop(): void {
    clearInterval(this.#timer);
    this.#service.end('dispatcher');
    this.#sockets.close();
  }

  async close(): Promise<void> {
    this.stop();
    this.#closed = true;
    await this.#commits;
  }
}
