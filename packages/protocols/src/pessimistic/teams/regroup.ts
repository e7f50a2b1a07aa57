/**
 * T9: "Dissolve and merge at an image with nothing after it." All ranks of the teams concerned stop, take images and do
 * nothing more. "When all sets are complete and read back, one commit reassigns the tasks and makes these images the
 * first sets of the new teams; older sets are void."
 *
 * "At ATTACH, the image's counts raise the CM's counts of channels that were local and become remote. Channel state is
 * then consumed without a record, each message as soon as its number is next."
 */
import { WORLD, type Position, type TaskId } from '@mayfly/wire';
import type { Holdings } from '../../channel-memory/events.ts';
import type { Regrouped, Sends } from '../../contract/dissolved.ts';
import type { Carried } from '../../endpoint.ts';
import type { Batch } from './carried-over.ts';
import { positionOf, type Line } from '../position.ts';
import { localsOf } from './endpoint.ts';
import { memberOrAlone, positionInTeam, setOf } from './position.ts';

/** What each channel of it begins with and how many messages it has, for the endpoint of the new team. */
export function carriedOver<Message>(
  batches: readonly Batch<Message>[],
  number: (message: Message) => number,
): Carried {
  return batches.flatMap(({ place, channels }) =>
    [...channels].flatMap(([src, messages]) =>
      messages.length > 0 ? [[src, number(messages[0]!), messages.length, place] as const] : [],
    ),
  );
}

/** Counts of the image that a Channel Memory's may be behind: those of channels that leave the team. */
export function raises({ sends }: Line, members: readonly TaskId[]): Line['sends'] {
  return sends.filter(([dst]) => dst !== WORLD && !localsOf(members).includes(dst));
}

/**
 * A member is to begin there, and no log has anything that it did behind it: so nobody has seen an effect of that, and
 * nobody ever will, once its incarnations are fenced. Whether it did anything does not matter. Returns what it had sent
 * to teammates; undefined: it did more, or that cannot be known (of a receiver that has ended, no counts are left).
 * @throws MalformedPosition
 */
export function endsAt(position: Position, logs: readonly Holdings[]): Sends | undefined {
  const { replay, local } = memberOrAlone(position);
  const { image } = replay;
  // Channels may have been in the logs before they became local.
  const sends = new Map([...image.sends, ...local]);
  for (const { determinants, consumed, held, sent } of logs) {
    if (determinants > image.determinants || consumed > image.arrivals) return undefined;
    if (held.some(([, end]) => end > image.determinants)) return undefined;
    if (sent.some(([dst, n]) => n > (sends.get(dst) ?? 0))) return undefined;
  }
  return local;
}

/**
 * The same image, of a task that has these teammates, all of them of its team then; undefined: none any more. What it
 * sent to the others counts as what it sent to strangers. `at`: what the regroupings say that began with it.
 * @throws MalformedPosition
 */
export function regrouped(position: Position, team: readonly TaskId[] | undefined, at: Regrouped = {}): Position {
  const set = setOf(position);
  // Alone, as before; or of no set yet.
  if (set === undefined && (team === undefined || at.wave === undefined)) return position;
  const old = memberOrAlone(position);
  const isLocal = ([dst]: Line['sends'][number]): boolean => team?.includes(dst) === true;
  const apart = (line: Line, local: Sends = []): [remote: Line, local: [TaskId, number][]] => {
    const all = [...line.sends, ...local].map(([dst, n]): [TaskId, number] => [dst, n]);
    return [{ ...line, sends: all.filter((c) => !isLocal(c)) }, all.filter(isLocal)];
  };
  const [image, local] = apart(old.replay.image, old.local);
  const [prologue, opened] = apart(old.replay.prologue, old.opened);
  const replay = { ...old.replay, prologue, image };
  if (team === undefined) return positionOf({ ...replay, ...(at.place === undefined ? {} : { place: at.place }) });
  return positionInTeam({ ...old, ...at, wave: at.wave ?? set?.wave, replay, local, opened });
}

/** The wave of an image's set; 0: it is of a lone task, or the start of a program. @throws MalformedPosition */
export const waveAt = (position: Position): number => setOf(position)?.wave ?? 0;
