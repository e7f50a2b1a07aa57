/**
 * K9, K10 and K14: what the Channel Memories say and do about durability, held against the disks and the images that
 * are really there.
 */
import {
  Flag,
  Kind,
  WORLD,
  decodeAck,
  homeOf,
  taskId,
  type Attached,
  type Frame,
  type ImageId,
  type Line,
  type ReplayFrom,
} from '@mayfly/wire';
import { name, type Checkers, type Meaning } from './checkers.ts';
import { Violation } from './violation.ts';
import type { FaultyLog } from './faulty-log.ts';

/** Stands for everything in an ACK of a task that is done. */
const EVERYTHING = Number.MAX_SAFE_INTEGER;
const KEPT_IMAGES = 2;

export interface KeptImage {
  readonly image: ImageId;
  readonly replay: ReplayFrom;
}

/** A disk, as the checkers name its streams. */
export const streamOf = (cm: number, stream: string): string => `cm${cm}/${stream}`;

/** K9: an ACK leaves. */
export function checkAck(checkers: Checkers, cm: number, log: FaultyLog, f: Frame): void {
  if (f.header.kind !== Kind.ACK) return;
  const ack = decodeAck(f.body);
  const task = f.header.dst;
  for (const c of ack.channels) {
    if (c.synced === 0 || c.synced === EVERYTHING) continue;
    const logged = checkers.logs.get(`${task}>${c.dst}#${c.synced}`);
    const stream = c.dst === WORLD ? `w${task}` : `t${c.dst}`;
    if (!logged || logged.lsn >= log.syncedTo(stream))
      throw new Violation(
        `K9: CM ${cm} acknowledges message ${c.synced} of ${task} → ${name(c.dst)} as synced, and it is not durable`,
      );
  }
  const arrivals = checkers.meanings.get(streamOf(cm, `t${task}`)) ?? [];
  for (let lsn = log.syncedTo(`t${task}`); lsn < arrivals.length; lsn++) {
    const m = arrivals[lsn];
    if (m?.type === 'message' && m.last && m.arrival <= ack.arrivalsSynced)
      throw new Violation(
        `K9: CM ${cm} acknowledges arrivals of task ${task} up to ${ack.arrivalsSynced} as synced, and ` +
          `${m.arrival} is not durable`,
      );
  }
  const meanings = checkers.meanings.get(streamOf(cm, `d${task}`)) ?? [];
  for (let lsn = log.syncedTo(`d${task}`); lsn < meanings.length; lsn++) {
    const m = meanings[lsn];
    if (m?.type === 'determinants' && m.end <= ack.determinantsSynced)
      throw new Violation(
        `K9: CM ${cm} acknowledges determinants of task ${task} below ${ack.determinantsSynced} as synced, ` +
          `${m.first} to ${m.end} are not durable`,
      );
  }
}

/** K9: this message of a task is on the platter. */
function durableMessage(checkers: Checkers, log: FaultyLog, src: number, dst: number, channel: number): boolean {
  const logged = checkers.logs.get(`${src}>${dst}#${channel}`);
  return logged !== undefined && logged.lsn < log.syncedTo(dst === WORLD ? `w${src}` : `t${dst}`);
}

/**
 * K9: a new incarnation is told what is logged: it repeats nothing of it, and nobody else has it. Its nonce tells it
 * from a clone from now on (F1).
 */
export function checkAttached(checkers: Checkers, cm: number, log: FaultyLog, f: Frame): void {
  const task = f.header.dst;
  const told = JSON.parse(new TextDecoder().decode(f.body)) as Attached;
  for (const [dst, n] of told.received)
    if (n !== EVERYTHING && !durableMessage(checkers, log, task, dst, n))
      throw new Violation(
        `K9: CM ${cm} tells task ${task} that message ${n} to ${name(dst)} is logged, and it is not durable`,
      );
  const own = checkers.meanings.get(streamOf(cm, `d${task}`)) ?? [];
  for (let lsn = log.syncedTo(`d${task}`); lsn < own.length; lsn++)
    if (own[lsn]?.type === 'determinants')
      throw new Violation(`K9: CM ${cm} answers task ${task}, and record ${lsn} of its determinants is not durable`);
  const session = own.findIndex((m) => m?.type === 'session' && m.incarnation === f.header.incarnation);
  if (session >= log.syncedTo(`d${task}`))
    throw new Violation(
      `K9: CM ${cm} answers incarnation ${f.header.incarnation} of task ${task}, and its nonce is not durable`,
    );
}

/** K9: an arrival leaves that its receiver could not give back, or that `strict` holds back until it is durable. */
export function checkPush(checkers: Checkers, cm: number, log: FaultyLog, h: Frame['header'], strict: boolean): void {
  if (h.dst === WORLD || (h.flags & Flag.LAST) === 0 || (!strict && (h.flags & Flag.NO_BODY) === 0)) return;
  if (!durableMessage(checkers, log, h.src, h.dst, h.channel))
    throw new Violation(
      `K9: CM ${cm} sends ${strict ? 'arrival' : 'the envelope of arrival'} ${h.arrival} to task ${h.dst}, ` +
        'and it is not durable',
    );
}

/** K9: the world sees a message, and cannot unsee it. */
export function checkSeen(checkers: Checkers, cm: number, log: FaultyLog, task: number, channel: number): void {
  if (!durableMessage(checkers, log, task, WORLD, channel))
    throw new Violation(`K9: CM ${cm} shows message ${channel} of task ${task} to the world, and it is not durable`);
}

/** K10: what goes is in a record that stays, and that power loss does not take. */
function checkBase(
  meanings: readonly (Meaning | undefined)[],
  cm: number,
  stream: string,
  from: number,
  to: number,
  keep: ReadonlySet<number>,
  log: FaultyLog,
): void {
  const bases = meanings.flatMap((m, lsn) =>
    m?.type === 'base' && lsn < log.syncedTo(stream) && (lsn >= to || lsn < from || keep.has(lsn)) ? [m] : [],
  );
  for (let lsn = from; lsn < to; lsn++) {
    const m = meanings[lsn];
    if (m?.type !== 'message' || !m.last || keep.has(lsn)) continue;
    const stands = bases.some((b) =>
      m.dst === WORLD
        ? b.count >= m.channel
        : b.count >= m.arrival && b.channels.some(([src, n]) => src === m.src && n >= m.channel),
    );
    if (!stands)
      throw new Violation(`K10: CM ${cm} trims record ${lsn} of ${stream}, and no durable record stands for it`);
  }
}

/** K10: records of a stream go. `kept`: the complete images of the stream's task that a restart may choose. */
export function checkTrim(
  checkers: Checkers,
  cm: number,
  stream: string,
  from: number,
  to: number,
  keep: ReadonlySet<number>,
  kept: readonly KeptImage[],
  done: boolean,
  log: FaultyLog,
): void {
  const meanings = checkers.meanings.get(streamOf(cm, stream)) ?? [];
  checkBase(meanings, cm, stream, from, to, keep, log);
  if (done) return;
  for (let lsn = from; lsn < to; lsn++) {
    const m = meanings[lsn];
    if (!m || m.type === 'base' || m.type === 'session' || keep.has(lsn)) continue;
    if (m.type === 'message' && m.dst === WORLD) continue; // K3 sees output that went before it was safe
    if (kept.length < KEPT_IMAGES)
      throw new Violation(`K10: CM ${cm} trims ${stream}, and there are ${kept.length} images`);
    for (const { image, replay } of kept)
      if (m.type === 'determinants') {
        if (m.first < replay.prologue.determinants || m.end > replay.image.determinants)
          throw new Violation(
            `K10: CM ${cm} trims determinants ${m.first} to ${m.end} of task ${m.task}, which image ${image} needs`,
          );
      } else if (
        m.last &&
        (m.arrival <= replay.prologue.arrivals || m.arrival > replay.image.arrivals || replay.held.includes(m.arrival))
      )
        throw new Violation(`K10: CM ${cm} trims arrival ${m.arrival} of task ${m.dst}, which image ${image} needs`);
  }
}

/** K14: an image becomes complete. `logs`: the disk of each Channel Memory. */
export function checkComplete(
  checkers: Checkers,
  logs: readonly FaultyLog[],
  task: number,
  line: Line,
  covered: number,
  isDone: (task: number) => boolean,
): void {
  const fail = (what: string): never => {
    throw new Violation(`K14: an image of task ${task} is complete, and ${what} before it is not durable`);
  };
  const home = homeOf(taskId(task), logs.length);
  const durable = (cm: number, stream: string, lsn: number): boolean => lsn < logs[cm]!.syncedTo(stream);
  for (const [dst, n] of line.sends) {
    if (n === 0 || (dst !== WORLD && isDone(dst))) continue;
    const logged = checkers.logs.get(`${task}>${dst}#${n}`);
    if (
      !logged ||
      !durable(dst === WORLD ? home : homeOf(dst, logs.length), dst === WORLD ? `w${task}` : `t${dst}`, logged.lsn)
    )
      fail(`message ${n} to ${name(dst)}`);
  }
  const arrivals = checkers.meanings.get(streamOf(home, `t${task}`)) ?? [];
  const last = arrivals.findLastIndex((m) => m?.type === 'message' && m.last && m.arrival <= line.arrivals);
  const m = arrivals[last];
  if (line.arrivals > 0 && (m?.type !== 'message' || m.arrival < line.arrivals || !durable(home, `t${task}`, last)))
    fail(`arrival ${line.arrivals}`);
  const held = new Set<number>();
  logs.forEach((_, cm) =>
    (checkers.meanings.get(streamOf(cm, `d${task}`)) ?? []).forEach((d, lsn) => {
      if (d?.type === 'determinants' && durable(cm, `d${task}`, lsn)) for (let n = d.first; n < d.end; n++) held.add(n);
    }),
  );
  for (let n = covered; n < line.determinants; n++) if (!held.has(n)) fail(`determinant ${n}`);
}
