/** Saying no: to a connection that breaks the protocol, or to one incarnation on it. */
import { Kind, WORLD, emptyHeader, encodeFrame, type ErrorCode } from '@mayfly/wire';
import { json } from './records.ts';
import type { State } from './state.ts';
import { forgetAhead, type Attachment, type ConnState } from './tasks.ts';

/** Thrown while a frame is judged; ends the incarnation that spoke, or the connection. */
export class ProtocolError extends Error {
  override readonly name = 'ProtocolError';
  constructor(
    readonly code: ErrorCode,
    message: string,
    /**
     * What it ends. The same incarnation may come back on another connection and say the same; its successor is another
     * one.
     */
    readonly ends: 'incarnation' | 'connection',
  ) {
    super(message);
  }
}

export const protocolError = (
  code: ErrorCode,
  message: string,
  ends: ProtocolError['ends'] = code === 'OUT_OF_SEQUENCE' ? 'incarnation' : 'connection',
): ProtocolError => new ProtocolError(code, message, ends);

/** Refuses one incarnation; what it still sends on this connection is ignored. */
export function refuse(s: State, conn: ConnState, task: number, code: ErrorCode, message: string): void {
  const source = s.sources[task];
  const h = emptyHeader(Kind.REFUSED);
  h.src = source?.task ?? WORLD;
  h.dst = h.src;
  if (source) h.incarnation = source.fence;
  s.out.push({ type: 'send', conn: conn.conn, bytes: encodeFrame(h, json({ code, message })) });
}

/** This incarnation is over: it is refused here, and the dispatcher hears of it from us. */
export function giveUp(s: State, conn: ConnState | undefined, a: Attachment, code: ErrorCode, message: string): void {
  detach(s, a);
  if (conn) refuse(s, conn, a.task, code, message);
  s.out.push({ type: 'refused', task: a.task, incarnation: a.incarnation, error: { code, message } });
}

/** The attachment ends; its connection may serve other tasks. */
export function detach(s: State, a: Attachment): void {
  a.dead = true;
  const source = s.sources[a.task]!;
  if (source.attachment === a) source.attachment = undefined;
  const d = s.destinations[a.task];
  if (d?.push?.attachment === a) {
    d.push = undefined;
    forgetAhead(d);
  }
}

/** Ends a connection that broke the protocol, with the reason. */
export function closeConn(s: State, conn: ConnState, code: ErrorCode, message: string): void {
  refuse(s, conn, -1, code, message);
  for (const a of conn.tasks.values()) detach(s, a);
  s.conns.delete(conn.conn);
  s.out.push({ type: 'close', conn: conn.conn, error: { code, message } });
}
