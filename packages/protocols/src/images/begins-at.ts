/** Where an image lies for the task that begins with it: it may have been regrouped since it was taken (C18). */
import type { ImageId, Position, TaskId } from '@mayfly/wire';
import { regroupedAt, type Dissolved } from '../contract/dissolved.ts';
import type { ImagePolicy } from './policy.ts';

/** @throws MalformedPosition */
export const beginsAt = (
  policy: ImagePolicy,
  { task, image, position }: { readonly task: TaskId; readonly image: ImageId; readonly position: Position },
  team: readonly TaskId[] | undefined,
  dissolved: readonly Dissolved[] = [],
): Position => policy.regrouped?.(position, team, regroupedAt(dissolved, task, image)) ?? position;
