/**
 * The Channel Memory: "a stable repository for communicating nodes messages" (MPICH-V §3.2), by receiver.
 *
 * Owns, for the tasks whose home it is: the order of their arrivals, the log of them, their messages to WORLD. For
 * every task: the determinants that came here, its fence, its connection. Does not own: sockets, files and clocks (the
 * host, see events.ts), images (Checkpoint Server), placement (dispatcher).
 *
 * Messages in: ATTACH, DETACH, DATA, DETERMINANTS, CREDIT, PULL, RESUPPLY, RESUPPLIED. Out: ATTACHED, REFUSED, ARRIVAL,
 * BODY, ACK, DETERMINANTS, RESEND.
 *
 * Durable state: the streams (t, d, w). An effect that makes a record visible comes after its `append`; under `strict`,
 * and for ATTACHED of a restart, messages to WORLD, envelopes without body and `covered`, after the `synced` of it.
 * Everything in memory is rebuilt from the streams or losable.
 *
 * Invariants (F1–F3 in attach.ts, F4 in pessimistic/unheard.ts, P1–P4 in push.ts)
 *  C1  A message of channel (src, dst) is logged once, and message n only after message n − 1.
 *  C2  The determinants that came with a frame are logged before its message.
 *  C3  A message gets the next number of dst's arrival order when its last chunk is logged, and never another.
 *  C4  What is pushed to a receiver is logged (`strict`: durable).
 *  C5  A sender gets `synced` only for messages that survive power loss.
 *  C6  A bad frame ends the incarnation or the connection that sent it, and touches nothing else.
 *  C7  What is trimmed is behind a durable BASE record: counts and evidence outlive the messages.
 *  C8  A BASE record says of senders what is durable when it is written, and no more (trim.ts).
 */
import {
  Flag,
  HEADER_BYTES,
  Kind,
  MalformedDeterminants,
  MalformedFrame,
  frameBytes,
  readFrame,
  taskId,
  WORLD,
  type Frame,
  type TaskId,
} from '@mayfly/wire';
import { attach, fence, reopen, resupplied, resupply, speaker } from './attach.ts';
import { memoryOf, observe, provisional, sendsOf, unshown } from './census.ts';
import { appendWorldMessage, data, done } from './data-path.ts';
import { holdingsOf, witnessOf } from './holdings.ts';
import { grow, initial } from './initial.ts';
import { credit, pull, pump } from './push.ts';
import { raise } from './raise.ts';
import { plain } from './records.ts';
import { recoverDestination, recoverSource, recoverWorld } from './recover.ts';
import { ProtocolError, closeConn, detach, giveUp, protocolError } from './refuse.ts';
import type { GateCounts } from '../contract/waves.ts';
import { slotOf, type LogPolicy, type State } from './state.ts';
import { EVERYTHING, type ConnState } from './tasks.ts';
import { formTeams, logBeside, logCarried } from './sections.ts';
import { flushAcks, sayCovered, startSync, syncDue, synced } from './sync.ts';
import { trim, trimWorld } from './trim.ts';
import { WORLD_TURN, releaseWorld } from './world.ts';
import type { ChannelMemoryOptions, CmEffect, CmEvent, Line, Progress, StreamName } from './events.ts';

export class ChannelMemory {
  readonly #s: State;

  constructor(policy: LogPolicy, options: ChannelMemoryOptions) {
    this.#s = initial(policy, options);
  }

  /** Every stream that this core may append to; they are recovered in this order. */
  streams(): StreamName[] {
    const s = this.#s;
    const names = s.sources.map((x) => x.determinants.name);
    for (const d of s.destinations) if (d) names.push(d.stream.name);
    for (const w of s.worlds) if (w) names.push(w.stream.name);
    for (const stage of s.stages) names.push(...stage.streams().map((x) => x.name));
    return names;
  }

  /**
   * Before `recovered`: all records left of one stream, in order, and the LSN that its next append will get. Returns
   * output to materialise again. @throws MalformedFrame when the log is not ours.
   */
  recover(name: StreamName, records: Iterable<{ lsn: number; bytes: Uint8Array }>, next: number): CmEffect[] {
    const s = this.#s;
    const task = Number(name.slice(1));
    if (name[0] !== 'd') logBeside(s);
    if (name[0] === 'd') recoverSource(s, s.sources[task]!, records, next);
    else if (name[0] === 't') recoverDestination(s, s.destinations[task]!, records, next);
    else if (name[0] === 'w') recoverWorld(s, s.worlds[task]!, records, next);
    else for (const stage of s.stages) if (stage.letter === name[0]) stage.recover(taskId(task), records, next);
    return this.#take();
  }

  step(event: CmEvent): CmEffect[] {
    const s = this.#s;
    s.worldTurn = WORLD_TURN;
    switch (event.type) {
      case 'frames':
        this.#frames(event.conn, plain(event.bytes));
        break;
      case 'flush':
        if (s.worldDue) {
          s.worldDue = false;
          for (const w of s.worlds) if (w) releaseWorld(s, w);
        }
        if (s.syncWanted || (s.strict && s.dirtyStreams.length > 0)) startSync(s);
        flushAcks(s);
        break;
      case 'tick':
        s.ticks++;
        if (syncDue(s)) startSync(s);
        break;
      case 'synced':
        synced(s, event.ticket);
        break;
      case 'closed': {
        const conn = s.conns.get(event.conn);
        if (conn) for (const a of conn.tasks.values()) detach(s, a);
        s.conns.delete(event.conn);
        break;
      }
      case 'congested': {
        const conn = s.conns.get(event.conn);
        if (conn === undefined) break;
        conn.congested = event.congested;
        if (!event.congested)
          for (const a of conn.tasks.values()) {
            const d = s.destinations[a.task];
            if (d && !a.dead) pump(s, d);
          }
        break;
      }
      case 'recovered':
        logBeside(s);
        for (const stage of s.stages) stage.recovered?.();
        s.serving = true;
        raise(s, s.dissolved);
        if (!event.fresh && s.durable) for (const d of s.destinations) if (d && !d.done) d.closed = true;
        break;
      case 'grow':
        grow(s, event.size);
        break;
      case 'teams':
        formTeams(s, event.teams, event.dissolved);
        if (s.serving) raise(s, s.dissolved);
        break;
      case 'fence':
        fence(s, event.task, event.incarnation);
        s.out.push({ type: 'fenced', task: event.task, incarnation: event.incarnation });
        break;
      case 'world': {
        const d = s.destinations[event.task];
        if (d)
          appendWorldMessage(s, d, {
            src: event.src ?? WORLD,
            channel: event.channel,
            mode: event.mode,
            context: event.context ?? 0,
            body: event.body,
          });
        break;
      }
      case 'cover': {
        const list = s.covers.get(event.task) ?? [];
        const cover = { image: event.image, position: event.position, said: undefined };
        s.covers.set(event.task, [...list.filter((c) => c.image !== event.image), cover]);
        sayCovered(s, event.task, cover);
        if (s.durable) s.syncWanted = true;
        break;
      }
      case 'uncover':
        s.covers.set(
          event.task,
          (s.covers.get(event.task) ?? []).filter((c) => c.image !== event.image),
        );
        break;
      case 'trim':
        trim(s, event.task, event.position);
        break;
      case 'worldDone':
        trimWorld(s, event.task, event.channel);
        break;
      case 'done': {
        const d = s.destinations[event.task];
        if (d) done(s, d);
        break;
      }
      case 'unattended': {
        const d = s.destinations[event.task];
        if (d?.closed && s.sources[event.task]!.attachment === undefined) reopen(s, d);
        break;
      }
      case 'stable': {
        const w = s.worlds[event.task];
        if (w === undefined) break;
        w.stable = Math.max(w.stable, event.channel);
        w.answered = Math.max(w.answered, event.answers);
        releaseWorld(s, w);
        break;
      }
      default:
        for (const stage of s.stages) if (stage.step(event)) break;
    }
    return this.#take();
  }

  /** Where it has begun, if not where the job did. */
  get line(): Line | undefined {
    return this.#s.options.line;
  }

  /** Tasks that it knows. */
  get tasks(): number {
    return this.#s.sources.length;
  }

  /** Messages to WORLD wait for a `flush`, whatever the event was (W3 of world.ts). */
  get worldDue(): boolean {
    return this.#s.worldDue;
  }

  /** A `flush` would do something: acknowledgements are due, or a sync is, or output. */
  get flushDue(): boolean {
    const s = this.#s;
    return s.worldDue || s.acks.length > 0 || s.syncWanted || (s.strict && s.dirtyStreams.length > 0);
  }

  /**
   * How far a task has come, as this CM knows: its messages logged here, the arrivals that it had consumed when it sent
   * them, and what there is for a restart.
   */
  progress(task: TaskId): Progress {
    const s = this.#s;
    return { sends: sendsOf(s, task), consumed: this.consumed(task), logs: holdingsOf(s, task) };
  }

  /** Arrivals that the task is known to have consumed. */
  consumed(task: TaskId): number {
    const s = this.#s;
    return Math.max(s.sources[task]!.evidence.consumed, s.destinations[task]?.push?.consumed ?? 0);
  }

  /** Messages of channel (src, dst) that are logged whole here; either may be WORLD, src also FILES. */
  logged(src: TaskId, dst: TaskId): number {
    const s = this.#s;
    if (dst === WORLD) return s.worlds[src]?.channel.count ?? 0;
    return s.destinations[dst]?.channels[slotOf(s, src)]?.count ?? 0;
  }

  /** …that are durable, for a task homed here; all once it is done, as it needs none of them any more. */
  durable(src: TaskId, dst: TaskId): number {
    const s = this.#s;
    if (s.policy.goesBack) return s.worlds[dst]?.answered ?? 0;
    const d = s.destinations[dst];
    return d?.done ? EVERYTHING : (d?.channels[slotOf(s, src)]?.synced ?? 0);
  }

  /** Bytes of input for a task homed here that have not left (P5). */
  inputAhead(task: TaskId): number {
    return this.#s.destinations[task]?.inputBytes ?? 0;
  }

  /** {@link observe} */
  observe(task: TaskId): ReturnType<typeof observe> {
    return observe(this.#s, task);
  }

  /** Messages from other clusters for this task that wait for a checkpoint of its cluster. */
  awaiting(task: TaskId): number {
    return this.#s.stages.reduce((n, stage) => n + (stage.awaiting?.(task) ?? 0), 0);
  }

  /** {@link witnessOf} */
  witness = (task: TaskId): ReturnType<typeof witnessOf> => witnessOf(this.#s, task);

  /** {@link unshown} */
  unshown = (): ReturnType<typeof unshown> => unshown(this.#s);

  /** {@link provisional} */
  provisional = (bytes: number): ReturnType<typeof provisional> => provisional(this.#s, bytes);

  /** Of the wave under way, or the last one; undefined: its protocol knows no waves. */
  waveCounts = (): Readonly<GateCounts> | undefined => this.#s.stages.find((stage) => stage.counts)?.counts;

  /** {@link memoryOf} */
  memory(): ReturnType<typeof memoryOf> {
    return memoryOf(this.#s);
  }

  #take(): CmEffect[] {
    const out = this.#s.out;
    if (out.length > 0) this.#s.out = [];
    return out;
  }

  #frames(id: number, bytes: Uint8Array): void {
    const s = this.#s;
    let conn = s.conns.get(id);
    if (conn === undefined) s.conns.set(id, (conn = { conn: id, tasks: new Map(), congested: false }));
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    for (let o = 0; o < bytes.length;) {
      let frame: Frame | undefined;
      let length = 0;
      try {
        frame = readFrame(bytes, view, o);
        length = frameBytes(frame.header);
        if (o + length > bytes.length) throw new MalformedFrame('not padded');
        this.#frame(conn, frame, bytes, view, o, o + length);
        o += length;
      } catch (e) {
        if (!this.#refused(conn, frame, e)) return;
        o += length;
      }
      if (!s.conns.has(id)) return;
    }
  }

  /** C6. Returns false when the connection has ended. */
  #refused(conn: ConnState, frame: Frame | undefined, e: unknown): boolean {
    const s = this.#s;
    if (e instanceof MalformedFrame || e instanceof MalformedDeterminants) {
      closeConn(s, conn, 'BAD_FRAME', e.message);
      return false;
    }
    if (!(e instanceof ProtocolError)) throw e;
    const a = frame && conn.tasks.get(frame.header.kind === Kind.RESUPPLY ? frame.header.dst : frame.header.src);
    if (e.ends === 'incarnation' && a && !a.dead) {
      giveUp(s, conn, a, e.code, e.message);
      return true;
    }
    closeConn(s, conn, e.code, e.message);
    return false;
  }

  #frame(conn: ConnState, f: Frame, bytes: Uint8Array, view: DataView, o: number, end: number): void {
    const s = this.#s;
    const h = f.header;
    if (h.kind === Kind.ATTACH) return attach(s, conn, h, f.body);
    if (h.kind === Kind.DETACH && !conn.tasks.has(h.src)) return;
    const a = speaker(conn, h.kind === Kind.RESUPPLY ? h.dst : h.src, h.incarnation);
    if (a === undefined) return;
    // What a receiver gives back keeps the epoch in which it was sent.
    if (h.epoch !== a.epoch && h.kind !== Kind.RESUPPLY)
      throw protocolError('BAD_FRAME', `a frame of epoch ${h.epoch}, attached in epoch ${a.epoch}`);
    switch (h.kind) {
      case Kind.DATA:
      case Kind.DETERMINANTS:
        if (!a.answered) throw protocolError('BAD_FRAME', 'speaks before it was accepted');
        a.spoke = true;
        logCarried(s, a.task, f, bytes, view, o + HEADER_BYTES);
        if (h.kind === Kind.DATA) data(s, a, h, bytes, view, o, end);
        else if ((h.flags & Flag.SYNC) !== 0) s.syncWanted = true;
        return;
      case Kind.CREDIT: {
        const d = s.destinations[a.task];
        if (d) credit(s, d, h.arrival, h.size, (h.flags & Flag.ENVELOPE_ONLY) !== 0);
        if (d) for (const stage of s.stages) stage.consumed?.(d.task, h.arrival);
        return;
      }
      case Kind.PULL: {
        const d = s.destinations[a.task];
        if (d) pull(s, d, h.arrival, h.offset, h.word);
        return;
      }
      case Kind.RESUPPLY:
        return resupply(s, a, h, bytes, view, o, end);
      case Kind.RESUPPLIED:
        return resupplied(s, a);
      case Kind.DETACH:
        return detach(s, a);
      default:
        for (const stage of s.stages) if (stage.frame?.(a.task, h.kind, h.word, f.body)) return;
        throw protocolError('BAD_FRAME', `kind ${h.kind} does not go to a Channel Memory`);
    }
  }
}
