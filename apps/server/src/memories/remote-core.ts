/**
 * The core of a Channel Memory that works at another server, as its ServedLog sees it: takes events, and can be asked
 * for what that server reported last.
 */
import type { CmEffect, CmEvent, LogCore, Progress } from '@mayfly/protocols';
import { FILES, WORLD, taskId, type TaskId } from '@mayfly/wire';
import { taskReport, type SeatReport, type TaskReport } from './seat-messages.ts';

const NOTHING: CmEffect[] = [];
const HOLDS_NOTHING: Progress['logs'] = { arrivals: 0, consumed: 0, determinants: 0, held: [], sent: [] };

/** Only a protocol without waves and clusters has its core elsewhere (seats.ts). */
export class RemoteCore implements LogCore {
  readonly line = undefined;
  /** That server flushes. */
  readonly flushDue = false;
  readonly worldDue = false;
  readonly #send: (event: CmEvent) => void;
  /** Of the tasks that were fenced, as they were then. */
  readonly #fenced = new Map<TaskId, Progress>();
  /** Input for each task that is not reported as logged yet. */
  readonly #sent = new Map<TaskId, { src: TaskId; channel: number; bytes: number }[]>();
  #tasks: number;
  #report: SeatReport;

  constructor(tasks: number, report: SeatReport, send: (event: CmEvent) => void) {
    this.#tasks = tasks;
    this.#report = report;
    this.#send = send;
  }

  get tasks(): number {
    return this.#tasks;
  }

  /** Answered later. */
  step(event: CmEvent): CmEffect[] {
    // That server has ticks of its own.
    if (event.type === 'tick') return NOTHING;
    if (event.type === 'grow') this.#tasks = event.size;
    if (event.type === 'world') this.#gave(event);
    this.#send(event);
    return NOTHING;
  }

  reported(report: SeatReport): void {
    this.#report = report;
  }
  fenced(task: TaskId, progress: Progress): void {
    this.#fenced.set(task, progress);
  }

  #of(task: TaskId): TaskReport {
    return taskReport(this.#report.tasks, task);
  }

  progress(task: TaskId): Progress {
    const { sends, consumed } = this.#of(task);
    const fenced = this.#fenced.get(task);
    return {
      sends: Math.max(sends, fenced?.sends ?? 0),
      consumed: Math.max(consumed, fenced?.consumed ?? 0),
      logs: fenced?.logs ?? HOLDS_NOTHING,
    };
  }

  /** Of the file service and of standard input. */
  logged(src: TaskId, dst: TaskId): number {
    if (src === FILES) return this.#of(dst).answers;
    return src === WORLD && dst === taskId(0) ? this.#of(dst).typed : 0;
  }

  durable(src: TaskId, dst: TaskId): number {
    return src === FILES ? this.#of(dst).durableAnswers : 0;
  }

  #gave({ task, src = WORLD, channel, body }: Extract<CmEvent, { type: 'world' }>): void {
    const sent = this.#sent.get(task) ?? [];
    this.#sent.set(task, [...this.#unreported(task, sent), { src, channel, bytes: body.length }]);
  }
  #unreported<S extends { src: TaskId; channel: number }>(task: TaskId, sent: readonly S[]): S[] {
    const { answers, typed } = this.#of(task);
    return sent.filter((m) => m.channel > (m.src === FILES ? answers : typed));
  }

  inputAhead(task: TaskId): number {
    const sent = this.#unreported(task, this.#sent.get(task) ?? []);
    return sent.reduce((n, m) => n + m.bytes, this.#of(task).inputAhead);
  }

  observe(task: TaskId): ReturnType<LogCore['observe']> {
    const { arrivals, sends, bodiesUnderWay } = this.#of(task);
    return { arrivalsLogged: arrivals, sendsLogged: sends, bodiesUnderWay };
  }

  memory(): ReturnType<LogCore['memory']> {
    return this.#report.memory;
  }

  // Of waves and clusters.
  awaiting = (): number => 0;
  unshown = (): ReturnType<LogCore['unshown']> => ({ messages: 0, output: 0, bytes: 0, requests: 0 });
  provisional = (): ReturnType<LogCore['provisional']> => [];
  waveCounts = (): undefined => undefined;
}
