/**
 * A simulated rank: the endpoint core under a {@link ProgramState}, with queues for rings. Does one action per turn; a turn that cannot
 * go on (nothing to consume yet, a pulled body not here) is tried again when something is delivered. Plays the parts of the rank
 * worker's device and of the MPI layer's matching.
 *
 * Owns: the program state, the endpoint, the arrivals delivered and not consumed. Nothing of it survives the node.
 */
import { Endpoint, LIVE, type EndpointSnapshot, type EndpointStart } from '@mayfly/protocols';
import { EMPTY, Flag, Kind, WORLD, WorldMode, emptyHeader, encodeFrame, readFrames, taskId, type Line, type ReplayFrom, type TaskId } from '@mayfly/wire';
import { ANY, advance, initialState, mix, mixBytes, nextAction, type Action, type ProgramSpec, type ProgramState } from './program.ts';

/** What the checkers are told; every incarnation tells all of it again. */
export interface Witness {
  /** Message number `channel` of (task, dst) has this content. Told for suppressed messages too. */
  sent(task: number, incarnation: number, dst: number, channel: number, digest: number): void;
  /** Arrival number `arrival` of the task is this message. */
  consumed(task: number, incarnation: number, arrival: number, src: number, channel: number, digest: number | undefined): void;
}

/** Content of a simulated image. */
export interface SimImage {
  program: ProgramState;
  endpoint: EndpointSnapshot;
  prologue: Line;
  held: number[];
}

export interface RankHost {
  /** A whole frame for the up-ring. */
  up(bytes: Uint8Array): void;
  /** The program takes a checkpoint here, if its node wants one. */
  checkpoint(image: () => SimImage): void;
  /** `recovered`: the first step beyond replay. */
  recovered(): void;
  clock(): number;
  place(): string;
  readonly chunkBytes: number;
}

interface Whole {
  number: number;
  src: number;
  channel: number;
  tag: number;
  size: number;
  body: Uint8Array | undefined;
}

export class Rank {
  readonly state: ProgramState;
  readonly endpoint: Endpoint;
  over = false;
  private readonly arrivals: Whole[] = [];
  private parts: Uint8Array[] = [];
  private readonly bodies = new Map<number, Uint8Array[]>();
  private pulled = new Map<number, Uint8Array>();
  private asked = new Set<number>();
  /** A poll under way: how many it still has to consume, or LIVE. */
  private poll: number | undefined;
  private wasReplaying: boolean;
  private readonly image: SimImage | undefined;
  private channelOf = new Map<number, number>();

  constructor(
    readonly task: TaskId,
    private readonly spec: ProgramSpec,
    replay: ReplayFrom,
    start: EndpointStart,
    image: SimImage | undefined,
    private readonly host: RankHost,
    private readonly witness: Witness,
    options: ConstructorParameters<typeof Endpoint>[4] = {},
  ) {
    this.endpoint = new Endpoint(task, spec.size, replay, start, options);
    this.wasReplaying = this.endpoint.replaying;
    this.image = image;
    this.state = image && spec.prologueRounds === undefined ? structuredCopy(image.program) : initialState(spec, task);
    if (image && spec.prologueRounds === undefined) {
      this.endpoint.jump(image.endpoint);
      this.adoptChannels();
    }
  }

  /** Bytes of unmatched bodies kept. */
  get stored(): number {
    return this.state.queue.reduce((n, q) => n + (q.body?.length ?? 0), 0);
  }

  get envelopeOnly(): boolean {
    return this.stored > this.spec.storeBytes;
  }

  /** Where it is, for the report of a run that does not end. */
  describe(): string {
    const { stage, round, left, queue } = this.state;
    const waits = nextAction(this.spec, this.task, this.state);
    return JSON.stringify({
      stage, round, waits: waits && { ...waits, body: undefined }, left, consumed: this.endpoint.consumed, ready: this.arrivals.map((a) => a.number),
      queue: queue.map((q) => `${q.arrival}:${q.src}${q.body ? '' : '(log)'}`), asked: [...this.asked], parts: this.parts.length, replaying: this.endpoint.replaying,
    });
  }

  deliver(bytes: Uint8Array): void {
    for (const f of readFrames(bytes)) {
      const h = f.header;
      // chunks of a pulled body may come between the arrivals, never between the chunks of one
      const parts = h.kind === Kind.BODY ? (this.bodies.get(h.arrival) ?? []) : this.parts;
      parts.push(f.body.slice());
      if (h.kind === Kind.BODY) this.bodies.set(h.arrival, parts);
      if ((h.flags & Flag.LAST) === 0) continue;
      const noBody = (h.flags & Flag.NO_BODY) !== 0;
      const body = new Uint8Array(parts.reduce((n, p) => n + p.length, 0));
      parts.reduce((o, p) => (body.set(p, o), o + p.length), 0);
      if (h.kind === Kind.BODY) this.bodies.delete(h.arrival);
      else this.parts = [];
      if (!noBody && body.length !== h.size) throw new Error(`task ${this.task}: a message of ${h.size} bytes came with ${body.length}`);
      if (h.kind === Kind.BODY) this.pulled.set(h.arrival, body);
      else this.arrivals.push({ number: h.arrival, src: h.src, channel: h.channel, tag: h.tag, size: h.size, body: noBody ? undefined : body });
    }
  }

  /** One turn. True: something was done, call again; false: it waits, or is over. */
  turn(): boolean {
    const s = this.state;
    if (this.over) return false;
    const action = nextAction(this.spec, this.task, s);
    if (!action) {
      if (s.stage === 'over') {
        this.over = true;
        return false;
      }
      advance(this.spec, this.task, s);
      return true;
    }
    const done = this.perform(action);
    if (this.wasReplaying && !this.endpoint.replaying) {
      this.wasReplaying = false;
      this.host.recovered();
    }
    return done;
  }

  private perform(a: Action): boolean {
    const s = this.state;
    switch (a.type) {
      case 'open':
        return this.open();
      case 'send':
        this.send(taskId(a.dst), a.tag, 0, a.body);
        s.at += 1 + (s.at % 2 === 0 ? 1 : 0);
        return true;
      case 'receive':
        return this.receive(a.src, a.tag);
      case 'poll':
        return this.polled(a.src, a.tag);
      case 'clock':
        s.acc = mix(s.acc, Math.floor(this.endpoint.clock(() => this.host.clock())));
        s.at++;
        return true;
      case 'place':
        s.acc = mixBytes(s.acc, [...this.endpoint.place(() => this.host.place())].map((c) => c.charCodeAt(0)));
        s.at++;
        return true;
      case 'output':
        this.send(WORLD, 0, WorldMode.STDOUT, a.body);
        s.outputs++;
        s.at++;
        return true;
      case 'checkpoint':
        s.at++;
        if (!this.endpoint.inPrologue && (this.spec.prologueRounds === undefined || s.round >= this.spec.prologueRounds))
          this.host.checkpoint(() => this.snapshot());
        return true;
      case 'exit':
        this.send(WORLD, 0, WorldMode.EXIT, new TextEncoder().encode('{"code":0}'));
        advance(this.spec, this.task, s);
        return true;
    }
  }

  private open(): boolean {
    if (this.image && this.endpoint.inPrologue) {
      this.endpoint.jump(this.image.endpoint);
      Object.assign(this.state, structuredCopy(this.image.program));
      this.adoptChannels();
    } else {
      this.endpoint.openPrologue();
      advance(this.spec, this.task, this.state);
    }
    return true;
  }

  private snapshot(): SimImage {
    if (this.endpoint.pending > 0) {
      const block = this.endpoint.block();
      this.host.up(encodeFrame(this.endpoint.determinantsHeader(block), EMPTY, block));
      this.endpoint.framed();
    }
    return {
      program: structuredCopy(this.state),
      endpoint: this.endpoint.snapshot(),
      prologue: this.endpoint.prologue,
      held: this.state.queue.filter((q) => q.body === undefined).map((q) => q.arrival),
    };
  }

  private adoptChannels(): void {
    for (const [dst, n] of this.endpoint.line().sends) this.channelOf.set(dst, n);
  }

  private send(dst: TaskId, tag: number, mode: number, body: Uint8Array): void {
    const channel = (this.channelOf.get(dst) ?? 0) + 1;
    this.channelOf.set(dst, channel);
    this.witness.sent(this.task, this.endpoint.incarnation, dst, channel, mixBytes(tag + mode * 1000, body));
    const number = this.endpoint.beginSend(dst);
    if (number === 0) return;
    for (let offset = 0; offset === 0 || offset < body.length; offset += this.host.chunkBytes) {
      const part = body.subarray(offset, offset + this.host.chunkBytes);
      const block = this.endpoint.block();
      this.host.up(encodeFrame({ ...this.endpoint.dataHeader(dst, number, mode, 0, tag, 0, body.length, offset, part.length, block) }, part, block));
      this.endpoint.framed();
    }
  }

  /** Consumes the next delivered arrival into the queue of unmatched ones; false when there is none. */
  private consume(): boolean {
    const a = this.arrivals.shift();
    if (!a) return false;
    this.endpoint.consume(a.number);
    const keep = a.body !== undefined && this.stored + a.body.length <= this.spec.storeBytes;
    this.state.queue.push({ src: a.src, tag: a.tag, arrival: a.number, size: a.size, body: keep || a.size === 0 ? [...(a.body ?? EMPTY)] : undefined });
    this.witness.consumed(this.task, this.endpoint.incarnation, a.number, a.src, a.channel, a.body && mixBytes(a.tag, a.body));
    return true;
  }

  private match(src: number, tag: number): number {
    return this.state.queue.findIndex((q) => q.tag === tag && (src === ANY || q.src === src));
  }

  /** Takes entry i from the queue into the program's state; false while its body has to be pulled. */
  private take(i: number): boolean {
    const q = this.state.queue[i]!;
    let body: ArrayLike<number> | undefined = q.body;
    if (!body) {
      body = this.pulled.get(q.arrival);
      if (!body) {
        if (!this.asked.has(q.arrival)) {
          this.asked.add(q.arrival);
          this.host.up(encodeFrame({ ...emptyHeader(Kind.PULL), src: this.task, dst: this.task, incarnation: this.endpoint.incarnation, arrival: q.arrival }));
        }
        return false;
      }
      this.pulled.delete(q.arrival);
      this.asked.delete(q.arrival);
    }
    if (body.length !== q.size) throw new Error(`task ${this.task}: arrival ${q.arrival} has ${body.length} bytes instead of ${q.size}`);
    this.state.queue.splice(i, 1);
    this.state.left[q.src] = this.state.left[q.src]! - 1;
    this.state.acc = mixBytes(mix(this.state.acc, q.src), body);
    return true;
  }

  private receive(src: number, tag: number): boolean {
    for (;;) {
      const i = this.match(src, tag);
      if (i >= 0) return this.take(i);
      if (!this.consume()) return false;
    }
  }

  /** A poll hit is a receive of what it saw. */
  private polled(src: number, tag: number): boolean {
    const s = this.state;
    if (this.poll === undefined) this.poll = this.endpoint.pollBegin();
    if (this.poll === LIVE) while (this.match(src, tag) < 0 && this.consume());
    else
      while (this.poll > 0) {
        if (!this.consume()) return false; // a replayed poll waits for its logged arrivals
        this.poll--;
      }
    this.endpoint.pollEnd();
    this.poll = undefined;
    const hit = this.match(src, tag) >= 0;
    s.acc = mix(s.acc, hit ? 1 : 2);
    s.at++;
    return true;
  }
}

const structuredCopy = <T>(v: T): T => JSON.parse(JSON.stringify(v)) as T;
