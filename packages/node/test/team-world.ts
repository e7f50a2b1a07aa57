/** Ranks of a team under a log and their comm worker, in one thread, over real memory. */
import { protocols, startInTeam, TeamEndpoint } from '@mayfly/protocols';
import { taskId, type Determinant, type Header, type Position, type TaskId } from '@mayfly/wire';
import { expect } from 'vitest';
import { LoggedTeam } from '../src/comm/logged-team.ts';
import { Local, type ImageHead } from '../src/local-frames.ts';
import { readChannels } from '../src/rank/channel-state.ts';
import { Prologue } from '../src/rank/prologue.ts';
import { TeamLog } from '../src/rank/team-log.ts';
import { Teammates, type LocalMessage } from '../src/rank/teammates.ts';
import { createRankMemory, RankSide } from '../src/ring/index.ts';
import { createTeamMemory, TeamMemory } from '../src/ring/team-memory.ts';

export const members = [3, 5, 8].map(taskId);
const text = new TextDecoder();
const start = { incarnation: 1, limits: [], prologue: [], determinants: [], openPolls: 0, consumed: 0 } as never;
const contents = (size: number, seed: number): Uint8Array =>
  Uint8Array.from({ length: size }, (_, i) => (i * 31 + seed + (i >> 8)) & 255);

export interface Image {
  readonly wave: number;
  readonly sent: ReadonlyMap<TaskId, number>;
  readonly consumed: ReadonlyMap<TaskId, number>;
  /** Messages that were consumed, and whose bodies were not looked for. */
  readonly unread: readonly LocalMessage[];
  channels?: Uint8Array;
  readonly position: Position;
  /** Of a script. */
  readonly prologue: Uint8Array;
}

export class Rank {
  readonly endpoint: TeamEndpoint;
  readonly team: Teammates;
  readonly log: TeamLog;
  readonly sent = new Map<TaskId, number>();
  readonly consumed = new Map<TaskId, number>();
  unread: LocalMessage[] = [];
  /** Events of each member that what it does now depends on. */
  depends = new Map<TaskId, number>();
  events = 0;
  image: Image | undefined;
  declined: number[] = [];
  /** The call of checkpoint.here at which it waits. */
  wish: number | undefined;
  private readonly prologue: Prologue | undefined;
  private part: { head: ImageHead; bytes: Uint8Array[] } | undefined;

  constructor(
    readonly task: TaskId,
    private readonly world: World,
    memory: SharedArrayBuffer,
    from?: Image,
  ) {
    this.team = new Teammates({ members, memory }, task);
    this.endpoint = from && world.script ? world.again(task, from) : world.fresh(task);
    const side = new RankSide(createRankMemory(), undefined, this.team.bell);
    this.log = new TeamLog(
      this.team,
      this.endpoint,
      side,
      (h, body) => this.up(h, body),
      (ready) => world.waits(this, ready),
      world.script ? { intervalMs: 200, now: () => world.now } : undefined,
    );
    if (!from) return;
    if (world.script) {
      this.prologue = new Prologue(from.prologue, this.endpoint);
      this.log.begins(this.prologue, from.channels!, undefined);
      return;
    }
    // The position of an image would do this.
    for (const [dst, n] of from.sent) for (let i = 0; i < n; i++) this.endpoint.beginSend(dst);
    for (const [src, n] of from.consumed) for (let i = 1; i <= n; i++) this.endpoint.consumeLocal(src, i);
    this.sent = new Map(from.sent);
    this.consumed = new Map(from.consumed);
    this.unread = [...from.unread];
    this.log.restore(readChannels(from.channels!));
  }

  /** Records of the up ring. */
  private up(h: Header, body: Uint8Array): void {
    if (h.kind === Local.DECLINED) return void this.declined.push(h.word);
    if (h.kind === Local.WISH) return void (this.wish = h.word);
    if (h.kind !== Local.IMAGE) throw new Error(`a record of kind ${h.kind}`);
    if (h.word === 1) this.part = { head: JSON.parse(text.decode(body)) as ImageHead, bytes: [] };
    else this.part!.bytes.push(body.slice());
    const bytes = Buffer.concat(this.part!.bytes);
    if (bytes.length < this.part!.head.sections[0]!.bytes) return;
    expect(this.part!.head).toMatchObject({ closes: true, wave: this.image!.wave });
    this.image!.channels = new Uint8Array(bytes);
  }

  send(dst: TaskId): void {
    const n = this.endpoint.beginSend(dst);
    if (n === 0) return;
    this.sent.set(dst, n);
    this.log.report();
    const size = this.world.size(this.task, dst, n);
    this.world.tags.set(`${this.task} ${dst} ${n}`, new Map(this.depends));
    const h = this.team.header(dst, n, 1, 7, n, 0, size);
    this.team.send(members.indexOf(dst), h, contents(size, n + this.task), (ready) => this.world.waits(this, ready));
  }

  take(poll: boolean, keep: boolean, src?: TaskId): void {
    if (poll) this.endpoint.pollBegin();
    const m = this.prologue?.take() ?? this.log.take(src);
    if (poll) {
      this.endpoint.pollEnd();
      this.log.polled();
    }
    if (m) this.took(m, keep);
  }

  private took(m: LocalMessage, keep: boolean): void {
    expect(m.channel).toBe((this.consumed.get(m.src) ?? 0) + 1);
    this.consumed.set(m.src, m.channel);
    for (const [task, n] of this.world.tags.get(`${m.src} ${this.task} ${m.channel}`) ?? [])
      this.depends.set(task, Math.max(n, this.depends.get(task) ?? 0));
    this.depends.set(this.task, ++this.events);
    if (keep && !m.body) this.unread.push(m);
    else this.reads(m);
  }

  reads(m: LocalMessage): void {
    const body = m.body?.slice() ?? new Uint8Array(m.size);
    if (!m.body) {
      this.team.pull(m.number, body, (ready) => this.world.waits(this, ready));
      this.log.pulled(m.number, body);
    }
    const expected = contents(this.world.size(m.src, this.task, m.channel), m.channel + m.src);
    expect(Buffer.compare(body, expected)).toBe(0);
  }

  /** An MPI call at which an image may be taken. */
  call(): void {
    this.log.settle();
    this.takes(this.log.wanted);
  }

  /** A script calls checkpoint.here. */
  here(may = true, force = false): void {
    this.log.settle();
    this.takes(this.log.here(may, force));
  }

  private takes(wave: number): void {
    if (wave === 0) return;
    this.log.report();
    const { sent, consumed, unread } = this;
    const position = this.endpoint.position([]);
    const prologue = this.log.prologueSection;
    this.image = { wave, sent: new Map(sent), consumed: new Map(consumed), unread: [...unread], position, prologue };
    this.log.imaged({ serial: wave, position, wave });
  }

  open(): void {
    this.endpoint.openPrologue();
    this.log.opened();
  }
}

export class World {
  readonly memory = createTeamMemory(members.length, 0, true);
  readonly view = new TeamMemory(this.memory);
  readonly logged: LoggedTeam;
  now = 0;
  /** What a message depends on. */
  readonly tags = new Map<string, Map<TaskId, number>>();
  /** Local consumptions that reports have told, by member. */
  readonly known = new Map<TaskId, number>();
  readonly determinants = new Map<TaskId, Determinant[]>();
  readonly ranks: Rank[];
  wave = 0;
  /** All messages are short. */
  small = false;

  /** The size of message `n` of a channel: short, long in parts, or empty. */
  size(src: TaskId, dst: TaskId, n: number): number {
    return this.small ? 8 : [0, 8, 500, 40_000, 150_000][(src + dst + n * 3) % 5]!;
  }

  constructor(
    from?: readonly Image[],
    readonly script = false,
    private readonly before?: World,
  ) {
    this.logged = new LoggedTeam(members, this.view, script);
    this.ranks = members.map((task, i) => new Rank(task, this, this.memory, from?.[i]));
  }

  fresh(task: TaskId): TeamEndpoint {
    return new TeamEndpoint(task, 9, startInTeam(), start, { members });
  }

  /** A script begins with an image. */
  again(task: TaskId, { position }: Image): TeamEndpoint {
    const prologue = this.before!.determinants.get(task) ?? [];
    const from = { ...(start as object), prologue } as never;
    return protocols.pessimistic.rank(task, 9, position, from, members) as TeamEndpoint;
  }

  /** A rank waits for room: the others go on, as far as they need nothing. */
  waits(rank: Rank, ready: () => boolean): void {
    for (let i = 0; !ready(); i++) {
      if (i > 1000) throw new Error('nothing goes on');
      if (this.logged.crowded()) this.reads();
      this.answers(rank);
      for (const other of this.ranks) if (other !== rank) other.team.drain();
      rank.team.drain();
    }
  }

  /** It may wait at a call of checkpoint.here (logged-team.ts, Q5). */
  private answers(rank: Rank): void {
    const { wish } = rank;
    rank.wish = undefined;
    if (wish === undefined) return;
    if (this.logged.offered) this.order();
    else this.logged.refuse(rank.task, wish);
  }

  reads(): void {
    const { upTo, of } = this.logged.reports();
    for (const [task, reports] of of)
      for (const { stamp, block } of reports) {
        expect(stamp).toBeLessThanOrEqual(upTo);
        const { entries } = block;
        this.determinants.set(task, [...(this.determinants.get(task) ?? []), ...entries]);
        for (const e of entries) if (e.type === 'local') this.known.set(task, (this.known.get(task) ?? 0) + e.count);
      }
  }

  /** A frame of this rank was taken (T5). */
  frame(rank: Rank): void {
    rank.log.report();
    const depends = new Map(rank.depends);
    this.reads();
    for (const [task, n] of depends) expect(this.known.get(task) ?? 0).toBeGreaterThanOrEqual(n);
  }

  order(now = 0): void {
    this.logged.begins(++this.wave, new Set(members), now);
  }

  /** Everybody gets to a call, until all images of the wave are whole. */
  completes(): readonly Image[] {
    for (let i = 0; i < 10; i++) for (const rank of this.ranks) rank.call();
    return this.ranks.map((rank) => {
      expect(rank.image?.wave).toBe(this.wave);
      expect(rank.image?.channels).toBeDefined();
      return rank.image!;
    });
  }
}
