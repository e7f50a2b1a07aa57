/**
 * socket.io namespace /dashboard: lists of jobs and nodes, the watched job, its output as it comes.
 *
 * Owns: what each socket watches, and the times of the last sends.
 *  V1  A watched job is sent at most five times a second, one of many ranks less often; the lists at most twice, and
 *      not to who watches a job. A socket that is not writable is owed the newest state, never an older one and never
 *      none: the last change of a job is its end.
 *  V2  Output reaches a socket by offset, without gap or overlap: first what the files hold from `from` on, then what
 *      comes.
 *  V4  A socket that asks for deltas is sent a whole view first, then what has changed since the last that it was sent.
 *  V3  A socket that takes nothing gets no more output until its buffer is empty; it goes on from the files where it
 *      was.
 */
import type { StreamName } from '@mayfly/storage/ports';
import type { Namespace, Socket } from 'socket.io';
import { Type } from 'typebox';
import { Compile } from 'typebox/compile';
import {
  JobIdSchema,
  MayflyError,
  patchOf,
  taskId,
  Look,
  type JobId,
  type JobView,
  type NodeView,
  type TaskId,
  type ViewerEvents,
  type ViewerRequests,
} from '@mayfly/wire';
import { LinkPlaces } from './hosts/link-places.ts';
import { HistoryFeed, type Viewer } from './history/feed.ts';
import type { Logger } from './logger.ts';
import type { RuntimeObserver } from './observer.ts';
import type { ServerLimits } from './options.ts';
import { ProvisionalFeed, type Reader } from './provisional.ts';
import type { Runtime } from './runtime.ts';
import { addressOf } from './serve/address.ts';
import { limitFlood } from './serve/flood.ts';
import type { Guard } from './serve/guard.ts';
import { SESSION, readCookie } from './login/cookies.ts';
import type { Principal } from './tokens.ts';

const JOB_MS = 200;
/**
 * A view is some 300 bytes a rank: of many ranks it is sent so much less often that a viewer gets about as many bytes a
 * second.
 */
const JOB_MS_PER_RANK = 4;
/** The same for its result files: 10,000 of them make a view of 1 MB or more. */
const JOB_MS_PER_FILE = 0.5;
const LISTS_MS = 500;
const OUTPUT_MS = 60;
const HISTORY_MS = 1000;
/** At most so much output per socket and turn. */
const OUTPUT_BYTES = 256 * 1024;
const LONGEST_TIMER_MS = 2 ** 31 - 1;
/** Jobs in the list. */
const LIST_JOBS = 200;

const request = Compile(
  Type.Object({
    job: Type.Optional(JobIdSchema),
    from: Type.Optional(Type.Record(Type.String(), Type.Integer({ minimum: 0 }))),
    tail: Type.Optional(Type.Integer({ minimum: 0 })),
    deltas: Type.Optional(Type.Boolean()),
    provisional: Type.Optional(Type.Boolean()),
  }),
);

const look = Compile(Type.Union([Look, Type.Null()]));

type DashboardSocket = Socket<ViewerRequests, ViewerEvents>;

interface Watcher {
  socket: DashboardSocket;
  principal: Principal;
  job: JobId | undefined;
  /** It takes changes of views, of which this one was sent last (V4). */
  deltas: boolean;
  sent: JobView | undefined;
  /** Next byte per `${task}:${stream}` (V2). */
  next: Map<string, number>;
  /** Streams of which it has shown nothing yet begin at most so many bytes before their end. */
  tail: number | undefined;
  /** Output is being read for it. */
  reading: boolean;
  files: Map<string, number>;
  /** When the job's view may be sent again, on the clock of performance.now (V1). */
  due: number;
  /** Something changed and has not been sent yet (V1). */
  owes: { job: boolean; jobs: boolean; nodes: boolean };
}

export class Dashboard implements RuntimeObserver {
  readonly #runtime: Runtime;
  readonly #guard: Guard;
  readonly #logger: Logger;
  readonly #trustProxy: number;
  readonly #perMinute: number;
  /** By token. */
  readonly #places: LinkPlaces;
  readonly #watchers = new Set<Watcher>();
  readonly #changed = new Set<JobId>();
  #lists = false;
  #nodes = false;
  readonly #written = new Set<JobId>();
  readonly #feed: HistoryFeed;
  readonly #provisional: ProvisionalFeed;
  readonly #timers: NodeJS.Timeout[];

  /** `trustProxy`: proxies before the server, which report the addresses of clients. */
  constructor(
    runtime: Runtime,
    guard: Guard,
    logger: Logger,
    limits: Pick<ServerLimits, 'messagesPerMinute' | 'dashboardsPerToken'>,
    trustProxy: number,
  ) {
    this.#perMinute = limits.messagesPerMinute;
    this.#places = new LinkPlaces({ dataSockets: Infinity, dataSocketsPerNetwork: limits.dashboardsPerToken });
    this.#trustProxy = trustProxy;
    this.#runtime = runtime;
    this.#guard = guard;
    this.#logger = logger;
    this.#feed = new HistoryFeed(runtime.chronicle.history);
    this.#provisional = new ProvisionalFeed(runtime);
    this.#timers = [
      setInterval(() => this.#feed.tick(), HISTORY_MS),
      setInterval(() => this.#sendJobs(), JOB_MS),
      setInterval(() => this.#sendLists(), LISTS_MS),
      setInterval(() => this.#sendOutput(), OUTPUT_MS),
    ];
    for (const t of this.#timers) t.unref();
  }

  serve(namespace: Namespace<ViewerRequests, ViewerEvents>): void {
    namespace.use((socket, next) => {
      const token = (socket.handshake.auth as { token?: unknown }).token;
      this.#guard
        .identify(
          typeof token === 'string' ? token : readCookie(socket.handshake.headers.cookie, SESSION),
          addressOf(socket.handshake, this.#trustProxy),
        )
        .then(
          (principal) => {
            (socket.data as { principal: Principal }).principal = principal;
            next();
          },
          (error: unknown) => {
            const e =
              error instanceof MayflyError
                ? error
                : new MayflyError('INTERNAL', 'Internal server error. See the server log.');
            next(Object.assign(new Error(e.message), { data: { code: e.code, message: e.message } }));
          },
        );
    });
    namespace.on('connection', (socket) => {
      const { principal } = socket.data as { principal: Principal };
      const giveBack = this.#places.take(principal.id ?? '');
      if (!giveBack) {
        const message = 'Too many dashboards are open with this token. Close some of them.';
        socket.emit('closing', { code: 'TOO_MANY', message });
        return void socket.disconnect(true);
      }
      socket.on('disconnect', giveBack);
      const w: Watcher = {
        socket,
        principal,
        job: undefined,
        deltas: false,
        sent: undefined,
        next: new Map(),
        tail: undefined,
        reading: false,
        files: new Map(),
        due: 0,
        owes: { job: false, jobs: false, nodes: false },
      };
      this.#watchers.add(w);
      limitFlood(socket, this.#perMinute, (what) =>
        this.#logger.warn(
          { what, address: addressOf(socket.handshake, this.#trustProxy) },
          'closing a dashboard that sends too much',
        ),
      );
      const over =
        principal.expiresAt === undefined
          ? undefined
          : setTimeout(() => socket.disconnect(true), Math.min(principal.expiresAt - Date.now(), LONGEST_TIMER_MS));
      socket.use(([event, ...args], next) => {
        try {
          this.#guard.permitEvent(principal, String(event));
          next();
        } catch (error) {
          const answer: unknown = args.at(-1);
          if (typeof answer === 'function')
            (answer as (r: unknown) => void)({
              error: { code: (error as MayflyError).code, message: (error as MayflyError).message },
            });
        }
      });
      socket.on('watch', (req, ack) => {
        const answer = typeof ack === 'function' ? ack : (): void => undefined;
        if (!request.Check(req))
          return answer({
            error: { code: 'BAD_REQUEST', message: 'watch takes {job?, from?, tail?, deltas?, provisional?}.' },
          });
        if (req.job !== undefined && !this.#runtime.view(req.job))
          return answer({ error: { code: 'NOT_FOUND', message: `There is no job ${req.job}.` } });
        w.job = req.job;
        w.deltas = req.deltas ?? false;
        w.sent = undefined;
        w.next = new Map(Object.entries(req.from ?? {}));
        w.tail = req.job === undefined ? undefined : req.tail;
        w.files.clear();
        w.due = 0;
        answer({ ok: true });
        if (req.provisional) this.#provisional.add(reader);
        else this.#provisional.remove(reader);
        if (w.job === undefined) {
          socket.emit('jobs', this.#list());
          socket.emit('nodes', this.#runtime.nodes());
        } else {
          const view = this.#runtime.view(w.job);
          if (view) this.#sendView(w, view);
          this.#written.add(w.job);
        }
      });
      const reader: Reader = {
        emit: (event, news) => socket.emit(event, news),
        get job() {
          return w.job;
        },
        get writable() {
          return writable(w);
        },
      };
      const viewer: Viewer = {
        emit: (event, ...news) => socket.emit(event, ...news),
        get writable() {
          return writable(w);
        },
      };
      socket.on('look', (req, ack) => {
        const answer = typeof ack === 'function' ? ack : (): void => undefined;
        if (!look.Check(req))
          return answer({ error: { code: 'BAD_REQUEST', message: 'look takes {job, timeline?, matrix?} or null.' } });
        if (req && !this.#runtime.view(req.job))
          return answer({ error: { code: 'NOT_FOUND', message: `There is no job ${req.job}.` } });
        this.#feed.look(viewer, req ?? undefined);
        answer({ ok: true });
      });
      socket.on('disconnect', () => {
        clearTimeout(over);
        this.#watchers.delete(w);
        this.#feed.look(viewer, undefined);
        this.#provisional.remove(reader);
      });
    });
  }

  /** The token was revoked: whoever is connected with it is not any longer. */
  tokenEnded(id: string): void {
    for (const w of this.#watchers) if (w.principal.id === id) w.socket.disconnect(true);
  }

  // RuntimeObserver: only notes down

  jobChanged(job: JobId): void {
    this.#changed.add(job);
    this.#lists = true;
  }
  nodesChanged(): void {
    this.#nodes = true;
    this.#lists = true; // reasons of waiting jobs speak of slots
  }
  output(job: JobId): void {
    this.#written.add(job);
    this.#changed.add(job);
  }
  file(job: JobId, path: string, bytes: number): void {
    this.#changed.add(job);
    for (const w of this.#watchers) if (w.job === job) w.files.set(path, bytes);
  }
  jobForgotten(job: JobId): void {
    for (const w of this.#watchers) if (w.job === job) w.job = undefined;
    this.#lists = true;
  }

  #list(): JobView[] {
    const out: JobView[] = [];
    for (const id of this.#runtime.jobs().slice(0, LIST_JOBS)) {
      const view = this.#runtime.view(id);
      if (view) out.push(listed(view));
    }
    return out;
  }

  #sendJobs(): void {
    const views = new Map<JobId, JobView | undefined>();
    const now = performance.now();
    for (const w of this.#watchers) {
      if (w.job === undefined) continue;
      if (this.#changed.has(w.job)) w.owes.job = true;
      if (!w.owes.job || now < w.due || !writable(w)) continue;
      w.owes.job = false;
      if (!views.has(w.job)) views.set(w.job, this.#runtime.view(w.job));
      const view = views.get(w.job);
      if (view) this.#sendView(w, view);
      w.due = now + (view ? view.tasks.length * JOB_MS_PER_RANK + view.outputs.length * JOB_MS_PER_FILE : 0);
      for (const [path, bytes] of w.files) w.socket.emit('file', { job: w.job, path, bytes });
      w.files.clear();
    }
    this.#changed.clear();
  }

  /** V4. Views are made anew each time and changed by nobody. */
  #sendView(w: Watcher, view: JobView): void {
    if (w.deltas && w.sent) {
      const patch = patchOf(w.sent, view);
      if (patch !== undefined) w.socket.emit('change', { job: view.id, patch });
    } else w.socket.emit('job', view);
    w.sent = w.deltas ? view : undefined;
  }

  #sendLists(): void {
    let jobs: JobView[] | undefined;
    let nodes: NodeView[] | undefined;
    for (const w of this.#watchers) {
      w.owes.jobs ||= this.#lists;
      w.owes.nodes ||= this.#nodes;
      if (w.job !== undefined || !(w.owes.jobs || w.owes.nodes) || !writable(w)) continue;
      if (w.owes.jobs) w.socket.emit('jobs', (jobs ??= this.#list()));
      if (w.owes.nodes || w.owes.jobs) w.socket.emit('nodes', (nodes ??= this.#runtime.nodes()));
      w.owes.jobs = w.owes.nodes = false;
    }
    this.#lists = this.#nodes = false;
  }

  /** V2, V3. */
  #sendOutput(): void {
    if (this.#written.size === 0) return;
    for (const job of this.#written) this.#provisional.send(job);
    const again = new Set<JobId>();
    for (const w of this.#watchers) {
      const { job } = w;
      if (job === undefined || !this.#written.has(job)) continue;
      if (!writable(w) || w.reading) {
        again.add(job);
        continue;
      }
      w.reading = true;
      void this.#outputOf(w, job)
        .then((more) => void (more && this.#written.add(job)))
        .catch((error: unknown) => this.#logger.warn({ err: error, job }, 'output cannot be read'))
        .finally(() => (w.reading = false));
    }
    this.#written.clear();
    for (const job of again) this.#written.add(job);
  }

  /** True: there is more. It ends early when the socket begins to watch again, which asks for all output once more. */
  async #outputOf(w: Watcher, job: JobId): Promise<boolean> {
    const { outputs } = this.#runtime.world;
    const { next, tail } = w;
    const size = this.#runtime.tasksOf(job);
    let left = OUTPUT_BYTES;
    let more = false;
    for (let t = 0; t < size; t++)
      for (const stream of ['stdout', 'stderr'] satisfies StreamName[]) {
        const task: TaskId = taskId(t);
        const key = `${t}:${stream}`;
        const end = await outputs.size(job, task, stream);
        if (tail !== undefined && end > tail && !next.has(key)) next.set(key, end - tail);
        const offset = next.get(key) ?? 0;
        if (end <= offset) continue;
        more ||= left <= 0;
        if (left <= 0) continue;
        const bytes = await outputs.read(job, task, stream, offset, Math.min(left, 64 * 1024));
        if (w.next !== next) return false;
        left -= bytes.length;
        if (bytes.length === 0) continue;
        next.set(key, offset + bytes.length);
        w.socket.emit('output', { job, task: t, stream, offset, bytes });
        more ||= offset + bytes.length < end;
      }
    if (w.next === next) w.tail = undefined;
    return more && w.next === next;
  }

  /** Sockets that are connected. */
  get count(): number {
    return this.#watchers.size;
  }

  close(): void {
    for (const t of this.#timers) clearInterval(t);
    this.#provisional.close();
  }
}

const writable = (w: Watcher): boolean => w.socket.conn.transport.writable;

/** Ranks of a job whose states the list shows. */
const LIST_TASKS = 64;
const LIST_FAULTS = 50;
const STILL = { messagesIn: 0, bytesIn: 0, messagesOut: 0, bytesOut: 0, images: 0, imageBytes: 0 };

/**
 * A job as the list shows it: states of the ranks of one that is not over, no counters, so that a list is small and
 * changes rarely.
 */
function listed(view: JobView): JobView {
  const over = view.endedAt !== undefined;
  const tasks =
    over || view.size > LIST_TASKS
      ? []
      : view.tasks.map(({ task, state, incarnation }) => ({ task, state, incarnation, ...STILL }));
  const { waves: _, ...rest } = view;
  return { ...rest, tasks, outputs: [], faults: view.faults.slice(-LIST_FAULTS) };
}
