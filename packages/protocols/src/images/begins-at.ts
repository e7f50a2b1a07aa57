/** Where an image lies for the task that begins with it: its team may have been dissolved since it was taken (C18). */
import type { Position, TaskId } from '@mayfly/wire';
import type { ImagePolicy } from './policy.ts';

/** @throws MalformedPosition */
export const beginsAt = (policy: ImagePolicy, position: Position, team: readonly TaskId[] | undefined): Position =>
  policy.regrouped?.(position, team) ?? position;
