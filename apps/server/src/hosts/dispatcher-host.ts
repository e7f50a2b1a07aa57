/**
 * Host of the dispatcher core: the namespace /node of socket.io, the registry, the clock.
 *
 *  X1  Commits reach the registry in the order of their tokens, and `persisted` follows the commit. One that fails is
 *      repeated before the next, as soon as storage can be written again (disk.ts); a server that stops meanwhile makes
 *      none of those that are left.
 *  X2  What a node says reaches the core only after schema and secret are checked.
 *  X3  Messages to one node leave in the order of the effects, although some need a manifest from the disk first.
 *  X4  A connection that has said no good Hello after HELLO_MS is closed: it counts in the limit of nodes.
 *  X5  Who guesses codes of rooms waits for each wrong answer; a right code is never kept waiting for others' wrong
 *      ones.
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
  CONTROL_VERSION,
  Goodbye,
  Heartbeat,
  Hello,
  MayflyError,
  TaskReport,
  boardText,
  nodeId,
  type Assignment,
  type BoardName,
  type ErrorBody,
  type ErrorCode,
  type Incarnation,
  type JobId,
  type Manifest,
  type NodeId,
  type NodeToServer,
  type ServerToNode,
  type TaskId,
  type Welcome,
} from '@mayfly/wire';
import type { Namespace, Socket } from 'socket.io';
import { Type } from 'typebox';
import { Compile } from 'typebox/compile';
import type { Disk } from '../disk.ts';
import type { Logger } from '../logger.ts';
import { addressOf, networkOf } from '../serve/address.ts';
import { limitFlood } from '../serve/flood.ts';
import { WrongGuesses } from '../serve/guesses.ts';
import { cleanCode, type Rooms } from '../rooms.ts';
import { nodeKey, randomId, sameText, type NodeRecord, type Secrets } from '../secrets.ts';

const hello = Compile(Hello);
const heartbeat = Compile(Heartbeat);
const report = Compile(TaskReport);
const goodbye = Compile(Goodbye);
const slots = Compile(Type.Object({ slots: Type.Integer({ minimum: 0, maximum: 256 }) }));

type NodeSocket = Socket<NodeToServer, ServerToNode>;

export interface DispatcherListener {
  /** Makes CMs and CS ready for the job; resolves when they are. */
  openJob(job: JobId): Promise<void>;
  /** What is sent to the node, besides what the dispatcher knows. */
  assignment(job: JobId, task: TaskId, incarnation: Incarnation, manifest: Manifest | undefined): Assignment;
  manifest(image: string): Promise<Manifest | undefined>;
  /** The chosen image cannot be read after all. */
  damaged(job: JobId, task: TaskId, image: string): void;
  taskDone(job: JobId, task: TaskId): void;
  jobEnded(job: JobId, state: 'done' | 'failed' | 'cancelled', error: ErrorBody | undefined): void;
  jobChanged(job: JobId): void;
  nodesChanged(): void;
  /** A heartbeat that was well formed, with places of programs as their sources have them. */
  inSources(m: Heartbeat, from: NodeId | undefined): Heartbeat;
  /** The core has taken it. */
  heard(m: Heartbeat, from: NodeId | undefined): void;
  /** A node with this identity is welcome; `board`: the name that it gave. */
  came(node: NodeId, room: string | undefined, board: BoardName | undefined): void;
  left(node: NodeId): void;
  given(node: NodeId, job: JobId, task: TaskId, incarnation: Incarnation): void;
}

const HELLO_MS = 30_000;
/**
 * X5: wrong codes per minute and address, and how long each one beyond waits for its answer. A class that types one off
 * the wall has less.
 */
const WRONG_CODES = 60;
const SLOW_ANSWER_MS = 5000;
/** While storage is stopped: a commit is tried again so often, and a request waits so long for it. */
const AGAIN_MS = 1000;
const SETTLE_MS = 1500;

interface Connection {
  socket: NodeSocket;
  /** X4: it has said Hello in time. */
  inTime: () => void;
  ack: ((answer: Welcome | { error: ErrorBody }) => void) | undefined;
  /** A Hello is not answered yet. */
  asking: boolean;
  name: string;
  room?: string;
  board?: BoardName;
  node?: NodeId;
  secret?: string;
  /** X3. */
  outbox: Promise<unknown>;
}

export class DispatcherHost {
  readonly #service: JobService;
  readonly #registry: Registry;
  readonly #disk: Disk;
  readonly #secrets: Secrets;
  readonly #logger: Logger;
  readonly #listener: DispatcherListener;
  readonly #room: string | undefined;
  readonly #rooms: Rooms;
  readonly #maxNodes: number;
  readonly #perMinute: number;
  readonly #trustProxy: boolean;
  readonly #wrongCodes = new WrongGuesses(WRONG_CODES);
  readonly #after: (ms: number, run: () => void) => () => void;
  readonly #connections = new Map<string, Connection>();
  #commits: Promise<unknown> = Promise.resolve();
  #closed = false;
  /** X1: a commit was given up. */
  #lost = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(deps: {
    registry: Registry;
    disk: Disk;
    secrets: Secrets;
    logger: Logger;
    listener: DispatcherListener;
    /** What it is the host in. */
    service: JobService;
    /** The server's own join code. */
    room: string | undefined;
    rooms: Rooms;
    maxNodes: number;
    /** Messages that a node may send (serve/flood.ts). */
    messagesPerMinute: number;
    /** The address of a node is what the proxy reports. */
    trustProxy: boolean;
    /** Runs something later; returns how not to. Default: a timer. */
    after?: (ms: number, run: () => void) => () => void;
  }) {
    this.#service = deps.service;
    this.#registry = deps.registry;
    this.#disk = deps.disk;
    this.#secrets = deps.secrets;
    this.#logger = deps.logger;
    this.#listener = deps.listener;
    this.#room = deps.room;
    this.#rooms = deps.rooms;
    this.#maxNodes = deps.maxNodes;
    this.#perMinute = deps.messagesPerMinute;
    this.#trustProxy = deps.trustProxy;
    this.#after =
      deps.after ??
      ((ms, run) => {
        const timer = setTimeout(run, ms).unref();
        return () => clearTimeout(timer);
      });
  }

  start(): void {
    this.#timer = setInterval(() => this.step({ type: 'tick' }), this.core.core.settings.tickMs);
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

  get nodeCount(): number {
    return this.#connections.size;
  }

  perform(e: DispatcherIo): void {
    switch (e.type) {
      case 'persist':
        this.#commits = this.#commits.then(async () => {
          if (await this.#commit(e.changes)) this.step({ type: 'persisted', token: e.token });
        });
        return;
      case 'welcome':
        return this.#welcome(e);
      case 'close': {
        const c = this.#connections.get(e.connection);
        this.#connections.delete(e.connection);
        c?.socket.disconnect(true);
        return;
      }
      case 'openJob':
        this.#listener.openJob(e.job).catch((error: unknown) => {
          this.#logger.error({ err: error, job: e.job }, 'job cannot be opened');
          const code = error instanceof MayflyError ? error.code : 'INTERNAL';
          this.#service.failed(e.job, { code, message: `Cannot open the job: ${(error as Error).message}` });
        });
        return;
      case 'wake':
        // A timer may be a millisecond early by the clock that the core is told.
        setTimeout(() => this.step({ type: 'tick' }), e.afterMs + 2).unref();
        return;
      case 'assign':
        this.#logger.info(
          { job: e.job, task: e.task, incarnation: e.incarnation, node: e.node, image: e.image },
          'rank assigned',
        );
        this.#listener.given(e.node, e.job, e.task, e.incarnation);
        return this.#post(e.connection, async (socket) => {
          const manifest = e.image === undefined ? undefined : await this.#listener.manifest(e.image);
          if (e.image !== undefined && !manifest) return this.#listener.damaged(e.job, e.task, e.image);
          socket.emit('assign', this.#listener.assignment(e.job, e.task, e.incarnation, manifest));
        });
      case 'revoke':
        return this.#post(e.connection, (socket) => {
          socket.emit('revoke', {
            job: e.job,
            task: e.task,
            incarnation: e.incarnation,
            code: e.error.code,
            message: e.error.message,
          });
        });
      case 'checkpoint':
        return this.#post(e.connection, (socket) => {
          socket.emit('checkpoint', { job: e.job, task: e.task });
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

  #post(connection: string, send: (socket: NodeSocket) => void | Promise<void>): void {
    const c = this.#connections.get(connection);
    if (!c) return;
    c.outbox = c.outbox
      .then(() => send(c.socket))
      .catch((error: unknown) => this.#logger.error({ err: error }, 'message to a node failed'));
  }

  #welcome(e: Extract<DispatcherIo, { type: 'welcome' }>): void {
    const c = this.#connections.get(e.connection);
    if (!c) return;
    c.node = e.node;
    this.#listener.came(e.node, c.room, c.board);
    const now = Date.now();
    // The answer to Hello comes before anything else that this node is told.
    c.outbox = c.outbox
      .then(async () => {
        let { secret } = c;
        if (e.isNew || secret === undefined) {
          const fresh = this.#secrets.newNodeSecret(e.node);
          secret = fresh.secret;
          await this.#registry.commit([
            [nodeKey(e.node), { hash: fresh.hash, name: c.name, lastSeen: now } satisfies NodeRecord],
          ]);
        }
        c.ack?.({ node: e.node, secret, heartbeatMs: this.core.core.settings.heartbeatMs, drop: e.drop });
        c.ack = undefined;
      })
      .catch((error: unknown) => {
        // It comes back by itself, until its secret can be stored.
        if (this.#disk.failed(error, 'the registry'))
          this.#logger.warn({ err: error }, 'a node cannot be welcomed while nothing can be stored');
        else this.#logger.error({ err: error }, 'a node could not be welcomed');
        c.socket.disconnect(true);
      });
  }

  /** Serves the namespace /node. */
  serve(namespace: Namespace<NodeToServer, ServerToNode>): void {
    namespace.on('connection', (socket) => {
      const id = socket.id;
      if (this.#connections.size >= this.#maxNodes) {
        socket.disconnect(true);
        return;
      }
      const inTime = this.#after(HELLO_MS, () => {
        this.#logger.info({ address: socket.handshake.address }, 'closing a connection that never sent Hello');
        socket.disconnect(true);
      });
      const c: Connection = { socket, inTime, ack: undefined, asking: false, name: '', outbox: Promise.resolve() };
      this.#connections.set(id, c);
      limitFlood(socket, this.#perMinute, (what) =>
        this.#logger.warn(
          { what, address: socket.handshake.address, node: c.node },
          'closing a node that sends too much',
        ),
      );
      const bad = (what: string): void => {
        this.#logger.info({ what, address: socket.handshake.address }, 'malformed control message');
        socket.disconnect(true);
      };
      socket.on('hello', (m, ack) => {
        if (typeof ack !== 'function') return bad('hello');
        if (!hello.Check(m)) {
          const version = (m as { version?: unknown } | null)?.version;
          if (typeof version === 'number' && version !== CONTROL_VERSION) return ack({ error: versionError(version) });
          return ack({ error: { code: 'BAD_REQUEST', message: 'Invalid Hello message for this protocol version.' } });
        }
        // X5: whoever asks again before the answer guesses.
        if (c.asking) return bad('hello');
        c.asking = true;
        const answered: typeof ack = (answer) => {
          c.asking = false;
          ack(answer);
        };
        void this.#hello(c, m, answered).catch((error: unknown) => {
          const e = error instanceof MayflyError ? { code: error.code, message: error.message } : undefined;
          if (!e) this.#logger.error({ err: error }, 'hello failed');
          const answer = (): void =>
            answered({ error: e ?? { code: 'INTERNAL', message: 'Internal server error. See the server log.' } });
          if (e?.code !== 'UNAUTHORIZED' || this.#wrongCodes.add(addressOf(socket.handshake, this.#trustProxy)))
            answer();
          else this.#after(SLOW_ANSWER_MS, answer);
        });
      });
      socket.on('heartbeat', (told, ack) => {
        if (!heartbeat.Check(told)) return bad('heartbeat');
        const m = this.#listener.inSources(told, c.node);
        if (typeof ack === 'function') ack();
        this.step({
          type: 'heartbeat',
          connection: id,
          tasks: m.tasks,
          ...(m.rttMs === undefined ? {} : { rttMs: m.rttMs }),
          ...(m.speed === undefined ? {} : { speed: m.speed }),
        });
        this.#listener.heard(m, c.node);
      });
      socket.on('report', (m) => {
        if (!report.Check(m) || !['started', 'recovered', 'crashed', 'refused'].includes(m.event)) return bad('report');
        this.step({
          type: 'report',
          connection: id,
          job: m.job,
          task: m.task,
          incarnation: m.incarnation,
          event: m.event,
          ...(m.error ? { error: m.error } : {}),
        });
      });
      socket.on('goodbye', (m, ack) => {
        if (!goodbye.Check(m)) return bad('goodbye');
        this.step({ type: 'goodbye', connection: id, reason: m.reason });
        if (typeof ack === 'function') ack();
      });
      socket.on('slots', (m) =>
        slots.Check(m) ? this.step({ type: 'slots', connection: id, slots: m.slots }) : bad('slots'),
      );
      socket.on('disconnect', () => {
        inTime();
        if (!this.#connections.delete(id)) return;
        this.step({ type: 'disconnected', connection: id });
        // Unless it is back on another connection already.
        if (c.node !== undefined && this.core.core.nodes.get(c.node)?.connection === undefined)
          this.#listener.left(c.node);
      });
    });
  }

  async #hello(c: Connection, m: Hello, ack: NonNullable<Connection['ack']>): Promise<void> {
    if (m.version !== CONTROL_VERSION) throw new MayflyError('VERSION_MISMATCH', versionError(m.version).message);
    const room = this.roomOf(m.room ?? '');
    const board = boardOf(m.board);
    let claimed: NodeId | undefined;
    if (m.node !== undefined && m.secret !== undefined) {
      const r = (await this.#registry.get(nodeKey(m.node))) as NodeRecord | undefined;
      // A wrong secret makes a new node, as an expired one does: the node's own data may be older than the server's.
      if (r && this.#secrets.isNodeSecret(m.node, m.secret, r.hash)) {
        claimed = m.node;
        c.secret = m.secret;
        // For retention only: an hour more or less does not matter.
        if (Date.now() - r.lastSeen > 3600_000)
          this.#registry
            .commit([[nodeKey(m.node), { ...r, name: m.name, lastSeen: Date.now() }]])
            .catch((error: unknown) =>
              this.#logger.warn({ err: error }, 'the last visit of a node could not be written'),
            );
      }
    }
    if (!this.#connections.has(c.socket.id)) return;
    c.inTime();
    c.ack = ack;
    c.name = m.name;
    if (room !== undefined) c.room = room;
    if (board) c.board = board;
    this.step({
      type: 'hello',
      connection: c.socket.id,
      ...(claimed === undefined ? {} : { claimed }),
      fresh: nodeId(randomId(16)),
      ...(m.session === undefined ? {} : { session: m.session }),
      name: m.name,
      engine: m.engine,
      slots: m.slots,
      ...(m.cores === undefined ? {} : { cores: m.cores }),
      ...(m.runs === undefined ? {} : { runs: m.runs }),
      ...(room === undefined ? {} : { room }),
      address: networkOf(addressOf(c.socket.handshake, this.#trustProxy)),
      holds: m.holds,
      images: m.images,
    });
  }

  /** Where a node with this code belongs: a room, or none (undefined). @throws MayflyError UNAUTHORIZED */
  roomOf(typed: string): string | undefined {
    if (this.#room !== undefined && sameText(typed, this.#room)) return undefined;
    const code = cleanCode(typed);
    if (this.#rooms.has(code)) return code;
    if (this.#room !== undefined)
      throw new MayflyError(
        'UNAUTHORIZED',
        'This server accepts volunteers only with its join code. Ask the person who invited you.',
      );
    if (code !== '')
      throw new MayflyError(
        'UNAUTHORIZED',
        `There is no room with the code ${code.slice(0, 16)}. Ask the person who invited you, or leave the code out.`,
      );
    return undefined;
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    this.#closed = true;
    this.#service.end('dispatcher');
    this.#connections.clear();
    await this.#commits;
  }
}

/** @throws MayflyError BAD_REQUEST */
function boardOf(given: BoardName | undefined): BoardName | undefined {
  if (given === undefined || given.name.trim() === '') return undefined;
  const name = boardText(given.name);
  const team = given.team === undefined || given.team.trim() === '' ? undefined : (boardText(given.team) ?? '');
  if (name === undefined || team === '')
    throw new MayflyError(
      'BAD_REQUEST',
      "Invalid name or team for the board: use 1 to 24 letters, digits, spaces or . _ ' -, starting with a " +
        'letter or a digit.',
    );
  return { name, ...(team === undefined ? {} : { team }) };
}

const versionError = (version: number): ErrorBody => ({
  code: 'VERSION_MISMATCH',
  message:
    `This volunteer uses version ${version} of the control protocol, the server version ${CONTROL_VERSION}. ` +
    'Reload the page or update the volunteer.',
});
