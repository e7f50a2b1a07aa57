/**
 * Answers that nobody reads: a client that asks and does not take the answer would keep its socket, and what waits in
 * it, for ever. (A request that does not arrive ends by Node's own time limits; upgraded sockets have theirs.)
 */
import type { Server } from 'node:http';
import type { Socket } from 'node:net';

/** Without a byte that the client takes, ms. */
const UNREAD_MS = 120_000;

/** An answer that waits on our side (a compile, a backup) has sent nothing yet, and is not ended. */
export function endUnread(server: Server, ms = UNREAD_MS): void {
  server.timeout = ms;
  server.on('timeout', (socket: Socket) => {
    if (socket.writableLength > 0) socket.destroy();
  });
}
