/**
 * A simulated rank: the endpoint core under a {@link ProgramState}, with queues for rings. Does one action per turn; a
 * turn that cannot go on (nothing to consume yet, a pulled body not here) is tried again when something is delivered.
 * Plays the parts of the rank worker's device and of the MPI layer's matching.
 *
 * Owns: the program state, the endpoint, the arrivals delivered and not consumed. Nothing of it survives the node.
 */
import { LIVE, RepeatedPrologue, type Endpoint, type EndpointStart, type RankPolicy } from '@mayfly/protocols';
import {
  EMPTY,
  FILES,
  Kind,
  WORLD,
  WorldMode,
  emptyHeader,
  encodeFrame,
  taskId,
  type Position,
  type TaskId,
} from '@mayfly/wire';
import {
  advance,
  answered,
  copyOf,
  digestOf,
  happened,
  initialState,
  matched,
  matching,
  nextAction,
  requested,
  sent,
  type Action,
  type ProgramSpec,
  type ProgramState,
} from './program.ts';
import { Carried } from './carried.ts';
import { describeRank } from './describe-rank.ts';
import { Inbox } from './inbox.ts';
import { loggedTeamOf, type LoggedTeam } from './logged-team.ts';
import { markOf, standingOf, type RankHost, type SimImage, type Witness } from './rank-host.ts';
import type { LocalMessage } from './team-memory.ts';
import type { Teammates } from './teammates.ts';

/** Determinants that no frame has carried leave in a frame of their own when there are so many. */
export const FLUSH_DETERMINANTS = 24;

export class Rank {
  readonly state: ProgramState;
  readonly endpoint: Endpoint;
  over = false;
  /** Of checkpoint.here, by a script. */
  checkpointCalls = 0;
  private readonly inbox: Inbox;
  private readonly mates: Teammates | undefined;
  /** Its team has a log. */
  private readonly logged: LoggedTeam | undefined;
  private readonly carried: Carried;
  /** Of a script that begins with an image. */
  private readonly prologue: RepeatedPrologue<LocalMessage>;
  /** A poll under way: how many it has to consume, or LIVE. */
  private poll: number | undefined;
  private polledSoFar = 0;
  private polledCarried = 0;
  private wasRepeating: boolean;
  private readonly image: SimImage | undefined;
  private readonly isScript: boolean;
  private channelOf = new Map<number, number>();

  constructor(
    readonly task: TaskId,
    private readonly spec: ProgramSpec,
    position: Position,
    start: EndpointStart,
    image: SimImage | undefined,
    private readonly host: RankHost,
    private readonly witness: Witness,
    endpoint: RankPolicy,
  ) {
    this.inbox = new Inbox(task);
    this.mates = host.team?.mates;
    this.endpoint = endpoint(task, spec.size, position, start, host.team?.mates.memory.members);
    this.wasRepeating = this.endpoint.repeating;
    this.image = image;
    this.isScript = spec.prologueRounds !== undefined;
    this.logged = loggedTeamOf(this.endpoint, host, this.isScript, image);
    this.state = image && !this.isScript ? copyOf(image.program) : initialState(spec, task);
    const forgets = host.undone === (this.mates ? 'carried-in-team-forgotten' : 'carried-forgotten');
    const copies = new Map(host.undone === 'prologue-without-copies' && !this.logged ? [] : image?.prologue);
    this.prologue = new RepeatedPrologue(copies, this.endpoint, (m) => m.number);
    this.carried = new Carried(
      forgets ? undefined : image,
      this.mates,
      this.endpoint.local,
      this.endpoint.carriedPlace,
    );
    if (image && host.undone !== 'channels-forgotten')
      this.mates?.restores(image, this.endpoint.carriedPlace !== undefined);
    if (image && !this.isScript) this.jumps(image);
  }

  /** Bytes of unmatched bodies kept that the log has, too. */
  get stored(): number {
    return this.state.queue.reduce((n, q) => n + (q.arrival > 0 ? (q.body?.length ?? 0) : 0), 0);
  }

  get envelopeOnly(): boolean {
    return 4 * this.stored > 3 * this.spec.storeBytes || this.state.queue.some((q) => q.body === undefined);
  }

  /** Where it is, for the report of a run that does not end. */
  describe(): string {
    const waits = nextAction(this.spec, this.task, this.state);
    return describeRank({ ...this.state, waits }, this.endpoint, this.inbox, this.mates);
  }

  deliver(bytes: Uint8Array): void {
    this.inbox.deliver(bytes);
  }

  /** One turn. True: something was done, call again; false: it waits, or is over. */
  turn(): boolean {
    const { mates, logged } = this;
    if (this.over) {
      logged?.ended();
      return false;
    }
    if (!mates) return !this.host.parked() && this.acts();
    mates.moves(false);
    const published = mates.publish();
    logged?.settle();
    // A rank that waits moves what comes for it, so no two wait for each other's rings.
    if (published === 'full') return mates.looks();
    if (logged?.parked) return mates.looks() || published === 'later';
    const goesOn = published === 'later' || this.images() || this.acts() || mates.looks() || mates.publishes;
    return goesOn || (logged?.passes() ?? false);
  }

  /** T6. True: it has taken an image of its team, or declined. */
  private images(): boolean {
    const wave = this.logged?.wanted ?? 0;
    if (wave === 0 || this.poll !== undefined || this.isScript) return false;
    // its comm worker asks, and it comes to it later; a marker does not wait
    if (this.mates!.cut.met < wave && this.host.team!.random.chance(0.7)) return false;
    this.teamImage(wave);
    return true;
  }

  private teamImage(wave: number): void {
    this.logged!.image(wave, () => {
      const image = { ...this.snapshot(), ...this.mates!.account(this.endpoint.sent()), ...this.logged!.prologue };
      return { image, position: this.endpoint.position(image.held) };
    });
  }

  private acts(): boolean {
    const s = this.state;
    if (this.host.marks()) this.host.up(markOf(this.endpoint));
    const action = nextAction(this.spec, this.task, s);
    if (!action) {
      if (s.stage === 'over') {
        this.over = true;
        this.mates?.leaves();
        this.logged?.ended();
        return false;
      }
      advance(this.spec, this.task, s);
      return true;
    }
    const done = this.perform(action);
    if (this.wasRepeating && !this.endpoint.repeating) {
      this.wasRepeating = false;
      this.host.recovered();
    }
    // a transparent image can be taken while the rank waits inside a call
    if (!done && !this.logged && this.poll === undefined && !this.isScript && !this.spec.script)
      this.host.checkpoint(() => this.snapshot());
    if (this.endpoint.pending >= FLUSH_DETERMINANTS && this.poll === undefined) this.flush();
    return done;
  }

  private perform(a: Action): boolean {
    const s = this.state;
    this.mates?.awaits(a, this.endpoint.replaying, s.queue);
    switch (a.type) {
      case 'open':
        return this.open();
      case 'send':
        if (!this.mates?.isLocal(a.dst) && !this.room()) return false;
        this.send(taskId(a.dst), a.tag, 0, a.body);
        sent(s);
        return true;
      case 'receive':
        return this.receive(a.src, a.tag);
      case 'read':
        return this.receive(WORLD, 0);
      case 'poll':
        return this.polled(a.src, a.tag);
      case 'clock': {
        const read = (): number => this.host.clock();
        this.event(this.host.undone === 'clock-not-logged' ? read() : this.endpoint.clock(read));
        return true;
      }
      case 'place': {
        const read = (): string => this.host.place();
        this.event(this.host.undone === 'place-not-logged' ? read() : this.endpoint.place(read));
        return true;
      }
      case 'output':
        if (!this.room()) return false;
        this.send(WORLD, 0, WorldMode.STDOUT, a.body);
        s.outputs++;
        s.at++;
        return true;
      case 'request':
        if (!this.room()) return false;
        this.send(WORLD, 0, WorldMode.REQUEST, a.body);
        requested(s, a.op);
        return true;
      case 'answer':
        return this.receive(FILES, 0);
      case 'checkpoint':
        return this.checkpoint(a.force ?? false);
      case 'exit':
        this.send(WORLD, 0, WorldMode.EXIT, new TextEncoder().encode('{"code":0}'));
        advance(this.spec, this.task, s);
        return true;
    }
  }

  /** The program calls checkpoint.here; a module does so, too. False: it waits there. */
  private checkpoint(force: boolean): boolean {
    const opened = !this.endpoint.inPrologue && this.state.round >= (this.spec.prologueRounds ?? 0);
    const wave = opened && this.isScript ? this.logged?.here(!this.endpoint.replaying, force) : 0;
    if (this.logged && wave === undefined) return false;
    if (opened && this.isScript) this.checkpointCalls++;
    this.state.at++;
    if (opened && !this.logged) this.host.checkpoint(() => this.snapshot());
    else if (wave) this.teamImage(wave);
    return true;
  }

  private event(outcome: number | string): void {
    this.witness.event(this.task, this.host.life, this.state.events, outcome);
    happened(this.state, outcome);
  }

  /** A send that waits for space consumes nothing. */
  private room(): boolean {
    if (this.host.room()) return true;
    if (this.host.undone === 'waiting-for-space-consumes') this.consume();
    return false;
  }

  private open(): boolean {
    if (this.image) {
      Object.assign(this.state, copyOf(this.image.program));
      this.jumps(this.image);
    } else {
      this.endpoint.openPrologue();
      this.logged?.copies.opened();
      advance(this.spec, this.task, this.state);
    }
    return true;
  }

  private flush(): void {
    if (this.logged) return this.logged.report();
    const block = this.endpoint.block();
    this.host.up(encodeFrame(this.endpoint.determinantsHeader(block), EMPTY, block));
    this.endpoint.framed();
  }

  private up(bytes: Uint8Array): void {
    if (this.logged) this.logged.frame(bytes);
    else this.host.up(bytes);
  }

  private snapshot(): SimImage {
    if (this.endpoint.pending > 0) this.flush();
    return {
      program: copyOf(this.state),
      endpoint: this.endpoint.snapshot(),
      held: this.state.queue.filter((q) => q.body === undefined).map((q) => q.arrival),
      incarnation: this.endpoint.incarnation,
      ...(this.isScript && { checkpointCalls: this.checkpointCalls }),
      ...this.carried.part,
      ...(this.image?.prologue && { prologue: this.image.prologue }),
    };
  }

  private jumps(image: SimImage): void {
    this.endpoint.jump(image.endpoint);
    this.checkpointCalls = image.checkpointCalls ?? 0;
    this.mates?.memory.callsBefore.set(this.task, this.checkpointCalls);
    this.witness.jumped(this.task, this.host.life);
    this.mates?.counts(image);
    for (const [dst, n] of this.endpoint.sent()) this.channelOf.set(dst, n);
  }

  private send(dst: TaskId, tag: number, mode: number, body: Uint8Array): void {
    const channel = (this.channelOf.get(dst) ?? 0) + 1;
    this.channelOf.set(dst, channel);
    const at = standingOf(this.endpoint);
    this.witness.sent(this.task, this.host.life, dst, channel, digestOf(tag, mode, body), at);
    let number = this.endpoint.beginSend(dst);
    if (number === 0 && this.host.undone === 'limits-ignored') number = channel;
    if (number === 0) {
      if (mode === WorldMode.EXIT) this.logged?.exitWasSent();
      return;
    }
    if (this.mates?.isLocal(dst)) {
      if (this.host.undone === 'local-suppressed' && this.endpoint.repeating) return;
      return (this.logged ?? this.mates).sends(dst, number, tag, body);
    }
    this.witness.written(this.task, this.host.life, dst, number);
    for (let offset = 0; offset === 0 || offset < body.length; offset += this.host.chunkBytes) {
      const part = body.subarray(offset, offset + this.host.chunkBytes);
      const block = this.logged ? EMPTY : this.endpoint.block();
      const bytes = encodeFrame(
        { ...this.endpoint.dataHeader(dst, number, mode, 0, tag, 0, body.length, offset, part.length, block) },
        part,
        block,
      );
      if (this.logged) {
        this.logged.frame(bytes);
        continue;
      }
      this.host.up(bytes);
      this.endpoint.framed();
    }
  }

  /** Consumes the next message into the queue of unmatched ones; false when there is none. */
  private consume(): boolean {
    const early = this.prologue.take();
    if (early) return this.keeps(early.src, early.message);
    if (this.carries(this.host.undone === 'carried-all-at-once' ? Infinity : 1) > 0) return true;
    const src = this.choose();
    if (src === 'log') this.consumeArrival();
    else if (src !== undefined) this.consumeLocal(src);
    return src !== undefined;
  }

  /** Where the next message comes from: the log, or a teammate. What may be taken is taken in any order. */
  private choose(): TaskId | 'log' | undefined {
    const here = this.inbox.arrivals.length > 0;
    if (!this.mates) return here ? 'log' : undefined;
    const { local } = this.endpoint;
    const choice = local?.choice() ?? { from: 'any' };
    const from: (TaskId | 'log')[] = this.mates
      .heads()
      .filter(
        ({ src, number }) =>
          (choice.from === 'any' || (choice.from === 'ring' && choice.src === src)) &&
          (local?.isNext(src, number) ?? true),
      )
      .map(({ src }) => src);
    if (here && choice.from !== 'ring') from.push('log');
    return from.length > 1 ? this.host.team!.random.pick(from) : from[0];
  }

  private consumeArrival(): void {
    const a = this.inbox.arrivals.shift()!;
    this.endpoint.consume(a.number, taskId(a.src));
    if (a.src < this.spec.size) this.mates?.took(taskId(a.src), a.channel);
    const room = !this.endpoint.bodiesStay || this.stored + a.size <= this.spec.storeBytes;
    const keep = a.body !== undefined && room;
    this.state.queue.push({
      src: a.src,
      ...(a.src === FILES ? { channel: a.channel } : {}),
      tag: a.tag,
      arrival: a.number,
      size: a.size,
      body: keep || a.size === 0 ? [...(a.body ?? EMPTY)] : undefined,
    });
    this.witness.consumed(
      this.task,
      this.host.life,
      this.at,
      a.number,
      a.src,
      a.channel,
      a.body && digestOf(a.tag, 0, a.body),
    );
  }

  private consumeLocal(src: TaskId): void {
    const message = this.mates!.take(src);
    this.endpoint.local?.consumeLocal(src, message.number);
    if (this.isScript) this.logged?.copies.consumed(src, message.body.length, () => message);
    this.keeps(src, message);
  }

  private get at(): number {
    return this.endpoint.consumed + (this.state.locals ?? 0);
  }

  /** T9: what is due of what was carried over, without a record. @returns how many messages */
  private carries(most = Infinity): number {
    let n = 0;
    if (this.endpoint.inPrologue) return 0;
    for (; n < most && this.carried.due(this.endpoint.consumed); n++) this.keeps(...this.carried.take());
    return n;
  }

  /** Its body is nowhere else: it stays in the rank's memory. */
  private keeps(src: TaskId, { number, tag, body }: LocalMessage): true {
    this.state.locals = (this.state.locals ?? 0) + 1;
    this.state.queue.push({ src, tag, arrival: 0, size: body.length, body: [...body] });
    this.witness.consumed(this.task, this.host.life, this.at, undefined, src, number, digestOf(tag, 0, body));
    return true;
  }

  /** Takes entry i from the queue into the program's state; false while its body has to be pulled. */
  private take(i: number): boolean {
    const q = this.state.queue[i]!;
    const { arrival } = q;
    const { task, incarnation } = this.endpoint;
    const pull = (): void =>
      this.up(encodeFrame({ ...emptyHeader(Kind.PULL), src: task, dst: task, incarnation, arrival }));
    const body: ArrayLike<number> | undefined = q.body ?? this.inbox.body(arrival, pull);
    if (!body) return false;
    if (body.length !== q.size)
      throw new Error(`task ${this.task}: arrival ${q.arrival} has ${body.length} bytes instead of ${q.size}`);
    if (q.src === FILES) {
      const answer = Uint8Array.from(body);
      this.witness.took(this.task, this.host.life, q.channel!, answer);
      answered(this.state, i, answer);
    } else matched(this.state, i, body);
    return true;
  }

  /** A waiting call consumes one arrival at a time, none if its condition holds at entry. */
  private receive(src: number, tag: number): boolean {
    if (this.host.undone === 'waiting-call-consumes-all') while (this.consume());
    for (;;) {
      const i = matching(this.state, src, tag);
      if (i >= 0) return this.take(i);
      if (
        this.host.undone === 'unmatched-not-consumed' &&
        this.stored + (this.inbox.arrivals[0]?.body?.length ?? 0) > this.spec.storeBytes
      )
        return false;
      if (!this.consume()) return false;
    }
  }

  /** A poll hit is a receive of what it saw. */
  private polled(src: number, tag: number): boolean {
    const s = this.state;
    const seen = (): boolean => matching(s, src, tag) >= 0;
    if (
      this.poll === undefined &&
      this.host.undone === 'vain-polls-omitted' &&
      (seen() || this.inbox.arrivals.length === 0)
    ) {
      this.polls(0, seen());
      return true;
    }
    if (this.poll === undefined)
      [this.poll, this.polledSoFar, this.polledCarried] = [this.endpoint.pollBegin(), 0, this.carries()];
    const live = this.poll === LIVE;
    for (; live ? !seen() : this.polledSoFar < this.poll; this.polledCarried += this.carries()) {
      const some = this.consume();
      if (!some && !live) return false; // a replayed poll waits for its logged arrivals
      if (!some) break;
      this.polledSoFar++;
    }
    this.endpoint.pollEnd();
    this.poll = undefined;
    this.polls(this.polledSoFar + this.polledCarried, seen());
    return true;
  }

  private polls(consumed: number, hit: boolean): void {
    this.witness.event(this.task, this.host.life, this.state.events, consumed);
    happened(this.state, hit ? 1 : 2);
  }
}
