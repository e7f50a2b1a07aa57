/** What child/probe.ts tries from inside a job's process. */
export const ATTEMPTS = [
  'read a file',
  'write a file',
  'start a program',
  'start a thread without limits',
  'load an addon',
  "get Node's internals",
  'open the inspector',
  'open a database file',
  'use WASI',
  'signal the volunteer',
  'see other processes',
  'connect to another address',
  'listen for connections',
  "see the volunteer's environment",
] as const;
export type Attempt = (typeof ATTEMPTS)[number];

/** By attempt, what it was denied with; null: it worked. */
export type Attempts = Record<Attempt, string | null>;

/** What the volunteer made to be tried. */
export interface Targets {
  /** A file that the volunteer can read, and one that does not exist in a folder that anybody can write to. */
  secretFile: string;
  newFile: string;
  /** Process id of the volunteer. */
  volunteer: number;
  /** Something listens there, on this machine. */
  port: number;
  /** Path of a program. */
  program: string;
  /** Names of the environment's variables in the job's process; it fills them in itself. */
  environment: string[];
}
