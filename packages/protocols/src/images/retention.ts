/**
 * Which images of a task are kept, and how far the logs are trimmed (C3). Images go when a newer one makes them
 * superfluous, when they are damaged, and when the task has ended.
 */
import type { ImageId } from '@mayfly/wire';
import { emit, type State, type Task } from './state.ts';
import { imageKey, trimmedKey, type ImageRecord } from './events.ts';

/** Those that one more image makes superfluous. Images of waves go with their waves. */
export function surplus(s: State, t: Task): ImageRecord[] {
  if (t.job.open?.policy.waveOf) return [];
  return t.images.slice(0, Math.max(0, t.images.length + 1 - s.settings.keep));
}

/** Manifests whose records are gone. */
export function remove(s: State, images: readonly ImageRecord[]): void {
  if (images.length === 0) return;
  s.garbage = true;
  emit(s, { type: 'discard', images: images.map((i) => i.image), changes: [] });
}

/** C3. With fewer images than are to be kept (one was damaged) the logs stay as they are until the next one. */
export function trim(s: State, t: Task): void {
  if (t.images.length === 0 || t.images.length < s.settings.keep || !t.job.open || t.job.open.policy.waveOf) return;
  const to = t.job.open.policy.trimTo(t.images.map((i) => i.position));
  for (let cm = 0; cm < t.job.open.channelMemories; cm++)
    emit(s, { type: 'trim', job: t.job.id, task: t.task, cm, to });
}

/** One image is damaged. */
export function discard(s: State, t: Task, image: ImageId): void {
  const i = t.images.findIndex((x) => x.image === image);
  if (i < 0) return;
  const [gone] = t.images.splice(i, 1);
  s.garbage = true;
  emit(s, { type: 'discard', images: [image], changes: [[imageKey(t.job.id, t.task, gone!.serial), undefined]] });
  emit(s, {
    type: 'log',
    level: 'warn',
    message: `image ${image} is damaged and was removed`,
    job: t.job.id,
    task: t.task,
  });
}

/** These images go, with their records. */
export function discardThese(s: State, t: Task, images: readonly ImageRecord[]): void {
  if (images.length === 0) return;
  const gone = new Set(images);
  t.images = t.images.filter((i) => !gone.has(i));
  s.garbage = true;
  emit(s, {
    type: 'discard',
    images: images.map((i) => i.image),
    changes: images.map((i) => [imageKey(t.job.id, t.task, i.serial), undefined] as const),
  });
}

export function discardAll(s: State, t: Task): void {
  if (t.images.length === 0 && !t.trimmed) return;
  const changes: (readonly [string, unknown])[] = t.images.map((i) => [
    imageKey(t.job.id, t.task, i.serial),
    undefined,
  ]);
  if (t.trimmed) changes.push([trimmedKey(t.job.id, t.task), undefined]);
  emit(s, { type: 'discard', images: t.images.map((i) => i.image), changes });
  s.garbage = true;
  t.images = [];
  t.trimmed = false;
}
