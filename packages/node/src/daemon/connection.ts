/** The control connection as the library has it: how a node opens it, its first message, and how it is cut off. */
import { io, type Socket } from 'socket.io-client';
import { CONTROL_VERSION, PROGRAM_KINDS, type Hello, type NodeToServer, type ServerToNode } from '@mayfly/wire';
import type { HeldRank } from './jobs.ts';
import type { DaemonOptions, DaemonSeams, Identity } from './seams.ts';

export type ControlSocket = Socket<ServerToNode, NodeToServer>;

/** For the server to answer to Hello. */
export const HELLO_MS = 10_000;

export const openControl = ({ server, insecure }: DaemonOptions): ControlSocket =>
  io(new URL('/node', server).href, {
    transports: ['websocket', 'polling'],
    tryAllTransports: true,
    // The first attempt, by half sooner or later, comes before the server gives its ranks away (BRIEF_GRACE_MS).
    reconnectionDelay: 20,
    reconnectionDelayMax: 5_000,
    timeout: HELLO_MS,
    forceNew: true,
    // The library does not look at Node's own setting.
    ...(insecure ? { rejectUnauthorized: false } : {}),
  });

/** `slots`: 0 while it leaves. */
export const helloOf = (
  options: DaemonOptions,
  { session, engine }: DaemonSeams,
  identity: Identity | undefined,
  slots: number,
  held: Iterable<HeldRank>,
  images: Hello['images'],
): Hello => ({
  version: CONTROL_VERSION,
  ...(identity ? { node: identity.node, secret: identity.secret } : {}),
  session,
  name: options.name,
  engine,
  slots,
  runs: [...(options.runs ?? PROGRAM_KINDS)],
  ...(options.cores === undefined ? {} : { cores: options.cores }),
  ...(options.room === undefined ? {} : { room: options.room }),
  ...(options.board === undefined ? {} : { board: options.board }),
  holds: [...held]
    .slice(0, 1024)
    .map(({ assignment: a }) => ({ job: a.job, task: a.task, incarnation: a.incarnation })),
  images: images.slice(-1024),
  parity: true,
});

/** Ends it as the death of a process does: no goodbye, no close. */
export function cutOff(socket: ControlSocket): void {
  socket.io.reconnection(false);
  const transport = (socket.io.engine as { transport?: { ws?: { terminate?(): void } } } | undefined)?.transport;
  if (transport?.ws?.terminate) transport.ws.terminate();
  else socket.io.engine?.close();
}
