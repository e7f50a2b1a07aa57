/**
 * The comm core: a job's communication daemon on one node (MPICH-V's successor calls it so), serving every rank of the
 * job there.
 *
 * Owns, per attached incarnation: what was sent until it is durable, determinants until durable, arrivals received
 * until durable, credit, pulls under way, and the route of each destination. Does not own: sockets and rings (the host,
 * see events.ts), numbers and replay (endpoint), placement (dispatcher).
 *
 * Messages out: ATTACH, DETACH, DATA, DETERMINANTS, CREDIT, PULL, RESUPPLY, RESUPPLIED. In: ATTACHED, REFUSED, ARRIVAL,
 * BODY, ACK, DETERMINANTS, RESEND. Durable state: none.
 *
 * Invariants (M1, D1 and D2 in pessimistic/commd.ts; M3 and M4 in arrivals.ts; M7 in flow.ts; M8 and M9 in
 * task-waves.ts; teams in team.ts)
 *  M2  A sent message is kept until its Channel Memory has acknowledged it as synced. Every new connection begins with
 *      the messages that the CM lacks: whole ones, per channel in order.
 *  M5  The rank begins when every Channel Memory has fenced its predecessors and answered.
 *  M6  EXIT leaves when everything sent before it is durable.
 */
import {
  CHUNK_BYTES,
  Kind,
  MalformedDeterminants,
  MalformedFrame,
  WORLD,
  WorldMode,
  decodeAck,
  encodeFrame,
  frameBytes,
  homeOf,
  readFrame,
  type Attached,
  type ErrorBody,
  type Frame,
  type Header,
  type Position,
  type TaskId,
} from '@mayfly/wire';
import { DEFAULT_WINDOW } from '../channel-memory/initial.ts';
import { parse, plain } from '../channel-memory/records.ts';
import type { EndpointStart } from '../endpoint.ts';
import { BadLink, arrives, resupply } from './arrivals.ts';
import { Flow } from './flow.ts';
import type { Outbox } from './outbox.ts';
import type { Reports } from './reports.ts';
import { CommTask } from './task.ts';
import { teamOf, type CommTeam, type ImageAnswer } from './team.ts';
import type { CommEffect, CommEvent, CommOptions } from './events.ts';

export class Comm {
  readonly #options: CommOptions;
  readonly #flow: Flow;
  readonly #connected: boolean[];
  readonly #tasks = new Map<TaskId, CommTask>();
  /** By member, until all are over. */
  readonly #teams = new Map<TaskId, CommTeam<CommTask>>();
  #out: CommEffect[] = [];

  constructor(options: CommOptions) {
    this.#options = options;
    this.#flow = new Flow(options.window ?? DEFAULT_WINDOW, options.chunkBytes ?? CHUNK_BYTES, (e) =>
      this.#out.push(e),
    );
    this.#connected = new Array<boolean>(options.channelMemories).fill(false);
  }

  /** Bytes that the task has written and that are not durable yet. */
  retained(task: TaskId): number {
    const t = this.#tasks.get(task);
    return t ? t.retainedBytes + t.waves.frozenBytes : 0;
  }

  step(event: CommEvent): CommEffect[] {
    switch (event.type) {
      case 'start':
        this.#start(event);
        break;
      case 'stop':
        if (this.#tasks.get(event.task)?.over !== true) this.#forget(event.task);
        break;
      case 'connected':
        this.#connected[event.cm] = true;
        for (const t of this.#tasks.values()) this.#attach(t, event.cm);
        break;
      case 'disconnected':
        this.#connected[event.cm] = false;
        for (const t of this.#tasks.values()) {
          t.attached[event.cm] = false;
          t.resumed[event.cm] = undefined;
          t.team?.acknowledged();
          if (event.cm !== t.home) continue;
          t.partials.clear();
          t.reportFrom = undefined;
        }
        break;
      case 'received':
        this.#received(event.cm, plain(event.bytes));
        break;
      case 'ring':
        this.#ring(event.task, plain(event.bytes), event.reports);
        break;
      case 'consumed':
        this.#flow.consumed(this.#tasks.get(event.task), event.arrivals, event.envelopeOnly);
        break;
      case 'image':
        this.#image(event.task, event.position, event.wave);
        break;
      case 'ended': {
        const t = this.#tasks.get(event.task);
        if (t === undefined) break;
        t.ended = t.exitSent = true;
        t.team?.ends(t.task);
        this.#maybeFinish(t);
        break;
      }
      default: {
        const team = this.#teams.get(event.task);
        if (team) this.#ofTeam(team, event);
      }
    }
    const out = this.#out;
    if (out.length > 0) this.#out = [];
    return out;
  }

  /** @throws MalformedPosition */
  #start(e: Extract<CommEvent, { type: 'start' }>): void {
    const team = teamOf(this.#teams, this.#options, e);
    const error = team?.refusal(e.task);
    if (error) {
      this.#revoke(team!);
      this.#out.push({ type: 'refused', task: e.task, error });
      return;
    }
    const home = homeOf(e.task, this.#options.homes ?? this.#options.channelMemories);
    const t = new CommTask(this.#options, e.task, e.incarnation, e.capability, e.nonce, e.position, home, team);
    this.#tasks.set(t.task, t);
    team?.here.set(t.task, t);
    for (let cm = 0; cm < this.#connected.length; cm++) if (this.#connected[cm]) this.#attach(t, cm);
  }

  // ---- of a team ----

  #ofTeam(
    team: CommTeam<CommTask>,
    e: Extract<CommEvent, { type: 'reports' | 'wave' | 'closed' | 'declined' | 'imageOver' }>,
  ): void {
    switch (e.type) {
      case 'reports': {
        const [t] = team.here.values();
        if (!t || !team.begun) return;
        team.policy.takes(e.reports);
        if (t.mayLeave(t.home) && team.flushes()) this.#sendBlock(t, t.home);
        return;
      }
      case 'wave': {
        const begins = team.wave(e.replaying);
        for (const task of begins?.asked ?? []) this.#out.push({ type: 'checkpoint', task, wave: begins!.wave });
        return;
      }
      case 'closed':
        return this.#images(team, team.closed(e.task, e.wave));
      case 'declined':
        return this.#images(team, team.declined(e.wave));
      case 'imageOver':
        return team.imageOver(e.task);
    }
  }

  /** What an image depends on is logged soon: it counts when that is durable. */
  #images(team: CommTeam<CommTask>, answers: readonly ImageAnswer[]): void {
    const [first] = team.here.values();
    if (first && answers.some(([, position]) => position)) this.#sendBlock(first, first.home);
    for (const [task, position] of answers) this.#out.push({ type: 'image', task, position });
  }

  // ---- from the rank ----

  /** @throws RangeError what no rank and no host may do */
  #ring(task: TaskId, bytes: Uint8Array, reports: Reports | undefined): void {
    const t = this.#tasks.get(task);
    if (reports) this.#teams.get(task)?.policy.takes(reports); // T5
    if (t === undefined) return;
    if (t.team && !reports) throw new RangeError(`frames of task ${task} without the reports of its team`);
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    for (let o = 0; o < bytes.length;) {
      const f = readFrame(bytes, view, o);
      const end = o + frameBytes(f.header);
      const frame = o === 0 && end === bytes.length ? bytes : bytes.subarray(o, end);
      o = end;
      const h = f.header;
      if (h.detBytes > 0) t.policy.wrote(f.determinants);
      if (h.kind === Kind.DATA) {
        if (h.dst === WORLD && h.mode === WorldMode.EXIT) {
          this.#thaw(t); // M9
          this.#exit(t, h.channel, frame);
        } else this.#data(t, h, frame);
      } else if (h.kind === Kind.DETERMINANTS) this.#sendBlock(t, t.home);
      else if (h.kind === Kind.PULL) this.#flow.pull(t, h);
      else if (h.kind === Kind.MARK) this.#toAll(t, t.waves.marks(f.body));
      else throw new RangeError(`kind ${h.kind} in the ring of task ${task}`);
    }
  }

  #data(t: CommTask, h: Header, frame: Uint8Array): void {
    const box = t.outbox(h.dst);
    if (!t.waves.holds({ box, channel: h.channel, bytes: frame })) return this.#keepAndSend(t, box, h.channel, frame);
    const cannot = t.waves.cannot();
    if (cannot && t.attached[t.home]) this.#out.push({ type: 'send', cm: t.home, bytes: cannot.slice() });
  }

  #keepAndSend(t: CommTask, box: Outbox, channel: number, frame: Uint8Array): void {
    t.retain(box, channel, frame);
    if (t.mayLeave(box.cm)) this.#send(t, box.cm, frame);
  }

  #send(t: CommTask, cm: number, frame: Uint8Array): void {
    this.#out.push({ type: 'send', cm, bytes: t.policy.leaves(frame) });
  }

  /** What the protocol has to send without a message. */
  #sendBlock(t: CommTask, cm: number): void {
    if (t.mayLeave(cm) && !t.policy.allLogged) this.#send(t, cm, encodeFrame(t.header(Kind.DETERMINANTS)));
  }

  /** T12: its teammates may make no further frame that takes their determinants along. */
  #exit(t: CommTask, channel: number, frame: Uint8Array): void {
    t.exit.push({ channel, bytes: t.policy.last?.(frame) ?? frame });
    if (t.team) {
      t.team.ends(t.task);
      this.#sendBlock(t, t.home);
    }
    this.#maybeExit(t);
  }

  /** M6. */
  #maybeExit(t: CommTask): void {
    if (t.exitSent || t.exit.length === 0) return;
    if (!t.settled) return this.#wantSync(t);
    t.exitSent = true;
    const box = t.outbox(WORLD);
    for (const { channel, bytes } of t.exit) this.#keepAndSend(t, box, channel, bytes);
  }

  /** Asks for a sync, once per connection: without such a request, syncs are rare. */
  #wantSync(t: CommTask): void {
    for (const [cm, bytes] of t.asksForSync()) this.#out.push({ type: 'send', cm, bytes });
  }

  #maybeFinish(t: CommTask): void {
    if (t.over || !t.ready || !t.exitSent || !t.settled) return;
    t.over = true;
    const all = t.together;
    if (all.every((x) => x.over)) for (const x of all) this.#detach(x);
    this.#out.push({ type: 'finished', task: t.task });
  }

  // ---- waves ----

  #image(task: TaskId, position: Position, wave: number | undefined): void {
    const t = this.#tasks.get(task);
    if (t === undefined) return;
    if (t.team) return this.#images(t.team, t.team.image(task, position, wave));
    const image = t.waves.image(position);
    this.#toAll(t, image?.cut);
    if (image?.cut) this.#thaw(t);
    this.#out.push({ type: 'image', task, position: image?.position });
  }

  /** 0: none is under way any more. */
  #wave(t: CommTask, wave: number): void {
    if (wave === t.waves.wave) return;
    this.#thaw(t);
    const ask = t.waves.begins(wave);
    if (ask) this.#out.push({ type: ask, task: t.task });
  }

  #toAll(t: CommTask, frame: Uint8Array | undefined): void {
    t.attached.forEach((here, cm) => here && frame && this.#out.push({ type: 'send', cm, bytes: frame.slice() }));
  }

  #thaw(t: CommTask): void {
    for (const { box, channel, bytes } of t.waves.thaw()) this.#keepAndSend(t, box, channel, bytes);
  }

  // ---- attaching ----

  #attach(t: CommTask, cm: number): void {
    this.#out.push({ type: 'send', cm, bytes: t.attach(cm) });
  }

  #attached(t: CommTask, cm: number, m: Attached): void {
    const resumed = t.known[cm]!;
    t.attached[cm] = true;
    t.known[cm] = true;
    t.syncAsked[cm] = false;
    for (const bytes of resumed ? t.waves.answers(cm === t.home) : []) this.#out.push({ type: 'send', cm, bytes });
    if (cm === t.home) {
      t.reportFrom = m.resupplyFrom;
      if (t.ready) this.#report(t);
      this.#flow.credit(t);
      this.#flow.pullAgain(t);
    }
    if (!t.ready) {
      t.policy.attached(m, cm);
      this.#begin(t.together);
      if (!this.#tasks.has(t.task)) return;
    }
    if (resumed) {
      t.policy.returned(cm, m);
      t.resumed[cm] = new Map(m.received);
    }
    this.#resume(t.together, cm);
  }

  /** M5, T1. */
  #begin(all: readonly CommTask[]): void {
    const team = all[0]!.team;
    if (team?.whole === false || !all.every((t) => t.known.every(Boolean))) return;
    const starts: EndpointStart[] = [];
    for (const t of all) {
      const start = t.policy.start(t.incarnation, t.position);
      if ('lost' in start)
        return this.#refuse(t, { code: 'LOST_LOG', message: `the logs of task ${t.task} lost ${start.lost}` });
      starts.push(start);
    }
    team?.begins();
    all.forEach((t, i) => {
      t.ready = true;
      this.#report(t);
      this.#out.push({ type: 'ready', task: t.task, start: starts[i]! });
      for (const bytes of t.early.splice(0)) this.#out.push({ type: 'deliver', task: t.task, bytes });
    });
  }

  /** M2, T1: a new connection has what its Channel Memory lacks. */
  #resume(all: readonly CommTask[], cm: number): void {
    const resumed = all.filter((t) => t.resumed[cm]);
    if (resumed.length === 0 || !all.every((t) => t.attached[cm])) return;
    this.#sendBlock(resumed[0]!, cm);
    for (const t of resumed) {
      const counts = t.resumed[cm]!;
      t.resumed[cm] = undefined;
      for (const box of t.outboxes.values()) if (box.cm === cm) this.#resend(t, box, counts.get(box.dst) ?? 0);
      this.#maybeExit(t);
    }
  }

  /** M2. */
  #resend(t: CommTask, box: Outbox, count: number): void {
    for (let i = box.head; i < box.frames.length; i++) {
      const s = box.frames[i]!;
      if (s.channel > count) this.#send(t, box.cm, s.bytes);
    }
  }

  /** M4. */
  #report(t: CommTask): void {
    for (const bytes of resupply(t)) this.#out.push({ type: 'send', cm: t.home, bytes });
  }

  #refuse(t: CommTask, error: ErrorBody): void {
    this.#forget(t.task);
    this.#out.push({ type: 'refused', task: t.task, error });
  }

  /** T1. */
  #forget(task: TaskId): void {
    const t = this.#tasks.get(task);
    if (t === undefined) return;
    this.#detach(t);
    if (t.team) this.#revoke(t.team);
  }

  #revoke(team: CommTeam<CommTask>): void {
    for (const t of [...team.here.values()]) {
      this.#detach(t);
      if (!t.over) this.#out.push({ type: 'revoked', task: t.task });
    }
  }

  #detach(t: CommTask): void {
    this.#tasks.delete(t.task);
    const { team } = t;
    team?.here.delete(t.task);
    if (team?.here.size === 0) for (const member of team.members) this.#teams.delete(member);
    for (let cm = 0; cm < t.attached.length; cm++)
      if (t.attached[cm]) this.#out.push({ type: 'send', cm, bytes: encodeFrame(t.header(Kind.DETACH)) });
  }

  // ---- from a Channel Memory ----

  #received(cm: number, bytes: Uint8Array): void {
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    try {
      for (let o = 0; o < bytes.length;) {
        const f = readFrame(bytes, view, o);
        const end = Math.min(bytes.length, o + frameBytes(f.header));
        this.#frame(cm, f, bytes.subarray(o, end));
        o = end;
      }
    } catch (e) {
      if (!(
        e instanceof BadLink ||
        e instanceof MalformedFrame ||
        e instanceof MalformedDeterminants ||
        e instanceof SyntaxError
      ))
        throw e;
      this.#out.push({ type: 'drop', cm, error: { code: 'BAD_FRAME', message: e.message } });
    }
  }

  #frame(cm: number, f: Frame, bytes: Uint8Array): void {
    const h = f.header;
    if (h.kind === Kind.REFUSED) {
      const error = parse(f.body) as ErrorBody;
      const t = this.#tasks.get(h.dst);
      if (h.dst === WORLD) this.#out.push({ type: 'drop', cm, error });
      // FENCED names the acting incarnation: this one, if its predecessor on the same connection was refused.
      else if (t && !(error.code === 'FENCED' && h.incarnation <= t.incarnation)) {
        t.attached[cm] = false;
        this.#refuse(t, error);
      }
      return;
    }
    const t = this.#tasks.get(h.kind === Kind.RESEND ? h.src : h.dst);
    if (t === undefined || h.incarnation !== t.incarnation) return;
    switch (h.kind) {
      case Kind.ATTACHED:
        return this.#attached(t, cm, parse(f.body) as Attached);
      case Kind.DETERMINANTS:
        if (!t.ready) t.policy.answered(f.determinants, cm);
        return;
      case Kind.ARRIVAL:
        if (arrives(t, h, bytes)) this.#deliver(t, bytes);
        return;
      case Kind.BODY:
        if (this.#flow.body(t, h)) this.#deliver(t, bytes);
        return;
      case Kind.ACK: {
        const ack = decodeAck(f.body);
        t.policy.acknowledged(cm, ack);
        for (const c of ack.channels) {
          const box = t.outboxes.get(c.dst as TaskId);
          if (box?.cm === cm) t.release(box, c.synced);
        }
        if (cm === t.home) t.releaseArrivals(ack.arrivalsSynced);
        t.team?.acknowledged();
        for (const x of t.together) {
          this.#maybeExit(x);
          this.#maybeFinish(x);
        }
        return;
      }
      case Kind.WAVE:
        return this.#wave(t, h.word);
      case Kind.FLUSHED:
        if (t.waves.flushed(h.word)) this.#out.push({ type: 'checkpoint', task: t.task });
        return;
      case Kind.WAVE_OVER:
        if (h.word === t.waves.wave) this.#wave(t, 0);
        return;
      case Kind.RESEND: {
        const box = t.outboxes.get(h.dst);
        if (box?.cm === cm && t.mayLeave(cm)) this.#resend(t, box, h.channel);
        return;
      }
      default:
        throw new BadLink(`kind ${h.kind} does not come from a Channel Memory`);
    }
  }

  #deliver(t: CommTask, bytes: Uint8Array): void {
    if (t.over) return;
    if (t.ready) this.#out.push({ type: 'deliver', task: t.task, bytes });
    else t.early.push(bytes);
  }
}
