/** What a V-protocol decides about images; declared here, by the Checkpoint Server, which asks. */
import type { ProtocolName, ReplayFrom } from '@mayfly/wire';
import type { Range } from '../channel-memory/types.ts';

/** Where images begin to replay, oldest first: those of a task that are kept. */
export type Kept = readonly ReplayFrom[];

export interface ImagePolicy {
  /**
   * Why a task cannot restart from an image that begins to replay there; undefined: it can. It comes from a stranger's
   * machine. `size`: tasks of the job; `trimmed`: its logs have been trimmed to the oldest image.
   */
  refuses(replay: ReplayFrom, task: { size: number; kept: Kept; trimmed: boolean }): string | undefined;
  /** C1: with the answers of all Channel Memories, whatever the image needs is durable. */
  covers(replay: ReplayFrom, answers: Iterable<readonly Range[]>, kept: Kept): boolean;
  /** C3: what the logs may be trimmed to while these are kept (one at least). */
  trimTo(kept: Kept): ReplayFrom;
}

export type ImageTable = Readonly<Record<ProtocolName, { readonly images: ImagePolicy }>>;
