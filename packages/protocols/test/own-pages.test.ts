/** C21: what of an image a task need not send. Pages of others count for nothing, though the store has them once. */
import { IMAGE_FORMAT, imageIdOf, incarnation, jobId, taskId, type Manifest, type TaskId } from '@mayfly/wire';
import { expect, it } from 'vitest';
import { protocols } from '../src/index.ts';
import { page, ServerStage, type EffectOf } from './checkpoint-server-stage.ts';

const J = jobId('job000000000');
const [T, U] = [taskId(1), taskId(2)];
const I = incarnation(0);
const program = 'f'.repeat(64);

const manifest = (task: TaskId, serial: number): Manifest => ({
  format: IMAGE_FORMAT,
  image: imageIdOf(J, task, I, serial),
  job: J,
  task,
  incarnation: I,
  program,
  serial,
  position: protocols.pessimistic.recovery.start,
  sections: [{ name: 'data', bytes: 100_000 }],
  pages: [page(serial), page(1000)],
  bytes: 100_000,
});

class Stage extends ServerStage {
  constructor() {
    super();
    this.send('openJob', {
      job: J,
      protocol: 'pessimistic',
      size: 4,
      channelMemories: 1,
      programs: [{ count: 4, hash: program }],
      acting: [T, U].map((task) => [task, I] as const),
    });
  }

  offer(m: Manifest, link: string): EffectOf<'findPages'> {
    const effects = this.send('offer', { link, job: J, task: m.task, incarnation: I, manifest: m });
    return effects.find((e): e is EffectOf<'findPages'> => e.type === 'findPages')!;
  }

  complete(m: Manifest, link: string): void {
    const { ask } = this.offer(m, link);
    this.send('pagesFound', { image: m.image, ask, missing: [] });
    this.send('end', { link, image: m.image });
    this.send('covered', { image: m.image, cm: 0, determinants: [] });
    this.send('committed', { image: m.image });
    expect(this.core.imagesOf(J, m.task).map((i) => i.image)).toContain(m.image);
  }
}

it('leaves out what its own images name, and nothing that images of others name', () => {
  const s = new Stage();
  const [theirs, first] = [manifest(U, 1), manifest(T, 1)];
  s.complete(theirs, 'U');
  expect(s.offer(first, 'L')).toMatchObject({ pages: first.pages, own: [], sent: [] });
  s.send('linkClosed', { link: 'L' });
  s.complete(first, 'L');
  expect(s.offer(manifest(T, 2), 'L').own).toEqual([first.image]);
});

it('leaves out what it sent before its connection broke, until that may have been collected', () => {
  const s = new Stage();
  const first = manifest(T, 1);
  const { ask } = s.offer(first, 'L');
  s.send('pagesFound', { image: first.image, ask, missing: first.pages });
  s.send('pageStored', { link: 'L', image: first.image, index: 0, bytes: 65_536 });
  s.send('linkClosed', { link: 'L' });
  expect(s.offer(first, 'M').sent).toEqual([page(1)]);
  // The image under way pins its pages.
  s.core.step({ type: 'tick', now: 100_000 });
  s.send('linkClosed', { link: 'M' });
  expect(s.offer(first, 'N').sent).toEqual([page(1)]);
  s.send('linkClosed', { link: 'N' });
  // Collected now, the page may come back from somebody else.
  expect(s.core.step({ type: 'tick', now: 200_000 }).map((e) => e.type)).toEqual(['collect']);
  expect(s.offer(first, 'O').sent).toEqual([]);
});

it('remembers no more than the pages of one image', () => {
  const s = new Stage();
  const first = manifest(T, 1);
  const { ask } = s.offer(first, 'L');
  s.send('pagesFound', { image: first.image, ask, missing: first.pages });
  s.send('pageStored', { link: 'L', image: first.image, index: 0, bytes: 65_536 });
  s.send('linkClosed', { link: 'L' });
  s.offer(manifest(T, 2), 'M');
  s.send('linkClosed', { link: 'M' });
  expect(s.offer(first, 'N').sent).toEqual([]);
});
