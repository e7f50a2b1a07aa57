/**
 * T9: "Dissolve and merge at an image with nothing after it." All ranks of the teams concerned stop, take images and do
 * nothing more. "When all sets are complete and read back, one commit reassigns the tasks and makes these images the
 * first sets of the new teams; older sets are void."
 *
 * "At ATTACH, the image's counts raise the CM's counts of channels that were local and become remote. Channel state is
 * then consumed without a record, each message as soon as its number is next."
 */
import { WORLD, type TaskId } from '@mayfly/wire';
import { localsOf, type Carried } from './endpoint.ts';
import type { Line } from '../position.ts';

/** What a channel of an image's state begins with and how many messages it has, for the endpoint of the new team. */
export function carriedOver<Message>(
  state: ReadonlyMap<TaskId, readonly Message[]>,
  number: (message: Message) => number,
): Carried {
  return [...state].flatMap(([src, messages]) =>
    messages.length > 0 ? [[src, number(messages[0]!), messages.length] as const] : [],
  );
}

/** Counts of the image that a Channel Memory's may be behind: those of channels that leave the team. */
export function raises({ sends }: Line, members: readonly TaskId[]): Line['sends'] {
  return sends.filter(([dst]) => dst !== WORLD && !localsOf(members).includes(dst));
}

/** May the teams be regrouped? None of their members replays, and no wave is under way. */
export const mayRegroup = (teams: readonly { readonly replaying: boolean; readonly underWay: boolean }[]): boolean =>
  teams.every((t) => !t.replaying && !t.underWay);
