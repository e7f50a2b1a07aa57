/** Frames as a planted bug changes them on their way; nothing here runs in a campaign without one. */
import {
  EMPTY,
  Kind,
  decodeAck,
  decodeDeterminants,
  emptyHeader,
  encodeAck,
  encodeDeterminants,
  encodeFrame,
  readFrames,
  type Frame,
  type Incarnation,
  type TaskId,
} from '@mayfly/wire';
import { BASE_KIND, baseOf } from './checkers/records.ts';

const text = new TextEncoder();

const each = (bytes: Uint8Array, change: (f: Frame) => Uint8Array): Uint8Array => {
  const parts = readFrames(bytes).map(change);
  const out = new Uint8Array(parts.reduce((n, p) => n + p.length, 0));
  parts.reduce((o, p) => (out.set(p, o), o + p.length), 0);
  return out;
};

/** No frame carries a determinant, or evidence. */
export const withoutDeterminants = (bytes: Uint8Array): Uint8Array =>
  each(bytes, (f) => encodeFrame({ ...f.header, detBytes: 0 }, f.body, EMPTY));

/** A frame keeps its evidence and loses its determinants. */
export const withEvidenceOnly = (bytes: Uint8Array): Uint8Array =>
  each(bytes, (f) => {
    if (f.header.kind !== Kind.DATA || f.header.detBytes === 0) return encodeFrame(f.header, f.body, f.determinants);
    const b = decodeDeterminants(f.determinants);
    return encodeFrame(
      f.header,
      f.body,
      encodeDeterminants({ first: b.first, consumed: b.consumed, openPolls: 0, entries: [] }),
    );
  });

/** The start of a restarted task lacks the evidence of what others depend on. */
export function withLowerEvidence(f: Frame): Uint8Array {
  const b = decodeDeterminants(f.determinants);
  return encodeFrame(
    f.header,
    f.body,
    encodeDeterminants({ ...b, first: b.entries.length > 0 ? b.first : 0, consumed: 0, openPolls: 0 }),
  );
}

/** A BASE record that keeps no counts. */
export function withoutCounts(bytes: Uint8Array): Uint8Array {
  const [f] = readFrames(bytes);
  if (f?.header.kind !== BASE_KIND) return bytes;
  return encodeFrame(f.header, text.encode(JSON.stringify({ ...baseOf(f), channels: [] })));
}

/** An ACK that calls synced what is only appended; or that calls all arrivals synced. */
export const tooEarly = (bytes: Uint8Array, what: 'messages' | 'arrivals'): Uint8Array =>
  each(bytes, (f) => {
    if (f.header.kind !== Kind.ACK) return encodeFrame(f.header, f.body, f.determinants);
    const a = decodeAck(f.body);
    if (what === 'arrivals') a.arrivalsSynced = 2 ** 40;
    else for (const c of a.channels) c.synced = c.appended;
    return encodeFrame(f.header, encodeAck(a));
  });

/** An ACK that takes all that is logged by now for what the sync that has ended made durable. */
export function pastTheMark(f: Frame, arrivalsLogged: number): Frame {
  if (f.header.kind !== Kind.ACK) return f;
  const a = decodeAck(f.body);
  for (const c of a.channels) if (c.synced > 0) c.synced = c.appended;
  if (a.arrivalsSynced > 0) a.arrivalsSynced = arrivalsLogged;
  return { ...f, body: encodeAck(a) };
}

/** ATTACH with the one nonce that everybody has. */
export const withOneNonce = (bytes: Uint8Array): Uint8Array =>
  each(bytes, (f) => {
    if (f.header.kind !== Kind.ATTACH) return encodeFrame(f.header, f.body, f.determinants);
    const body = JSON.parse(new TextDecoder().decode(f.body)) as object;
    return encodeFrame(f.header, text.encode(JSON.stringify({ ...body, nonce: 'the-one-nonce' })));
  });

/** ATTACHED of a Channel Memory that was never asked: nothing is logged there. */
export function emptyAnswer(task: TaskId, incarnation: Incarnation): Uint8Array {
  const h = { ...emptyHeader(Kind.ATTACHED), src: task, dst: task, incarnation };
  return encodeFrame(h, text.encode(JSON.stringify({ received: [], arrivals: 0, determinants: [] })));
}

/** The first connection wins: the second is refused. */
export function refusal(task: TaskId, incarnation: Incarnation): Uint8Array {
  const h = { ...emptyHeader(Kind.REFUSED), src: task, dst: task, incarnation };
  return encodeFrame(
    h,
    text.encode(JSON.stringify({ code: 'CLONE', message: 'another connection of this task is open' })),
  );
}
