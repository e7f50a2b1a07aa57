/**
 * How large jobs may be, and what names a room. Without schemas, so that the command line loads none before it sends
 * anything.
 */

/** Ranks of a job, those included that it spawns, and how many it may spawn. */
export const MAX_RANKS = 1024;
export const MAX_SPAWNED = 256;
/** Ranks of a job that may form one team: they exchange messages in the memory of their node (docs/teams.md). */
export const MAX_TEAM = 32;
/** Programs of a job at most. */
export const MAX_PARTS = 64;

/** Checksums of a parity group at most, and its members. */
export const MAX_CHECKSUMS = 4;
export const MAX_MEMBERS = 8;
/** Pages of one message of a parity group at most. */
export const PARITY_PAGES = 8;
/** Images of a rank, the whole one included, of which one goes to the server whole, if the job does not say. */
export const DEFAULT_WHOLE_EVERY = 4;
/** Under FT-MPI's mode `rebuild`: how long the replacement of a lost rank may be without a slot. */
export const DEFAULT_SLOT_MS = 600_000;

/** Bytes of one message to the world: a write to a file (FILE_BYTES), with its name and its places, or output. */
export const WORLD_BYTES = 32 << 20;
/** A rank divides longer output. */
export const OUTPUT_PIECE = 8 << 20;

/** Channel Memories of a job. */
export const MAX_CHANNEL_MEMORIES = 16;
/** Clusters of a job (protocol `hc3i`): each has a Channel Memory, to which every rank is connected. */
export const MAX_CLUSTERS = 16;

/**
 * Join code of a room: what a volunteer types, and what a job names. Upper case, without characters that look like
 * others.
 */
export const ROOM_CODE = '^[A-HJKMNP-Z2-9]{4,12}$';
