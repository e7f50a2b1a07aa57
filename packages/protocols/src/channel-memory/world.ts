/**
 * Messages of a task to WORLD: what of them is kept where, and when they come out.
 *
 *  W1  What senders can make a Channel Memory hold of such messages has a bound. Where output is logged, the log has
 *      the parts of a message that is not whole, and the bodies that wait beyond `worldMemory.waiting`: memory
 *      has their places. Where it is not (`none`, `app`), all parts together have at most `worldMemory.parts`: a sender
 *      that passes this limit ends.
 *  W2  A message of several parts comes out as the places of its parts; the host reads them when the world takes it.
 *  W3  One step lets at most {@link WORLD_TURN} messages out: each may be work for a disk, and a sync may end the wait
 *      of a hundred thousand. The next ones come out at the next `flush`, for which `worldDue` asks. Until then the
 *      host reads no more from who has sent them: where output is not logged, they wait in memory. Long messages count
 *      as several, and requests as {@link REQUEST_TURNS}: one may be thousands of writes.
 */
import {
  FILE_HEAD_BYTES,
  WORLD_BYTES,
  WorldMode,
  checkedLength,
  fitsFileRequest,
  readFrame,
  type Header,
} from '@mayfly/wire';
import { readRequest } from '../contract/member-request.ts';
import { part } from './deliver.ts';
import type { StreamName, WorldBody } from './events.ts';
import { plain, viewOf } from './records.ts';
import { protocolError } from './refuse.ts';
import { append, touch, type State } from './state.ts';
import type { Partial, World } from './tasks.ts';

/** Reports and requests that are not of files: they are read whole before they are logged. */
const SMALL_BYTES = 1 << 20;

/** W3. */
export const WORLD_TURN = 256;
const REQUEST_TURNS = 16;
/** Bytes that count as one message. */
const TURN_BYTES = 16 * 1024;

/** In the place of a number in the log: it waits for no sync. */
const IN_MEMORY = -1;

const isSmall = (mode: number): boolean => mode === WorldMode.EXIT || mode === WorldMode.MEMBER;

/** Bytes of a message of this mode at most. */
export const worldLimit = (mode: number): number => (isSmall(mode) ? SMALL_BYTES : WORLD_BYTES);

export const inMemory = (body: WorldBody): number => (body instanceof Uint8Array ? body.length : 0);

/** W2: the body, with the records that it lies in. */
export function readWorldBody(body: WorldBody, read: (stream: StreamName, lsn: number) => Uint8Array): Uint8Array {
  if (body instanceof Uint8Array) return body;
  const parts = body.lsns.map((lsn) => {
    const record = plain(read(body.stream, lsn));
    return readFrame(record, viewOf(record), 0).body;
  });
  return join(parts, body.length);
}

/** W1. `kept`: bodies of the parts before it that are in memory. */
export const keepsPart = (s: State, h: Pick<Header, 'mode' | 'offset'>, kept: readonly Uint8Array[]): boolean =>
  !s.outputDurable || isSmall(h.mode) || lengthOf(kept) < FILE_HEAD_BYTES;

const lengthOf = (bodies: readonly Uint8Array[]): number => bodies.reduce((n, b) => n + b.length, 0);

/** Of a message that is whole and logged. */
export function bodyOf(w: World, h: Header, p: Pick<Partial, 'lsns' | 'bodies'>): WorldBody {
  return lengthOf(p.bodies) === h.size
    ? join(p.bodies, h.size)
    : { stream: w.stream.name, lsns: p.lsns, length: h.size };
}

/** One part of a message has come. @throws ProtocolError */
export function toWorld(s: State, w: World, h: Header, frame: Uint8Array, whole: boolean, record: Uint8Array): void {
  const c = w.channel;
  const body = frame.subarray(64 + h.detBytes, 64 + h.detBytes + h.bytes);
  const keeps = (c.partial === undefined && whole) || keepsPart(s, h, c.partial?.bodies ?? []);
  const bodies = [...(whole ? (c.partial?.bodies ?? []) : []), ...(keeps ? [body] : [])];
  // C6: whatever is logged comes out, and an unreadable message would end the job.
  if (whole && !readable(h.mode, bodies, h.size))
    throw protocolError(
      'BAD_FRAME',
      `message ${h.channel} of task ${h.src} to the world cannot be read`,
      'incarnation',
    );
  if (!whole && !s.outputDurable && s.worldBytes + h.bytes > s.worldMemory.parts)
    throw protocolError(
      'TOO_MANY',
      `parts of unfinished messages to the world have ${s.worldBytes} bytes, and there is no room for more of them`,
      'incarnation',
    );
  const lsn = s.outputDurable ? append(s, w.stream, record) : 0;
  if (!whole) {
    const p = part(c, h, lsn);
    if (!keeps) return;
    p.bodies.push(body);
    s.worldBytes += body.length;
    return;
  }
  const p = c.partial === undefined ? undefined : part(c, h, lsn);
  voidPart(s, w);
  c.count = h.channel;
  touch(s, c);
  if (s.outputDurable) w.index.add(lsn, h.size, p?.lsns);
  emitWorld(s, w, h, bodyOf(w, h, { lsns: p?.lsns ?? [lsn], bodies }), lsn);
}

/** Messages behind `count` were never written. */
export function cutWorld(s: State, w: World, count: number): void {
  w.index.cutBack(count);
  w.channel.count = count;
  w.channel.synced = Math.min(w.channel.synced, count);
  for (const m of w.waiting) if (m.channel > count) s.worldBytes -= inMemory(m.body);
  w.waiting = w.waiting.filter((m) => m.channel <= count);
  w.exit = undefined;
}

/** The message that has begun is void, or whole. */
export function voidPart(s: State, w: World): void {
  s.worldBytes -= lengthOf(w.channel.partial?.bodies ?? []);
  w.channel.partial = undefined;
}

export function releaseWorld(s: State, w: World): void {
  const task = w.channel.src;
  if (w.exit && w.exit.lsn < w.stream.synced) {
    const { report } = w.exit;
    w.exit = undefined;
    s.out.push({ type: 'taskEnded', task, report });
  }
  let out = 0;
  for (const { lsn, channel, incarnation, mode, body } of w.waiting) {
    if (lsn >= w.stream.synced || !s.policy.shows(w, channel, mode)) break;
    if (s.worldTurn <= 0) {
      s.worldDue = true;
      break;
    }
    s.worldTurn -= (mode === WorldMode.REQUEST ? REQUEST_TURNS : 1) + Math.floor(body.length / TURN_BYTES);
    out++;
    s.worldBytes -= inMemory(body);
    s.out.push({ type: 'world', task, channel, incarnation, mode, body });
  }
  // All at once: to take the first of many, again and again, is quadratic.
  if (out > 0) w.waiting = w.waiting.slice(out);
}

/**
 * A message to WORLD is whole. The world sees it once it is durable: the world cannot forget what it has seen, so a
 * power loss must not change it. EXIT and requests to the file service, whose senders wait for the answer, do not wait
 * for the next tick.
 */
export function emitWorld(
  s: State,
  w: World,
  { channel, incarnation, mode }: Pick<Header, 'channel' | 'incarnation' | 'mode'>,
  body: WorldBody,
  lsn: number,
): void {
  if (!s.outputDurable) {
    s.worldBytes += inMemory(body);
    w.waiting.push({ lsn: IN_MEMORY, channel, incarnation, mode, body });
    return releaseWorld(s, w);
  }
  if (mode === WorldMode.EXIT && s.policy.goesBack && body instanceof Uint8Array) w.exit = { lsn, report: body };
  if (s.worldBytes + inMemory(body) > s.worldMemory.waiting)
    body = { stream: w.stream.name, lsns: w.index.chunksOf(channel) ?? [lsn], length: body.length };
  s.worldBytes += inMemory(body);
  w.waiting.push({ lsn, channel, incarnation, mode, body });
  if (mode === WorldMode.EXIT || mode === WorldMode.REQUEST) s.syncWanted = true;
}

/**
 * May a task say this to the world? Output may be any bytes, a result file may have any name, and an exit that cannot
 * be read is an error of the program. `bodies`: parts that are in memory, from the first on.
 */
function readable(mode: number, bodies: readonly Uint8Array[], size: number): boolean {
  switch (mode) {
    case WorldMode.STDOUT:
    case WorldMode.STDERR:
    case WorldMode.FILE:
    case WorldMode.CUT:
    case WorldMode.EXIT:
      return true;
    case WorldMode.REQUEST:
      return fitsFileRequest(join(bodies, lengthOf(bodies)), size);
    case WorldMode.MEMBER:
      return readRequest(join(bodies, size)) !== undefined;
    default:
      return false;
  }
}

/** One part stays as it is: nothing is copied. */
function join(parts: readonly Uint8Array[], size: number): Uint8Array {
  if (parts.length === 1 && parts[0]!.length === size) return parts[0]!;
  const held = parts.reduce((n, b) => n + b.length, 0);
  const out = new Uint8Array(checkedLength(size, held));
  let o = 0;
  for (const b of parts) {
    out.set(b, o);
    o += b.length;
  }
  return out;
}
