/**
 * Images of a task that runs again alone: each begins to replay at a line, and the logs must be whole behind it. Lines
 * of one task rise, and so do its images. A member of a team runs again with its team: its image belongs to a wave
 * (T6), and waves rise too.
 */
import { WORLD } from '@mayfly/wire';
import { coversDeterminants } from '../channel-memory/ranges.ts';
import { MalformedPosition } from '../contract/position.ts';
import type { ImagePolicy } from '../images/policy.ts';
import { positionOf, type Line, type ReplayFrom } from './position.ts';
import { aloneOf, setOf } from './teams/position.ts';
import { regrouped } from './teams/regroup.ts';

interface Known {
  size: number;
  kept: readonly ReplayFrom[];
  trimmed: boolean;
}

function refuses({ prologue, image, held }: ReplayFrom, task: Known): string | undefined {
  for (const line of [prologue, image]) {
    const seen = new Set<number>();
    for (const [dst] of line.sends) {
      if ((dst >= task.size && dst !== WORLD) || seen.has(dst))
        return `The line names task ${dst}, which does not exist, or names it twice.`;
      seen.add(dst);
    }
  }
  if (!notBehind(image, prologue)) return 'The image lies before its prologue.';
  const newest = task.kept.at(-1);
  if (newest && !notBehind(image, newest.image)) return 'The image lies before an older one.';
  if (
    newest &&
    (prologue.arrivals !== newest.prologue.arrivals || prologue.determinants !== newest.prologue.determinants)
  )
    return 'The prologue differs from that of an earlier image.';
  const oldest = task.kept[0];
  const kept = new Set(oldest?.held);
  let last = 0;
  for (const a of held) {
    if (a <= last || a > image.arrivals) return 'The held arrivals are not in order, or lie behind the image.';
    last = a;
    if (task.trimmed && oldest && a > oldest.prologue.arrivals && a <= oldest.image.arrivals && !kept.has(a))
      return `Arrival ${a} is held, but an earlier image let it go.`;
  }
  return undefined;
}

/** `b` is `a` or before it, in every log. */
function notBehind(a: Line, b: Line): boolean {
  if (a.arrivals < b.arrivals || a.determinants < b.determinants) return false;
  const sends = new Map(a.sends);
  return b.sends.every(([dst, n]) => n === 0 || (sends.get(dst) ?? 0) >= n);
}

export const images: ImagePolicy = {
  refuses(position, task) {
    let replay: ReplayFrom;
    try {
      replay = aloneOf(position);
      const wave = setOf(position)?.wave;
      const newest = task.kept.at(-1);
      const before = newest && setOf(newest)?.wave;
      if (newest && (wave === undefined) !== (before === undefined))
        return 'The image is of a task with teammates, and an earlier one of a task without, or the other way round.';
      if (wave !== undefined && wave <= (before ?? 0))
        return `Wave ${wave} of the image is not newer than wave ${before}.`;
    } catch (error) {
      if (error instanceof MalformedPosition) return error.message;
      throw error;
    }
    return refuses(replay, { ...task, kept: task.kept.map(aloneOf) });
  },
  setOf,
  regrouped,
  // Determinants before the oldest kept image were durable when it became complete, and may have been trimmed since.
  covers: (position, answers, kept) =>
    coversDeterminants(
      answers,
      kept[0] === undefined ? 0 : aloneOf(kept[0]).image.determinants,
      aloneOf(position).image.determinants,
    ),
  trimTo(kept) {
    const all = kept.map(aloneOf);
    return positionOf({ ...all[0]!, held: [...new Set(all.flatMap((r) => r.held))].sort((a, b) => a - b) });
  },
};
