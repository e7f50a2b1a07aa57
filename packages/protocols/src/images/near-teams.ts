/**
 * Sets of images of a team at level 1 (near.ts): all of one wave, each protected by a parity group of its own, since no
 * two members of a group are on one node. Which sets count: C19 (team-sets.ts).
 *
 *  C20 A restart has all images of the newest set made again before any of them is committed, and commits them as one
 *      set. If one cannot be had, the set is forgotten, and the team goes back to level 2.
 *
 * What became of a set that was made again: rebuilt.ts.
 */
import { countsNear, makeAgain } from './level-one.ts';
import { drop } from './offers.ts';
import { taskOf, type Offer, type State, type Team } from './state.ts';
import type { ImageSet } from './team-sets.ts';
import type { ImageRecord } from './events.ts';

/** C19. */
export function countsNearInTeam(s: State, team: Team, set: ImageSet<ImageRecord>, offers: readonly Offer[]): void {
  forgetNear(team);
  for (const o of offers) countsNear(s, o);
  team.sets.near = set;
}

export function forgetNear(team: Team): void {
  team.sets.near = undefined;
  for (const m of team.members) delete taskOf(team.job, m).near;
}

/** C20. @returns whether a set is being made again */
export function rebuildsTeam(s: State, team: Team): boolean {
  const set = team.sets.near;
  if (!set) return false;
  const all = [...set.images.keys()].map((m) => taskOf(team.job, m));
  team.again = { set, left: new Set([...set.images.values()].map((i) => i.image)) };
  for (const t of all) t.offer = makeAgain(s, t, t.near!);
  return true;
}

/** The team is no more. */
export function endNear(s: State, team: Team): void {
  if (team.again) for (const o of madeAgain(team)) drop(s, o);
  team.again = undefined;
  forgetNear(team);
}

export const madeAgain = ({ job, again }: Team): Offer[] =>
  [...(again?.set.images.keys() ?? [])].flatMap((m) => {
    const { offer } = taskOf(job, m);
    return offer?.stage === 'rebuilding' ? [offer] : [];
  });
