/**
 * Constants of the standard with the values of its ABI (MPI 5.0, appendix A), so that C programs and the layer need no
 * translation.
 */
export const PROC_NULL = -3;
export const ANY_SOURCE = -1;
export const ANY_TAG = -2;
export const ROOT = -4;
export const UNDEFINED = -32766;
/** A tag travels as a signed 32-bit word. */
export const TAG_UB = 0x7fff_ffff;

/** Frame mode of a message between tasks: what the MPI layer makes of it. The low four bits are the kind. */
export const Mode = {
  STANDARD: 1,
  /** Synchronous mode: the receiver answers with an ACK that carries `word` back, when a receive has matched. */
  SYNC: 2,
  ACK: 3,
  /** A one-sided operation (windows/encoding.ts), and what a target answers to it. */
  RMA: 4,
  RMA_ANSWER: 5,
  /** A partitioned send is made: `word` is its channel (partitioned.ts). */
  ANNOUNCE: 9,
  /** Partition `word` of the channel that stands in the tag. */
  PARTITION: 10,
  /** Between members of a team of checkpoints (ckpt/team.ts): a copy for its holder, a count of messages, no round. */
  COPY: 11,
  COUNT: 12,
  SKIP: 13,
  /** The same: data for a checksum; data or a checksum from which lost data are made again. */
  TERM: 14,
  SHARE: 15,
  KIND: 0x0f,
  /** Flag: the body is a structured value (codec.ts), not elements of a datatype. */
  OBJECT: 0x10,
} as const;

/** Word of a message of a collective that has failed at its sender. */
export const FAILED = 1;

/** The same, because a process is lost. */
export const FAILED_BY_LOSS = 3;

/** Word of the message that takes a card back from a port (connect-timeout.ts). */
export const WITHDRAWN = 2;

/**
 * Context ids: every communicator owns two, `context` for point to point, `context + COLLECTIVE` for its collectives.
 */
export const COLLECTIVE = 1;
/** Tags of schedules that only a part of a communicator's processes runs; the others number theirs from 0. */
export const PARTIAL = 0x4000_0000;
export const WORLD_CONTEXT = 0;
export const SELF_CONTEXT = 2;
export const FIRST_FREE_CONTEXT = 4;
/** Behind the last id that a communicator may have: contexts in which processes without a common communicator meet. */
export const CONTEXTS_END = 0x7fff_ff00;
/** Makings from groups alone (MPI_Comm_create_from_group); the tag comes of the string tag. */
export const FROM_GROUPS_CONTEXT = 0x7fff_fff0;
/** What a port answers to a card: the tag is the port's number, counted from 1. */
export const ANSWERS = 0x7fff_fff2;
/** The cards that are sent to a port: the tag is its number. */
export const CARDS = ANSWERS + COLLECTIVE;
/** Tag of a notice among the answers: the ports of its sender below the number in its word are closed for good. */
export const LEFT = 0;
/** Root and first child of a spawn meet; the tag is the child's task. */
export const SPAWN_CONTEXT = 0x7fff_fff7;
/** Names of services, told to all. */
export const NAMES_CONTEXT = 0x7fff_fff4;

/** Handles of the predefined objects. Handle 0 is the null handle of every table. */
export const NULL = 0;
export const COMM_WORLD = 1;
export const COMM_SELF = 2;
export const ERRORS_ARE_FATAL = 1;
export const ERRORS_RETURN = 2;
export const ERRORS_ABORT = 3;
export const GROUP_EMPTY = 1;
