/** Planted bugs that are other rules of the sets of images of a team (images/team-sets.ts). */
import { TeamSets } from '@mayfly/protocols';
import type { Rule } from './planted.ts';

/** C19: a set of which some images are with the nodes counts as if all were here. */
class TakesMixedOnes<Image> extends TeamSets<Image> {
  override levelOf(near: readonly boolean[]): 'near' | 'complete' | undefined {
    return near.includes(false) ? 'complete' : super.levelOf(near);
  }
}
/** C19: a set of level 1 is used although newer ones are complete. */
class KeepsTheNearOne<Image> extends TeamSets<Image> {
  protected override isNewer(): boolean {
    return true;
  }
}

const SETS: Partial<Record<Rule, typeof TeamSets>> = {
  'mixed-set-counts': TakesMixedOnes,
  'near-set-outlives-whole-ones': KeepsTheNearOne,
};

export const setsWithout = (rule: Rule | undefined): typeof TeamSets | undefined =>
  rule === undefined ? undefined : SETS[rule];
