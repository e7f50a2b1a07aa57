/** What a team of operation-level checkpoints hears, answers and keeps (team.ts). */
import type { Checksum, Codes, Format } from './codes.ts';
import type { Held, Plan, holdersOf } from './plan.ts';

/** What a member contributes; the bits that all have in common are the answer. */
export const Word = {
  HERE: 1,
  FITS: 2,
  STRAIGHT: 4,
  ROLLBACK: 8,
  CLOSE: 16,
  READY: 32,
  STORED: 64,
  LEAVE: 128,
  FINITE: 256,
  NOTHING: 0,
} as const;

/** Data of one round: of the process itself, and by rank of others; checksums that it holds. */
export interface Saved {
  round: number;
  own: Uint8Array | undefined;
  copies: Map<number, Uint8Array>;
  sums: readonly Checksum[];
}

export interface TeamOptions {
  /** Of this team among all of the job. */
  id: string;
  rank: number;
  nodes: readonly string[];
  /** Copies of each rank's data. */
  m: number;
  /** Who holds copies. */
  holders?: typeof holdersOf;
  /** Checksums instead of copies, and the arithmetic that they need. */
  sums?: readonly Held[];
  codes?: Codes | undefined;
  /** How data become numbers. */
  numbers?: Format | undefined;
  /** Most bytes in both buffers. */
  memory: number;
  /** Rounds in this many first steps are checked for crossing messages. */
  checked: number;
}

export type TeamEvent =
  /** The team begins: what the plan says, and what there is of its round here. */
  | { type: 'begin'; plan: Extract<Plan, { round: number }>; has: Saved | undefined }
  /**
   * MPI_Ckpt_here. `disk`: the round is one of the disk. `stored`: the data are there, where they have to be. `memory`:
   * copies are made. `sent`, `received`: messages of the program so far, by rank.
   */
  | {
      type: 'here';
      own: Uint8Array;
      disk: boolean;
      stored: boolean;
      memory: boolean;
      sent: readonly number[];
      received: readonly number[];
    }
  | { type: 'copy'; round: number; of: number; bytes: Uint8Array }
  /** Data of a rank for the checksum here. */
  | { type: 'term'; round: number; of: number; bytes: Uint8Array }
  /** What this process makes its data of again. */
  | { type: 'share'; round: number; of: number; bytes: Uint8Array }
  /** How many messages a member has sent here before a round. */
  | { type: 'count'; round: number; from: number; count: number }
  /** A member has come to a step with something else than a round: it sends no copies. */
  | { type: 'skip'; step: number }
  | { type: 'rollback' }
  /** For another team. */
  | { type: 'leave' }
  | { type: 'close' }
  | { type: 'lost' }
  | { type: 'decided'; word: number; lost: boolean };

export type TeamEffect =
  | { type: 'copy' | 'term' | 'share'; to: number; round: number; of: number; bytes: Uint8Array }
  | { type: 'count'; to: number; round: number; count: number }
  | { type: 'skip'; to: number; step: number }
  /** To the next step that is not decided. */
  | { type: 'contribute'; word: number };
