/** REST answers besides jobs and nodes (job.ts): what GET /api/info and /api/examples say, and how a compile error looks. */
import type { ErrorBody } from './schema.ts';
import type { JobOptions } from './job.ts';

/** GET /api/info, without a token. */
export interface InfoView {
  name: 'mayfly';
  version: string;
  /** Where volunteers come to, as the server knows itself from outside, e.g. 'https://class.example:7070'. */
  publicUrl?: string;
  /** True: volunteers need a room's join code. */
  roomNeeded?: boolean;
  slots: { total: number; free: number; nodes: number };
  /** Bytes of one whole submission. */
  maxSubmissionBytes?: number;
}

/** GET /api/examples. Its input files are at GET /api/examples/:name/files/<path>, raw. */
export interface ExampleView {
  name: string;
  title: string;
  description: string;
  /** Ranks that it likes to have. */
  size: number;
  args: string[];
  language: 'typescript' | 'c' | 'c++';
  /** C, C++: options for the compiler. */
  flags: string[];
  entry: string;
  sources: Record<string, string>;
  files: { path: string; bytes: number }[];
  options?: JobOptions;
}

/** GET /api/checkpoint-advice?room=: an interval from what was measured in the room, √(2·C·M). */
export interface CheckpointAdvice {
  checkpointMs: number;
  /** False: too little is known, and the interval is the default. */
  measured: boolean;
  /** C: how long a rank stands still for an image. */
  costMs?: number;
  /** M: mean time until a rank is lost. */
  mtbfMs?: number;
  /** Ranks lost, and the time of ranks in which that happened, within the last week. */
  faults: number;
  rankMs: number;
}

/** One message of the compiler; lines and columns from 1. */
export interface Diagnostic {
  file: string;
  line: number;
  column: number;
  /** e.g. 'TS2304', or clang's flag '-Wunused-variable'. */
  code: string;
  message: string;
}

/** Any refusal of REST; `diagnostics` with COMPILE_FAILED, FORBIDDEN_IMPORT and BAD_MODULE. */
export type ApiError = ErrorBody & { diagnostics?: Diagnostic[] };
