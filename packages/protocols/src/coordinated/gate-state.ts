/**
 * What the gate of a Channel Memory (gate.ts) knows, as plain data, and what it wants done. The rules are there.
 */
import type { TaskId } from '@mayfly/wire';

/** A message that waits for its receiver's cut. */
export interface LateMessage {
  readonly src: TaskId;
  readonly channel: number;
}

export type GateEffect =
  /** The message gets the next arrival number of its receiver now ({@link Gate.numbered}), and is pushed. */
  | { readonly type: 'release'; readonly dst: TaskId; readonly message: LateMessage }
  /** The arrival is appended to the wave stream of its receiver, under its number. `body`: it alone is missing. */
  | { readonly type: 'record'; readonly dst: TaskId; readonly number: number; readonly body: boolean }
  /** Everything of the wave that this receiver's image lacks is recorded, durably. */
  | { readonly type: 'recorded'; readonly dst: TaskId; readonly wave: number }
  /** (`pcl`) The task may take its image. */
  | { readonly type: 'flushed'; readonly dst: TaskId; readonly wave: number };

/** An arrival that its receiver's next image may lack. */
export interface Arrival {
  readonly number: number;
  readonly src: TaskId;
  readonly channel: number;
}

/** One receiver. */
export interface Door {
  /** It has cut in the wave under way. */
  cut: boolean;
  /** In the order in which they came. */
  late: LateMessage[];
  /** Released, and not numbered yet: some may be to be recorded (`pcl`). */
  released: number;
  /** Numbered and not yet forgotten, in order. */
  arrivals: Arrival[];
  /** Arrivals that it is known to have consumed. */
  consumed: number;
  /** Records in the wave's stream, and those of them that are durable. */
  records: number;
  durable: number;
  /** G3 has been reported. */
  recorded: boolean;
  /** G6 has been reported. */
  flushed: boolean;
  /** It has ended: it takes everything. `leaves`: it has, but the wave under way has its image. */
  ended: boolean;
  leaves: boolean;
}

/** G5: what a task that has another home has said of a wave that has not begun here. By receiver: messages before. */
export interface Early {
  readonly wave: number;
  readonly line: number[];
  /** It has cut; else it has marked its channels (`pcl`). */
  readonly cut: boolean;
}

export interface GateState {
  /** Number of the wave under way; 0: none is. */
  wave: number;
  /** …of the last wave that has begun here. */
  last: number;
  /** G5, by sender. */
  readonly early: (Early | undefined)[];
  /** By sender ({@link slot}): messages of its cut for each task; undefined: it has not cut. */
  readonly cuts: (number[] | undefined)[];
  /** (`pcl`) By sender: messages of its mark for each task. */
  readonly marks: (number[] | undefined)[];
  /** By sender ({@link slot}), by receiver: whole messages that have come. */
  readonly seen: number[][];
  /** By task; undefined where another Channel Memory is its home. */
  readonly doors: (Door | undefined)[];
}
