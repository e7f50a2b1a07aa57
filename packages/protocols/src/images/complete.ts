/**
 * From an image whose pages are here to one that is complete (C1, C2): the Channel Memories say what they hold durably,
 * manifest and record are committed, and only then it is announced and trimmed for.
 */
import type { ImageId } from '@mayfly/wire';
import { discardAll, discardThese, remove, surplus, trim } from './retention.ts';
import { drop, uncover } from './offers.ts';
import { committedAgain } from './near-waves.ts';
import { choose } from './restart.ts';
import { OVER, emit, underWayOf, waveOf, type Offer, type State } from './state.ts';
import { answersLater } from './unanswered.ts';
import { imageKey, trimmedKey, type ImageRecord } from './events.ts';
import type { Range } from '../channel-memory/events.ts';

export function cover(s: State, o: Offer): void {
  o.stage = 'covering';
  o.since = s.now;
  ask(s, o);
}

/** Asks the Channel Memories that have not answered yet. */
export function ask(s: State, o: Offer): void {
  o.askedAt = s.now;
  const { job, task, incarnation, image, position } = o.manifest;
  for (let cm = 0; cm < o.task.job.open!.channelMemories; cm++)
    if (!o.covered.has(cm)) emit(s, { type: 'cover', job, task, incarnation, image, cm, position });
}

/** C1. The offer whose image is covered now. */
export function covered(s: State, image: ImageId, cm: number, determinants: readonly Range[]): Offer | undefined {
  const o = s.offers.get(image);
  const open = o?.task.job.open;
  if (o?.stage !== 'covering' || !open || cm >= open.channelMemories) return undefined;
  o.covered.set(cm, determinants);
  if (o.covered.size < open.channelMemories) return undefined;
  const kept = o.task.images.map((i) => i.position);
  if (!open.policy.covers(o.manifest.position, o.covered.values(), kept)) return undefined;
  uncover(s, o); // every CM has answered: a question left there would be asked again at each sync, for ever
  return o;
}

export function recordOf(s: State, { manifest: m, task, sentBytes }: Offer): ImageRecord {
  return {
    image: m.image,
    serial: m.serial,
    incarnation: m.incarnation,
    position: m.position,
    bytes: m.bytes,
    sentBytes,
    at: s.now,
    count: (task.images.at(-1)?.count ?? 0) + 1,
  };
}

/** Of an image that counts for itself, or with its wave. */
export function commitAlone(s: State, o: Offer): void {
  const { manifest: m, task: t } = o;
  o.record = recordOf(s, o);
  const changes: (readonly [string, unknown])[] = [];
  for (const old of surplus(s, t)) changes.push([imageKey(m.job, m.task, old.serial), undefined]);
  if (!t.trimmed && !t.job.open?.policy.waveOf && t.images.length + 1 >= s.settings.keep)
    changes.push([trimmedKey(m.job, m.task), true]);
  commit(s, [o], changes);
}

/** One commit for these images, and what goes with them. */
export function commit(
  s: State,
  offers: readonly Offer[],
  more: readonly (readonly [key: string, value: unknown])[],
): void {
  const changes = offers.map((o) => [imageKey(o.manifest.job, o.manifest.task, o.manifest.serial), o.record] as const);
  for (const o of offers) {
    o.stage = 'committing';
    o.together = offers;
  }
  const [{ manifest: m }, ...others] = offers as [Offer, ...Offer[]];
  emit(s, {
    type: 'commit',
    job: m.job,
    task: m.task,
    image: m.image,
    manifest: m,
    ...(others.length === 0 ? {} : { others: others.map((o) => o.manifest) }),
    changes: [...changes, ...more],
  });
}

export function committedAlone(s: State, o: Offer): void {
  const image = o.manifest.image;
  if (o.again) return committedAgain(s, o);
  if (!o.record) return;
  const { task: t, record } = o;
  const { id } = t.job;
  const old = surplus(s, t);
  t.images = [...t.images.slice(old.length), record];
  t.sentBytes += record.sentBytes;
  const wave = waveOf(t.job, record);
  if (wave === undefined && t.near && t.near.serial <= record.serial) delete t.near;
  drop(s, o);
  if (o.unwanted) {
    // The commit removed the records of the surplus images. If the task ends now, their manifests must go too: no
    // record names them any more.
    remove(s, old);
    discardAll(s, t);
    return;
  }
  if (wave !== undefined && wave !== underWayOf(t.job, t.task)) {
    // C7
    if (o.link !== undefined) emit(s, { type: 'reply', link: o.link, reply: 'refused', image, error: OVER });
    discardThese(s, t, [record]);
    if (t.restart) choose(s, t);
    return;
  }
  if (!answersLater(s, o, wave) && o.link !== undefined)
    emit(s, { type: 'reply', link: o.link, reply: 'complete', image });
  emit(s, {
    type: 'complete',
    job: id,
    task: t.task,
    image,
    serial: record.serial,
    bytes: record.bytes,
    sentBytes: record.sentBytes,
    ...(wave === undefined ? {} : { wave }),
  });
  remove(s, old);
  if (wave === undefined && t.images.length >= s.settings.keep) {
    t.trimmed = true;
    trim(s, t); // C3
  }
  if (t.restart) choose(s, t);
}
