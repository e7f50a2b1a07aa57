/**
 * The lesson “What happens when a tab closes?”: a small fixed job per visitor, run by tabs that the visitor's own page
 * opens.
 *
 * Owns: the lessons that are under way, each with a room of its own whose code (12 letters, where people's have 6) is
 * all that the visitor gets.
 *  L1  A visitor chooses nothing: program, size and limits are fixed; the only input is “go on”, LAPS times.
 *  L2  Bounded: MOST at a time and OF_NETWORK of one network, one start in START_MS per network; a lesson goes
 *      LESSON_MS after its start, AFTER_MS after its end, or LEFT_MS after its page asked last, with all its files.
 *  L4  Where MOST are under way, a newcomer takes the place of another (serve/network-places.ts): of the network with
 *      the most, or of who has not gone on for IDLE_MS. So nobody locks out everybody for longer.
 *  L5  Whoever has the code of a lesson, and with it the capability of a rank, can send no more than LESSON_ALLOWANCE,
 *      and has no images, files or further ranks (JobSpec.allowance). Its nodes are counted apart (node-sockets.ts X7).
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
  type TaskId,
  type TaskView,
} from '@mayfly/wire';
import type { Logger } from './logger.ts';
import type { Rooms } from './rooms.ts';
import type { Runtime } from './runtime.ts';
import { NetworkPlaces, type Holder } from './serve/network-places.ts';

const MOST = 20;
const START_MS = 2000;
const OF_NETWORK = 8;
/** The page asks twice a second, in a tab that is hidden for long once a minute. */
const LEFT_MS = 150_000;
const IDLE_MS = 60_000;
/** L5: a lesson sends a hundredth of it. */
export const LESSON_ALLOWANCE = { bytes: 4 << 20, messages: 50_000 };
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

interface Lesson extends Holder {
  readonly code: string;
  /** Undefined: it is being prepared. */
  job: JobId | undefined;
  readonly at: number;
  /** When its visitor went on last, and its page asked last. */
  steppedAt: number;
  askedAt: number;
  steps: number;
  endedAt?: number;
}

export class Lessons {
  readonly #runtime: Runtime;
  readonly #rooms: Rooms;
  readonly #submit: (s: JobSubmission) => Promise<{ id: JobId }>;
  readonly #logger: Logger;
  readonly #lessons = new Map<string, Lesson>();
  readonly #places: NetworkPlaces<Lesson>;
  readonly #now: () => number;
  /** When the last one was begun, by network. */
  readonly #starts = new Map<string, number>();
  #timer: NodeJS.Timeout | undefined;

  constructor(deps: {
    runtime: Runtime;
    rooms: Rooms;
    submit: (s: JobSubmission) => Promise<{ id: JobId }>;
    logger: Logger;
    now?: () => number;
  }) {
    this.#runtime = deps.runtime;
    this.#rooms = deps.rooms;
    this.#submit = deps.submit;
    this.#logger = deps.logger;
    this.#now = deps.now ?? (() => performance.now());
    this.#places = new NetworkPlaces(MOST, this.#now);
  }

  /** L3. After the jobs have recovered. */
  begin(): void {
    for (const { record } of this.#runtime.dispatcher.core.core.jobs.values())
      if (record.spec.room?.length === CODE_LENGTH && !this.#rooms.has(record.spec.room))
        void this.#forget(record.spec.id);
    this.#timer = setInterval(() => this.round(), ROUND_MS).unref();
  }

  /** @throws MayflyError TOO_MANY */
  async start(network: string): Promise<string> {
    const now = this.#now();
    for (const [n, at] of this.#starts) if (now - at >= START_MS) this.#starts.delete(n);
    if (this.#starts.has(network))
      throw new MayflyError('TOO_MANY', 'A lesson started from your network a moment ago. Try again in two seconds.');
    if ([...this.#lessons.values()].filter((l) => l.network === network).length >= OF_NETWORK)
      throw new MayflyError(
        'TOO_MANY',
        `${OF_NETWORK} lessons are running in your network. Try again when one has ended.`,
      );
    const letters = 'ABCDEFGHJKMNPQRSTUVWXYZ23456789';
    const code = Array.from({ length: CODE_LENGTH }, () => letters[randomInt(letters.length)]).join('');
    const lesson: Lesson = {
      code,
      network,
      job: undefined,
      at: now,
      steppedAt: now,
      askedAt: now,
      steps: 0,
      use: () => (this.#now() - lesson.steppedAt >= IDLE_MS ? 'nothing' : 'idle'),
    };
    // L4.
    if (!this.#places.take(lesson, (other) => this.end(other.code)))
      throw new MayflyError('TOO_MANY', `${MOST} lessons are running. Try again in a minute.`);
    this.#starts.set(network, now);
    this.#lessons.set(code, lesson);
    this.#rooms.lend(code);
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
      lesson.job = id;
      // It had to go meanwhile.
      if (!this.#lessons.has(code)) void this.#forget(id);
      return code;
    } catch (e) {
      this.end(code);
      throw e;
    }
  }

  #need(code: string): Lesson & { job: JobId } {
    const lesson = this.#lessons.get(code);
    if (lesson) lesson.askedAt = this.#now();
    if (lesson?.job === undefined) throw new MayflyError('NOT_FOUND', 'This lesson has ended. Start a new one.');
    return lesson as Lesson & { job: JobId };
  }

  /** L1. @throws MayflyError NOT_FOUND, CONFLICT */
  async step(code: string): Promise<void> {
    const lesson = this.#need(code);
    if (lesson.steps >= LESSON_LAPS) throw new MayflyError('CONFLICT', 'The token has made all its laps.');
    lesson.steps++;
    lesson.steppedAt = this.#now();
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
    const logged = (task: TaskId): number | undefined => {
      const host = hosts.find((h) => h.served.isHome(task));
      return hosts.length > 0 ? (host?.core?.observe(task)?.arrivalsLogged ?? 0) : undefined;
    };
    // Without a log, what it had: lines of standard input, and their end, were in that of rank 0.
    const stdin = lesson.steps + (lesson.steps === LESSON_LAPS ? 1 : 0);
    const had = (t: TaskView): number => t.messagesIn + (t.task === 0 ? stdin : 0);
    return {
      state: view.state,
      steps: lesson.steps,
      ranks: view.tasks.map((t) => ({
        rank: t.task,
        state: t.state,
        incarnation: t.incarnation,
        logged: logged(t.task) ?? had(t),
        // Who is done has read everything, whenever it was last heard.
        read: t.state === 'done' ? (logged(t.task) ?? had(t)) : (t.activity?.arrivals ?? 0),
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
    this.#places.leave(lesson);
    this.#rooms.takeBack(code);
    if (lesson.job !== undefined) void this.#forget(lesson.job);
  }

  /** L2. */
  round(): void {
    const now = this.#now();
    for (const [code, { job, at, askedAt, endedAt }] of this.#lessons) {
      const view = job === undefined ? undefined : this.#runtime.view(job);
      if (view && isOver(view.state)) this.#lessons.get(code)!.endedAt ??= now;
      if (
        (job !== undefined && !view) ||
        now - at > LESSON_MS ||
        now - askedAt > LEFT_MS ||
        (endedAt !== undefined && now - endedAt > AFTER_MS)
      )
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
