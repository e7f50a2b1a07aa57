/**
 * The core of a Channel Memory that works at another server, as its ServedLog sees it: takes events, and can be asked
 * for what that server reported last.
 */
import { countOf, type CmEffect, type CmEvent, type GateCounts, type LogCore, type Progress } from '@mayfly/protocols';
import { FILES, WORLD, taskId, type TaskId } from '@mayfly/wire';
import { taskReport, type SeatReport, type TaskReport } from './seat-messages.ts';

const NOTHING: CmEffect[] = [];
const HOLDS_NOTHING: Progress['logs'] = { arrivals: 0, consumed: 0, determinants: 0, held: [], sent: [] };

/** Reports without a reader of output that is not final, after which it is not reported any more. */
const UNREAD = 8;

/** Of a protocol whose Channel Memories need not be in one process (seats.ts). */
export class RemoteCore implements LogCore {
  readonly line: LogCore['line'];
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
  #counts: Readonly<GateCounts> | undefined;
  #preview: ReturnType<LogCore['provisional']> = [];
  /** Bytes of each stream that were asked for, and reports since then. */
  #asked = 0;
  #unread = 0;

  /** @param line where it begins */
  constructor(tasks: number, line: LogCore['line'], report: SeatReport, send: (event: CmEvent) => void) {
    this.#tasks = tasks;
    this.line = line;
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
    if (report.preview) this.#preview = report.preview;
    if (++this.#unread > UNREAD) this.#asked = 0;
  }
  /** The channels of a task are recorded in a wave. */
  counted(counts: Readonly<GateCounts>): void {
    this.#counts = counts;
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
    const { answers, typed } = this.#of(dst);
    const reported = src === FILES ? answers : src === WORLD && dst === taskId(0) ? typed : 0;
    // The first report was made before the core had gone back there.
    const begins = this.line?.to?.tasks[dst];
    return begins?.state === 'image' ? Math.max(reported, countOf(begins.cut.receives, src)) : reported;
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

  unshown = (): ReturnType<LogCore['unshown']> => this.#report.unshown;
  waveCounts = (): ReturnType<LogCore['waveCounts']> => this.#counts;
  provisional = (bytes: number): ReturnType<LogCore['provisional']> => {
    this.#asked = bytes;
    this.#unread = 0;
    return this.#preview;
  };
  /** Bytes of each stream that somebody reads before they are final. */
  get previewed(): number {
    return this.#asked;
  }
  /** Of clusters. */
  awaiting = (): number => 0;
}
