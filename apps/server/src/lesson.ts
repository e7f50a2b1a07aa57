/**
 * The lesson “What happens when a tab closes?”: a small fixed job per visitor, run by tabs that the visitor's own page
 * opens.
 *
 * Owns: the lessons that are under way, each with a room of its own whose code (12 letters, where people's have 6) is
 * all that the visitor gets.
 *  L1  A visitor chooses nothing: program, size and limits are fixed; the only input is “go on”, LAPS times.
 *  L2  Bounded: MOST at a time, one start in START_MS per address; a lesson goes LESSON_MS after its start, or AFTER_MS
 *      after its end, with all its files.
 *  L3  Lessons do not outlive the server's process: what an earlier one left is ended and forgotten at the start.
 */
import { isOver } from '@mayfly/protocols';
import { randomInt } from 'node:crypto';
import {
  LESSON_LAPS,
  LESSON_RANKS,
  MayflyError,
  taskId,
  type JobId,
  type JobSubmission,
  type LessonView,
} from '@mayfly/wire';
import type { Logger } from './logger.ts';
import type { Rooms } from './rooms.ts';
import type { Runtime } from './runtime.ts';

const MOST = 20;
const START_MS = 2000;
const LESSON_MS = 10 * 60_000;
const AFTER_MS = 60_000;
const ROUND_MS = 5000;
const CODE_LENGTH = 12;
const OUTPUT_SHOWN = 4096;

/** Each rank keeps a sum in its memory and nowhere else; what goes round depends on all of them. */
const PROGRAM = `import { COMM_WORLD as comm, stdin } from 'mayfly';
const token = new Float64Array(1);
let sum = 0;
for (let lap = 1; lap <= ${LESSON_LAPS}; lap++) {
  if (comm.rank === 0) {
    stdin.readLine();
    token[0] = lap;
  } else comm.recv(token, comm.rank - 1, lap);
  sum += token[0];
  token[0] = sum;
  comm.send(token, (comm.rank + 1) % comm.size, lap);
  if (comm.rank === 0) {
    comm.recv(token, comm.size - 1, lap);
    console.log(token[0]);
  }
}
`;

interface Lesson {
  job: JobId;
  address: string;
  at: number;
  steps: number;
  endedAt?: number;
}

export class Lessons {
  readonly #runtime: Runtime;
  readonly #rooms: Rooms;
  readonly #submit: (s: JobSubmission) => Promise<{ id: JobId }>;
  readonly #logger: Logger;
  readonly #lessons = new Map<string, Lesson>();
  #preparing = 0;
  /** When the last one was begun, by address. */
  readonly #starts = new Map<string, number>();
  #timer: NodeJS.Timeout | undefined;

  constructor(deps: {
    runtime: Runtime;
    rooms: Rooms;
    submit: (s: JobSubmission) => Promise<{ id: JobId }>;
    logger: Logger;
  }) {
    this.#runtime = deps.runtime;
    this.#rooms = deps.rooms;
    this.#submit = deps.submit;
    this.#logger = deps.logger;
  }

  /** L3. After the jobs have recovered. */
  begin(): void {
    for (const { record } of this.#runtime.dispatcher.core.core.jobs.values())
      if (record.spec.room?.length === CODE_LENGTH && !this.#rooms.has(record.spec.room))
        void this.#forget(record.spec.id);
    this.#timer = setInterval(() => this.round(Date.now()), ROUND_MS).unref();
  }

  /** @throws MayflyError TOO_MANY */
  async start(address: string, now = Date.now()): Promise<string> {
    for (const [a, at] of this.#starts) if (now - at >= START_MS) this.#starts.delete(a);
    if (this.#starts.has(address))
      throw new MayflyError('TOO_MANY', 'A lesson started from this address a moment ago. Try again in two seconds.');
    if (this.#lessons.size + this.#preparing >= MOST)
      throw new MayflyError('TOO_MANY', `${MOST} lessons are running. Try again in a few minutes.`);
    this.#starts.set(address, now);
    const letters = 'ABCDEFGHJKMNPQRSTUVWXYZ23456789';
    const code = Array.from({ length: CODE_LENGTH }, () => letters[randomInt(letters.length)]).join('');
    this.#rooms.lend(code);
    this.#preparing++;
    try {
      const { id } = await this.#submit({
        name: 'lesson',
        size: LESSON_RANKS,
        room: code,
        program: { language: 'typescript', entry: 'lesson.ts', sources: { 'lesson.ts': PROGRAM } },
        options: {
          team: 1,
          interactive: true,
          timeLimitMs: LESSON_MS,
          outputLimitBytes: 65_536,
          memoryBytes: 64 << 20,
        },
      });
      this.#lessons.set(code, { job: id, address, at: now, steps: 0 });
      return code;
    } catch (e) {
      this.#rooms.takeBack(code);
      throw e;
    } finally {
      this.#preparing--;
    }
  }

  #need(code: string): Lesson {
    const lesson = this.#lessons.get(code);
    if (!lesson) throw new MayflyError('NOT_FOUND', 'This lesson has ended. Start a new one.');
    return lesson;
  }

  /** L1. @throws MayflyError NOT_FOUND, CONFLICT */
  async step(code: string): Promise<void> {
    const lesson = this.#need(code);
    if (lesson.steps >= LESSON_LAPS) throw new MayflyError('CONFLICT', 'The token has made all its laps.');
    lesson.steps++;
    await this.#runtime.intake.appendStdin(
      lesson.job,
      new TextEncoder().encode('\n'),
      lesson.steps === LESSON_LAPS,
      undefined,
    );
  }

  /** @throws MayflyError NOT_FOUND */
  async view(code: string): Promise<LessonView> {
    const lesson = this.#need(code);
    const view = this.#runtime.view(lesson.job);
    if (!view) throw new MayflyError('NOT_FOUND', 'This lesson has ended. Start a new one.');
    const hosts = this.#runtime.memories.of(lesson.job) ?? [];
    return {
      state: view.state,
      steps: lesson.steps,
      ranks: view.tasks.map((t) => ({
        rank: t.task,
        state: t.state,
        incarnation: t.incarnation,
        logged:
          hosts.length > 0
            ? (hosts.find((h) => h.served.isHome(t.task))?.core?.observe(t.task)?.arrivalsLogged ?? 0)
            : t.messagesIn,
        read: t.activity?.arrivals ?? 0,
        ...(t.activity?.state === undefined ? {} : { activity: t.activity.state }),
      })),
      faults: view.faults.map((f) => ({
        rank: f.task,
        incarnation: f.incarnation,
        ...(f.recoveredAfterMs === undefined ? {} : { recoveredAfterMs: f.recoveredAfterMs }),
      })),
      output: new TextDecoder().decode(
        await this.#runtime.world.outputs.read(lesson.job, taskId(0), 'stdout', 0, OUTPUT_SHOWN),
      ),
      ...(view.error === undefined ? {} : { error: view.error.message }),
    };
  }

  /** The visitor left. */
  end(code: string): void {
    const lesson = this.#lessons.get(code);
    if (!lesson) return;
    this.#lessons.delete(code);
    this.#rooms.takeBack(code);
    void this.#forget(lesson.job);
  }

  /** L2. */
  round(now: number): void {
    for (const [code, lesson] of this.#lessons) {
      const view = this.#runtime.view(lesson.job);
      if (view && isOver(view.state)) lesson.endedAt ??= now;
      if (!view || now - lesson.at > LESSON_MS || (lesson.endedAt !== undefined && now - lesson.endedAt > AFTER_MS))
        this.end(code);
    }
  }

  async #forget(job: JobId): Promise<void> {
    try {
      const view = this.#runtime.view(job);
      if (view && !isOver(view.state)) {
        this.#runtime.dispatcher.step({ type: 'cancel', job });
        await this.#runtime.dispatcher.settled();
      }
      if (view) await this.#runtime.intake.remove(job);
    } catch (error) {
      this.#logger.warn({ err: error, job }, 'a lesson could not be forgotten');
    }
  }

  close(): void {
    clearInterval(this.#timer);
  }
}
