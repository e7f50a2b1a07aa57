/** What a manifest must satisfy before any of its pages is taken: it comes from a stranger's machine. */
import {
  imageIdOf,
  partAt,
  PAGE_BYTES,
  type ErrorBody,
  type Incarnation,
  type JobId,
  type Manifest,
  type TaskId,
} from '@mayfly/wire';
import type { ImagePolicy } from './policy.ts';
import type { CheckpointServerSettings, ImageRecord } from './events.ts';

export interface OfferContext {
  job: JobId;
  task: TaskId;
  incarnation: Incarnation;
  size: number;
  policy: ImagePolicy;
  programs: readonly { count: number; hash: string }[];
  /** Complete images that are kept, oldest first. */
  images: readonly ImageRecord[];
  /** Logs have been trimmed to the oldest of them. */
  trimmed: boolean;
}

const bad = (message: string): ErrorBody => ({ code: 'BAD_REQUEST', message });

/** The error that refuses it, or undefined when it is in order. */
export function checkManifest(m: Manifest, c: OfferContext, settings: CheckpointServerSettings): ErrorBody | undefined {
  if (m.job !== c.job || m.task !== c.task || m.incarnation !== c.incarnation)
    return { code: 'FORBIDDEN', message: 'The manifest names another task or incarnation than the capability.' };
  if (m.image !== imageIdOf(c.job, c.task, c.incarnation, m.serial))
    return bad('The image is not named <job>-<task>-<incarnation>-<serial>.');
  const part = c.programs[partAt(c.programs, c.task)];
  // A spawned task runs one of them, that of the task that asked for it; its node knows which.
  if (part ? m.program !== part.hash : c.programs.every((p) => m.program !== p.hash))
    return { code: 'CONFLICT', message: 'The image was written by another build of the program.' };
  if (m.bytes > settings.imageBytes)
    return { code: 'TOO_LARGE', message: `The image has ${m.bytes} bytes, the limit is ${settings.imageBytes}.` };
  if (m.sections.reduce((sum, s) => sum + s.bytes, 0) !== m.bytes)
    return bad('The sections do not add up to the bytes of the image.');
  if (m.bytes > m.pages.length * PAGE_BYTES) return bad('The image has fewer pages than bytes.');
  const newest = c.images.at(-1);
  if (m.serial < 1 || m.serial <= (newest?.serial ?? 0))
    return { code: 'CONFLICT', message: `Image ${m.serial} is not newer than image ${newest?.serial ?? 0}.` };
  const { size, trimmed, images } = c;
  const wrong = c.policy.refuses(m.position, { size, trimmed, kept: images.map((i) => i.position) });
  return wrong === undefined ? undefined : bad(wrong);
}
