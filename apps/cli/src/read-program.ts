/**
 * What `mayfly mpiexec` is given to run, by its kind: TypeScript, sources of C or C++, a module, or a folder with a
 * manifest. The reader of each kind is loaded when a program needs it: from its own module, since the bundler loads all
 * that the index of the toolchain has together.
 */
import { closeSync, openSync, readFileSync, readSync, statSync } from 'node:fs';
import { lstat, readdir } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { moduleOf, moduleOffset } from '@mayfly/toolchain/launcher';
import { isNativeSource, isUnit, MANIFEST } from '@mayfly/toolchain/source-names';
import { MayflyError, type ProgramSubmission } from '@mayfly/wire';
import { CommandError, Exit } from './exit-codes.ts';
import { splitWords } from './shell-words.ts';

export interface ReadProgram {
  readonly program: ProgramSubmission;
  /** What of the arguments is left for the program. */
  readonly args: string[];
  /** Files of this machine that result files must not overwrite. */
  readonly ownFiles: Set<string>;
}

const MAX_FOLDER_BYTES = 40 << 20;
const MAX_FOLDER_FILES = 4000;
const SKIPPED = new Set(['node_modules', 'build', 'CMakeFiles', 'dist']);

/** @throws CommandError */
export async function readAnyProgram(
  given: string,
  args: readonly string[],
  ccFlags: string | undefined,
): Promise<ReadProgram> {
  try {
    const info = statSync(given, { throwIfNoEntry: false });
    const none = (kind: string): void => {
      if (ccFlags !== undefined)
        throw new CommandError(`--cc-flags apply to C and C++ sources; ${given} is ${kind}`, Exit.USAGE);
    };
    if (info?.isDirectory()) {
      none('a folder; set its flags in its mayfly.json');
      const { programOfFiles } = await import('@mayfly/toolchain/project');
      const program = programOfFiles(await readFolder(given));
      return {
        program:
          program.language === 'wasm'
            ? { ...program, module: Buffer.from(program.module).toString('base64') }
            : program,
        args: [...args],
        ownFiles: new Set(),
      };
    }
    if (info?.isFile() && isModule(given)) {
      none('a module');
      const entry =
        basename(given)
          .replace(/[^A-Za-z0-9_.@+-]/g, '_')
          .replace(/^[^A-Za-z0-9_]+/, '')
          .slice(-100) || 'a.out';
      return {
        program: { language: 'wasm', module: Buffer.from(moduleOf(readFileSync(given))).toString('base64'), entry },
        args: [...args],
        ownFiles: new Set([resolve(given)]),
      };
    }
    if (isUnit(given)) return await native(given, args, ccFlags);
    none('none');
    if (info?.isFile() && isElf(given))
      throw new CommandError(`${given} is a native executable; build it with mayfly mpicc`, Exit.USAGE);
    const { readProgram } = await import('@mayfly/toolchain/read-program');
    const read = await readProgram(given);
    return {
      program: { language: 'typescript', entry: read.entry, sources: { ...read.sources } },
      args: [...args],
      ownFiles: new Set(Object.keys(read.sources).map((p) => resolve(dirname(given), p))),
    };
  } catch (error) {
    if (error instanceof MayflyError) throw new CommandError(error.message, Exit.USAGE);
    throw error;
  }
}

/**
 * `main.c util.c args`: what follows and is a file with the name of a source goes with it, up to the first other word
 * or `--`.
 */
async function native(first: string, args: readonly string[], ccFlags: string | undefined): Promise<ReadProgram> {
  let n = 0;
  while (n < args.length && isNativeSource(args[n]!) && statSync(args[n]!, { throwIfNoEntry: false })?.isFile()) n++;
  const flags = splitWords(ccFlags ?? '');
  if (flags === undefined) throw new CommandError('--cc-flags: unclosed quotation mark', Exit.USAGE);
  const files = [first, ...args.slice(0, n)];
  const { readNative } = await import('@mayfly/toolchain/read-native');
  const read = readNative(files, flags);
  const units = read.units.filter(isUnit);
  const rest = args.slice(args[n] === '--' ? n + 1 : n);
  return {
    program: {
      language: units.every((u) => u.endsWith('.c')) ? 'c' : 'c++',
      sources: read.sources,
      units,
      ...(read.flags.length > 0 ? { flags: read.flags } : {}),
    },
    args: rest,
    ownFiles: new Set(Object.keys(read.sources).map((p) => resolve(read.root, p))),
  };
}

async function readFolder(root: string): Promise<Map<string, Uint8Array>> {
  const files = new Map<string, Uint8Array>();
  let bytes = 0;
  const walk = async (folder: string, prefix: string): Promise<void> => {
    for (const name of (await readdir(folder)).sort()) {
      const path = join(folder, name);
      const info = await lstat(path);
      if (info.isDirectory()) {
        if (!name.startsWith('.') && !SKIPPED.has(name)) await walk(path, `${prefix}${name}/`);
      } else if (
        info.isFile() &&
        !name.startsWith('.') &&
        (isNativeSource(name) || /\.(json|[cm]?[jt]sx?|txt|wasm)$/.test(name))
      ) {
        bytes += info.size;
        if (bytes > MAX_FOLDER_BYTES || files.size >= MAX_FOLDER_FILES)
          throw new CommandError(
            `the folder ${root} holds more than ${MAX_FOLDER_BYTES >> 20} MB or ${MAX_FOLDER_FILES} files of sources`,
            Exit.USAGE,
          );
        files.set(prefix + name, new Uint8Array(readFileSync(path)));
      }
    }
  };
  await walk(root, '');
  if (!files.has(MANIFEST))
    throw new CommandError(`the folder ${root} has no ${MANIFEST} (docs/programs.md describes it)`, Exit.USAGE);
  return files;
}

/** Its first bytes: more than a launcher has. */
function headOf(path: string): Uint8Array {
  const fd = openSync(path, 'r');
  try {
    const head = Buffer.alloc(16384);
    return head.subarray(0, readSync(fd, head, 0, head.length, 0));
  } finally {
    closeSync(fd);
  }
}
const isModule = (path: string): boolean => moduleOffset(headOf(path)) !== undefined;
const isElf = (path: string): boolean => Buffer.from(headOf(path).subarray(0, 4)).toString('latin1') === '\x7fELF';
