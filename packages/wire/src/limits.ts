/** How large jobs may be. Without schemas, so that the command line loads none before it sends anything. */

/** Ranks of a job, those included that it spawns, and how many it may spawn. */
export const MAX_RANKS = 1024;
export const MAX_SPAWNED = 256;
/** Ranks of a job that may form one team: they exchange messages in the memory of their node (docs/teams.md). */
export const MAX_TEAM = 32;
/** Programs of a job at most. */
export const MAX_PARTS = 64;
