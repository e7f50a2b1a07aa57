/** What a manifest must satisfy before any of its pages is taken: it comes from a stranger's machine. */
import {
  imageIdOf,
  PAGE_BYTES,
  WORLD,
  type ErrorBody,
  type Incarnation,
  type JobId,
  type Line,
  type Manifest,
  type TaskId,
} from '@mayfly/wire';
import type { CheckpointServerSettings, ImageRecord } from './types.ts';

export interface OfferContext {
  job: JobId;
  task: TaskId;
  incarnation: Incarnation;
  size: number;
  program: string;
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
  if (m.program !== c.program)
    return { code: 'CONFLICT', message: 'The image was written by another build of the program.' };
  if (m.bytes > settings.imageBytes)
    return { code: 'TOO_LARGE', message: `The image has ${m.bytes} bytes, the limit is ${settings.imageBytes}.` };
  if (m.sections.reduce((sum, s) => sum + s.bytes, 0) !== m.bytes)
    return bad('The sections do not add up to the bytes of the image.');
  if (m.bytes > m.pages.length * PAGE_BYTES) return bad('The image has fewer pages than bytes.');
  const newest = c.images.at(-1);
  if (m.serial < 1 || m.serial <= (newest?.serial ?? 0))
    return { code: 'CONFLICT', message: `Image ${m.serial} is not newer than image ${newest?.serial ?? 0}.` };
  return checkLines(m, c);
}

function checkLines(m: Manifest, c: OfferContext): ErrorBody | undefined {
  const { prologue, image, held } = m.replay;
  for (const line of [prologue, image]) {
    const seen = new Set<number>();
    for (const [dst] of line.sends) {
      if ((dst >= c.size && dst !== WORLD) || seen.has(dst))
        return bad(`The line names task ${dst}, which does not exist, or names it twice.`);
      seen.add(dst);
    }
  }
  if (!notBehind(image, prologue)) return bad('The image lies before its prologue.');
  const newest = c.images.at(-1)?.replay;
  if (newest && !notBehind(image, newest.image)) return bad('The image lies before an older one.');
  if (
    newest &&
    (prologue.arrivals !== newest.prologue.arrivals || prologue.determinants !== newest.prologue.determinants)
  )
    return bad('The prologue differs from that of an earlier image.');
  const oldest = c.images[0]?.replay;
  const kept = new Set(oldest?.held);
  let last = 0;
  for (const a of held) {
    if (a <= last || a > image.arrivals) return bad('The held arrivals are not in order, or lie behind the image.');
    last = a;
    if (c.trimmed && oldest && a > oldest.prologue.arrivals && a <= oldest.image.arrivals && !kept.has(a))
      return bad(`Arrival ${a} is held, but an earlier image let it go.`);
  }
  return undefined;
}

/** `b` is `a` or before it, in every log. */
function notBehind(a: Line, b: Line): boolean {
  if (a.arrivals < b.arrivals || a.determinants < b.determinants) return false;
  const sends = new Map(a.sends);
  return b.sends.every(([dst, n]) => n === 0 || (sends.get(dst) ?? 0) >= n);
}
