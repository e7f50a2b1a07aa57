/**
 * The sockets of nodes: the namespace /node of socket.io. What a node sends becomes an event of the dispatcher here,
 * and its answers leave here.
 *
 * Owns: the connections, by the id of their socket. Does not own: which node is whose (the dispatcher).
 *
 *  X2  A node's message reaches the core only after its schema and secret are checked.
 *  X3  Messages to one node leave in the order of the effects, although some need a manifest from the disk first.
 *  X4  A connection without a valid Hello after HELLO_MS is closed: it counts in the limit of nodes.
 *  X5  A node that guesses codes of rooms waits for each wrong answer. A right code never waits for the wrong ones of
 *      others.
 */
import type { DispatcherIo, JobService } from '@mayfly/protocols';
import type { Registry } from '@mayfly/storage/ports';
import {
  CONTROL_VERSION,
  Goodbye,
  Heartbeat,
  Hello,
  MayflyError,
  PAGE_BYTES,
  PARITY_PAGES,
  ParityHave,
  ParityPart,
  TaskReport,
  boardText,
  nodeId,
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
/**
 * X5: wrong codes per minute and address, and how long each one beyond waits for its answer. A class that types one off
 * the wall has less.
 */
const WRONG_CODES = 60;
const SLOW_ANSWER_MS = 5000;
/** Of the pages of one part of a change. */
const MOST_PARITY = PARITY_PAGES * PAGE_BYTES;
/** A large image is thousands of parts. */
const PARITY_FLOOD = { event: 'parity', share: 0.05 };
/** For a node to take a part, to say what it has, and to add up some pages. */
const PARITY_MS = 5000;
interface Connection {
  socket: NodeSocket;
  /** X4: its Hello came in time. */
  inTime: () => void;
  ack: ((answer: Welcome | { error: ErrorBody }) => void) | undefined;
  /** A Hello is not answered yet. */
  asking: boolean;
  name: string;
  room?: string;
  board?: BoardName;
  node?: NodeId;
  /** It takes part in parity groups. */
  parity?: boolean;
  secret?: string;
  /** X3. */
  outbox: Promise<unknown>;
}

export interface NodeSocketsParts {
  service: JobService;
  registry: Registry;
  disk: Disk;
  secrets: Secrets;
  logger: Logger;
  listener: NodeSocketsListener;
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
}

export class NodeSockets {
  readonly #service: JobService;
  readonly #registry: Registry;
  readonly #disk: Disk;
  readonly #secrets: Secrets;
  readonly #logger: Logger;
  readonly #listener: NodeSocketsListener;
  readonly #room: string | undefined;
  readonly #rooms: Rooms;
  readonly #maxNodes: number;
  readonly #perMinute: number;
  readonly #trustProxy: boolean;
  readonly #wrongCodes = new WrongGuesses(WRONG_CODES);
  readonly #after: (ms: number, run: () => void) => () => void;
  readonly #connections = new Map<string, Connection>();

  constructor(parts: NodeSocketsParts) {
    this.#service = parts.service;
    this.#registry = parts.registry;
    this.#disk = parts.disk;
    this.#secrets = parts.secrets;
    this.#logger = parts.logger;
    this.#listener = parts.listener;
    this.#room = parts.room;
    this.#rooms = parts.rooms;
    this.#maxNodes = parts.maxNodes;
    this.#perMinute = parts.messagesPerMinute;
    this.#trustProxy = parts.trustProxy;
    this.#after =
      parts.after ??
      ((ms, run) => {
        const timer = setTimeout(run, ms).unref();
        return () => clearTimeout(timer);
      });
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
    const now = Date.now();
    // The answer to Hello is the first message to this node.
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
        c.ack?.({
          node: e.node,
          secret,
          heartbeatMs: this.#service.dispatcher.core.settings.heartbeatMs,
          drop: e.drop,
        });
        c.ack = undefined;
      })
      .catch((error: unknown) => {
        // It reconnects until its secret can be stored.
        if (this.#disk.failed(error, 'the registry'))
          this.#logger.warn({ err: error }, 'a node cannot be welcomed while nothing can be stored');
        else this.#logger.error({ err: error }, 'a node could not be welcomed');
        c.socket.disconnect(true);
      });
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

  /** A newer socket has taken its place, or its node is refused. */
  disconnect(connection: string): void {
    const c = this.#connections.get(connection);
    this.#connections.delete(connection);
    c?.socket.disconnect(true);
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
      limitFlood(
        socket,
        this.#perMinute,
        (what) =>
          this.#logger.warn(
            { what, address: socket.handshake.address, node: c.node },
            'closing a node that sends too much',
          ),
        PARITY_FLOOD,
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
        // X5: a node that asks again before the answer is guessing.
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
          ...(m.error ? { error: m.error } : {}),
        });
      });
      socket.on('goodbye', (m, ack) => {
        if (!goodbye.Check(m)) return bad('goodbye');
        this.#service.dispatch({ type: 'goodbye', connection: id, reason: m.reason });
        if (typeof ack === 'function') ack();
      });
      socket.on('slots', (m) =>
        slots.Check(m) ? this.#service.dispatch({ type: 'slots', connection: id, slots: m.slots }) : bad('slots'),
      );
      socket.on('parity', (m, pages, ack) => {
        if (!parityPart.Check(m) || typeof ack !== 'function') return bad('parity');
        if (pages != null && (!(pages instanceof Uint8Array) || pages.length > MOST_PARITY)) return bad('parity');
        void this.#listener.parity(id, m, pages ?? undefined).then(ack, () => ack(false));
      });
      socket.on('disconnect', () => {
        inTime();
        if (!this.#connections.delete(id)) return;
        this.#service.dispatch({ type: 'disconnected', connection: id });
        // Unless it is back on another connection already.
        if (c.node !== undefined && this.#service.dispatcher.core.nodes.get(c.node)?.connection === undefined)
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
    c.parity = m.parity ?? false;
    if (room !== undefined) c.room = room;
    if (board) c.board = board;
    this.#service.dispatch({
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
