/** Images of level 1 at the Checkpoint Server (images/near.ts): their pages stay with the nodes. */
import { IMAGE_FORMAT, imageIdOf, incarnation, jobId, taskId, type Manifest } from '@mayfly/wire';
import { expect, it } from 'vitest';
import { positionOf, zeroLine, type CheckpointServerEffect } from '../src/index.ts';
import { ServerStage, page, type EffectOf } from './checkpoint-server-stage.ts';

const J = jobId('job000000000');
const T = taskId(1);
const program = 'f'.repeat(64);
const manifest = (serial: number, inc = 0): Manifest => ({
  format: IMAGE_FORMAT,
  image: imageIdOf(J, T, incarnation(inc), serial),
  job: J,
  task: T,
  incarnation: incarnation(inc),
  program,
  serial,
  position: positionOf({
    prologue: zeroLine(),
    image: { ...zeroLine(), arrivals: 10 * serial, determinants: 10 * serial },
    held: [],
  }),
  sections: [{ name: 'data', bytes: 100_000 }],
  pages: [page(serial), page(1000)],
  bytes: 100_000,
});

class Stage extends ServerStage {
  constructor() {
    super();
    const programs = [{ count: 4, hash: program }];
    this.send('openJob', {
      job: J,
      protocol: 'pessimistic',
      size: 4,
      channelMemories: 1,
      programs,
      wholeEvery: 4,
      acting: [[T, incarnation(0)]],
    });
  }

  offer(m: Manifest, near: boolean): CheckpointServerEffect[] {
    return this.send('offer', { link: 'L', job: J, task: T, incarnation: m.incarnation, manifest: m, near });
  }

  /** Up to the question to the Channel Memory. */
  stored(m: Manifest, near: boolean): void {
    const [find] = this.offer(m, near) as [EffectOf<'findPages'>];
    this.send('pagesFound', { image: m.image, ask: find.ask, missing: [m.pages[0]!] });
    const [need] = this.of('need').slice(-1);
    expect(need!.pages).toEqual(near ? [] : [0]);
    for (const index of need!.pages) this.send('pageStored', { link: 'L', image: m.image, index, bytes: 65_536 });
    this.send('end', { link: 'L', image: m.image });
  }

  cover(m: Manifest): void {
    this.send('covered', { image: m.image, cm: 0, determinants: [[0, 10 * m.serial]] });
  }

  whole(m: Manifest): void {
    this.stored(m, false);
    this.cover(m);
    this.send('committed', { image: m.image });
  }

  near(m: Manifest): void {
    this.stored(m, true);
    this.cover(m);
  }

  restart(inc: number): CheckpointServerEffect[] {
    return this.send('restart', { job: J, task: T, incarnation: incarnation(inc) });
  }
}

it('C12: its node sends no page; it counts when it is covered, and not before', () => {
  const s = new Stage();
  s.stored(manifest(1), true);
  expect(s.of('near')).toEqual([]);
  s.cover(manifest(1));
  expect(s.of('near')).toMatchObject([{ image: manifest(1).image, savedBytes: 65_536 }]);
  expect(s.of('reply').at(-1)).toMatchObject({ reply: 'complete', image: manifest(1).image });
  expect(s.core.nearOf(J, T)).toEqual({
    images: 1,
    savedBytes: 65_536,
    sentBytes: 0,
    image: manifest(1).image,
  });
  // Offered again, after a connection was lost.
  expect(s.offer(manifest(1), true)).toMatchObject([{ type: 'reply', reply: 'complete' }]);
});

it('C13: no log is trimmed for it, no image goes because of it, and nothing of it is stored', () => {
  const s = new Stage();
  s.whole(manifest(1));
  for (const n of [2, 3, 4, 5]) s.near(manifest(n));
  expect(s.of('trim')).toEqual([]);
  expect(s.of('discard')).toEqual([]);
  expect(s.of('commit')).toHaveLength(1);
  expect(s.core.imagesOf(J, T).map((i) => i.serial)).toEqual([1]);
  s.whole(manifest(6));
  expect(s.of('trim')).toMatchObject([{ to: manifest(1).position }]);
  expect(s.core.nearOf(J, T)).toMatchObject({ images: 4, savedBytes: 4 * 65_536, sentBytes: 2 * 65_536 });
  // It is older than a whole one now.
  expect(s.core.nearOf(J, T).image).toBeUndefined();
});

it('C12: a restart has the newest made again, commits it, and begins there', () => {
  const s = new Stage();
  s.whole(manifest(1));
  s.near(manifest(2));
  s.near(manifest(3));
  const m = manifest(3);
  expect(s.restart(1)).toMatchObject([{ type: 'rebuild', image: m.image, manifest: m }]);
  // A newer fence while that is under way asks for nothing else.
  expect(s.restart(2)).toEqual([]);
  expect(s.send('rebuilt', { image: m.image })).toMatchObject([{ type: 'commit', image: m.image }]);
  const out = s.send('committed', { image: m.image });
  expect(out.map((e) => e.type)).toContain('complete');
  expect(s.of('check').map((e) => e.image)).toEqual([m.image]);
  expect(s.send('checked', { image: m.image, sound: true })).toMatchObject([
    { type: 'chosen', incarnation: 2, image: m.image, position: m.position },
  ]);
  expect(s.core.imagesOf(J, T).map((i) => i.serial)).toEqual([1, 3]);
});

it('C6: what is being made again is pinned', () => {
  const s = new Stage();
  s.near(manifest(1));
  s.restart(1);
  const [collect] = s.core.step({ type: 'tick', now: 1e9 }) as [EffectOf<'collect'>];
  expect([...collect.pinned]).toEqual(manifest(1).pages);
});

it('C14: what cannot be made again is forgotten, with a reason, and the image at the server is taken', () => {
  const s = new Stage();
  s.whole(manifest(1));
  s.near(manifest(2));
  s.restart(1);
  const out = s.send('rebuilt', { image: manifest(2).image, error: 'two nodes are lost' });
  expect(out.map((e) => e.type)).toEqual(['nearLost', 'log', 'check']);
  expect(s.of('nearLost')[0]).toMatchObject({ image: manifest(2).image, reason: 'two nodes are lost' });
  expect(s.of('check').map((e) => e.image)).toEqual([manifest(1).image]);
});

it('C14: a commit of it that fails goes on with the image at the server, too', () => {
  const s = new Stage();
  s.whole(manifest(1));
  s.near(manifest(2));
  s.restart(1);
  s.send('rebuilt', { image: manifest(2).image });
  s.send('commitFailed', { image: manifest(2).image, error: { code: 'DISK_FULL', message: 'no space is left' } });
  expect(s.of('check').map((e) => e.image)).toEqual([manifest(1).image]);
});

it('a fence ends an offer that is not covered: only what is covered is made again', () => {
  const s = new Stage();
  s.near(manifest(1));
  s.stored(manifest(2), true);
  expect(s.restart(1)).toMatchObject([
    { type: 'reply', reply: 'refused', image: manifest(2).image, error: { code: 'FENCED' } },
    { type: 'uncover' },
    { type: 'rebuild', image: manifest(1).image },
  ]);
});

it('the end of the task ends it', () => {
  const s = new Stage();
  s.near(manifest(1));
  s.restart(1);
  s.send('taskDone', { job: J, task: T });
  expect(s.send('rebuilt', { image: manifest(1).image })).toEqual([]);
  expect(s.core.nearOf(J, T).image).toBeUndefined();
});

it('refused for teams, whose images count together', () => {
  const s = new Stage();
  s.send('teams', { job: J, teams: [[T, taskId(2)]] });
  expect(s.offer(manifest(1), true)).toMatchObject([{ reply: 'refused', error: { code: 'CONFLICT' } }]);
});
