/** What the file service decides, does and keeps (file-service.ts). Plain data. */
import type { Segments, SpawnGroup, TaskId } from '@mayfly/wire';

/** Error classes of MPI that the service answers. */
export const FileError = {
  NONE: 0,
  ARG: 13,
  BAD_FILE: 23,
  FILE_EXISTS: 28,
  FILE_IN_USE: 29,
  FILE: 30,
  NO_MEM: 39,
  NO_SPACE: 41,
  NO_SUCH_FILE: 42,
  QUOTA: 44,
  SPAWN: 53,
} as const;

/** A length that means: there is no such file (CUT). */
export const GONE = Number.MAX_SAFE_INTEGER;

export interface JobFile {
  size: number;
  /** The task that wrote it first. */
  task: TaskId;
}

/** What was decided about a message: with its body, all that `apply` needs. */
export interface Outcome {
  task: TaskId;
  n: number;
  mode: number;
  error: number;
  /**
   * OPEN: the session; ADVANCE: the pointer before; SPAWN: the first new task, or why there is none; FILE at the end:
   * where that was.
   */
  value: number;
}

export type FileEffect =
  /** A result file comes into being; `input`: as a copy of the input file of that name. */
  | { type: 'create'; path: string; task: TaskId; input: boolean }
  | { type: 'write'; path: string; segments: Segments; data: Uint8Array }
  | { type: 'resize'; path: string; size: number }
  | { type: 'remove'; path: string };

/** An answer, but for the bytes of a read, which the host puts in. */
export interface FileAnswer {
  error: number;
  values: Uint8Array;
  read?: { path: string; input: boolean; segments: Segments; size: number };
}

/** The job cannot go on: too much output, too many files or unanswered requests, or a name that is not allowed. */
export interface Fatal {
  fatal: 'limit' | 'name' | 'conflict' | 'malformed' | 'requests' | 'files';
  path: string;
}

export interface Session {
  path: string;
  pointer: number;
  deleteOnClose: boolean;
}

export interface Kept {
  error: number;
  values: number[];
  read?: { path: string; segments: number[] };
}

/** Plain data, JSON. */
export interface FileSnapshot {
  files: [string, JobFile][];
  sessions: [number, Session][];
  nextSession: number;
  applied: [number, number][];
  requests: [number, number][];
  hidden: string[];
  answers: [number, [number, Kept][]][];
  spawned?: SpawnGroup[];
  /** Directories that were made. */
  made?: string[];
}

/** S7: numbers in memory for answers that are kept: so many of each, and those of the segments that it reads. */
export const KEPT_NUMBERS = 16 << 20;
export const KEPT_EACH = 16;

export const numbersOf = (kept: Kept): number => KEPT_EACH + (kept.read?.segments.length ?? 0);
