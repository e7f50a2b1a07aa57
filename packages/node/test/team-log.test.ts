/**
 * The rank's part and the comm worker's part of a team under a log, in one thread: every order of operations of three
 * ranks over real memory. What leaves comes with what it depends on, images are consistent cuts, and a restart from
 * them goes on without a gap and without a message twice.
 */
import { Worker } from 'node:worker_threads';
import { decodeValue } from '@mayfly/mpi';
import { HEADER_BYTES, readHeader, type Assignment, type TaskId } from '@mayfly/wire';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { LoggedTeam } from '../src/comm/logged-team.ts';
import { RankLink } from '../src/comm/rank-link.ts';
import type { LocalMessage } from '../src/rank/teammates.ts';
import { waitAsync } from '../src/ring/index.ts';
import { createTeamMemory, TeamMemory } from '../src/ring/team-memory.ts';
import { bundled } from './bundle.ts';
import { members, World, type Rank } from './team-world.ts';

const text = new TextDecoder();

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
        for (const e of block.entries) if (e.type === 'local') known[members.indexOf(task)]! += e.count;
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
      onWish: () => undefined,
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
    expect([complete > 2, frames > 1000]).toEqual([true, true]);
  } finally {
    clearInterval(tick);
    for (const link of links) link.close();
    await Promise.all(workers.map((w) => w.terminate()));
  }
});
