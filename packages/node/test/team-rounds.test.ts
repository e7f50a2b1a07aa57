/** Scripts in a team under a log: images at calls of checkpoint.here, and prologues (team-log.ts, logged-team.ts). */
import type { TaskId } from '@mayfly/wire';
import { describe, expect, it } from 'vitest';
import { members, World, type Rank } from './team-world.ts';

describe('scripts in a team under a log', () => {
  it('L5: a script leaves what stands behind a marker alone for a while, then takes it and declines', () => {
    const world = new World(undefined, true);
    const [a, b, c] = world.ranks as [Rank, Rank, Rank];
    a.here();
    a.send(members[1]!);
    world.order();
    for (const rank of [a, c]) rank.here();
    c.here();
    expect([a.image?.wave, b.image, c.image?.wave]).toEqual([1, undefined, 1]);
    b.take(false, false);
    expect(b.log.passes()).toBe(false); // nothing stands behind the marker
    a.send(members[1]!);
    for (const [now, consumed] of [
      [5, 1],
      [24, 1],
      [25, 2],
    ] as const) {
      world.now = now;
      b.take(true, false);
      b.take(false, false);
      expect(b.consumed.get(a.task)).toBe(consumed);
    }
    expect([b.declined, b.image]).toEqual([[1], undefined]);
    // Nobody is asked for the next wave before the time is over, and then for twice as long.
    const due = (now: number): boolean => world.logged.due(now, 1000, () => undefined);
    world.logged.dropped(1, 30, 1000);
    expect([due(999), due(1000)]).toEqual([false, true]);
    world.order();
    world.logged.dropped(2, 1030, 1000);
    expect([due(1000), due(2000)]).toEqual([false, true]);
    expect(world.logged.skipped).toBe(2);
    // At the call that the wave names no image can be taken: it declines.
    world.order();
    for (let i = 0; i < 2; i++) b.here();
    expect(b.declined).toEqual([1]);
    b.here(false);
    expect([b.declined, b.image]).toEqual([[1, 3], undefined]);
  });

  it('Q2: members that have stopped behind a last image go on when it is not wanted any more', () => {
    const world = new World(undefined, true);
    const [a, b] = world.ranks as [Rank, Rank, Rank];
    for (const rank of world.ranks) rank.here();
    world.logged.order(true);
    world.order();
    for (let i = 0; i < 3 && !a.image; i++) a.here();
    expect([a.image?.wave, a.log.isLast(1), b.image]).toEqual([1, true, undefined]);
    expect(world.logged.stays()).toBe(1);
    world.logged.dropped(1, 0, 1000);
    expect([a.team.memory.dropped, a.log.isLast(2), world.logged.due(5, 1000, () => undefined)]).toEqual([
      1,
      false,
      false,
    ]);
    // Of those that all have theirs, nothing is undone.
    world.logged.order(true);
    world.order();
    world.logged.complete(2);
    expect([world.logged.stays(), a.log.isLast(2)]).toEqual([0, true]);
  });

  it('L8: a script that asks for an image waits for it at this call, unless another one is past it', () => {
    const world = new World(undefined, true);
    const [a, b, c] = world.ranks as [Rank, Rank, Rank];
    const images = (): (number | undefined)[] => [a, b, c].map((r) => r.image?.wave);
    a.here(true, true);
    expect(images()).toEqual([1, undefined, undefined]);
    a.send(members[1]!);
    // The wave is under way: nobody waits for another one, and each takes its image at this call, asked for or not.
    b.here();
    a.here(true, true);
    c.here(true, true);
    expect([images(), a.wish]).toEqual([[1, 1, 1], undefined]);
    world.logged.complete(1);
    // a is past the second call.
    b.here(true, true);
    expect([images(), world.wave]).toEqual([[1, 1, 1], 1]);
    for (const rank of [a, c, b, c]) rank.here(true, rank === c);
    expect([images(), world.wave]).toEqual([[1, 1, 1], 1]);
    a.here(true, true);
    expect(images()).toEqual([2, 1, 1]);
  });

  it('Q6: a team that waits, with no message since its last images, takes none', () => {
    const world = new World();
    const due = (now: number, work?: number): boolean => world.logged.due(now, 1000, () => work);
    expect([due(0, 7), due(999, 7), due(1000, 7)]).toEqual([false, false, true]);
    world.order(1000);
    expect([due(2000, 7), due(2000, 8), due(2000)]).toEqual([false, true, true]);
    world.logged.dropped(1, 2000, 1000);
    expect(due(4000, 7)).toBe(true);
    world.order(4000);
    world.logged.order(false);
    expect(due(5000, 7)).toBe(true);
  });

  it('L6: a prologue is repeated with copies of what teammates had sent, behind which the channels go on', () => {
    const world = new World(undefined, true);
    const [a, b] = world.ranks as [Rank, Rank, Rank];
    const [A, B] = members as [TaskId, TaskId];
    for (let i = 0; i < 5; i++) a.send(B);
    b.send(B);
    for (let i = 0; i < 3; i++) b.take(false, false, A);
    b.take(false, false, B);
    b.take(false, true, A); // in parts, and never looked for
    b.send(A);
    for (const rank of world.ranks) rank.open();
    b.take(false, false, A);
    for (let i = 0; i < 5; i++) a.send(B);
    b.take(false, false, A);
    for (const rank of world.ranks) rank.here();
    world.order();
    for (let i = 0; i < 2; i++) for (const rank of world.ranks) rank.here();
    world.frame(b);
    const images = world.ranks.map((rank) => rank.image!);
    expect(images.map((i) => i.channels !== undefined)).toEqual([true, true, true]);

    const again = new World(images, true, world);
    const [first, second] = again.ranks as [Rank, Rank, Rank];
    for (let i = 0; i < 5; i++) expect(first.endpoint.beginSend(B)).toBe(0);
    first.endpoint.jump();
    first.sent.set(B, images[0]!.sent.get(B)!);
    // It is past its checkpoint.open, and sends.
    first.send(B);
    expect(second.endpoint.beginSend(B)).toBe(0);
    for (const src of [A, A, A, B, A]) {
      expect(second.endpoint.choice()).toEqual({ from: 'ring', src });
      second.team.drain();
      second.take(false, src === A && second.consumed.get(A) === 3, src);
    }
    expect(second.log.take(A)).toBeUndefined();
    expect(second.endpoint.beginSend(A)).toBe(0);
    second.endpoint.jump();
    for (const [src, n] of images[1]!.consumed) second.consumed.set(src, n);
    for (let i = 0; i < 5; i++) second.take(false, false);
    expect([second.consumed.get(A), second.log.take()]).toEqual([11, undefined]);
  });
});
