/** Which server gets a Channel Memory. */

import type { JobId } from '@mayfly/wire';

export interface Load {
  /** The job of each Channel Memory that it has. */
  memories: readonly JobId[];
  /** Messages on its data links, a second. */
  messages: number;
}

/** One that may have a burst of messages next counts as much as so many messages a second. */
const OF_ONE = 100;

/** @returns index of the server with the least load; of equal ones the last: the first has the dispatcher as well */
export const leastLoaded = (loads: readonly Load[]): number =>
  loads.reduce((least, load, n) => (weight(load) <= weight(loads[least]!) ? n : least), 0);

const weight = ({ memories, messages }: Load): number => OF_ONE * memories.length + messages;
