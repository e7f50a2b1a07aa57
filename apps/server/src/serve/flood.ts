/**
 * Floods over socket.io: a client that sends valid messages without end, or asks without end and reads no answer, gets
 * an error and is closed.
 *
 *  B1  A client has at most `perMinute` messages a minute judged, and at most UNREAD answers waiting for it: memory is
 *      bounded by what one client may have waiting, times the clients that are let in.
 *      A message of the `light` event counts for its share of one: its sender waits for the answer to each.
 *  B2  Its ranks are lost as those of any node that vanishes; other clients notice nothing.
 *  B3  One body of long polling has at most PACKETS packets: engine.io takes it apart at once, and a body of nothing
 *      but packets would hold everybody up for seconds.
 *
 * Data sockets have limits of their own (channel-memory-host.ts), requests as well (create-server.ts).
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ErrorBody } from '@mayfly/wire';

/** Messages that engine.io holds for a client which does not take them. One that reads has a handful. */
const UNREAD = 2000;
const MINUTE_MS = 60_000;
/** A comm worker that polls sends a few hundred. */
const PACKETS = 50_000;
const SEPARATOR = '\x1e';

/** What is asked of a socket.io socket, whatever its events. */
interface Flooder {
  use(judge: (packet: unknown, next: (error?: Error) => void) => void): unknown;
  emit(event: 'closing', error: ErrorBody): unknown;
  disconnect(close: true): unknown;
  readonly conn: { on(event: 'packetCreate' | 'drain', heard: () => void): unknown };
}

export function limitFlood(
  socket: Flooder,
  perMinute: number,
  said: (what: string) => void,
  light?: { readonly event: string; readonly share: number },
): void {
  let began = performance.now();
  let messages = 0;
  let over = false;
  /** Since the transport last took what waited. */
  let unread = 0;
  socket.conn.on('packetCreate', () => unread++);
  socket.conn.on('drain', () => (unread = 0));
  const end = (what: string): void => {
    over = true;
    said(what);
    socket.emit('closing', { code: 'TOO_MANY', message: `This connection is closed: ${what}.` });
    socket.disconnect(true);
  };
  socket.use((packet, next) => {
    if (over) return;
    const now = performance.now();
    if (now - began > MINUTE_MS) {
      began = now;
      messages = 0;
    }
    messages += light && Array.isArray(packet) && packet[0] === light.event ? light.share : 1;
    if (messages > perMinute) return end(`more than ${perMinute} messages per minute`);
    if (unread > UNREAD) return end(`${UNREAD} messages are waiting that the client has not read`);
    next();
  });
}

/** B3. Before engine.io reads the body. */
export function limitPackets(request: IncomingMessage, response: ServerResponse): void {
  if (request.method !== 'POST') return;
  let packets = 0;
  request.on('data', (chunk: Buffer | string) => {
    for (let at = chunk.indexOf(SEPARATOR); at >= 0; at = chunk.indexOf(SEPARATOR, at + 1)) packets++;
    if (packets <= PACKETS) return;
    if (!response.headersSent) response.writeHead(413, { connection: 'close' }).end();
    request.destroy();
  });
}
