/** What `mayfly mpiexec` and `mayfly submit` send: the program with what belongs to it, input files and options. */
import { readFile, stat } from 'node:fs/promises';
import { basename, relative, resolve, sep } from 'node:path';
import {
  type FurtherPart,
  type JobOptions,
  type JobSubmission,
  type MapBy,
  MAX_RANKS,
  type ProtocolName,
  ROOM_CODE,
} from '@mayfly/wire';
import { CommandError, Exit } from './exit-codes.ts';
import { splitPrograms } from './mpmd.ts';
import { readAnyProgram } from './read-program.ts';

export interface SubmissionOptions {
  n: number;
  name?: string;
  about?: string;
  file?: string[];
  protocol?: ProtocolName;
  durability?: 'behind' | 'strict';
  team?: number;
  clusters?: JobOptions['clusters'];
  ftComm?: NonNullable<JobOptions['ft']>['communicators'];
  ftMsg?: NonNullable<JobOptions['ft']>['messages'];
  /** Seconds; 0: for ever. */
  ftWait?: number;
  mapBy?: MapBy;
  /** Seconds; or of each cluster, ms. */
  checkpoint?: number | (number | null)[];
  /** Checksums; and of how many images one goes to the server. */
  parity?: number;
  wholeEvery?: number;
  grace?: number;
  stuckAfter?: number;
  stuckFactor?: number;
  timeLimit?: number;
  /** NAME=VALUE, of every rank; and of the ranks of the first program, where there are several. */
  env?: string[];
  partEnv?: string[];
  /** A code, or one for each cluster; null: volunteers without a room. */
  room?: string | null | (string | null)[];
  /** URL that the server calls at the end of the job. */
  notify?: string;
  /** Bytes. */
  memory?: number;
  seed?: number;
  /** Compiler options, as one line. */
  ccFlags?: string;
}

/** As base64 a longer file is no string of JavaScript any more; servers take less by default (limits.inputBytes). */
const MAX_INPUT_BYTES = 256 << 20;

/**
 * Reads the programs with what belongs to them, and the input files. `words`: what stands behind the first program.
 * @throws CommandError
 */
export async function prepareSubmission(
  given: string,
  words: string[],
  o: SubmissionOptions,
): Promise<{ submission: JobSubmission; ranks: number; ownFiles: Set<string> }> {
  if (given === ':') throw new CommandError("program 1, before ':': the program is missing", Exit.USAGE);
  for (const code of [o.room ?? []].flat()) if (code !== null) needRoomCode(code);
  const programs = splitPrograms(words);
  const ranks = programs.further.reduce((n, part) => n + part.n, o.n);
  if (ranks > MAX_RANKS)
    throw new CommandError(`the programs have ${ranks} ranks together; a job has at most ${MAX_RANKS}`, Exit.USAGE);
  const { program, args, ownFiles } = await readAnyProgram(given, programs.args, o.ccFlags);
  const env = [...(o.env ?? []), ...(o.partEnv ?? [])];
  const further: FurtherPart[] = [];
  for (const part of programs.further) {
    const read = await readAnyProgram(part.program, part.args, part.ccFlags);
    for (const path of read.ownFiles) ownFiles.add(path);
    const own = o.partEnv || part.env.length > 0 ? { env: variables([...(o.env ?? []), ...part.env]) } : {};
    further.push({ program: read.program, size: part.n, args: read.args, ...own });
  }
  const files: Record<string, string> = {};
  let inputBytes = 0;
  for (const given of o.file ?? []) {
    const { path, from, size } = await inputFile(given);
    inputBytes += size;
    if (inputBytes > MAX_INPUT_BYTES)
      throw new CommandError(
        `${from}: the input files have ${Math.ceil(inputBytes / 2 ** 20)} MB, more than the limit of a ` +
          `submission (${MAX_INPUT_BYTES >> 20} MB)`,
        Exit.USAGE,
      );
    files[path] = (await readFile(from)).toString('base64');
    ownFiles.add(resolve(from));
  }
  if (o.wholeEvery !== undefined && o.parity === undefined)
    throw new CommandError('--whole-every is of use with --parity only', Exit.USAGE);
  const options: JobOptions = {
    ...(o.protocol ? { protocol: o.protocol } : {}),
    ...(o.durability ? { durability: o.durability } : {}),
    ...(o.team !== undefined ? { team: o.team } : {}),
    ...(o.clusters !== undefined ? { clusters: o.clusters } : {}),
    ...ftOf(o),
    ...(o.mapBy ? { mapBy: o.mapBy } : {}),
    ...(typeof o.checkpoint === 'number' ? { checkpointMs: Math.round(o.checkpoint * 1000) } : {}),
    ...(typeof o.checkpoint === 'object' ? { clusterCheckpointMs: o.checkpoint } : {}),
    ...(o.parity !== undefined
      ? { parity: { checksums: o.parity, ...(o.wholeEvery === undefined ? {} : { wholeEvery: o.wholeEvery }) } }
      : {}),
    ...(o.grace !== undefined ? { graceMs: Math.round(o.grace * 1000) } : {}),
    ...(o.stuckAfter !== undefined ? { stuckAfterMs: Math.round(o.stuckAfter * 1000) } : {}),
    ...(o.stuckFactor !== undefined ? { stuckFactor: o.stuckFactor } : {}),
    ...(o.timeLimit !== undefined ? { timeLimitMs: Math.round(o.timeLimit * 1000) } : {}),
    ...(env.length > 0 ? { env: variables(env) } : {}),
    ...(o.memory !== undefined ? { memoryBytes: o.memory } : {}),
    ...(o.seed !== undefined ? { seed: o.seed } : {}),
  };
  const submission: JobSubmission = {
    name: (
      o.name ?? [given, ...programs.further.map((f) => f.program)].map((path) => basename(resolve(path))).join(' : ')
    ).slice(0, 80),
    ...(o.about ? { about: o.about } : {}),
    ...(Array.isArray(o.room) ? { rooms: o.room } : o.room ? { room: o.room } : {}),
    ...(o.notify === undefined ? {} : { notify: o.notify }),
    program,
    size: o.n,
    args,
    ...(further.length > 0 ? { further } : {}),
    options,
    ...(Object.keys(files).length > 0 ? { files } : {}),
  };
  return { submission, ranks, ownFiles };
}

function ftOf({ ftComm, ftMsg, ftWait }: SubmissionOptions): Pick<JobOptions, 'ft'> {
  if (ftComm === undefined && ftMsg === undefined && ftWait === undefined) return {};
  return {
    ft: {
      ...(ftComm && { communicators: ftComm }),
      ...(ftMsg && { messages: ftMsg }),
      ...(ftWait !== undefined && { slotMs: Math.round(ftWait * 1000) }),
    },
  };
}

function variables(all: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    all.map((text) => {
      const at = text.indexOf('=');
      if (at < 1) throw new CommandError(`--env ${text}: expected NAME=VALUE`, Exit.USAGE);
      return [text.slice(0, at), text.slice(at + 1)];
    }),
  );
}

/** As the server wants it, which would answer with a pattern. */
function needRoomCode(code: string): void {
  if (!new RegExp(ROOM_CODE).test(code))
    throw new CommandError(
      `${code} is not the code of a room: codes have 4 to 12 capital letters and digits, without I, L, O, 0 and 1. ` +
        '`mayfly rooms` lists the rooms',
      Exit.USAGE,
    );
}

/**
 * 'data/a.mtx' is given to the program under that name (or its last part, when it lies elsewhere), 'a.mtx=/data/b.mtx'
 * under the name before the '='.
 */
async function inputFile(given: string): Promise<{ path: string; from: string; size: number }> {
  const at = given.indexOf('=');
  const from = at > 0 ? given.slice(at + 1) : given;
  const near = relative('.', from).split(sep).join('/');
  const path = at > 0 ? given.slice(0, at) : near.startsWith('..') || resolve(from) === from ? basename(from) : near;
  const info = await stat(from).catch(() => undefined);
  if (!info?.isFile()) throw new CommandError(`the input file ${from} does not exist, or is not a file`, Exit.USAGE);
  return { path, from, size: info.size };
}
