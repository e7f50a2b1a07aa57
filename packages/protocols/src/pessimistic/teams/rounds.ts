/**
 * Images of teams of scripts. A script has an image only where it calls `checkpoint.here`, so it cannot stop at a
 * marker: a wave names a number, and each member takes its image at its call of that number.
 *
 *  T6 "The n-th `checkpoint.here` of every teammate writes marker n and forms a candidate set. The set is accepted when
 *     the counts show a consistent cut (received from s ≤ sent by s), else skipped." Here n is chosen for each wave,
 *     ahead of all members, or where those that have reached it wait. Who is past it without an image declines, and who
 *     consumes what stands behind a marker before its own image declines (image-cut.ts).
 */
import type { Position, TaskId } from '@mayfly/wire';
import { replayInTeam } from './position.ts';

/** So far ahead, ms: members go on while they are asked. */
const AHEAD_MS = 5;

/** A member: its calls of checkpoint.here so far, and whether it waits at the last one for an image. */
export interface Caller {
  readonly calls: number;
  readonly waits: boolean;
}

/**
 * The last call that any member has made, if all that have made it wait there: an image can still be taken at it.
 * Undefined: a member is past it.
 */
export function offeredRound(members: readonly Caller[]): number | undefined {
  const call = Math.max(...members.map((m) => m.calls));
  return members.every((m) => m.waits || m.calls < call) ? call : undefined;
}

/** The call at which the images of a wave are to be taken. `perMs`: calls of the quickest member in a millisecond. */
export const nextRound = (members: readonly Caller[], perMs: number): number =>
  offeredRound(members) ?? Math.max(...members.map((m) => m.calls)) + 1 + Math.floor(Math.max(0, perMs) * AHEAD_MS);

/**
 * The call of the members' present life that is call number `call` of the whole program. `before`: the calls of each
 * before that life. Undefined: they differ.
 */
export function roundOfCall(call: number | undefined, before: readonly number[]): number | undefined {
  const [first] = before;
  const same = first !== undefined && before.every((n) => n === first);
  return call !== undefined && same ? call - first : undefined;
}

/** What a script does at its `call`-th checkpoint.here, where images of a wave are wanted at call `at`. */
export const atHere = (call: number, at: number): 'image' | 'decline' | 'later' =>
  call < at ? 'later' : call === at ? 'image' : 'decline';

/** Nobody has received more of a teammate than it had sent. A teammate without an image has ended: all is sent. */
export function isCut(images: ReadonlyMap<TaskId, Position>): boolean {
  const at = new Map([...images].map(([task, position]) => [task, replayInTeam(position)]));
  for (const [dst, { received }] of at)
    for (const [src, n] of received) {
      const sender = at.get(src);
      if (sender && n > (sender.local.find(([to]) => to === dst)?.[1] ?? 0)) return false;
    }
  return true;
}
