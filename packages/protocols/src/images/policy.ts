/** What a V-protocol decides about images; declared here, by the Checkpoint Server, which asks. */
import type { Position, ProtocolName } from '@mayfly/wire';
import type { Range } from '../channel-memory/events.ts';

/** Positions of a task's images that are kept, oldest first. */
export type Kept = readonly Position[];

export interface ImagePolicy {
  /** Images are kept with waves: the wave of one that lies there. Absent: each counts for itself. */
  readonly waveOf?: (position: Position) => number;
  /** The wave of its team for which an image was taken; undefined: it counts for itself. @throws MalformedPosition */
  readonly setOf?: (position: Position) => number | undefined;
  /**
   * Why a task cannot restart from an image that lies there; undefined: it can. It comes from a stranger's machine:
   * never throws. `size`: tasks of the job; `trimmed`: its logs have been trimmed to the oldest image.
   */
  refuses(position: Position, task: { size: number; kept: Kept; trimmed: boolean }): string | undefined;
  /** C1: with the answers of all Channel Memories, whatever the image needs is durable. */
  covers(position: Position, answers: Iterable<readonly Range[]>, kept: Kept): boolean;
  /** C3: what the logs may be trimmed to while these are kept (one at least). */
  trimTo(kept: Kept): Position;
}

export type ImageTable = Readonly<Record<ProtocolName, { readonly images: ImagePolicy }>>;
