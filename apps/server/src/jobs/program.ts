/**
 * From what was submitted to the one blob that nodes fetch: checked, compiled (packages/toolchain), refused with a
 * stable code.
 */
import { isUnit, type Asker, type Compiler, type ProgramDiagnostic, type RefusedProgram } from '@mayfly/toolchain';
import { manifests, refusalText, type Feature } from '@mayfly/protocols';
import {
  ftModes,
  FilePath,
  kindOf,
  MayflyError,
  type JobOptions,
  type ProgramLanguage,
  type ProgramSubmission,
  type ProtocolName,
} from '@mayfly/wire';
import { Compile } from 'typebox/compile';
import { DEFAULT_CHECKPOINT_MS } from '../checkpoint-advice.ts';
import { USUAL_RANK_MEMORY } from '../options.ts';
import { checkFlags } from './flags.ts';

export interface PreparedProgram {
  language: ProgramLanguage;
  /** Names the program: the job when it has no name, argv[0] of C. */
  entry: string;
  blob: Uint8Array;
  /** BLAKE3 of the blob. */
  hash: string;
  /** Of a script. */
  sourceMap?: string;
  warnings: ProgramDiagnostic[];
}

/**
 * Scripts (and archives) and modules are dealt with in processes of their own, so that a long build of C++ holds up no
 * script.
 */
export interface Compilers {
  scripts: Pick<Compiler, 'compile' | 'unpack'>;
  modules: Pick<Compiler, 'compileModule'>;
}

const filePath = Compile(FilePath);
const PAGE = 65536;

/**
 * @throws MayflyError BAD_REQUEST, BAD_ARCHIVE, BAD_MODULE, FORBIDDEN_FLAG, FORBIDDEN_IMPORT, COMPILE_FAILED,
 * COMPILE_LIMIT, TOO_LARGE, TOO_MANY, CANCELLED
 */
export async function prepareProgram(
  compilers: Compilers,
  submitted: ProgramSubmission,
  rankMemoryBytes: number,
  asker: Asker = {},
): Promise<PreparedProgram> {
  const maxPages = Math.min(65536, Math.floor(rankMemoryBytes / PAGE));
  const fromModule = async (module: Uint8Array, entry = 'a.out'): Promise<PreparedProgram> => {
    const made = await compilers.modules.compileModule({ language: 'wasm', module, maxPages }, asker);
    if (!made.ok) throw refused(made);
    return { language: 'wasm', entry, blob: made.module, hash: made.hash, warnings: made.warnings };
  };
  if (submitted.language === 'archive') {
    const unpacked = await compilers.scripts.unpack(
      { language: 'archive', archive: decodeBase64(submitted.archive, 'archive') },
      asker,
    );
    if (!unpacked.ok) throw refused(unpacked);
    const { program } = unpacked;
    const named = submitted.entry === undefined ? program : { ...program, entry: submitted.entry };
    return named.language === 'wasm'
      ? fromModule(named.module, named.entry)
      : prepareProgram(compilers, named, rankMemoryBytes, asker);
  }
  if (submitted.language === 'wasm') return fromModule(decodeBase64(submitted.module, 'module'), submitted.entry);
  for (const path of Object.keys(submitted.sources)) needPath(path);
  if (submitted.language === 'typescript') {
    if (!Object.hasOwn(submitted.sources, submitted.entry))
      throw new MayflyError('BAD_REQUEST', `The entry '${submitted.entry}' is not among the sources.`);
    const made = await compilers.scripts.compile({ entry: submitted.entry, sources: submitted.sources }, asker);
    if (!made.ok) throw refused(made);
    return {
      language: 'typescript',
      entry: submitted.entry,
      blob: new TextEncoder().encode(made.bundle),
      hash: made.hash,
      sourceMap: made.sourceMap,
      warnings: made.warnings,
    };
  }
  const { language, sources, units } = submitted;
  const flags = checkFlags(submitted.flags ?? []);
  const made = await compilers.modules.compileModule(
    { language, sources, flags, maxPages, ...(units === undefined ? {} : { units }) },
    asker,
  );
  if (!made.ok) throw refused(made);
  const entry = submitted.entry ?? units?.[0] ?? Object.keys(sources).find(isUnit) ?? 'a.out';
  return { language: made.language, entry, blob: made.module, hash: made.hash, warnings: made.warnings };
}

/**
 * The programs of one job: nodes are chosen for a job by the kind of program that they run, so it has one kind.
 * @throws MayflyError BAD_REQUEST
 */
export function needOneKind(programs: readonly PreparedProgram[]): void {
  const kinds = programs.map((p) => kindOf(p.language));
  const script = kinds.indexOf('typescript');
  const module = kinds.indexOf('wasm');
  if (script >= 0 && module >= 0)
    throw new MayflyError(
      'BAD_REQUEST',
      `The program ${programs[script]!.entry} is TypeScript and ${programs[module]!.entry} is WebAssembly: the programs ` +
        'of a job are either all TypeScript or all C, C++ and modules, since not every volunteer runs both.',
    );
}

/**
 * What a job asks for, its protocol accepts (its manifest says what).
 * @throws MayflyError BAD_REQUEST with the protocol's reason, and what to do
 */
export function needAccepted(
  protocol: ProtocolName,
  options: Pick<
    JobOptions,
    'team' | 'ft' | 'parity' | 'clusters' | 'checkpointMs' | 'stuckAfterMs' | 'stuckFactor' | 'durability'
  >,
  programs: readonly PreparedProgram[],
): void {
  const asked: readonly (readonly [Feature, boolean])[] = [
    ['scripts', programs.some((p) => kindOf(p.language) === 'typescript')],
    ['teams', (options.team ?? 1) > 1],
    ['ft', options.ft !== undefined],
    ['parity', options.parity !== undefined],
    ['clusters', options.clusters !== undefined],
    ['checkpoints', options.checkpointMs !== undefined],
    ['moves', options.stuckAfterMs !== undefined || options.stuckFactor !== undefined],
    ['strict', options.durability === 'strict'],
  ];
  for (const [feature, is] of asked) {
    const refusal = is ? refusalText(protocol, feature) : undefined;
    if (refusal !== undefined) throw new MayflyError('BAD_REQUEST', refusal);
  }
}

/** FT-MPI's modes fit each other. @throws MayflyError BAD_REQUEST */
export function needModes(ft: JobOptions['ft']): void {
  if (ft?.slotMs === undefined || ftModes(ft).communicators === 'rebuild') return;
  throw new MayflyError(
    'BAD_REQUEST',
    `Only under FT-MPI's mode "rebuild" does a replacement wait for a slot, and the job asks for ` +
      `"${ftModes(ft).communicators}". Leave the option "ft.slotMs" (--ft-wait) out, or choose "rebuild".`,
  );
}

const seconds = (ms: number): string => `${Math.floor(ms / 1000)} s`;
const megabytes = (bytes: number): string => `${Math.floor(bytes / 2 ** 20)} MB`;

/** More than the server allows is an error, which names both limits: a job never gets less than it asked for. */
function within(wanted: number, most: number, asks: string, write: (n: number) => string, what: string): number {
  if (wanted <= most) return wanted;
  throw new MayflyError(
    'BAD_REQUEST',
    `The job asks for ${write(wanted)} ${asks}; this server allows ${write(most)}. ${what}`,
  );
}

/** The memory of each rank. @throws MayflyError BAD_REQUEST */
export function rankMemoryOf(wanted: number | undefined, most: number): number {
  if (wanted === undefined) return Math.min(USUAL_RANK_MEMORY, most);
  const what =
    'Ask for less ("memoryBytes", --memory), or let the operator raise the limit (mayfly server --max-rank-memory).';
  return within(wanted, most, 'of memory for each rank', megabytes, what);
}

/** How long a job may run. @throws MayflyError BAD_REQUEST */
export const timeLimitOf = (wanted: number | undefined, most: number): number =>
  within(wanted ?? most, most, 'to run', seconds, 'Ask for less ("timeLimitMs", --time-limit).');

/** How much a job may write. @throws MayflyError BAD_REQUEST */
export const outputLimitOf = (wanted: number | undefined, most: number): number =>
  within(wanted ?? most, most, 'of output', megabytes, 'Ask for less ("outputLimitBytes").');

/** What a job has for `checkpointMs`; 0: its scheduler finds the time between waves. @throws MayflyError BAD_REQUEST */
export function checkpointMsOf(protocol: ProtocolName, wanted: number | undefined): number {
  const { leastCheckpointMs, findsCheckpointMs } = manifests[protocol];
  if (wanted !== undefined && wanted < leastCheckpointMs)
    throw new MayflyError(
      'BAD_REQUEST',
      `checkpointMs is ${wanted}: with "${protocol}" it is the time between two checkpoints of all ranks, at least ` +
        `${leastCheckpointMs} ms. Leave it out, and Mayfly finds it from the losses and the cost of a checkpoint.`,
    );
  return wanted ?? (findsCheckpointMs ? 0 : DEFAULT_CHECKPOINT_MS);
}

/** @throws MayflyError BAD_REQUEST */
export function needPath(path: string): void {
  if (!filePath.Check(path))
    throw new MayflyError(
      'BAD_REQUEST',
      `The path ${JSON.stringify(path)} is not allowed: use relative paths of letters, digits, "_", "-", "." ` +
        'and "/", without "..".',
    );
}

/** @throws MayflyError BAD_REQUEST */
export function decodeBase64(base64: string, what: string): Uint8Array {
  if (!/^[A-Za-z0-9+/]*={0,2}$/.test(base64)) throw new MayflyError('BAD_REQUEST', `The ${what} is not base64.`);
  return new Uint8Array(Buffer.from(base64, 'base64'));
}

function refused(r: RefusedProgram): MayflyError {
  return new MayflyError(r.code, r.message, { diagnostics: r.diagnostics });
}
