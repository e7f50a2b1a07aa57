/** What a V-protocol decides about images; declared here, by the Checkpoint Server, which asks. */
import type { Position, ProtocolName, TaskId } from '@mayfly/wire';
import type { Regrouped } from '../contract/dissolved.ts';
import type { Range } from '../channel-memory/events.ts';

/** Positions of a task's images that are kept, oldest first. */
export type Kept = readonly Position[];

/** An image counts with those of its teammates for the same wave (teams.ts). */
export interface InTeam {
  /** From 1. */
  readonly wave: number;
  /** Members that had ended when the wave began, ascending: they have no image in it (T12). */
  readonly done: readonly TaskId[];
}

export interface ImagePolicy {
  /** Images are kept with waves: the wave of one that lies there. Absent: each counts for itself. */
  readonly waveOf?: (position: Position) => number;
  /** Where an image belongs among those of a team; undefined: it is of a lone task. @throws MalformedPosition */
  readonly setOf?: (position: Position) => InTeam | undefined;
  /**
   * T9: where an image lies, now that its task has these teammates, or none. `at`: what the regroupings say that began
   * with it. @throws MalformedPosition
   */
  readonly regrouped?: (position: Position, team: readonly TaskId[] | undefined, at?: Regrouped) => Position;
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
