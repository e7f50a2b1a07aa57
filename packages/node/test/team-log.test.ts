/**
 * The rank's part and the comm worker's part of a team under a log, in one thread: every order of operations of three
 * ranks over real memory. What leaves comes with what it depends on, images are consistent cuts, and a restart from
 * them goes on without a gap and without a message twice.
 */
import { Worker } from 'node:worker_threads';
import { decodeValue } from '@mayfly/mpi';
import { startInTeam, TeamEndpoint } from '@mayfly/protocols';
import {
  decodeDeterminants,
  readHeader,
  type Assignment,
  HEADER_BYTES,
  taskId,
  type Header,
  type TaskId,
} from '@mayfly/wire';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { LoggedTeam } from '../src/comm/logged-team.ts';
import { RankLink } from '../src/comm/rank-link.ts';
import { Local, type ImageHead } from '../src/local-frames.ts';
import { TeamLog } from '../src/rank/team-log.ts';
import { Teammates, type LocalMessage } from '../src/rank/teammates.ts';
import { createRankMemory, RankSide, waitAsync } from '../src/ring/index.ts';
import { createTeamMemory, TeamMemory } from '../src/ring/team-memory.ts';
import { bundled } from './bundle.ts';

const members = [3, 5, 8].map(taskId);
const text = new TextDecoder();
const start = { incarnation: 1, limits: [], prologue: [], determinants: [], openPolls: 0, consumed: 0 } as never;
const contents = (size: number, seed: number): Uint8Array =>
  Uint8Array.from({ length: size }, (_, i) => (i * 31 + seed + (i >> 8)) & 255);

interface Image {
  readonly wave: number;
  readonly sent: ReadonlyMap<TaskId, number>;
  readonly consumed: ReadonlyMap<TaskId, number>;
  /** Messages that were consumed, and whose bodies were not looked for. */
  readonly unread: readonly LocalMessage[];
  channels?: Uint8Array;
}

class Rank {
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
  private part: { head: ImageHead; bytes: Uint8Array[] } | undefined;

  constructor(
    readonly task: TaskId,
    private readonly world: World,
    memory: SharedArrayBuffer,
    from?: Image,
  ) {
    this.team = new Teammates({ members, memory }, task);
    this.endpoint = new TeamEndpoint(task, 9, startInTeam(), start, { members });
    const side = new RankSide(createRankMemory(), undefined, this.team.bell);
    this.log = new TeamLog(
      this.team,
      this.endpoint,
      side,
      (h, body) => this.up(h, body),
      (ready) => world.waits(this, ready),
    );
    if (!from) return;
    // The position of an image would do this.
    for (const [dst, n] of from.sent) for (let i = 0; i < n; i++) this.endpoint.beginSend(dst);
    for (const [src, n] of from.consumed) for (let i = 1; i <= n; i++) this.endpoint.consumeLocal(src, i);
    this.sent = new Map(from.sent);
    this.consumed = new Map(from.consumed);
    this.unread = [...from.unread];
    this.log.restore(from.channels!);
  }

  /** Records of the up ring. */
  private up(h: Header, body: Uint8Array): void {
    if (h.kind === Local.DECLINED) return void this.declined.push(h.word);
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
    this.sent.set(dst, n);
    this.log.report();
    const size = this.world.size(this.task, dst, n);
    this.world.tags.set(`${this.task} ${dst} ${n}`, new Map(this.depends));
    const h = this.team.header(dst, n, 1, 7, n, 0, size);
    this.team.send(members.indexOf(dst), h, contents(size, n + this.task), (ready) => this.world.waits(this, ready));
  }

  take(poll: boolean, keep: boolean): void {
    if (poll) this.endpoint.pollBegin();
    const m = this.log.take();
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
    if (!m.body) this.team.pull(m.number, body, (ready) => this.world.waits(this, ready));
    const expected = contents(this.world.size(m.src, this.task, m.channel), m.channel + m.src);
    expect(Buffer.compare(body, expected)).toBe(0);
  }

  /** An MPI call at which an image may be taken. */
  call(): void {
    this.log.settle();
    const wave = this.log.wanted;
    if (wave === 0) return;
    this.log.report();
    const { sent, consumed, unread } = this;
    this.image = { wave, sent: new Map(sent), consumed: new Map(consumed), unread: [...unread] };
    this.log.imaged({ serial: wave, position: this.endpoint.position([]), wave });
  }
}

class World {
  readonly memory = createTeamMemory(members.length, 0, true);
  readonly view = new TeamMemory(this.memory);
  readonly logged = new LoggedTeam(members, this.view);
  /** What a message depends on. */
  readonly tags = new Map<string, Map<TaskId, number>>();
  /** Local consumptions that reports have told, by member. */
  readonly known = new Map<TaskId, number>();
  readonly ranks: Rank[];
  wave = 0;
  /** All messages are short. */
  small = false;

  /** The size of message `n` of a channel: short, long in parts, or empty. */
  size(src: TaskId, dst: TaskId, n: number): number {
    return this.small ? 8 : [0, 8, 500, 40_000, 150_000][(src + dst + n * 3) % 5]!;
  }

  constructor(from?: readonly Image[]) {
    this.ranks = members.map((task, i) => new Rank(task, this, this.memory, from?.[i]));
  }

  /** A rank waits for room: the others go on, as far as they need nothing. */
  waits(rank: Rank, ready: () => boolean): void {
    for (let i = 0; !ready(); i++) {
      if (i > 1000) throw new Error('nothing goes on');
      if (this.logged.crowded()) this.reads();
      for (const other of this.ranks) if (other !== rank) other.team.drain();
      rank.team.drain();
    }
  }

  reads(): void {
    const { upTo, of } = this.logged.reports();
    for (const [task, reports] of of)
      for (const { stamp, block } of reports) {
        expect(stamp).toBeLessThanOrEqual(upTo);
        for (const e of decodeDeterminants(block).entries)
          if (e.type === 'local') this.known.set(task, (this.known.get(task) ?? 0) + e.count);
      }
  }

  /** A frame of this rank was taken (T5). */
  frame(rank: Rank): void {
    rank.log.report();
    const depends = new Map(rank.depends);
    this.reads();
    for (const [task, n] of depends) expect(this.known.get(task) ?? 0).toBeGreaterThanOrEqual(n);
  }

  order(): void {
    this.logged.begins(++this.wave, new Set(members), 0);
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

const step = fc.record({
  what: fc.constantFrom(
    'send',
    'send',
    'send',
    'take',
    'take',
    'keep',
    'poll',
    'read',
    'drain',
    'frame',
    'call',
    'order',
  ),
  rank: fc.nat(2),
  to: fc.nat(2),
});
type Step = { what: string; rank: number; to: number };

function run(world: World, steps: readonly Step[]): void {
  let open = false;
  for (const s of steps) {
    const rank = world.ranks[s.rank]!;
    if (s.what === 'send') rank.send(members[s.to]!);
    else if (s.what === 'take' || s.what === 'keep') rank.take(false, s.what === 'keep');
    else if (s.what === 'poll') rank.take(true, false);
    else if (s.what === 'read' && rank.unread.length > 0) rank.reads(rank.unread.shift()!);
    else if (s.what === 'drain') rank.team.drain();
    else if (s.what === 'frame') world.frame(rank);
    else if (s.what === 'call') rank.call();
    else if (s.what === 'order') {
      // One wave at a time.
      if (open) world.completes();
      world.order();
      open = true;
    }
  }
}

describe('a team under a log', () => {
  it('T4, T5: what leaves comes with the events of all members that it depends on', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 80 }), (steps) => {
        const world = new World();
        run(world, steps);
        for (const rank of world.ranks) world.frame(rank);
      }),
      { numRuns: 60 },
    );
  });

  it('T6: images are a consistent cut, and a restart has each message once, in order, with its body', () => {
    fc.assert(
      fc.property(
        fc.array(step, { maxLength: 60 }),
        fc.array(step, { maxLength: 25 }),
        fc.array(step, { maxLength: 40 }),
        (before, during, after) => {
          const world = new World();
          run(world, before);
          if (world.wave > 0) world.completes();
          world.order();
          run(
            world,
            during.filter((s) => s.what !== 'order'),
          );
          const images = world.completes();
          const again = new World(images);
          // Nobody has received what its sender has not sent.
          for (const [i, image] of images.entries())
            for (const [src, n] of image.consumed)
              expect(n).toBeLessThanOrEqual(images[members.indexOf(src)]!.sent.get(members[i]!) ?? 0);
          run(
            again,
            after.filter((s) => s.what !== 'order' && s.what !== 'frame'),
          );
          for (const rank of again.ranks) {
            for (let i = 0; i < 200; i++) rank.take(false, false);
            while (rank.unread.length > 0) rank.reads(rank.unread.shift()!);
            for (const src of members) {
              const sent = again.ranks[members.indexOf(src)]!.sent.get(rank.task) ?? 0;
              expect(rank.consumed.get(src) ?? 0).toBe(sent);
            }
          }
        },
      ),
      { numRuns: 80 },
    );
  });

  it('L2: nothing behind a marker is taken before the image; a program that only polls declines', () => {
    const world = new World();
    const [a, b] = world.ranks as [Rank, Rank, Rank];
    a.send(members[1]!);
    world.order();
    a.call();
    a.send(members[1]!);
    b.take(false, false);
    expect(b.consumed.get(a.task)).toBe(1);
    for (let i = 0; i < 8; i++) b.take(true, false);
    expect([b.consumed.get(a.task), b.declined]).toEqual([1, []]);
    b.take(true, false);
    expect(b.declined).toEqual([1]);
    b.take(false, false);
    expect(b.consumed.get(a.task)).toBe(2);
    // The wave is dropped: nothing is recorded any more.
    world.logged.dropped(1, 0, 1000);
    a.call();
    expect(a.log.handedOver).toBe(true);
    world.order();
    world.completes();
  });

  it('L1: a full ring of reports holds up its writer until they are read, and nobody else', () => {
    const world = new World();
    const [a, b] = world.ranks as [Rank, Rank, Rank];
    world.small = true;
    for (let i = 0; i < 4000; i++) {
      a.send(members[1]!);
      b.take(false, false);
      b.send(members[0]!);
      a.take(false, false);
    }
    world.frame(a);
    expect(world.known.get(b.task)).toBe(4000);
  });

  it('T12: a member that ended has no state left in its channels, and nobody waits for its marker', () => {
    const world = new World();
    const [a, b, c] = world.ranks as [Rank, Rank, Rank];
    a.send(members[1]!);
    a.team.leave();
    world.logged.begins(++world.wave, new Set([b.task, c.task]), 0);
    for (let i = 0; i < 4; i++) for (const rank of [b, c]) rank.call();
    expect([b.image?.channels, c.image?.channels].every((s) => s !== undefined)).toBe(true);
    expect(a.log.ended()).toBe(true);
    // It has no image: in this test a set goes without one.
    const gone = { ...c.image!, sent: a.sent, consumed: a.consumed };
    const again = new World([gone, b.image!, c.image!]);
    again.ranks[1]!.take(false, false);
    expect(again.ranks[1]!.consumed.get(a.task)).toBe(1);
  });
});

it('soak: three threads, waves without a pause: T5 holds for each frame, and each image is a consistent cut', async () => {
  const code = await bundled('team-log-rank.ts');
  const memory = createTeamMemory(members.length, 0, true);
  const logged = new LoggedTeam(members, new TeamMemory(memory));
  const known = members.map(() => 0);
  const reads = (): void => {
    for (const [task, reports] of logged.reports().of)
      for (const { block } of reports)
        for (const e of decodeDeterminants(block).entries)
          if (e.type === 'local') known[members.indexOf(task)]! += e.count;
  };
  let frames = 0;
  const judge = (bytes: Uint8Array): void => {
    reads();
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    for (let at = 0; at < bytes.length;) {
      const h = readHeader(view, at);
      expect(h.detBytes).toBe(0);
      if (h.offset === 0) {
        frames++;
        for (let i = 0; i < members.length; i++)
          if (view.getUint32(at + HEADER_BYTES + 4 * i, true) > known[i]!)
            throw new Error(`frame ${frames} depends on what member ${i} has not reported`);
      }
      at += (HEADER_BYTES + h.bytes + 7) & ~7;
    }
  };
  interface State {
    sent: number[];
    consumed: number[];
  }
  let wave = 0;
  let complete = 0;
  const over = new Set<number>();
  const states = new Map<number, State>();
  const channels = new Map<number, Map<TaskId, LocalMessage[]>>();
  const links: RankLink[] = [];
  const next = (): void => {
    states.clear();
    channels.clear();
    for (const link of links) {
      link.imageDone();
      link.side.ask(0);
    }
    const of = members.filter((_, i) => !over.has(i));
    if (of.length === members.length) logged.begins(++wave, new Set(of), 0);
  };
  const check = (): void => {
    if (channels.size < members.length) return;
    complete++;
    for (let dst = 0; dst < members.length; dst++)
      for (let src = 0; src < members.length; src++) {
        const from = states.get(dst)!.consumed[src]!;
        const lie = channels.get(dst)!.get(members[src]!) ?? [];
        expect(lie.map((m) => m.channel)).toEqual(lie.map((_, i) => from + 1 + i));
        expect(from + lie.length).toBe(states.get(src)!.sent[dst]!);
      }
    next();
  };
  const workers: Worker[] = [];
  let failed = (_: unknown): void => undefined;
  const failure = new Promise<never>((_, reject) => (failed = reject));
  const ends = members.map((task, me) => {
    const link: RankLink = new RankLink({ task } as Assignment, waitAsync, new TeamMemory(memory).bell(me), {
      onFrames: judge,
      onImage: (head, sections) => {
        if (head.wave === wave) states.set(me, JSON.parse(text.decode(sections.get('state'))) as State);
      },
      onChannels: (w, section) => {
        if (w !== wave) return;
        channels.set(me, (decodeValue(section) as { channels: Map<TaskId, LocalMessage[]> }).channels);
        check();
      },
      onDeclined: (w) => {
        logged.dropped(w, 0, 0);
        if (w === wave) next();
      },
      onEnd: () => undefined,
      onRead: () => undefined,
      onNote: () => undefined,
      onWake: () => serve(),
      blocked: () => false,
    });
    link.side.wanted = logged.crowded;
    const serve = (): void => {
      try {
        if (logged.crowded()) reads();
        while (link.drain() === 'more');
        if (!link.sleep(false)) setImmediate(serve);
      } catch (e) {
        failed(e);
      }
    };
    links.push(link);
    serve();
    const workerData = { members, me, memory: link.memory, shared: memory, each: 1500, seed: 77 + me };
    const worker = new Worker(code, { eval: true, workerData });
    workers.push(worker);
    return new Promise<{ got: number }>((resolve) => {
      worker.on('error', failed);
      worker.on('message', (m: { got: number }) => {
        over.add(me);
        resolve(m);
      });
    });
  });
  const tick = setInterval(() => links.forEach((l) => l.side.look()), 500);
  next();
  try {
    for (const { got } of await Promise.race([Promise.all(ends), failure])) expect(got).toBe(4500);
    console.log(`${complete} images of the team, ${frames} frames`);
    expect([complete > 10, frames > 1000]).toEqual([true, true]);
  } finally {
    clearInterval(tick);
    for (const link of links) link.close();
    await Promise.all(workers.map((w) => w.terminate()));
  }
}, 60_000);
