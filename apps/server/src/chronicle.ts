/**
 * What is kept for people about jobs and nodes, and is no part of any answer: history and profile, run log, use of
 * slots, the board of a room, the costs of images.
 *
 *  N1 Nothing here ends a job or the server: what fails is logged, and what happened goes on.
 *  N2 A heartbeat counts only for ranks that the dispatcher has given to its node.
 */
import { roomOf, type Dispatcher, type JobSpec, type CheckpointFigures, type WaveNews } from '@mayfly/protocols';
import type { Archive } from '@mayfly/storage/ports';
import type { BoardName, Heartbeat, Incarnation, JobId, Manifest, NodeId, NodeView, TaskId } from '@mayfly/wire';
import { clock } from './clock.ts';
import type { Board } from './board.ts';
import { ImageCosts } from './checkpoint-advice.ts';
import { History, type Counted } from './history/history.ts';
import type { Reading } from './history/gauges.ts';
import { RepeatedWork } from './jobs/repeated-work.ts';
import { RunLog } from './jobs/run-log.ts';
import type { Traffic } from './hosts/traffic.ts';
import type { Logger } from './logger.ts';
import { SlotUse } from './nodes/slot-use.ts';

export interface ChronicleParts {
  archive: Archive;
  /** Most nodes that the server takes. */
  nodes: number;
  board: Board;
  logger: Logger;
  dispatcher: () => Dispatcher;
  /** Open, and not on its way out. */
  serving: (job: JobId) => boolean;
  spec: (job: JobId) => JobSpec | undefined;
  traffic: (job: JobId) => Counted[];
  /** Of the teams of a job that is open. */
  local: (job: JobId) => Pick<Traffic, 'total'> | undefined;
  reading: (job: JobId) => Reading | undefined;
  /** The room is a lesson's. */
  isLesson: (room: string) => boolean;
  /** Of a job under coordinated checkpointing that is open. */
  waves: (job: JobId) => Pick<CheckpointFigures, 'view' | 'ran' | 'repeatsUntil' | 'stalled'> | undefined;
}

export class Chronicle {
  readonly history: History;
  readonly runLog: RunLog;
  readonly slotUse: SlotUse;
  /** What volunteers gave, by room and name. */
  readonly board: Board;
  readonly imageCosts = new ImageCosts();
  readonly #repeated: RepeatedWork;
  readonly #parts: ChronicleParts;

  constructor(parts: ChronicleParts) {
    const { archive, dispatcher, traffic, reading, waves, logger } = parts;
    this.#parts = parts;
    this.board = parts.board;
    this.history = new History({ archive, dispatcher, traffic, reading, waves: (job) => waves(job)?.view(), logger });
    this.#repeated = new RepeatedWork(waves);
    this.runLog = new RunLog(archive);
    this.slotUse = new SlotUse(parts.nodes);
  }

  /** N1. */
  #note(what: string, note: () => void): void {
    try {
      note();
    } catch (error) {
      this.#parts.logger.error({ err: error, what }, 'could not be noted down for the pages');
    }
  }

  came(node: NodeId, room: string | undefined, who: BoardName | undefined): void {
    this.#note('a node came', () => this.board.came(node, room, who));
  }

  left(node: NodeId): void {
    this.#note('a node left', () => this.board.left(node));
  }

  given(node: NodeId, job: JobId, task: TaskId, incarnation: Incarnation): void {
    this.#note('a rank was assigned', () => {
      this.board.given(node, job, task, incarnation, clock());
      this.history.assigned(job, task);
    });
  }

  /** A heartbeat that the dispatcher has taken. `from` undefined: its node has not said Hello. */
  heard(m: Heartbeat, from: NodeId | undefined): void {
    const { spec, serving } = this.#parts;
    this.#note('a heartbeat', () => {
      this.imageCosts.heard(m, (job, task) => roomOf(spec(job), task));
      const told = this.#repeated.heard(m, (t) => from !== undefined && this.isAt(from, t.job, t.task, t.incarnation));
      this.history.heard(told, from);
      this.runLog.heard(told, from, (job, task, incarnation) => {
        const node = serving(job) ? this.#nodeOf(job, task, incarnation) : undefined;
        return node === undefined ? undefined : this.#parts.dispatcher().core.nodes.get(node);
      });
      if (from === undefined) return;
      this.#local(m, from);
      this.#slots(m, from);
      const acts = (job: JobId, task: TaskId, incarnation: Incarnation): boolean =>
        this.#nodeOf(job, task, incarnation) === from;
      this.board.heard(from, m.tasks, acts, clock());
    });
  }

  /** What ranks have sent within their teams. */
  #local(m: Heartbeat, from: NodeId): void {
    for (const { job, task, incarnation, local } of m.tasks) {
      if (!local || !this.isAt(from, job, task, incarnation)) continue;
      const team = this.#parts.dispatcher().core.find(job, task)?.team;
      for (const [dst, messages, bytes] of local)
        if (team?.includes(dst)) this.#parts.local(job)?.total(task, dst, messages, bytes);
    }
  }

  #slots(m: Heartbeat, from: NodeId): void {
    const node = this.#parts.dispatcher().core.nodes.get(from);
    if (!node) return;
    const acts = (job: JobId, task: TaskId, incarnation: Incarnation): boolean =>
      this.isAt(from, job, task, incarnation);
    const lesson = node.room !== undefined && this.#parts.isLesson(node.room);
    this.slotUse.heard(from, m.tasks, node.slots, node.tasks.size, acts, clock(), lesson);
  }

  image(job: JobId, task: TaskId, what: 'imageBegun' | 'image'): void {
    this.#note('an image', () => this.history.image(job, task, what));
  }

  /** A rank goes on from an image that was made again from parity. */
  rebuilt({ job, task, incarnation }: Manifest): void {
    this.#note('a recovery', () => this.history.note(job, { at: clock(), kind: 'rebuilt', task, incarnation }));
  }

  fellBack(job: JobId, task: TaskId, cause: string): void {
    this.#note('a recovery', () => this.history.note(job, { at: clock(), kind: 'fellBack', task, cause }));
  }

  wave(job: JobId, news: WaveNews | undefined): void {
    if (news) this.#note('a wave', () => this.history.wave(job, news));
  }

  taskDone(job: JobId, task: TaskId): void {
    this.#note('the end of a rank', () => {
      this.history.done(job, task);
      this.board.done(job, task, clock());
    });
  }

  jobChanged(job: JobId): void {
    this.#note('a job', () => this.history.changed(job));
  }

  jobEnded(job: JobId): void {
    this.#note('the end of a job', () => this.board.jobEnded(job));
  }

  tick(nodes: readonly NodeView[]): void {
    this.#note('the time', () => {
      this.history.tick();
      this.slotUse.tick(nodes, clock());
    });
  }

  async forget(job: JobId): Promise<void> {
    this.#repeated.forget(job);
    await this.runLog.forget(job);
    await this.history.forget(job);
  }

  async close(): Promise<void> {
    await this.runLog.close();
    await this.history.close();
  }

  /** N2. Where the dispatcher gave this incarnation to; undefined: nowhere, or a newer one acts. */
  #nodeOf(job: JobId, task: TaskId, incarnation: Incarnation): NodeId | undefined {
    const t = this.#parts.dispatcher().core.find(job, task);
    return t?.incarnation === incarnation ? t.node : undefined;
  }

  /** N2. The incarnation acts at this node, or ended there: what a rank says last comes after its end, perhaps. */
  isAt(node: NodeId, job: JobId, task: TaskId, incarnation: Incarnation): boolean {
    const t = this.#parts.dispatcher().core.find(job, task);
    return t?.incarnation === incarnation && (t.node === node || (t.phase === 'done' && t.lastNode === node));
  }
}
