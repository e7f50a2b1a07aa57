/**
 * What the comm worker keeps of one attached incarnation. All of it dies with the tab; that is what the logs are for.
 */
import {
  Flag,
  Kind,
  emptyHeader,
  encodeFrame,
  routeOf,
  type Header,
  type Homes,
  type Incarnation,
  type Position,
  type TaskId,
} from '@mayfly/wire';
import type { Replays } from '../contract/position.ts';
import { json } from '../channel-memory/records.ts';
import type { CommdTask } from './policy.ts';
import type { Outbox, Sent } from './outbox.ts';
import { TaskWaves } from './task-waves.ts';
import type { CommTeam } from './team.ts';
import type { CommOptions } from './events.ts';

export interface Received {
  readonly arrival: number;
  readonly frames: readonly Uint8Array[];
}

export interface Pull {
  /** As the rank's PULL has it; the first BODY is certain. */
  size: number;
  /** Next byte to come, and end of what was asked for. */
  next: number;
  asked: number;
}

export class CommTask {
  readonly task: TaskId;
  readonly incarnation: Incarnation;
  readonly capability: string;
  readonly nonce: string;
  readonly position: Position;
  readonly replays: Replays;
  readonly home: number;
  readonly #homes: Homes;

  /** Per CM: ATTACHED came on the present connection / ever. */
  readonly attached: boolean[];
  readonly known: boolean[];
  readonly policy: CommdTask;
  readonly team: CommTeam<CommTask> | undefined;
  ready = false;
  /** Per CM: what it has of each channel, from its answer on a resumed connection until frames leave again. */
  readonly resumed: (ReadonlyMap<TaskId, number> | undefined)[];

  readonly outboxes = new Map<TaskId, Outbox>();
  retainedBytes = 0;
  /** The home CM recovers its log of this task from this arrival on, and waits for our report. */
  reportFrom: number | undefined;
  /** EXIT, held back until everything before it is durable. */
  exit: Sent[] = [];
  exitSent = false;
  /** T12: its EXIT was logged by an incarnation before, and so was everything that it depends on. */
  ended = false;
  /** By Channel Memory: asked to sync on the present connection, for EXIT. */
  readonly syncAsked: boolean[];

  /** T12: its rank is gone. It stays attached while it has teammates: its log may need what it has received (M4). */
  over = false;

  /** Highest arrival received whole. */
  received = 0;
  readonly partials = new Map<TaskId, { frames: Uint8Array[]; bytes: number; channel: number }>();
  /** Coordinated checkpointing. */
  readonly waves: TaskWaves;

  /** Arrivals not known to be durable, for a CM that lost them; entries before `head` are released. */
  arrivals: Received[] = [];
  arrivalsHead = 0;
  /** Frames that came before the rank could begin. */
  early: Uint8Array[] = [];

  /** Delivered, not yet consumed: number and cost. */
  readonly numbers: number[] = [];
  readonly costs: number[] = [];
  head = 0;
  consumed = 0;
  uncredited = 0;
  envelopeOnly = false;
  readonly pulls = new Map<number, Pull>();

  constructor(
    options: CommOptions,
    task: TaskId,
    incarnation: Incarnation,
    capability: string,
    nonce: string,
    position: Position,
    home: number,
    team: CommTeam<CommTask> | undefined,
  ) {
    this.task = task;
    this.incarnation = incarnation;
    this.capability = capability;
    this.nonce = nonce;
    this.position = position;
    this.home = home;
    this.#homes = options.homes ?? options.channelMemories;
    this.attached = new Array<boolean>(options.channelMemories).fill(false);
    this.syncAsked = new Array<boolean>(options.channelMemories).fill(false);
    this.known = new Array<boolean>(options.channelMemories).fill(false);
    this.resumed = new Array<undefined>(options.channelMemories).fill(undefined);
    this.team = team;
    this.policy = team ? team.policy.member(task) : options.policy(options.channelMemories);
    this.replays = this.policy.replays(position);
    this.waves = new TaskWaves(this.policy, (kind) => this.header(kind));
  }

  /** Of a frame of this incarnation that is no message. */
  header(kind: number): Header {
    const h = emptyHeader(kind);
    h.src = this.task;
    h.dst = this.task;
    h.incarnation = this.incarnation;
    return h;
  }

  /** ATTACH for a Channel Memory. */
  attach(cm: number): Uint8Array {
    const { capability, nonce, position, received, home } = this;
    const body = { capability, nonce, position, received: cm === home ? received : 0, resume: this.known[cm]! };
    return encodeFrame(this.header(Kind.ATTACH), json(body));
  }

  /** Requests that are due: one for each connection. */
  *asksForSync(): Iterable<readonly [cm: number, bytes: Uint8Array]> {
    for (const [cm, here] of this.attached.entries()) {
      if (!here || this.syncAsked[cm]) continue;
      this.syncAsked[cm] = true;
      yield [cm, encodeFrame({ ...this.header(Kind.DETERMINANTS), flags: Flag.SYNC })];
    }
  }

  /** The route of a destination is chosen here and nowhere else; a later protocol may pass messages within the node. */
  outbox(dst: TaskId): Outbox {
    let box = this.outboxes.get(dst);
    if (box === undefined)
      this.outboxes.set(dst, (box = { dst, cm: routeOf(this.task, dst, this.#homes), frames: [], head: 0 }));
    return box;
  }

  retain(box: Outbox, channel: number, bytes: Uint8Array): void {
    box.frames.push({ channel, bytes });
    this.retainedBytes += bytes.length;
  }

  /** Messages up to `channel` are durable. */
  release(box: Outbox, channel: number): void {
    while (box.head < box.frames.length && box.frames[box.head]!.channel <= channel)
      this.retainedBytes -= box.frames[box.head++]!.bytes.length;
    if (box.head === box.frames.length) {
      box.frames = [];
      box.head = 0;
    } else if (box.head > 64 && box.head * 2 > box.frames.length) {
      box.frames.splice(0, box.head);
      box.head = 0;
    }
  }

  /** The arrival that must come next: the prologue's, then the image's first. */
  get expected(): number {
    const { prologue, image } = this.replays;
    return this.received < prologue ? this.received + 1 : Math.max(this.received, image) + 1;
  }

  releaseArrivals(synced: number): void {
    while (this.arrivalsHead < this.arrivals.length && this.arrivals[this.arrivalsHead]!.arrival <= synced)
      this.arrivalsHead++;
    if (this.arrivalsHead > 64 && this.arrivalsHead * 2 > this.arrivals.length) {
      this.arrivals.splice(0, this.arrivalsHead);
      this.arrivalsHead = 0;
    }
  }

  /** Everything that the task sent and that its sends depend on is durable. */
  get settled(): boolean {
    for (const box of this.outboxes.values()) if (box.frames.length > 0) return false;
    return this.ended || this.policy.durable;
  }

  /** Frames of messages and determinants may leave for this Channel Memory. */
  mayLeave(cm: number): boolean {
    return this.team ? this.team.mayLeave(cm) : this.attached[cm]!;
  }

  /** Those with whom it begins, and whose frames leave together over a new connection. */
  get together(): readonly CommTask[] {
    return this.team ? [...this.team.here.values()] : [this];
  }
}
