/** Images of level 1 under waves, at the Checkpoint Server (images/near-waves.ts). */
import { IMAGE_FORMAT, imageIdOf, incarnation, jobId, taskId, type ImageId, type Manifest } from '@mayfly/wire';
import { expect, it } from 'vitest';
import { START_OF_TASK } from '../src/contract/waves.ts';
import { positionOf } from '../src/coordinated/position.ts';
import type { CheckpointServerEffect } from '../src/index.ts';
import { ServerStage, page, type EffectOf } from './checkpoint-server-stage.ts';

const J = jobId('job000000000');
const program = 'f'.repeat(64);
const manifest = (task: number, wave: number): Manifest => ({
  format: IMAGE_FORMAT,
  image: imageIdOf(J, taskId(task), incarnation(0), wave),
  job: J,
  task: taskId(task),
  incarnation: incarnation(0),
  program,
  serial: wave,
  position: positionOf('vcl', { wave, cut: START_OF_TASK }),
  sections: [{ name: 'data', bytes: 100_000 }],
  pages: [page(100 * task + wave), page(1000)],
  bytes: 100_000,
});
const image = (task: number, wave: number): ImageId => manifest(task, wave).image;

/** Two tasks; of so many waves one is whole. */
class Stage extends ServerStage {
  constructor(wholeEvery: number | null = 4) {
    super();
    const acting = [0, 1].map((t) => [taskId(t), incarnation(0)] as const);
    const programs = [{ count: 2, hash: program }];
    const parity = wholeEvery === null ? {} : { wholeEvery };
    this.send('openJob', { job: J, protocol: 'vcl', size: 2, channelMemories: 1, programs, ...parity, acting });
  }

  offer(m: Manifest, near: boolean, link = `L${m.task}`): CheckpointServerEffect[] {
    return this.send('offer', { link, job: J, task: m.task, incarnation: m.incarnation, manifest: m, near });
  }

  /** As far as it comes before its wave is over. */
  stored(m: Manifest, near: boolean): void {
    const [find] = this.offer(m, near) as [EffectOf<'findPages'>];
    this.send('pagesFound', { image: m.image, ask: find.ask, missing: [m.pages[0]!] });
    const link = `L${m.task}`;
    if (!near) this.send('pageStored', { link, image: m.image, index: 0, bytes: 65_536 });
    this.send('end', { link, image: m.image });
    this.send('covered', { image: m.image, cm: 0, determinants: [] });
    if (!near) this.send('committed', { image: m.image });
  }

  wave(wave: number, near: readonly boolean[], committed = true): void {
    this.send('wave', { job: J, wave });
    for (const [t, n] of near.entries()) this.stored(manifest(t, wave), n);
    this.send('waveOver', { job: J, wave, committed });
  }

  check(wave: number): CheckpointServerEffect[] {
    return this.send('checkWave', { job: J, wave, images: [image(0, wave), image(1, wave)] });
  }
}

it('C15: the scheduler hears of an image of level 1 when it is covered, and its node when the wave is committed', () => {
  const s = new Stage();
  s.send('wave', { job: J, wave: 1 });
  s.stored(manifest(0, 1), true);
  expect(s.of('nearStored')).toMatchObject([{ task: 0, wave: 1, image: image(0, 1), bytes: 100_000 }]);
  expect(s.of('reply').map((r) => r.reply)).toEqual(['stored']);
  expect(s.core.nearOf(J, taskId(0)).image).toBeUndefined();
  expect(s.send('waveOver', { job: J, wave: 1, committed: true })).toMatchObject([
    { type: 'reply', reply: 'complete', image: image(0, 1) },
    { type: 'near', savedBytes: 65_536 },
  ]);
  expect(s.core.nearOf(J, taskId(0))).toMatchObject({ images: 1, savedBytes: 65_536, image: image(0, 1) });
  expect(s.of('commit')).toEqual([]);
});

it('C16: a node hears that a whole image is complete when its wave is committed, also over a new connection', () => {
  const s = new Stage();
  s.send('wave', { job: J, wave: 4 });
  s.stored(manifest(0, 4), false);
  expect(s.of('complete')).toMatchObject([{ task: 0, wave: 4 }]);
  expect(s.of('reply').map((r) => r.reply)).toEqual(['stored']);
  s.send('linkClosed', { link: 'L0' });
  expect(s.offer(manifest(0, 4), false, 'L9')).toMatchObject([{ type: 'need', link: 'L9', pages: [] }]);
  expect(s.send('end', { link: 'L9', image: image(0, 4) })).toMatchObject([{ reply: 'stored' }]);
  expect(s.send('waveOver', { job: J, wave: 4, committed: true })).toMatchObject([
    { type: 'reply', reply: 'complete', link: 'L9', image: image(0, 4) },
  ]);
  // Without parity nobody waits for that.
  const plain = new Stage(null);
  plain.send('wave', { job: J, wave: 1 });
  plain.stored(manifest(0, 1), false);
  expect(plain.of('reply').at(-1)).toMatchObject({ reply: 'complete' });
});

it('C15, C16: a wave that is abandoned takes its images of both levels with it', () => {
  const s = new Stage();
  s.wave(1, [true, true]);
  s.wave(2, [true, false], false);
  expect(s.of('reply').slice(-2)).toMatchObject([
    { reply: 'refused', image: image(1, 2), error: { code: 'CONFLICT' } },
    { reply: 'refused', image: image(0, 2), error: { code: 'CONFLICT' } },
  ]);
  expect(s.core.nearOf(J, taskId(0)).image).toBe(image(0, 1));
  expect(s.core.imagesOf(J, taskId(1))).toEqual([]);
});

it('C15: before a rollback all images of its wave come to the server, and it is sound when they are committed', () => {
  const s = new Stage();
  s.wave(1, [true, false]);
  expect(s.check(1)).toMatchObject([
    { type: 'rebuild', task: 0, image: image(0, 1) },
    { type: 'check', image: image(1, 1) },
  ]);
  // Another loss asks again, and nothing is asked for twice.
  expect(s.check(1)).toMatchObject([{ type: 'check', image: image(1, 1) }]);
  s.send('checked', { image: image(1, 1), sound: true });
  const [collect] = s.core.step({ type: 'tick', now: 1e9 }) as [EffectOf<'collect'>];
  expect([...collect.pinned]).toEqual(manifest(0, 1).pages);
  expect(s.send('rebuilt', { image: image(0, 1) })).toMatchObject([{ type: 'commit', image: image(0, 1) }]);
  expect(s.of('waveChecked')).toEqual([]);
  s.send('committed', { image: image(0, 1) });
  expect(s.of('waveChecked')).toEqual([{ type: 'waveChecked', job: J, wave: 1, sound: true }]);
  expect(s.core.imagesOf(J, taskId(0)).map((i) => i.image)).toEqual([image(0, 1)]);
  expect(s.core.nearOf(J, taskId(0)).image).toBeUndefined();
  s.send('goBack', { job: J, kept: [1], images: [0, 1].map((t) => [taskId(t), image(t, 1)] as const) });
  s.send('restart', { job: J, task: taskId(0), incarnation: incarnation(1) });
  expect(s.of('check').at(-1)).toMatchObject({ image: image(0, 1) });
});

it('C15: a wave of which one image cannot be made again is not sound, and says why', () => {
  const s = new Stage();
  s.wave(1, [true, true]);
  s.check(1);
  s.send('rebuilt', { image: image(0, 1), error: 'two nodes are lost' });
  s.send('rebuilt', { image: image(1, 1) });
  s.send('committed', { image: image(1, 1) });
  expect(s.of('nearLost')).toMatchObject([{ task: 0, reason: 'two nodes are lost' }]);
  expect(s.of('waveChecked')).toEqual([
    { type: 'waveChecked', job: J, wave: 1, sound: false, reason: 'two nodes are lost' },
  ]);
  s.send('forgetWave', { job: J, wave: 1 });
  expect(s.core.imagesOf(J, taskId(1))).toEqual([]);
});

it('C15: nor one whose image cannot be committed, or that nobody has', () => {
  const s = new Stage();
  s.wave(1, [true, true]);
  s.wave(2, [true, true]);
  s.check(2);
  for (const t of [0, 1]) s.send('rebuilt', { image: image(t, 2) });
  s.send('committed', { image: image(0, 2) });
  s.send('commitFailed', { image: image(1, 2), error: { code: 'DISK_FULL', message: 'no space is left' } });
  expect(s.of('waveChecked').at(-1)).toMatchObject({ wave: 2, sound: false, reason: 'no space is left' });
  // Level 1 has the newest wave only.
  s.check(1);
  for (const t of [0, 1]) s.send('checked', { image: image(t, 1), sound: true });
  expect(s.of('waveChecked').at(-1)).toMatchObject({ wave: 1, sound: false });
});

it('C15: a whole image that is stored does not take the place of that of the wave before', () => {
  const s = new Stage();
  s.wave(3, [true, true]);
  s.send('wave', { job: J, wave: 4 });
  s.stored(manifest(0, 4), false);
  s.send('waveOver', { job: J, wave: 4, committed: false });
  expect(s.check(3).map((e) => e.type)).toEqual(['rebuild', 'rebuild']);
});

it('C15: refused for a whole wave, and in a job without parity', () => {
  const s = new Stage();
  s.send('wave', { job: J, wave: 4 });
  expect(s.offer(manifest(0, 4), true)).toMatchObject([{ reply: 'refused', error: { code: 'CONFLICT' } }]);
  const plain = new Stage(null);
  plain.send('wave', { job: J, wave: 1 });
  expect(plain.offer(manifest(0, 1), true)).toMatchObject([{ reply: 'refused', error: { code: 'CONFLICT' } }]);
});

it('the end of the task ends what is being made again', () => {
  const s = new Stage();
  s.wave(1, [true, true]);
  s.check(1);
  s.send('rebuilt', { image: image(1, 1) });
  for (const t of [0, 1]) s.send('taskDone', { job: J, task: taskId(t) });
  expect(s.send('rebuilt', { image: image(0, 1) })).toEqual([]);
  s.send('committed', { image: image(1, 1) });
  expect(s.core.imagesOf(J, taskId(1))).toEqual([]);
});
