/**
 * A simulated rank whose program recovers itself (protocol `app`, FT-MPI's modes): rounds in which every rank of the
 * world sends to every other one. When it hears of a loss it asks for the recovery, and goes on in the new world from
 * the round that all its ranks have reached. In the end all agree that nobody was lost (as by MPIX_Comm_agree), and
 * exit.
 *
 * Owns: what the program knows of the world, the messages that it has not matched. Of packages/mpi/src/failure it plays
 * the part that the membership service needs: requests, notices, and messages in the context of a world.
 */
import type { Endpoint, EndpointStart, RankPolicy } from '@mayfly/protocols';
import {
  EMPTY,
  HOLE,
  Kind,
  MAX_SPAWNED,
  MEMBERS,
  WORLD,
  WorldMode,
  decodeNotice,
  emptyHeader,
  encodeFrame,
  encodeMember,
  taskId,
  type MemberNotice,
  type MemberRequest,
  type Position,
  type TaskId,
} from '@mayfly/wire';
import { Inbox, type Whole } from './inbox.ts';
import { digestOf, type ProgramSpec } from './program.ts';
import { standingOf, type RankHost, type Witness } from './rank-host.ts';

/** What it sends to another rank. */
export interface WorldMessage {
  /** Context of the world in which it is sent. */
  readonly context: number;
  /** −1: how far the sender is, at the begin of a world. */
  readonly round: number;
  readonly reached: number;
  /** Losses that the sender has heard of. */
  readonly knows: readonly number[];
}

/** Reports of such ranks to the checkers. */
export interface RecoveryWitness {
  hears(task: TaskId, notice: MemberNotice): void;
  receives(task: TaskId, src: TaskId, message: WorldMessage): void;
  /** All have finished: who starts later has nothing to do (as a file that the program writes would say). */
  finishes(task: TaskId): void;
  readonly finished: boolean;
}

const text = new TextEncoder();
const read = new TextDecoder();
/** A context that no other task offers. */
const OFFERS = 1024;

export class RecoveringRank {
  readonly endpoint: Endpoint;
  readonly envelopeOnly = false;
  readonly checkpointCalls = 0;
  over = false;
  private readonly inbox: Inbox;
  private ranks: number[];
  private context = 0;
  private round = 0;
  /** `lost`: it has to ask for the recovery. */
  private stage: 'lost' | 'asked' | 'begin' | 'work' | 'agree' | 'agreeing' | 'exit' | 'over' = 'work';
  /** Ranks to which the messages of this step still go; undefined: they have not begun to. */
  private left: number[] | undefined;
  private pulling: Whole | undefined;
  private readonly heard = new Set<number>();
  private readonly unmatched: { readonly src: number; readonly message: WorldMessage }[] = [];
  private offers = 0;
  private readonly numbers = new Map<number, number>();

  constructor(
    readonly task: TaskId,
    private readonly spec: ProgramSpec,
    position: Position,
    start: EndpointStart,
    private readonly host: RankHost,
    private readonly witness: Witness,
    private readonly recoveries: RecoveryWitness,
    endpoint: RankPolicy,
  ) {
    this.inbox = new Inbox(task);
    this.endpoint = endpoint(task, spec.size + MAX_SPAWNED, position, start);
    this.ranks = Array.from({ length: spec.size }, (_, t) => t);
    // It takes the place of a lost one: MPI_Init asks for the recovery.
    if (task >= spec.size) this.stage = 'lost';
  }

  describe(): string {
    const { stage, context, round, ranks, left } = this;
    return JSON.stringify({ stage, context, round, ranks, left, heard: [...this.heard], ...this.inbox.describe() });
  }

  deliver(bytes: Uint8Array): void {
    this.inbox.deliver(bytes);
  }

  /** One turn. True: something was done, call again; false: it waits, or is over. */
  turn(): boolean {
    if (this.over) return false;
    return this.consume() || this.acts();
  }

  private acts(): boolean {
    switch (this.stage) {
      case 'lost':
        if (!this.host.room()) return false;
        this.ask({ op: 'recover', offer: this.offer() });
        this.stage = 'asked';
        return true;
      case 'begin':
      case 'work':
        return this.exchange();
      case 'agree': {
        if (!this.host.room()) return false;
        const members = this.ranks.filter((t) => t !== HOLE).sort((a, b) => a - b);
        const { context, heard } = this;
        const acknowledged = [...heard];
        this.ask({ op: 'agree', context, members, number: 0, flag: -1, offer: this.offer(), acknowledged });
        this.stage = 'agreeing';
        return true;
      }
      case 'exit':
        this.send(WORLD, WorldMode.EXIT, text.encode('{"code":0}'));
        this.stage = 'over';
        return true;
      case 'over':
        this.over = true;
        return false;
      default:
        return false;
    }
  }

  /** A message to each other rank of the world, then one of each. */
  private exchange(): boolean {
    const others = this.ranks.filter((t) => t !== HOLE && t !== this.task);
    const round = this.stage === 'begin' ? -1 : this.round;
    this.left ??= [...others];
    const dst = this.left[0];
    if (dst !== undefined) {
      if (!this.host.room()) return false;
      const message: WorldMessage = { context: this.context, round, reached: this.round, knows: [...this.heard] };
      this.send(taskId(dst), 0, text.encode(JSON.stringify(message)));
      this.left.shift();
      return true;
    }
    const found = others.map((src) =>
      this.unmatched.find((u) => u.src === src && u.message.context === this.context && u.message.round === round),
    );
    if (found.includes(undefined)) return false;
    for (const u of found) this.unmatched.splice(this.unmatched.indexOf(u!), 1);
    this.left = undefined;
    if (this.stage === 'begin') this.round = Math.min(this.round, ...found.map((u) => u!.message.reached));
    else this.round++;
    this.stage = this.round < this.spec.rounds ? 'work' : 'agree';
    return true;
  }

  // ── what comes ─────────────────────────────────────────────────────────────────────────────────────────────────────

  private consume(): boolean {
    const here = this.pulling === undefined ? this.next() : this.pulling;
    if (!here) return false;
    const body = here.body ?? this.inbox.pulled.get(here.number);
    if (!body) return false;
    this.inbox.pulled.delete(here.number);
    this.pulling = undefined;
    if (here.src === MEMBERS) this.hear(decodeNotice(body));
    else {
      const message = JSON.parse(read.decode(body)) as WorldMessage;
      this.recoveries.receives(this.task, taskId(here.src), message);
      // Of an earlier world: dropped (FT-MPI's RESET).
      if (message.context === this.context) this.unmatched.push({ src: here.src, message });
    }
    return true;
  }

  /** The next arrival; one of which only the envelope has come stays `pulling` until its body is here. */
  private next(): Whole | undefined {
    const a = this.inbox.arrivals.shift();
    if (!a) return undefined;
    const { task, endpoint } = this;
    endpoint.consume(a.number, taskId(a.src));
    const digest = a.body && digestOf(a.tag, 0, a.body);
    this.witness.consumed(task, this.host.life, endpoint.consumed, a.number, a.src, a.channel, digest);
    if (a.body) return a;
    this.pulling = a;
    const header = { ...emptyHeader(Kind.PULL), src: task, dst: task, incarnation: endpoint.incarnation };
    this.host.up(encodeFrame({ ...header, arrival: a.number }));
    return a;
  }

  private hear(notice: MemberNotice): void {
    this.recoveries.hears(this.task, notice);
    if (this.stage === 'exit' || this.stage === 'over') return;
    if (notice.op === 'lost') {
      for (const t of notice.tasks) this.heard.add(t);
      if (this.stage !== 'asked') this.stage = 'lost';
    } else if (notice.op === 'recovered') {
      this.ranks = [...notice.ranks];
      this.context = notice.context;
      this.left = undefined;
      this.stage = this.recoveries.finished ? 'exit' : 'begin';
    } else if (notice.op === 'agreed' && this.stage === 'agreeing' && notice.lost.length === 0) {
      this.recoveries.finishes(this.task);
      this.stage = 'exit';
    }
  }

  // ── what goes ──────────────────────────────────────────────────────────────────────────────────────────────────────

  private offer(): number {
    return OFFERS * ++this.offers + this.task;
  }

  private ask(request: MemberRequest): void {
    this.send(WORLD, WorldMode.MEMBER, encodeMember(request));
  }

  private send(dst: TaskId, mode: number, body: Uint8Array): void {
    const channel = (this.numbers.get(dst) ?? 0) + 1;
    this.numbers.set(dst, channel);
    const { life, chunkBytes } = this.host;
    this.witness.sent(this.task, life, dst, channel, digestOf(0, mode, body), standingOf(this.endpoint));
    const number = this.endpoint.beginSend(dst);
    this.witness.written(this.task, life, dst, number);
    for (let offset = 0; offset === 0 || offset < body.length; offset += chunkBytes) {
      const part = body.subarray(offset, offset + chunkBytes);
      const header = this.endpoint.dataHeader(dst, number, mode, 0, 0, 0, body.length, offset, part.length, EMPTY);
      this.host.up(encodeFrame({ ...header }, part, EMPTY));
      this.endpoint.framed();
    }
  }
}
