/**
 * Everything that upgrades: socket.io (control, dashboard), `/data/cm/<i>` and `/data/image` as bare WebSockets,
 * `/data/poll/<i>/` and `/data/poll/image/` as engine.io with long polling.
 *
 *  U1  Every upgrade is taken or ended: one that nobody takes gets 404, and its socket is destroyed, whether or not the
 *      client closes its end.
 *  U2  Before authentication no state lasts: a connection to socket.io that is in none of our namespaces (never, or not
 *      any more) is closed after CONNECT_MS at most, and the namespace `/`, which socket.io always has, takes nobody.
 */
import { Server as EngineServer, type Socket as EngineSocket } from 'engine.io';
import type { FastifyInstance } from 'fastify';
import type { IncomingMessage, Server as HttpServer, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { Server as SocketIo } from 'socket.io';
import { Encoder } from 'socket.io-parser';
import { WebSocketServer, type WebSocket } from 'ws';
import {
  MAX_FRAME_BYTES,
  type DashboardEvents,
  type DashboardRequests,
  type NodeToServer,
  type ServerToNode,
} from '@mayfly/wire';
import type { Dashboard } from '../dashboard.ts';
import type { ImageLink } from '../hosts/checkpoint-server-host.ts';
import { CloseCode, engineLink, webSocketLink } from '../hosts/data-link.ts';
import { FIRST_BYTES, Unfinished, type UnfinishedLimits } from '../hosts/unfinished.ts';
import type { Runtime } from '../runtime.ts';
import type { Holder } from '../secrets.ts';
import { clientOf, networkOf } from './address.ts';
import { LimitedDecoder } from './json.ts';
import { limitPackets } from './flood.ts';
import type { Origins } from './origin.ts';

const SOCKET_IO = '/socket.io/';
/** The namespaces that there are. */
const NAMESPACES = ['/node', '/dashboard'];
/** One socket message: a few frames at most. */
const MAX_MESSAGE_BYTES = 2 * MAX_FRAME_BYTES;
/** U2 */
const CONNECT_MS = 20_000;
const MAX_PAGE_MESSAGE = 8 * 1024 * 1024; // a manifest of 65,536 pages is 5 MB of JSON

export interface Sockets {
  close(): Promise<void>;
}

export function serveSockets(
  app: FastifyInstance,
  o: {
    runtime: Runtime;
    dashboard: Dashboard;
    origins: Origins;
    pingMs: number;
    limits: UnfinishedLimits;
    trustProxy: number;
  },
): Sockets {
  const { runtime } = o;
  const http = app.server as HttpServer;
  const data = new WebSocketServer({
    noServer: true,
    perMessageDeflate: false,
    maxPayload: MAX_MESSAGE_BYTES,
    clientTracking: true,
  });
  const image = new WebSocketServer({
    noServer: true,
    perMessageDeflate: false,
    maxPayload: MAX_PAGE_MESSAGE,
    clientTracking: true,
  });
  const polls = new Map<number | 'image', EngineServer>();
  const unfinished = new Unfinished(o.limits);
  /** Whose capability the address has: nothing of an image socket is read without one. */
  const holderOf = (request: IncomingMessage): Holder | undefined =>
    runtime.checkpoints.admits(new URL(request.url ?? '', 'http://x').searchParams.get('cap') ?? '');
  const client = (request: IncomingMessage): string => clientOf(request, o.trustProxy);

  const allowRequest = (request: IncomingMessage, answer: (message: string | null, allowed: boolean) => void): void => {
    try {
      o.origins.checkHandshake(request);
      answer(null, true);
    } catch (error) {
      app.log.info({ err: error }, 'handshake refused');
      answer((error as Error).message, false);
    }
  };
  /** Everything that upgrades there, also from long polling, before engine.io has it. */
  class WatchedServer extends WebSocketServer {
    override handleUpgrade(...[request, socket, head, done]: Parameters<WebSocketServer['handleUpgrade']>): void {
      super.handleUpgrade(request, socket, head, (ws, r) => {
        unfinished.watch(ws, socket, FIRST_BYTES);
        done(ws, r);
      });
    }
  }
  /** Sessions of engine.io from which a message has come, by their secret ids. */
  const spoken = new Set<string>();
  /** Its types hide the id. */
  const idOf = (socket: EngineSocket): string => (socket as unknown as { id: string }).id;
  const hasSpoken = (socket: EngineSocket): void => void spoken.add(idOf(socket));
  const session = (socket: EngineSocket): void => {
    socket.once('message', () => hasSpoken(socket));
    socket.once('close', () => spoken.delete(idOf(socket)));
  };
  /** A body of long polling, before engine.io reads it: of a session that has not spoken, a short one. */
  const watchBody = (request: IncomingMessage, response: ServerResponse): void => {
    if (request.method !== 'POST') return;
    limitPackets(request, response);
    const sid = new URL(request.url ?? '', 'http://x').searchParams.get('sid') ?? '';
    unfinished.watchBody(request, spoken.has(sid) ? Infinity : FIRST_BYTES);
  };
  const io = new SocketIo({
    path: '/socket.io',
    wsEngine: WatchedServer,
    serveClient: false,
    destroyUpgrade: false,
    maxHttpBufferSize: 4 * 1024 * 1024,
    pingInterval: o.pingMs,
    pingTimeout: 2 * o.pingMs,
    perMessageDeflate: false,
    cookie: false,
    connectTimeout: CONNECT_MS,
    allowRequest,
    parser: { Encoder, Decoder: LimitedDecoder },
  });
  closeUnjoined(io);
  // Namespaces are typed one by one.
  runtime.nodeSockets.serve(io.of('/node') as unknown as import('socket.io').Namespace<NodeToServer, ServerToNode>);
  o.dashboard.serve(
    io.of('/dashboard') as unknown as import('socket.io').Namespace<DashboardRequests, DashboardEvents>,
  );

  const poll = (index: number | 'image'): EngineServer => {
    let engine = polls.get(index);
    if (!engine) {
      engine = new EngineServer({
        // A WebSocket has its own address.
        transports: ['polling'],
        allowUpgrades: false,
        maxHttpBufferSize: 2 * MAX_MESSAGE_BYTES,
        pingInterval: o.pingMs,
        pingTimeout: 2 * o.pingMs,
        perMessageDeflate: false,
        httpCompression: false,
        // A sandboxed frame's origin is null; what authorises is the capability in the first frame.
        cors: { origin: '*', credentials: false },
        ...(index === 'image' && {
          allowRequest: (request, answer) =>
            holderOf(request) ? answer(null, true) : answer('FORBIDDEN: no valid capability', false),
        }),
      });
      engine.on('connection', (socket: EngineSocket) => {
        const address = client(socket.request as IncomingMessage);
        session(socket);
        if (index !== 'image') return runtime.memories.door.accept(index, engineLink(socket, address));
        // By its capability.
        hasSpoken(socket);
        const holder = holderOf(socket.request as IncomingMessage);
        if (holder) runtime.checkpoints.accept(engineImageLink(socket, networkOf(address)), holder);
        else socket.close();
      });
      polls.set(index, engine);
    }
    return engine;
  };
  const pollIndex = (path: string): number | 'image' | undefined => {
    if (/^\/data\/poll\/image\/?$/.test(path)) return 'image';
    const m = /^\/data\/poll\/(\d{1,2})\/?$/.exec(path);
    return m && Number(m[1]) < 16 ? Number(m[1]) : undefined;
  };

  // Before Fastify parses anything: engine.io reads its bodies itself.
  app.addHook('onRequest', async (request, reply) => {
    const index = pollIndex(request.url.split('?')[0]!);
    if (index === undefined) return void (request.raw.method !== 'GET' && unfinished.watchBody(request.raw));
    reply.hijack();
    watchBody(request.raw, reply.raw);
    poll(index).handleRequest(request.raw as never, reply.raw);
  });

  http.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    // What engine.io's own listener takes, and no more (U1).
    if ((request.url ?? '').startsWith(SOCKET_IO)) return;
    const path = (request.url ?? '').split('?')[0]!;
    socket.on('error', () => socket.destroy());
    const cm = /^\/data\/cm\/(\d{1,2})$/.exec(path);
    if (cm) {
      const index = Number(cm[1]);
      data.handleUpgrade(request, socket, head, (ws: WebSocket) => {
        unfinished.watch(ws, request.socket, FIRST_BYTES);
        runtime.memories.door.accept(index, webSocketLink(ws, request, client(request), o.pingMs));
      });
      return;
    }
    if (path === '/data/image') {
      const holder = holderOf(request);
      if (!holder) return refuse(socket, '403 Forbidden');
      image.handleUpgrade(request, socket, head, (ws: WebSocket) => {
        unfinished.watch(ws, request.socket);
        runtime.checkpoints.accept(imageLink(ws, networkOf(client(request)), o.pingMs), holder);
      });
      return;
    }
    refuse(socket, '404 Not Found');
  });

  io.attach(http, { path: '/socket.io', destroyUpgrade: false });
  io.engine.use((request: IncomingMessage, response: ServerResponse, next: () => void) => {
    watchBody(request, response);
    next();
  });
  io.engine.on('connection', session);

  return {
    async close() {
      for (const ws of [...data.clients, ...image.clients]) ws.close(CloseCode.GOING_AWAY, 'the server stops');
      for (const e of polls.values()) e.close();
      await io.close().catch(() => undefined);
      // A client that does not answer the close within a moment is not waited for.
      await new Promise((r) => setTimeout(r, 100));
      for (const ws of [...data.clients, ...image.clients]) ws.terminate();
    },
  };
}

/** U1: sockets of HTTP stay half open otherwise. */
function refuse(socket: Duplex, status: string): void {
  socket.once('finish', () => socket.destroy());
  socket.end(`HTTP/1.1 ${status}\r\nconnection: close\r\n\r\n`);
}

/** U2. socket.io gives up a client that never joins; one that joined once may stay for ever. */
function closeUnjoined(io: SocketIo): void {
  io.of('/').use((_socket, next) => next(new Error('There is nothing in this namespace.')));
  const joined = new Map<object, number>();
  for (const name of NAMESPACES)
    io.of(name).on('connection', (socket) => {
      const { conn } = socket;
      joined.set(conn, (joined.get(conn) ?? 0) + 1);
      socket.once('disconnect', () => {
        const left = (joined.get(conn) ?? 1) - 1;
        if (left > 0) return void joined.set(conn, left);
        joined.delete(conn);
        conn.close();
      });
    });
}

function engineImageLink(socket: EngineSocket, network: string): ImageLink {
  const link: ImageLink = {
    network,
    onMessage: () => undefined,
    onClose: () => undefined,
    send: (text) => void socket.send(text, { compress: false }),
    close: () => void socket.close(),
    pause: () => undefined,
    resume: () => undefined,
  };
  socket.on('message', (data: unknown) => {
    if (typeof data === 'string' || Buffer.isBuffer(data)) link.onMessage(data);
    else if (data instanceof ArrayBuffer) link.onMessage(new Uint8Array(data, 0, data.byteLength));
    else socket.close();
  });
  socket.on('close', () => link.onClose());
  return link;
}

function imageLink(ws: WebSocket, network: string, pingMs: number): ImageLink {
  let alive = true;
  const link: ImageLink = {
    network,
    onMessage: () => undefined,
    onClose: () => undefined,
    send: (text) => {
      if (ws.readyState === ws.OPEN) ws.send(text);
    },
    close: (code, reason) => ws.close(code, Buffer.from(reason).subarray(0, 120).toString()),
    pause: () => ws.pause(),
    resume: () => ws.resume(),
  };
  const beat = setInterval(() => {
    if (!alive && !ws.isPaused) return ws.terminate();
    alive = false;
    ws.ping();
  }, pingMs);
  ws.on('pong', () => (alive = true));
  ws.on('message', (d: Buffer, isBinary: boolean) => {
    alive = true;
    link.onMessage(isBinary ? d : d.toString('utf8'));
  });
  ws.on('error', () => undefined);
  ws.on('close', () => {
    clearInterval(beat);
    link.onClose();
  });
  return link;
}
