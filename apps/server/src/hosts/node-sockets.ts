/**
 * The sockets of nodes: the namespace /node of socket.io. What a node sends becomes an event of the dispatcher here,
 * and its answers leave here.
 *
 * Owns: the connections, by the id of their socket. Does not own: which node is whose (the dispatcher).
 *
 *  X2  A node's message reaches the core only after its schema and secret are checked.
 *  X3  Messages to one node leave in the order of the effects, although some need a manifest from the disk first.
 *  X4  A connection without a valid Hello after HELLO_MS is closed: it counts in the limit of nodes.
 *  X5  A node that guesses codes of rooms waits for each wrong answer (serve/room-codes.ts), and one that asks again
 *      meanwhile is closed.
 *  X6  A connection is welcomed once (D31 of the dispatcher).
 *  X7  Places are limited, and shared among networks (serve/network-places.ts). Nodes of a lesson have places of their
 *      own: LESSON_NODES each, with no more slots than the lesson has ranks; they go with it.
 */
import type { DispatcherIo, JobService } from '@mayfly/protocols';
import {
  CONTROL_VERSION,
  Goodbye,
  Heartbeat,
  Hello,
  LESSON_RANKS,
  MayflyError,
  PAGE_BYTES,
  PARITY_PAGES,
  ParityHave,
  ParityPart,
  TaskReport,
  boardText,
  nodeId,
  oneLine,
  plainName,
  plainText,
  type BoardName,
  type ErrorBody,
  type NodeId,
  type NodeToServer,
  type ParityOrder,
  type ParityRead,
  type ServerToNode,
  type Welcome,
} from '@mayfly/wire';
import type { Namespace, Socket } from 'socket.io';
import { Type } from 'typebox';
import { Compile } from 'typebox/compile';
import type { Logger } from '../logger.ts';
import { addressOf, networkOf } from '../serve/address.ts';
import { limitFlood } from '../serve/flood.ts';
import { NetworkPlaces, type Holder } from '../serve/network-places.ts';
import { RoomCodes, type After } from '../serve/room-codes.ts';
import type { Rooms } from '../rooms.ts';
import { randomId, type Secrets } from '../secrets.ts';

const hello = Compile(Hello);
const heartbeat = Compile(Heartbeat);
const report = Compile(TaskReport);
const goodbye = Compile(Goodbye);
const parityPart = Compile(ParityPart);
const parityHave = Compile(ParityHave);
const slots = Compile(Type.Object({ slots: Type.Integer({ minimum: 0, maximum: 256 }) }));

export type NodeSocket = Socket<NodeToServer, ServerToNode>;

export interface NodeSocketsListener {
  /** A heartbeat that was well formed, with places of programs as their sources have them. */
  inSources(m: Heartbeat, from: NodeId | undefined): Heartbeat;
  /** The core has taken it. */
  heard(m: Heartbeat, from: NodeId | undefined): void;
  /** From a node to another of its parity group. @returns whether that one has taken it */
  parity(connection: string, part: ParityPart, pages: Uint8Array | undefined): Promise<boolean>;
  /** A node with this identity is welcome; `board`: the name that it gave. */
  came(node: NodeId, room: string | undefined, board: BoardName | undefined): void;
  left(node: NodeId): void;
}

const HELLO_MS = 30_000;
/** X7: its ranks, and tabs that are opened while others are not given up yet. */
const LESSON_NODES = 3 * LESSON_RANKS;
/** Of the pages of one part of a change. */
const MOST_PARITY = PARITY_PAGES * PAGE_BYTES;
/** A large image is thousands of parts. */
const PARITY_FLOOD = { event: 'parity', share: 0.05 };
/** For a node to take a part, to say what it has, and to add up some pages. */
const PARITY_MS = 5000;
interface Connection extends Holder {
  socket: NodeSocket;
  /** X4: its Hello came in time. */
  inTime: () => void;
  ack: ((answer: Welcome | { error: ErrorBody }) => void) | undefined;
  /** A Hello is not answered yet. */
  asking: boolean;
  room?: string;
  board?: BoardName;
  node?: NodeId;
  /** It takes part in parity groups. */
  parity?: boolean;
  /** X3. */
  outbox: Promise<unknown>;
}

export interface NodeSocketsParts {
  service: JobService;
  secrets: Secrets;
  logger: Logger;
  listener: NodeSocketsListener;
  /** The server's own join code. */
  room: string | undefined;
  rooms: Rooms;
  maxNodes: number;
  /** Messages that a node may send (serve/flood.ts). */
  messagesPerMinute: number;
  /** Proxies before the server, which report the addresses of nodes. */
  trustProxy: number;
  /** Runs something later; returns how not to. Default: a timer. */
  after?: After;
}

const timer: After = (ms, run) => {
  const t = setTimeout(run, ms).unref();
  return () => clearTimeout(t);
};

export class NodeSockets {
  readonly #service: JobService;
  readonly #secrets: Secrets;
  readonly #logger: Logger;
  readonly #listener: NodeSocketsListener;
  readonly #rooms: Rooms;
  readonly #perMinute: number;
  readonly #trustProxy: number;
  readonly codes: RoomCodes;
  readonly #after: After;
  readonly #connections = new Map<string, Connection>();
  /** X7. */
  readonly #places: NetworkPlaces<Connection>;
  /** X7, by code. */
  readonly #lessons = new Map<string, Set<Connection>>();

  constructor(parts: NodeSocketsParts) {
    this.#service = parts.service;
    this.#secrets = parts.secrets;
    this.#logger = parts.logger;
    this.#listener = parts.listener;
    this.#rooms = parts.rooms;
    this.#perMinute = parts.messagesPerMinute;
    this.#trustProxy = parts.trustProxy;
    this.#after = parts.after ?? timer;
    this.#places = new NetworkPlaces(parts.maxNodes);
    this.codes = new RoomCodes(parts.room, parts.rooms, this.#after);
    parts.rooms.onTakeBack = (code) => this.#lessonOver(code);
  }

  #client(socket: Connection['socket']): string {
    return addressOf(socket.handshake, this.#trustProxy);
  }

  get count(): number {
    return this.#connections.size;
  }

  /** A message to a node, after those before it (X3). */
  post(connection: string, send: (socket: NodeSocket) => void | Promise<void>): void {
    const c = this.#connections.get(connection);
    if (!c) return;
    c.outbox = c.outbox
      .then(() => send(c.socket))
      .catch((error: unknown) => this.#logger.error({ err: error }, 'message to a node failed'));
  }

  welcome(e: Extract<DispatcherIo, { type: 'welcome' }>): void {
    const c = this.#connections.get(e.connection);
    if (!c) return;
    c.node = e.node;
    this.#listener.came(e.node, c.room, c.board);
    // The answer to Hello is the first message to this node.
    c.ack?.({
      node: e.node,
      secret: this.#secrets.nodeSecret(e.node),
      heartbeatMs: this.#service.dispatcher.core.settings.heartbeatMs,
      drop: e.drop,
    });
    c.ack = undefined;
  }

  // Parity groups (parity-host.ts)

  takesParity(connection: string): boolean {
    const c = this.#connections.get(connection);
    return c?.node !== undefined && c.parity === true;
  }

  order(connection: string, order: ParityOrder): void {
    this.post(connection, (socket) => void socket.emit('parityOrder', order));
  }

  /** After the orders before it (X3). */
  async #parityAnswer<T>(connection: string, ask: (socket: NodeSocket) => Promise<T>): Promise<T | undefined> {
    const c = this.#connections.get(connection);
    if (!c) return undefined;
    await c.outbox;
    return ask(c.socket).catch(() => undefined);
  }

  async relay(connection: string, part: ParityPart, pages: Uint8Array | undefined): Promise<boolean> {
    const taken = await this.#parityAnswer(connection, (socket) =>
      socket.timeout(PARITY_MS).emitWithAck('parity', part, pages),
    );
    return taken === true;
  }

  async have(connection: string, group: string): Promise<ParityHave | undefined> {
    const have = await this.#parityAnswer(connection, (socket) =>
      socket.timeout(PARITY_MS).emitWithAck('parityHave', { group }),
    );
    return parityHave.Check(have) ? have : undefined;
  }

  async read(connection: string, read: ParityRead): Promise<Uint8Array | undefined> {
    const sums = await this.#parityAnswer(connection, (socket) =>
      socket.timeout(PARITY_MS).emitWithAck('parityRead', read),
    );
    return sums instanceof Uint8Array ? sums : undefined;
  }

  /** A newer socket has taken its place, or the dispatcher has forgotten its node. */
  disconnect(connection: string): void {
    const c = this.#connections.get(connection);
    if (!c) return;
    this.#gone(c);
    c.socket.disconnect(true);
  }

  /** @returns false: that is known already */
  #gone(c: Connection): boolean {
    if (!this.#connections.delete(c.socket.id)) return false;
    c.inTime();
    this.#places.leave(c);
    if (c.room !== undefined) this.#lessons.get(c.room)?.delete(c);
    // Unless it is back on another connection already.
    if (c.node !== undefined && this.#nodeOf(c)?.connection === undefined) this.#listener.left(c.node);
    return true;
  }

  #nodeOf(c: Connection) {
    return c.node === undefined ? undefined : this.#service.dispatcher.core.nodes.get(c.node);
  }

  #use(c: Connection): ReturnType<Holder['use']> {
    const node = this.#nodeOf(c);
    return !node || node.presence.left
      ? 'nothing'
      : node.tasks.size > 0
        ? 'works'
        : node.slots > 0
          ? 'idle'
          : 'nothing';
  }

  /** X7. */
  #close(c: Connection, message: string): void {
    c.socket.emit('closing', { code: 'TOO_MANY', message });
    c.socket.disconnect(true);
  }

  #lessonOver(code: string): void {
    for (const c of this.#lessons.get(code) ?? []) c.socket.disconnect(true);
    this.#lessons.delete(code);
  }

  /** Serves the namespace /node. */
  serve(namespace: Namespace<NodeToServer, ServerToNode>): void {
    namespace.on('connection', (socket) => {
      const id = socket.id;
      const address = this.#client(socket);
      const inTime = this.#after(HELLO_MS, () => {
        this.#logger.info({ address: this.#client(socket) }, 'closing a connection that never sent Hello');
        socket.disconnect(true);
      });
      const c: Connection = {
        socket,
        network: networkOf(address),
        use: () => this.#use(c),
        inTime,
        ack: undefined,
        asking: false,
        outbox: Promise.resolve(),
      };
      // X7.
      const taken = this.#places.take(c, (idle) =>
        this.#close(idle, 'The server is full, and gave this place to a newcomer of another network. Try again later.'),
      );
      if (!taken) {
        inTime();
        return this.#close(c, 'The server is full. Try again later.');
      }
      this.#connections.set(id, c);
      limitFlood(
        socket,
        this.#perMinute,
        (what) =>
          this.#logger.warn(
            { what, address: this.#client(socket), node: c.node },
            'closing a node that sends too much',
          ),
        PARITY_FLOOD,
      );
      const bad = (what: string): void => {
        this.#logger.info({ what, address: this.#client(socket) }, 'malformed control message');
        socket.disconnect(true);
      };
      socket.on('hello', (m, ack) => {
        if (typeof ack !== 'function') return bad('hello');
        if (!hello.Check(m)) {
          const version = (m as { version?: unknown } | null)?.version;
          if (typeof version === 'number' && version !== CONTROL_VERSION) return ack({ error: versionError(version) });
          return ack({ error: { code: 'BAD_REQUEST', message: 'Invalid Hello message for this protocol version.' } });
        }
        // X5: a node that asks again before the answer is guessing. X6.
        if (c.asking || c.node !== undefined) return bad('hello');
        c.asking = true;
        const answered: typeof ack = (answer) => {
          c.asking = false;
          ack(answer);
        };
        void this.#hello(c, m, address, answered).catch((error: unknown) => {
          const e = error instanceof MayflyError ? { code: error.code, message: error.message } : undefined;
          if (!e) this.#logger.error({ err: error }, 'hello failed');
          answered({ error: e ?? { code: 'INTERNAL', message: 'Internal server error. See the server log.' } });
        });
      });
      socket.on('heartbeat', (told, ack) => {
        if (!heartbeat.Check(told)) return bad('heartbeat');
        const m = this.#listener.inSources(told, c.node);
        if (typeof ack === 'function') ack();
        this.#service.dispatch({
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
        this.#service.dispatch({
          type: 'report',
          connection: id,
          job: m.job,
          task: m.task,
          incarnation: m.incarnation,
          event: m.event,
          ...(m.error ? { error: { code: oneLine(m.error.code), message: plainText(m.error.message) } } : {}),
        });
      });
      socket.on('goodbye', (m, ack) => {
        if (!goodbye.Check(m)) return bad('goodbye');
        this.#service.dispatch({ type: 'goodbye', connection: id, reason: m.reason });
        if (typeof ack === 'function') ack();
      });
      socket.on('slots', (m) =>
        slots.Check(m)
          ? this.#service.dispatch({ type: 'slots', connection: id, slots: this.#slots(c, m.slots) })
          : bad('slots'),
      );
      socket.on('foresees', () => this.#service.dispatch({ type: 'foresees', connection: id }));
      socket.on('parity', (m, pages, ack) => {
        if (!parityPart.Check(m) || typeof ack !== 'function') return bad('parity');
        if (pages != null && (!(pages instanceof Uint8Array) || pages.length > MOST_PARITY)) return bad('parity');
        void this.#listener.parity(id, m, pages ?? undefined).then(ack, () => ack(false));
      });
      socket.on('disconnect', () => {
        if (!this.#connections.has(id)) return;
        this.#service.dispatch({ type: 'disconnected', connection: id });
        this.#gone(c);
      });
    });
  }

  /** X7. */
  #slots(c: Connection, offered: number): number {
    return c.room !== undefined && this.#lessons.has(c.room) ? Math.min(offered, LESSON_RANKS) : offered;
  }

  async #hello(c: Connection, m: Hello, address: string, ack: NonNullable<Connection['ack']>): Promise<void> {
    const name = plainName(m.name, 'unnamed');
    if (m.version !== CONTROL_VERSION) throw new MayflyError('VERSION_MISMATCH', versionError(m.version).message);
    const room = await this.codes.admit(m.room ?? '', address);
    const board = boardOf(m.board);
    // A wrong secret makes a new node: the node's own data may be older than the server's.
    const claimed =
      m.node !== undefined && m.secret !== undefined && this.#secrets.isNodeSecret(m.node, m.secret)
        ? m.node
        : undefined;
    if (!this.#connections.has(c.socket.id)) return;
    if (room !== undefined && this.#rooms.isLent(room)) this.#joinLesson(c, room);
    c.inTime();
    c.ack = ack;
    c.parity = m.parity ?? false;
    if (room !== undefined) c.room = room;
    if (board) c.board = board;
    this.#service.dispatch({
      type: 'hello',
      connection: c.socket.id,
      ...(claimed === undefined ? {} : { claimed }),
      fresh: nodeId(randomId(16)),
      ...(m.session === undefined ? {} : { session: m.session }),
      name,
      engine: oneLine(m.engine),
      slots: this.#slots(c, m.slots),
      ...(m.cores === undefined ? {} : { cores: m.cores }),
      ...(m.runs === undefined ? {} : { runs: m.runs }),
      ...(room === undefined ? {} : { room }),
      address: c.network,
      holds: m.holds,
      images: m.images,
    });
  }

  /** X7. @throws MayflyError TOO_MANY */
  #joinLesson(c: Connection, code: string): void {
    const nodes = this.#lessons.get(code) ?? new Set();
    if (nodes.size >= LESSON_NODES)
      throw new MayflyError('TOO_MANY', `A lesson has at most ${LESSON_NODES} tabs. Close one first.`);
    this.#lessons.set(code, nodes.add(c));
    this.#places.leave(c);
  }

  /** The server stops. */
  close(): void {
    this.#connections.clear();
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
