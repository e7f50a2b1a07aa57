/**
 * At which call of `checkpoint.here` scripts of several nodes stop together (D30): "at a `here` that forms a set". What
 * a rank sends behind its own last image stays with it, so all of them stop at the call of the same number. Heartbeats
 * name the calls of each, as of a while ago, and all go on while they are asked.
 */

/** So far ahead, ms: until the last of them has been asked. */
const AHEAD_MS = 1000;

/** Calls that a rank has made, as its last heartbeat says. */
export interface CallsSeen {
  readonly calls: number;
  /** Observer's time. */
  readonly at: number;
  /** Calls in a millisecond, between its last two heartbeats. */
  readonly perMs: number;
}

/** A heartbeat names so many; undefined: the rank counts none. */
export function callsSeen(before: CallsSeen | undefined, calls: number | undefined, at: number): CallsSeen | undefined {
  if (calls === undefined) return undefined;
  const ms = at - (before?.at ?? at);
  // An incarnation begins with those of its image.
  const more = Math.max(0, calls - (before?.calls ?? calls));
  return { calls, at, perMs: ms > 0 ? more / ms : (before?.perMs ?? 0) };
}

/** A call that none of them has made when it hears of it; undefined: of one no calls are known. */
export function commonCall(
  tasks: readonly { readonly callsSeen?: CallsSeen | undefined }[],
  now: number,
): number | undefined {
  let last = 0;
  for (const { callsSeen: seen } of tasks) {
    if (seen === undefined) return undefined;
    last = Math.max(last, seen.calls + Math.floor(seen.perMs * (now - seen.at + AHEAD_MS)));
  }
  return last + 1;
}
