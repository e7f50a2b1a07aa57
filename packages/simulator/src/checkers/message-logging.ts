/**
 * The kit of `pessimistic`: what follows from logging every message and every event before anything depends on it, and
 * from repeating an execution out of its log.
 *
 *  K1  A logged message has one content, whichever incarnation sends it (re-execution repeats the execution). A message
 *      that was never logged may come out differently: nobody has seen it.
 *  K2  Arrival k of a task is one message, whichever incarnation consumes it.
 *  K8  Nothing becomes visible (pushed to a receiver, shown to the world) before the events that it depends on are
 *      logged.
 *  K9  What was acknowledged as synced is durable, and so is what nobody could give back: the counts in the answer to a
 *      restart, what the world sees, an envelope without its body, and under `strict` whatever leaves for a receiver.
 *  K10 Nothing is trimmed that a kept image would need, and nothing before a durable record stands for it.
 *  K11 Silent re-execution: no incarnation writes a message that is logged according to the answers to its start.
 *  K14 An image is complete only when all sends, outputs, determinants and arrivals before it are durable.
 *  K17 What a node received and has not heard to be durable, it gives back to a log that lost it.
 *
 * Owns: what stands in the logs, and which determinants are logged. Power loss in `behind` mode takes logged, un-synced
 * records back: {@link MessageLogging.cut} forgets them, and with them what K1, K2 and K8 know.
 */
import {
  FILES,
  Flag,
  WORLD,
  decodeAck,
  homeOf,
  taskId,
  type Attached,
  type ErrorBody,
  type Frame,
  type Header,
  type Position,
} from '@mayfly/wire';
import { replayOf, type JobRecord, type ReplayFrom } from '@mayfly/protocols';
import type { Standing } from '../rank-host.ts';
import { Violation } from '../violation.ts';
import { Records, messageKey, type Meaning, type Place } from './records.ts';
import {
  isDamage,
  incarnationOf,
  name,
  type Excuses,
  type Histories,
  type ProtocolCheckers,
  type Stores,
  type Trim,
} from './universal.ts';

/** Stands for everything in an ACK of a task that is done. */
const EVERYTHING = Number.MAX_SAFE_INTEGER;
const KEPT_IMAGES = 2;

/** A message that stands in a log. */
interface Logged {
  readonly digest: number;
  readonly at: Standing | undefined;
  readonly lsn: number;
  /** Of a message to a task: its number in the receiver's order. */
  readonly arrival: number;
}

/** What the logs have before an image: a member of a team names messages to teammates apart. */
const logged = (p: Position): ReplayFrom => replayOf(p.version === 2 ? (p.at as { alone: Position }).alone : p);

/** The stream in which a message is logged. */
const streamOf = (src: number, dst: number): string => (dst === WORLD ? `w${src}` : `t${dst}`);

export class MessageLogging implements ProtocolCheckers {
  private readonly records = new Records();
  private readonly messages = new Map<string, Logged>();
  /** Per task and number: how many logs hold the determinant. */
  private readonly determinants = new Map<string, number>();
  private readonly frontier = new Map<number, number>();
  private readonly limits = new Map<string, number>();
  /** Tasks whose teams were dissolved, and the image with which each began then: nothing before it counts. */
  private readonly alone = new Map<number, string | undefined>();
  /** Messages of a channel that no log has, as a team had it. */
  private readonly unlogged = new Map<string, number>();
  /** Records that their disk lost: afterwards K8 would ask for what is rightly gone. */
  private cuts = 0;

  constructor(
    private readonly histories: Histories,
    private readonly stores: Stores,
  ) {}

  /** What the members of a team that was dissolved had sent to each other. */
  registered(key: string, value: unknown): void {
    if (!key.startsWith('job/')) return;
    for (const { from } of (value as JobRecord | undefined)?.dissolved ?? [])
      for (const { task, image, sends } of from) {
        this.alone.set(task, image);
        // The record may keep an earlier regrouping than the last (andThen): counts only rise.
        for (const [dst, n] of sends) {
          const channel = `${task}>${dst}`;
          this.unlogged.set(channel, Math.max(n, this.unlogged.get(channel) ?? 0));
        }
      }
  }

  /** The later life repeats the earlier one, and acts. */
  supersedes(life: number, known: number): boolean {
    return life >= known;
  }

  // ---- what ranks do ----

  began(task: number, life: number, limits: readonly (readonly [number, number])[]): void {
    for (const [dst, n] of limits) this.limits.set(`${task}.${life}>${dst}`, n);
  }

  sent(task: number, life: number, dst: number, channel: number, digest: number): void {
    const logged = this.messages.get(messageKey(task, dst, channel));
    if (logged !== undefined && logged.digest !== digest && this.histories.mayAct(task, life))
      throw new Violation(
        `K1: incarnation ${incarnationOf(life)} gives message ${channel} of ${task} → ${name(dst)} another ` +
          'content than the log',
      );
  }

  written(task: number, life: number, dst: number, channel: number): void {
    const limit = this.limits.get(`${task}.${life}>${dst}`) ?? 0;
    if (channel <= limit)
      throw new Violation(
        `K11: incarnation ${incarnationOf(life)} of task ${task} sends message ${channel} to ${name(dst)}, ` +
          `of which ${limit} are logged`,
      );
  }

  consumed(task: number, life: number, arrival: number, src: number, channel: number): void {
    const known = this.histories.arrival(task, arrival);
    // a number that its log lost may become another message's
    const stands = known && this.messages.get(messageKey(known.src, task, known.channel))?.arrival === arrival;
    if (stands && (known.src !== src || known.channel !== channel) && this.histories.mayAct(task, life))
      throw new Violation(
        `K2: arrival ${arrival} of task ${task} was message ${known.channel} of ` +
          `${name(known.src)}, is ${channel} of ${name(src)} in incarnation ${incarnationOf(life)}`,
      );
  }

  // ---- what stands in the logs ----

  logged(at: Place, frame: Frame): void {
    const m = this.records.append(at, frame);
    if (m?.type === 'determinants') this.hold(m.task, m.first, m.end, 1);
    if (m?.type !== 'message' || m.digest === undefined) return;
    const { src, dst, channel, digest, arrival } = m;
    const key = messageKey(src, dst, channel);
    if (this.messages.has(key))
      throw new Violation(`K1: message ${channel} of ${name(src)} → ${name(dst)} is logged twice`);
    this.messages.set(key, { digest, at: this.histories.sentBy(src, dst, channel)?.at, lsn: at.lsn, arrival });
  }

  hasLogged(src: number, dst: number, channel: number): boolean {
    return this.messages.has(messageKey(src, dst, channel));
  }

  cut(cm: number, stream: string, next: number): void {
    for (const m of this.records.cut(cm, stream, next)) {
      if (m.type === 'determinants') this.hold(m.task, m.first, m.end, -1);
      else if (m.type === 'message' && m.digest !== undefined)
        this.messages.delete(messageKey(m.src, m.dst, m.channel));
      else continue;
      this.cuts++;
    }
  }

  private hold(task: number, first: number, end: number, by: number): void {
    for (let n = first; n < end; n++)
      this.determinants.set(`${task}:${n}`, (this.determinants.get(`${task}:${n}`) ?? 0) + by);
    if (by < 0) this.frontier.set(task, Math.min(this.frontier.get(task) ?? 0, first));
  }

  /** Determinants [0, n) of a task are logged somewhere. Trimmed ones were, and count. */
  private known(task: number, n: number): boolean {
    let f = this.frontier.get(task) ?? 0;
    while ((this.determinants.get(`${task}:${f}`) ?? 0) > 0) f++;
    this.frontier.set(task, f);
    return f >= n;
  }

  private durable(cm: number, stream: string, lsn: number): boolean {
    return lsn < this.stores.disks[cm]!.syncedTo(stream);
  }

  /** Records of a stream that the next power loss may take, with their numbers. */
  private unsynced(cm: number, stream: string): (readonly [lsn: number, meaning: Meaning])[] {
    const meanings = this.records.of(cm, stream);
    const out: [number, Meaning][] = [];
    for (let lsn = this.stores.disks[cm]!.syncedTo(stream); lsn < meanings.length; lsn++) {
      const m = meanings[lsn];
      if (m) out.push([lsn, m]);
    }
    return out;
  }

  private durableMessage(cm: number, src: number, dst: number, channel: number): boolean {
    const logged = this.messages.get(messageKey(src, dst, channel));
    if (logged !== undefined) return this.durable(cm, streamOf(src, dst), logged.lsn);
    return channel <= (this.unlogged.get(`${src}>${dst}`) ?? 0) && this.stands(cm, src, dst, channel);
  }

  /** T9: a durable record has the count of this channel, as no log has its messages. */
  private stands(cm: number, src: number, dst: number, channel: number): boolean {
    const stream = streamOf(src, dst);
    return this.records
      .of(cm, stream)
      .some(
        (m, lsn) =>
          m?.type === 'base' &&
          m.channels.some(([from, n]) => from === src && n >= channel) &&
          this.durable(cm, stream, lsn),
      );
  }

  // ---- what leaves ----

  visible(src: number, dst: number, channel: number): void {
    if (src === WORLD || src === FILES || this.cuts > 0) return;
    const at = this.messages.get(messageKey(src, dst, channel))?.at;
    if (at && !this.known(src, at.determinants))
      throw new Violation(
        `K8: message ${channel} of ${src} → ${name(dst)} becomes visible, determinants up to ` +
          `${at.determinants} of task ${src} are not logged (${this.frontier.get(src)} are)`,
      );
    for (const [mate, n] of at?.mates ?? [])
      if (!this.known(mate, n))
        throw new Violation(
          `K8: message ${channel} of ${src} → ${name(dst)} becomes visible, which depends on determinants up to ${n} ` +
            `of its teammate ${mate}, and they are not logged (${this.frontier.get(mate)} are)`,
        );
  }

  acknowledged(cm: number, f: Frame): void {
    const ack = decodeAck(f.body);
    const task = f.header.dst;
    for (const c of ack.channels) {
      if (c.synced === 0 || c.synced === EVERYTHING) continue;
      if (!this.durableMessage(cm, task, c.dst, c.synced))
        throw new Violation(
          `K9: CM ${cm} acknowledges message ${c.synced} of ${task} → ${name(c.dst)} as synced, and it is not durable`,
        );
    }
    for (const [, m] of this.unsynced(cm, `t${task}`))
      if (m.type === 'message' && m.digest !== undefined && m.arrival <= ack.arrivalsSynced)
        throw new Violation(
          `K9: CM ${cm} acknowledges arrivals of task ${task} up to ${ack.arrivalsSynced} as synced, and ` +
            `${m.arrival} is not durable`,
        );
    for (const [, m] of this.unsynced(cm, `d${task}`))
      if (m.type === 'determinants' && m.end <= ack.determinantsSynced)
        throw new Violation(
          `K9: CM ${cm} acknowledges determinants of task ${task} below ${ack.determinantsSynced} as synced, ` +
            `${m.first} to ${m.end} are not durable`,
        );
  }

  /**
   * The answer names what is logged. The new incarnation repeats nothing of it, and nobody else has it. From now on the
   * nonce distinguishes the incarnation from a clone (F1).
   */
  attached(cm: number, f: Frame): void {
    const task = f.header.dst;
    const answer = JSON.parse(new TextDecoder().decode(f.body)) as Attached;
    for (const [dst, n] of answer.received)
      if (n !== EVERYTHING && !this.durableMessage(cm, task, dst, n))
        throw new Violation(
          `K9: CM ${cm} tells task ${task} that message ${n} to ${name(dst)} is logged, and it is not durable`,
        );
    const own = this.unsynced(cm, `d${task}`);
    for (const [lsn, m] of own)
      if (m.type === 'determinants')
        throw new Violation(`K9: CM ${cm} answers task ${task}, and record ${lsn} of its determinants is not durable`);
    const session = this.records
      .of(cm, `d${task}`)
      .findIndex((m) => m?.type === 'session' && m.incarnation === f.header.incarnation);
    if (session >= 0 && !this.durable(cm, `d${task}`, session))
      throw new Violation(
        `K9: CM ${cm} answers incarnation ${f.header.incarnation} of task ${task}, and its nonce is not durable`,
      );
  }

  /** An arrival that its receiver could not give back, or that `strict` holds back until it is durable. */
  pushed(cm: number, h: Header): void {
    const { strict } = this.stores;
    if (h.dst === WORLD || (h.flags & Flag.LAST) === 0 || (!strict && (h.flags & Flag.NO_BODY) === 0)) return;
    if (!this.durableMessage(cm, h.src, h.dst, h.channel))
      throw new Violation(
        `K9: CM ${cm} sends ${strict ? 'arrival' : 'the envelope of arrival'} ${h.arrival} to task ${h.dst}, ` +
          'and it is not durable',
      );
  }

  /** The world cannot unsee it. */
  shows(cm: number, task: number, channel: number): void {
    if (!this.durableMessage(cm, task, WORLD, channel))
      throw new Violation(`K9: CM ${cm} shows message ${channel} of task ${task} to the world, and it is not durable`);
  }

  refused(task: number, incarnation: number, error: ErrorBody): void {
    if (error.message.includes('does not give back'))
      throw new Violation(`K17: incarnation ${incarnation} of task ${task} is told: ${error.message}`);
  }

  // ---- what goes ----

  trims(cm: number, t: Trim): void {
    const meanings = this.records.of(cm, t.stream);
    this.checkBase(cm, meanings, t);
    const task = Number(t.stream.slice(1));
    if (this.stores.isDone(task)) return;
    const kept = this.stores.kept(task).map((k) => ({ image: k.image, replay: logged(k.position) }));
    for (let lsn = t.from; lsn < t.to; lsn++) {
      const m = meanings[lsn];
      if (!m || m.type === 'base' || m.type === 'session' || m.type === 'wave' || t.keep.has(lsn)) continue;
      if (m.type === 'message' && m.dst === WORLD) continue; // K3 sees output that went before it was safe
      // of a team that was dissolved, older images are void: its start is no way back
      if (kept.length < KEPT_IMAGES && !this.alone.has(task))
        throw new Violation(`K10: CM ${cm} trims ${t.stream}, and there are ${kept.length} images`);
      for (const { image, replay } of kept)
        if (m.type === 'determinants') {
          if (m.first < replay.prologue.determinants || m.end > replay.image.determinants)
            throw new Violation(
              `K10: CM ${cm} trims determinants ${m.first} to ${m.end} of task ${m.task}, which image ${image} needs`,
            );
        } else if (
          m.digest !== undefined &&
          (m.arrival <= replay.prologue.arrivals ||
            m.arrival > replay.image.arrivals ||
            replay.held.includes(m.arrival))
        )
          throw new Violation(`K10: CM ${cm} trims arrival ${m.arrival} of task ${m.dst}, which image ${image} needs`);
    }
  }

  /** What goes is in a record that stays, and that power loss does not take. */
  private checkBase(cm: number, meanings: readonly (Meaning | undefined)[], { stream, from, to, keep }: Trim): void {
    const bases = meanings.flatMap((m, lsn) =>
      m?.type === 'base' && this.durable(cm, stream, lsn) && (lsn >= to || lsn < from || keep.has(lsn)) ? [m] : [],
    );
    for (let lsn = from; lsn < to; lsn++) {
      const m = meanings[lsn];
      if (m?.type !== 'message' || m.digest === undefined || keep.has(lsn)) continue;
      const stands = bases.some((b) =>
        m.dst === WORLD
          ? b.count >= m.channel
          : b.count >= m.arrival && b.channels.some(([src, n]) => src === m.src && n >= m.channel),
      );
      if (!stands)
        throw new Violation(`K10: CM ${cm} trims record ${lsn} of ${stream}, and no durable record stands for it`);
    }
  }

  // ---- images ----

  imageComplete(task: number, position: Position): void {
    const line = logged(position).image;
    const fail = (what: string): never => {
      throw new Violation(`K14: an image of task ${task} is complete, and ${what} before it is not durable`);
    };
    const { disks } = this.stores;
    const home = homeOf(taskId(task), disks.length);
    for (const [dst, n] of line.sends) {
      if (n === 0 || (dst !== WORLD && this.stores.isDone(dst))) continue;
      if (!this.durableMessage(dst === WORLD ? home : homeOf(dst, disks.length), task, dst, n))
        fail(`message ${n} to ${name(dst)}`);
    }
    const arrivals = this.records.of(home, `t${task}`);
    const last = arrivals.findLastIndex(
      (m) => m?.type === 'message' && m.digest !== undefined && m.arrival <= line.arrivals,
    );
    const m = arrivals[last];
    if (
      line.arrivals > 0 &&
      (m?.type !== 'message' || m.arrival < line.arrivals || !this.durable(home, `t${task}`, last))
    )
      fail(`arrival ${line.arrivals}`);
    const held = new Set<number>();
    disks.forEach((_, cm) =>
      this.records.of(cm, `d${task}`).forEach((d, lsn) => {
        if (d?.type === 'determinants' && this.durable(cm, `d${task}`, lsn))
          for (let n = d.first; n < d.end; n++) held.add(n);
      }),
    );
    const oldest = this.stores.kept(task)[0];
    const covered = oldest ? logged(oldest.position).image.determinants : 0;
    for (let n = covered; n < line.determinants; n++) if (!held.has(n)) fail(`determinant ${n}`);
  }

  // ---- how the job may end ----

  /**
   * Power loss in `behind` may exceed what the protocol covers, but only together with the loss of a rank: it took
   * records of the very task that the error names, and the incarnation that executed then (its node retains what is not
   * synced) is no more. A bit flip in a record is reported and not repaired. A disk that is full for a while excuses
   * nothing.
   */
  excuses({ code, message }: ErrorBody, { powerLost, damagedLogs, damagedImages }: Excuses): boolean {
    if (!isDamage(code)) return false;
    const named = /(?:rank|task) (\d+)/.exec(message)?.[1];
    if (named === undefined) return damagedLogs.size > 0;
    // T9: the images of that commit are the only ones for a while
    const first = this.histories.teamOf(Number(named)).flatMap((task) => this.alone.get(task) ?? []);
    if (message.startsWith('All images of rank') && first.some((image) => damagedImages.has(image))) return true;
    // T14: a team counts as one
    return this.histories.teamOf(Number(named)).some((task) => {
      if (damagedLogs.has(task)) return true;
      // the one that finds the loss is raised, and not assigned
      const raised = this.stores.raised(task);
      return (
        !this.stores.strict &&
        (powerLost.get(task) ?? []).some(
          (executed) => executed === undefined || raised === undefined || executed < raised,
        )
      );
    });
  }
}
