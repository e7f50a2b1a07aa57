/** What versions before positions stored (image format 1): a `replay` of message logging, the one that kept images. */
import { IMAGE_FORMAT, type Position } from '@mayfly/wire';
import type { ImageRecord } from './events.ts';

const positionOf = (at: unknown): Position => ({ protocol: 'pessimistic', version: 1, at });

/** A manifest as it was stored, in the format of today; anything else as it is. */
export function upgradeManifest(stored: unknown): unknown {
  if (typeof stored !== 'object' || stored === null || !('replay' in stored)) return stored;
  const { replay, ...rest } = stored;
  return { ...rest, format: IMAGE_FORMAT, position: positionOf(replay) };
}

export function upgradeRecord(stored: object): ImageRecord {
  if (!('replay' in stored)) return stored as ImageRecord;
  const { replay, ...rest } = stored;
  return { ...(rest as Omit<ImageRecord, 'position'>), position: positionOf(replay) };
}
