/**
 * Pushing a receiver's arrivals: cursor, credit, envelopes, pulls.
 *
 * Live, an arrival goes out with the very bytes that came in. Whenever that is not possible (no credit, congested
 * socket, not yet durable under `strict`, a restart) the cursor stays behind and {@link pump} pushes from the log
 * later, in arrival order.
 *
 * Invariants
 *  P1  Bytes reserved are at most 2¼ windows: a message is pushed with its body if it fits in what is left, or if at
 *      most what the receiver need not have credited yet is whole under way (else it could wait for a message that
 *      waits for it).
 *  P2  A chunk of a message that is not whole yet goes out only when the whole message fits in the window (reserved at
 *      its first chunk).
 *  P3  Last chunks leave in arrival order.
 *  P4  A body longer than the window, or any while the receiver says ENVELOPE_ONLY, stays in the log. Its envelope is
 *      pushed once the message is durable, since a receiver cannot return a body that it never had.
 *  P5  Input from outside (standard input, answers of the file service) counts until its body has left: it was pushed
 *      or pulled, or the receiver has consumed it. Who gives input waits while much of it has not left.
 */
import { Kind } from '@mayfly/wire';
import { giveUp, protocolError } from './refuse.ts';
import type { State } from './state.ts';
import { forgetAhead, type Attachment, type Channel, type Destination, type Partial, type Push } from './tasks.ts';

/** What a message costs of the window: its body, and something for its header. */
export const cost = (size: number): number => size + 64;
const MIN_WINDOW = 1024;
const MAX_WINDOW = 256 * 1024 * 1024;
/**
 * Chunks that the PULLs of one socket message may ask for: 256 MiB, more than a link may have waiting. A comm core asks
 * for a quarter of its window.
 */
const PULLED_AT_ONCE = 4096;

/** P5. */
export function inputArrives(d: Destination, arrival: number, size: number): void {
  d.input.set(arrival, size);
  d.inputBytes += size;
}

function inputLeft(d: Destination, arrival: number): void {
  d.inputBytes -= d.input.get(arrival) ?? 0;
  d.input.delete(arrival);
}

export function forgetInput(d: Destination): void {
  d.input.clear();
  d.inputBytes = 0;
}

/** Begins to push to a receiver that has just attached. */
export function beginPush(s: State, d: Destination, a: Attachment): void {
  const { prologue, image } = a.replays;
  d.push = {
    attachment: a,
    cursor: 0,
    window: s.window,
    envelopeOnly: false,
    consumed: 0,
    reserved: 0,
    whole: 0,
    numbers: [],
    costs: [],
    head: 0,
    ahead: new Map(),
  };
  for (const n of d.input.keys()) if (n <= a.received || (n > prologue && n <= image)) inputLeft(d, n);
  d.push.cursor = a.received < prologue ? a.received + 1 : Math.max(a.received, image) + 1;
  forgetAhead(d);
  pump(s, d);
}

const congested = (s: State, p: Push): boolean => s.conns.get(p.attachment.conn)?.congested ?? true;
/** A quarter on top: messages that the receiver has consumed and not yet credited. */
const fits = (p: Push, size: number): boolean => p.reserved + cost(size) <= p.window + p.window / 4;

/**
 * Nothing whole is known to be under way: what is, the receiver may have consumed without giving credit yet (M7 of the
 * comm core).
 */
const idle = (p: Push): boolean => p.whole <= p.window / 4;

function underWay(p: Push, arrival: number, size: number, reserved: boolean): void {
  const c = cost(size);
  if (!reserved) p.reserved += c;
  p.whole += c;
  p.numbers.push(arrival);
  p.costs.push(c);
}

function advance(p: Push): void {
  const { prologue, image } = p.attachment.replays;
  p.cursor = p.cursor === prologue ? Math.max(image, p.cursor) + 1 : p.cursor + 1;
}

/** The last chunk of arrival `n` has just been appended: `bytes` is its frame. */
export function pushWhole(
  s: State,
  d: Destination,
  n: number,
  size: number,
  bytes: Uint8Array,
  partial: Partial | undefined,
): void {
  const p = d.push;
  if (p === undefined) return;
  const reserved = partial?.ahead === true;
  const sent = reserved ? partial.pushed : 0;
  const others = partial === undefined ? 0 : partial.lsns.length - 1;
  if (
    p.cursor === n &&
    sent === others &&
    !s.strict &&
    !congested(s, p) &&
    size <= p.window &&
    (reserved || (!p.envelopeOnly && (fits(p, size) || idle(p))))
  ) {
    s.out.push({ type: 'send', conn: p.attachment.conn, bytes });
    underWay(p, n, size, reserved);
    advance(p);
    inputLeft(d, n);
    return;
  }
  if (reserved) p.ahead.set(n, sent);
  if (p.cursor <= n) pump(s, d);
}

/** A chunk, not the last, has just been appended. */
export function pushAhead(s: State, d: Destination, partial: Partial, bytes: Uint8Array): void {
  const p = d.push;
  if (p === undefined || s.strict || congested(s, p)) return;
  const chunk = partial.lsns.length - 1;
  if (chunk === 0 && p.cursor > d.index.count && !p.envelopeOnly && partial.size <= p.window && fits(p, partial.size)) {
    partial.ahead = true;
    p.reserved += cost(partial.size);
  }
  if (!partial.ahead || partial.pushed !== chunk) return;
  partial.pushed++;
  s.out.push({ type: 'send', conn: p.attachment.conn, bytes });
}

/** What was pushed ahead of a message is void. */
export function takeBack(d: Destination | undefined, partial: Partial): void {
  if (partial.ahead && d?.push) d.push.reserved -= cost(partial.size);
  partial.ahead = false;
  partial.pushed = 0;
}

/** A partial message is void: its sender will send it again from its start. */
export function discardPartial(d: Destination | undefined, c: Channel): void {
  if (c.partial) takeBack(d, c.partial);
  c.partial = undefined;
}

/** Pushes from the log what the cursor may pass. */
export function pump(s: State, d: Destination): void {
  const p = d.push;
  if (p === undefined) return;
  const limit = s.strict ? d.arrivalsSynced : d.index.count;
  while (p.cursor <= limit && !congested(s, p)) {
    if (!pushFromLog(s, d, p)) return;
    advance(p);
  }
}

function pushFromLog(s: State, d: Destination, p: Push): boolean {
  const n = p.cursor;
  const last = d.index.lsnOf(n);
  if (last < 0 && n <= d.trimmed) {
    // Rightly gone: it stands behind no image that is kept. What asks for it is not what the dispatcher assigned; its
    // next incarnation will be.
    giveUp(
      s,
      s.conns.get(p.attachment.conn),
      p.attachment,
      'OUT_OF_SEQUENCE',
      `a replay from arrival ${n}; what lies before ${d.trimmed + 1} was trimmed`,
    );
    return false;
  }
  if (last < 0) {
    s.out.push({
      type: 'failed',
      task: d.task,
      error: {
        code: 'LOST_LOG',
        message: `arrival ${n} of task ${d.task} is no longer in the log, and its incarnation needs it`,
      },
    });
    d.push = undefined;
    return false;
  }
  const { conn, incarnation } = p.attachment;
  const stream = d.stream.name;
  const size = d.index.sizeOf(n);
  const sent = p.ahead.get(n);
  if (sent === undefined && size > 0 && (size > p.window || p.envelopeOnly)) {
    if (s.durable && n > d.arrivalsSynced) {
      s.syncWanted = true;
      return false;
    }
    // envelopes take credit as messages do: a receiver that computes would be buried in them
    if (!fits(p, 0) && !idle(p)) return false;
    s.out.push({
      type: 'sendRecord',
      conn,
      stream,
      lsn: last,
      kind: Kind.ARRIVAL,
      incarnation,
      arrival: n,
      envelope: true,
    });
    if (!s.durable) d.envelopes.add(n);
    underWay(p, n, 0, false);
    return true;
  }
  if (sent === undefined && !fits(p, size) && !idle(p)) return false;
  const chunks = d.index.chunksOf(n);
  if (chunks === undefined)
    s.out.push({
      type: 'sendRecord',
      conn,
      stream,
      lsn: last,
      kind: Kind.ARRIVAL,
      incarnation,
      arrival: n,
      envelope: false,
    });
  else
    for (let i = sent ?? 0; i < chunks.length; i++)
      s.out.push({
        type: 'sendRecord',
        conn,
        stream,
        lsn: chunks[i]!,
        kind: Kind.ARRIVAL,
        incarnation,
        arrival: n,
        envelope: false,
      });
  p.ahead.delete(n);
  inputLeft(d, n);
  underWay(p, n, size, sent !== undefined);
  return true;
}

/** CREDIT: the receiver has consumed up to `consumed` and takes `window` bytes. */
export function credit(s: State, d: Destination, consumed: number, window: number, envelopeOnly: boolean): void {
  const p = d.push;
  if (p === undefined) return;
  if (consumed >= p.cursor || consumed < p.consumed)
    throw protocolError('BAD_FRAME', `credit for arrival ${consumed}, pushed up to ${p.cursor - 1}`);
  p.consumed = consumed;
  for (const n of d.input.keys()) {
    if (n > consumed) break;
    inputLeft(d, n);
  }
  p.window = Math.min(MAX_WINDOW, Math.max(MIN_WINDOW, window));
  p.envelopeOnly = envelopeOnly;
  while (p.head < p.numbers.length && p.numbers[p.head]! <= consumed) {
    const c = p.costs[p.head++]!;
    p.reserved -= c;
    p.whole -= c;
  }
  if (p.head > 256 && p.head * 2 > p.numbers.length) {
    p.numbers.splice(0, p.head);
    p.costs.splice(0, p.head);
    p.head = 0;
  }
  pump(s, d);
}

/**
 * PULL: `bytes` (0: all) of the body of an arrival from `offset` on; from its end on: it has come whole, `none` may
 *  forget it. At most 64 MiB go out (a comm core asks for a quarter of its window).
 */
export function pull(s: State, d: Destination, arrival: number, offset: number, bytes: number): void {
  const p = d.push;
  if (p === undefined) return;
  const last = d.index.lsnOf(arrival);
  const size = d.index.sizeOf(arrival);
  if (offset > 0 && offset === size) {
    d.envelopes.delete(arrival);
    return;
  }
  if (last < 0) throw protocolError('BAD_REQUEST', `arrival ${arrival} is not in the log`);
  if (offset % s.chunkBytes !== 0 || (offset > 0 && offset >= size))
    throw protocolError('BAD_FRAME', `pull from ${offset} of ${size}`);
  const chunks = d.index.chunksOf(arrival) ?? [last];
  const from = offset / s.chunkBytes;
  if (s.out.length > PULLED_AT_ONCE)
    throw protocolError('TOO_MANY', 'more is pulled at once than a link may have waiting');
  const want = Math.max(1, Math.ceil(Math.min(bytes === 0 ? size : bytes, MAX_WINDOW / 4) / s.chunkBytes));
  const { conn, incarnation } = p.attachment;
  if (from + want >= chunks.length) inputLeft(d, arrival);
  for (let i = from; i < Math.min(chunks.length, from + want); i++)
    s.out.push({
      type: 'sendRecord',
      conn,
      stream: d.stream.name,
      lsn: chunks[i]!,
      kind: Kind.BODY,
      incarnation,
      arrival,
      envelope: false,
    });
}
