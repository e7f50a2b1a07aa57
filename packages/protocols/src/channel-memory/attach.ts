/**
 * Incarnations at the Channel Memory: attaching, fencing, clones, and the return of a receiver to a recovered log.
 *
 * F1  The higher incarnation closes the lower; an equal one needs the same nonce (it replaces its own dead socket),
 *     else it is a clone. The nonce is logged before the first answer: after a restart of the CM a clone must not come
 *     first and log other determinants.
 * F2  A first attachment is answered only when every lower incarnation is closed here and all that was appended is
 *     durable, also what a receiver gives back of it meanwhile.
 * F3  A recovered CM accepts nothing new for a task before the task's comm worker has reported (RESUPPLIED). A comm
 *     worker that lived on reports when it has returned the arrivals that the log lost. That of a new incarnation
 *     reports when it has found the logs of all Channel Memories consistent; else other messages would take the place
 *     of lost ones unnoticed.
 */
import {
  Attach,
  BLOCK_HEAD_BYTES,
  Flag,
  HEADER_BYTES,
  Kind,
  WORLD,
  emptyHeader,
  encodeFrame,
  taskId,
  type Header,
  type Incarnation,
  type Position,
  type TaskId,
} from '@mayfly/wire';
import { MalformedPosition, type Replays } from '../contract/position.ts';
import { sentBy } from './holdings.ts';
import { beginPush, discardPartial } from './push.ts';
import { readBody } from './read-body.ts';
import { json, learn, readEvidence, type Evidence } from './records.ts';
import { evidenceOf, isTeam } from './sections.ts';
import { closeConn, detach, giveUp, protocolError, refuse } from './refuse.ts';
import { ackSoon, append, slotOf, touch, type State } from './state.ts';
import { channelOf, type Attachment, type Channel, type ConnState, type Destination, type Source } from './tasks.ts';
import { appendWorldMessage } from './data-path.ts';
import { voidPart } from './world.ts';

export function attach(s: State, conn: ConnState, h: Header, body: Uint8Array): void {
  const m = readBody('ATTACH', Attach, body);
  const who = s.options.authorise(m.capability);
  if (who === undefined || who.task !== h.src || who.incarnation !== h.incarnation || who.task >= s.sources.length)
    throw protocolError('FORBIDDEN', 'the capability does not cover this task and incarnation');
  const source = s.sources[who.task]!;
  if (s.policy.outranks(source.fence, who.incarnation))
    return refuse(s, conn, who.task, 'FENCED', `incarnation ${source.fence} of task ${who.task} acts`);
  if (who.incarnation > source.fence) fence(s, who.task, who.incarnation);
  else if (source.nonce !== undefined && source.nonce !== m.nonce)
    return refuse(s, conn, who.task, 'CLONE', `incarnation ${who.incarnation} of task ${who.task} runs elsewhere`);
  const d = s.destinations[who.task];
  const begins = { incarnation: who.incarnation, epoch: h.epoch, resume: m.resume };
  const refused = s.policy.refuses(begins, d);
  if (refused) return refuse(s, conn, who.task, refused.code, refused.message);
  const a = begin(conn, h, m, who, replaysOf(s, m.position));
  if (m.resume && d && !d.closed && !d.done && m.received > d.index.count)
    return giveUp(s, conn, a, 'OUT_OF_SEQUENCE', `received ${m.received} of ${d.index.count} arrivals`);

  const before = source.attachment;
  if (before && (before.incarnation === who.incarnation || s.policy.outranks(who.incarnation, before.incarnation)))
    detach(s, before);
  const elsewhere = before && before.conn !== conn.conn && before.nonce === m.nonce && s.conns.get(before.conn);
  // Of two connections of one comm worker the older one may be heard last: it shall know which one counts.
  if (elsewhere) closeConn(s, elsewhere, 'SUPERSEDED', 'another connection of this node counts');
  const isNew = source.nonce === undefined;
  source.nonce = m.nonce;
  s.policy.attached(s, source, a, isNew);
  source.attachment = a;
  conn.tasks.set(who.task, a);
  voidPartials(s, who.task);
  if (d?.closed) for (const c of d.channels) if (c) c.partial = undefined;
  s.out.push({ type: 'attached', task: a.task, incarnation: a.incarnation, resume: a.resume });
  if (!s.policy.waitsForSync(a)) return answerAttach(s, a);
  s.answers.push({ attachment: a, needs: s.ticket + 1 });
  s.syncWanted = true;
}

const begin = (
  conn: ConnState,
  { epoch }: Header,
  { nonce, position, received, resume }: Attach,
  who: { task: TaskId; incarnation: Incarnation },
  replays: Replays,
): Attachment => ({
  ...who,
  nonce,
  epoch,
  conn: conn.conn,
  position,
  replays,
  received,
  resume,
  dead: false,
  answered: false,
  spoke: false,
});

/** What a node claims of its position. @throws ProtocolError */
function replaysOf(s: State, position: Position): Replays {
  try {
    return s.policy.replays(position);
  } catch (error) {
    if (!(error instanceof MalformedPosition)) throw error;
    throw protocolError('BAD_FRAME', error.message);
  }
}

/** ATTACHED, and the arrivals begin to flow. */
export function answerAttach(s: State, a: Attachment): void {
  if (a.dead || s.sources[a.task]!.attachment !== a) return;
  const source = s.sources[a.task]!;
  const d = s.destinations[a.task];
  s.policy.answers(s, source, a);
  const received = sentBy(s, a.task);
  const h = emptyHeader(Kind.ATTACHED);
  h.src = a.task;
  h.dst = a.task;
  h.incarnation = a.incarnation;
  const body = {
    received,
    arrivals: d?.index.count ?? 0,
    determinants: source.held,
    ...(d?.closed ? { resupplyFrom: d.index.count } : {}),
  };
  s.out.push({ type: 'send', conn: a.conn, bytes: encodeFrame(h, json(body)) });
  a.answered = true;
  // What it retains is released by ACKs, also what became durable while it was away: determinants at once, messages by
  // the next sync.
  if (a.resume && s.durable) ackSoon(s, source);
  for (const [dst] of received)
    touch(s, dst === WORLD ? s.worlds[a.task]!.channel : channelOf(s.destinations[dst]!, slotOf(s, a.task), a.task));
  if (d && !d.closed && !d.done) beginPush(s, d, a);
  for (const stage of s.stages) stage.attached?.(a.task);
}

/** Incarnations below `incarnation` are closed (F1). */
export function fence(s: State, task: TaskId, incarnation: Incarnation): void {
  const source = s.sources[task]!;
  if (incarnation <= source.fence) return;
  source.fence = incarnation;
  source.nonce = undefined;
  source.nonceLsn = undefined;
  source.unheard = undefined;
  const a = source.attachment;
  if (a && s.policy.outranks(incarnation, a.incarnation)) {
    const conn = s.conns.get(a.conn);
    detach(s, a);
    if (conn) refuse(s, conn, task, 'FENCED', `incarnation ${incarnation} of task ${task} acts`);
  }
  if (!s.serving) return;
  voidPartials(s, task);
}

/** A new incarnation of a sender: messages of the old one that are here in part are void. */
function voidPartials(s: State, task: TaskId): void {
  for (const d of s.destinations) {
    const c = d?.closed ? undefined : d?.channels[slotOf(s, task)]; // a closed log takes parts from its receiver alone
    if (c?.partial) discardPartial(d, c);
  }
  const w = s.worlds[task];
  if (w) voidPart(s, w);
}

// ---- a receiver's return to a recovered log ----

/** RESUPPLY: one chunk of an arrival that the log lost, in order. */
export function resupply(
  s: State,
  a: Attachment,
  h: Header,
  bytes: Uint8Array,
  v: DataView,
  o: number,
  end: number,
): void {
  const d = s.destinations[a.task];
  if (d?.done) return;
  if (!d?.closed || !a.answered) throw protocolError('BAD_FRAME', 'nothing is to be resupplied');
  const slot = slotOf(s, h.src);
  if (slot < 0) throw protocolError('BAD_FRAME', `no task ${h.src}`);
  if ((h.flags & Flag.NO_BODY) !== 0) throw lost(a, `the body of arrival ${h.arrival}`);
  const c = channelOf(d, slot, h.src);
  if (c.partial === undefined ? h.offset !== 0 : h.offset !== c.partial.bytes || h.size !== c.partial.size)
    throw protocolError('OUT_OF_SEQUENCE', `resupplied part at ${h.offset} of ${h.size}`);
  const whole = (h.flags & Flag.LAST) !== 0;
  if (whole !== (h.offset + h.bytes === h.size))
    throw protocolError('BAD_FRAME', 'LAST does not stand on the last part');
  if (whole && (h.arrival !== d.index.count + 1 || h.channel !== c.count + 1))
    throw lost(
      a,
      `the log ends at arrival ${d.index.count} and message ${c.count} of task ${h.src}; arrival ` +
        `${h.arrival} is message ${h.channel}`,
    );
  const source = s.sources[h.src];
  if (source && isTeam(h)) {
    const block = bytes.subarray(o + HEADER_BYTES, o + HEADER_BYTES + h.detBytes);
    for (const x of evidenceOf(s, source.task, block)) givenBack(s, x.source, d, x.evidence, x.entries);
  } else if (h.detBytes >= BLOCK_HEAD_BYTES && source) {
    const e = { determinants: 0, openPolls: 0, consumed: 0 };
    givenBack(s, source, d, e, readEvidence(v, o + HEADER_BYTES, e));
  }
  v.setUint8(o, Kind.ARRIVAL);
  const lsn = append(s, d.stream, bytes.subarray(o, end));
  const p = (c.partial ??= { size: h.size, bytes: 0, lsns: [], ahead: false, pushed: 0, bodies: [] });
  p.bytes += h.bytes;
  p.lsns.push(lsn);
  if (!whole) return;
  c.partial = undefined;
  c.count = h.channel;
  touch(s, c);
  // F2: the answer to a new incarnation of the sender that still waits contains this count, so it will not send the
  // message again.
  for (const w of s.answers) if (w.attachment.task === h.src) w.needs = s.ticket + 1;
  d.index.add(lsn, h.size, p.lsns.length > 1 ? p.lsns : undefined);
}

function givenBack(s: State, source: Source, d: Destination, e: Evidence, entries: number): void {
  if (entries > 0) throw protocolError('BAD_FRAME', 'determinants of another task come with what is given back');
  s.policy.givenBack(s, source, d, e);
  learn(source.evidence, e);
}

/** RESUPPLIED: the log is as long as what the receiver had; it opens. */
export function resupplied(s: State, a: Attachment): void {
  const d = s.destinations[a.task];
  if (d?.done) return;
  if (!d?.closed || !a.answered) throw protocolError('BAD_FRAME', 'nothing was to be resupplied');
  if (d.index.count < a.received) throw lost(a, `arrivals ${d.index.count + 1} to ${a.received}`);
  reopen(s, d);
  beginPush(s, d, a);
}

/**
 * The node claims arrivals that the log lacks, and does not return them. A node's claim costs only this incarnation, as
 * if the node had not come back. The fence of the next incarnation finds out whether anything depends on the lost
 * arrivals (holdings.ts).
 */
const lost = (a: Attachment, what: string): Error =>
  protocolError('OUT_OF_SEQUENCE', `the log of task ${a.task} lacks what its node does not give back: ${what}`);

/** F3 ends for `d`: senders whose frames were dropped send them again. */
export function reopen(s: State, d: Destination): void {
  d.closed = false;
  s.policy.reported(s, d);
  for (const c of d.channels) {
    if (c === undefined) continue;
    discardPartial(d, c);
    if (c.resync) askAgain(s, c);
  }
  for (const m of d.heldWorld.splice(0)) appendWorldMessage(s, d, m);
}

function askAgain(s: State, c: Channel): void {
  const a = s.sources[c.src]?.attachment;
  if (!a?.answered) return;
  const h = emptyHeader(Kind.RESEND);
  h.src = c.src;
  h.dst = c.dst;
  h.incarnation = a.incarnation;
  h.channel = c.count;
  s.out.push({ type: 'send', conn: a.conn, bytes: encodeFrame(h) });
}

/**
 * The attachment that may speak for `task` on this connection; undefined: it was refused, and its frames are ignored.
 */
export function speaker(conn: ConnState, task: number, incarnation: Incarnation): Attachment | undefined {
  const a = conn.tasks.get(task);
  if (a === undefined) throw protocolError('FORBIDDEN', `task ${taskId(task)} is not attached here`);
  if (a.dead) return undefined;
  if (a.incarnation !== incarnation)
    throw protocolError('FORBIDDEN', `incarnation ${incarnation} is not attached here`);
  return a;
}
