/**
 * K9, K10 and K14: what the Channel Memories say and do about durability, held against the disks and the images that are really there.
 */
import { Kind, WORLD, decodeAck, homeOf, taskId, type Frame, type ImageId, type Line, type ReplayFrom } from '@mayfly/wire';
import { name, type Checkers } from './checkers.ts';
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
      throw new Violation(`K9: CM ${cm} acknowledges message ${c.synced} of ${task} → ${name(c.dst)} as synced, and it is not durable`);
  }
  const meanings = checkers.meanings.get(streamOf(cm, `d${task}`)) ?? [];
  for (let lsn = log.syncedTo(`d${task}`); lsn < meanings.length; lsn++) {
    const m = meanings[lsn];
    if (m?.type === 'determinants' && m.end <= ack.determinantsSynced)
      throw new Violation(`K9: CM ${cm} acknowledges determinants of task ${task} below ${ack.determinantsSynced} as synced, ${m.first} to ${m.end} are not durable`);
  }
}

/** K10: records of a stream go. `kept`: the complete images of the stream's task that a restart may choose. */
export function checkTrim(
  checkers: Checkers, cm: number, stream: string, from: number, to: number, keep: ReadonlySet<number>, kept: readonly KeptImage[], done: boolean,
): void {
  const meanings = checkers.meanings.get(streamOf(cm, stream)) ?? [];
  if (done) return;
  for (let lsn = from; lsn < to; lsn++) {
    const m = meanings[lsn];
    if (!m || m.type === 'base' || keep.has(lsn)) continue;
    if (m.type === 'message' && m.dst === WORLD) continue; // K3 sees output that went before it was safe
    if (kept.length < KEPT_IMAGES) throw new Violation(`K10: CM ${cm} trims ${stream}, and there are ${kept.length} images`);
    for (const { image, replay } of kept)
      if (m.type === 'determinants') {
        if (m.first < replay.prologue.determinants || m.end > replay.image.determinants)
          throw new Violation(`K10: CM ${cm} trims determinants ${m.first} to ${m.end} of task ${m.task}, which image ${image} needs`);
      } else if (m.last && (m.arrival <= replay.prologue.arrivals || m.arrival > replay.image.arrivals || replay.held.includes(m.arrival)))
        throw new Violation(`K10: CM ${cm} trims arrival ${m.arrival} of task ${m.dst}, which image ${image} needs`);
  }
}

/** K14: an image becomes complete. `logs`: the disk of each Channel Memory. */
export function checkComplete(checkers: Checkers, logs: readonly FaultyLog[], task: number, line: Line, covered: number, isDone: (task: number) => boolean): void {
  const fail = (what: string): never => {
    throw new Violation(`K14: an image of task ${task} is complete, and ${what} before it is not durable`);
  };
  const home = homeOf(taskId(task), logs.length);
  const durable = (cm: number, stream: string, lsn: number): boolean => lsn < logs[cm]!.syncedTo(stream);
  for (const [dst, n] of line.sends) {
    if (n === 0 || (dst !== WORLD && isDone(dst))) continue;
    const logged = checkers.logs.get(`${task}>${dst}#${n}`);
    if (!logged || !durable(dst === WORLD ? home : homeOf(dst, logs.length), dst === WORLD ? `w${task}` : `t${dst}`, logged.lsn)) fail(`message ${n} to ${name(dst)}`);
  }
  const arrivals = checkers.meanings.get(streamOf(home, `t${task}`)) ?? [];
  const last = arrivals.findLastIndex((m) => m?.type === 'message' && m.last && m.arrival <= line.arrivals);
  const m = arrivals[last];
  if (line.arrivals > 0 && (m?.type !== 'message' || m.arrival < line.arrivals || !durable(home, `t${task}`, last))) fail(`arrival ${line.arrivals}`);
  const held = new Set<number>();
  logs.forEach((_, cm) =>
    (checkers.meanings.get(streamOf(cm, `d${task}`)) ?? []).forEach((d, lsn) => {
      if (d?.type === 'determinants' && durable(cm, `d${task}`, lsn)) for (let n = d.first; n < d.end; n++) held.add(n);
    }),
  );
  for (let n = covered; n < line.determinants; n++) if (!held.has(n)) fail(`determinant ${n}`);
}
