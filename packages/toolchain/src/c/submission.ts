/**
 * A submitted program of C or C++ (its files in memory), or a submitted module, to a checkpointable module. Runs inside
 * the compile process, which bounds its time. Flags have passed the allow-list of the border already; whatever they
 * say, only the submission can be read.
 */
import { posix } from 'node:path';
import { blake3 } from 'hash-wasm';
import type {
  ModuleRequest,
  ModuleResult,
  NativeRequest,
  ProgramDiagnostic,
  RefusedProgram,
} from '../compile-request.ts';
import { moduleOf } from '../launcher.ts';
import { isUnit } from '../source-names.ts';
import { cc } from './driver/cc.ts';
import { MemoryFiles } from './files.ts';
import { instrument, type SourceLanguage } from './instrument.ts';
import { ModuleError } from './wasm-module.ts';

/** Where the submission lies for clang. */
const FOLDER = '/program';
/** Beside it, so that no file of the submission can be meant. */
const OBJECTS = '/objects';
const MAX_WRITTEN_BYTES = 512 << 20;
const MAX_DIAGNOSTICS = 200;
const MAX_MESSAGE = 4000;

export async function compileModule(request: NativeRequest | ModuleRequest): Promise<ModuleResult> {
  const maxPages = request.maxPages === undefined ? {} : { maxPages: request.maxPages };
  if (request.language === 'wasm') {
    try {
      return await accepted('wasm', instrument(moduleOf(request.module), maxPages).wasm, []);
    } catch (error) {
      if (!(error instanceof ModuleError)) throw error;
      return refuse('BAD_MODULE', [
        { file: '', line: 1, column: 1, code: error.problem, message: error.message, severity: 'error' },
      ]);
    }
  }
  const units = request.units ?? Object.keys(request.sources).filter(isUnit).sort();
  if (units.length === 0)
    return refuse('COMPILE_FAILED', [
      at('', 'NO_SOURCE', 'There is nothing to compile: no file ends in .c, .cc, .cpp, .cxx or .C.'),
    ]);
  const missing = units.find((u) => !Object.hasOwn(request.sources, u));
  if (missing !== undefined)
    return refuse('COMPILE_FAILED', [at(missing, 'NO_SOURCE', `The program has no file "${missing}".`)]);
  const files = new MemoryFiles(
    Object.fromEntries(Object.entries(request.sources).map(([path, text]) => [`${FOLDER}/${path}`, text])),
    MAX_WRITTEN_BYTES,
  );
  const diagnostics: ProgramDiagnostic[] = [];
  let exit = 0;
  const call = (driver: Driver, argv: readonly string[]): void => {
    const r = cc(argv, { files, cwd: FOLDER, driver, ...maxPages });
    diagnostics.push(...diagnosticsOf(new TextDecoder().decode(r.stderr)));
    exit ||= r.exit;
  };
  // Each by its own driver: for mpicxx a file.c would be C++.
  const drivers = units.map((u): Driver => (u.endsWith('.c') ? 'mpicc' : 'mpicxx'));
  const objects = units.map((u, i) => `${OBJECTS}/${i}-${posix.basename(u)}.o`);
  const level = request.flags.some((f) => /^-O/.test(f)) ? [] : ['-O2'];
  units.forEach((unit, i) => {
    if (diagnostics.length < MAX_DIAGNOSTICS)
      call(drivers[i]!, [
        '-fno-color-diagnostics',
        '-fno-caret-diagnostics',
        ...level,
        ...flagsFor(drivers[i]!, request.flags),
        '-c',
        unit,
        '-o',
        objects[i]!,
      ]);
  });
  const driver: Driver = request.language === 'c++' || drivers.includes('mpicxx') ? 'mpicxx' : 'mpicc';
  if (exit === 0) call(driver, [...level, ...flagsFor(driver, request.flags), ...objects, '-o', `${OBJECTS}/a.out`]);
  const wasm = files.read(`${OBJECTS}/a.out`);
  if (exit === 0 && wasm !== undefined) return accepted(driver === 'mpicxx' ? 'c++' : 'c', wasm, diagnostics);
  if (!diagnostics.some((d) => d.severity === 'error'))
    diagnostics.unshift(at('', 'COMPILER', `The compiler ended with exit code ${exit}.`));
  return refuse('COMPILE_FAILED', diagnostics);
}

type Driver = 'mpicc' | 'mpicxx';

/** A program of both languages has one list of flags: a standard is for its own language. */
const flagsFor = (driver: Driver, flags: readonly string[]): string[] =>
  flags.filter((f) => !f.startsWith('-std=') || f.includes('++') === (driver === 'mpicxx'));

const at = (file: string, code: string, message: string): ProgramDiagnostic => ({
  file,
  line: 1,
  column: 1,
  code,
  message,
  severity: 'error',
});

async function accepted(
  language: SourceLanguage,
  module: Uint8Array,
  warnings: ProgramDiagnostic[],
): Promise<ModuleResult> {
  return { ok: true, language, module, hash: await blake3(module), warnings };
}

function refuse(code: RefusedProgram['code'], diagnostics: readonly ProgramDiagnostic[]): RefusedProgram {
  const sorted = [
    ...diagnostics.filter((d) => d.severity === 'error'),
    ...diagnostics.filter((d) => d.severity !== 'error'),
  ];
  const errors = sorted.filter((d) => d.severity === 'error').length;
  const first = sorted[0]!;
  const place = first.file === '' ? '' : `${first.file}:${first.line}:${first.column}: `;
  return {
    ok: false,
    code,
    message: `${place}${first.message}${errors > 1 ? ` (and ${errors - 1} more)` : ''}`,
    diagnostics: sorted,
  };
}

/** The messages of clang, of the linker and of the driver, each note with what it belongs to. */
export function diagnosticsOf(text: string): ProgramDiagnostic[] {
  const found: ProgramDiagnostic[] = [];
  const note = (message: string): void => {
    const last = found.at(-1);
    if (last !== undefined)
      found[found.length - 1] = { ...last, message: `${last.message}\n${message}`.slice(0, MAX_MESSAGE) };
  };
  for (const line of text.split('\n')) {
    if (found.length >= MAX_DIAGNOSTICS) break;
    const clang = /^(.+?):(\d+):(\d+): (fatal error|error|warning|note): (.*?)(?: \[(-W[^\]]+)\])?$/.exec(line);
    if (clang !== null) {
      const [, file, row, column, kind, message, flag] = clang;
      if (kind === 'note') note(`note: ${file}:${row}:${column}: ${message}`);
      else
        found.push({
          file: plain(file!),
          line: Number(row),
          column: Number(column),
          code: flag ?? 'clang',
          message: message!.slice(0, MAX_MESSAGE),
          severity: kind === 'warning' ? 'warning' : 'error',
        });
      continue;
    }
    const tool = /^(?:([\w+.-]+): )?(?:fatal )?(error|warning|note): (.*)$/.exec(line);
    if (tool === null) continue;
    const [, name, kind, message] = tool;
    if (kind === 'note') note(`note: ${message}`);
    else
      found.push({
        file: '',
        line: 1,
        column: 1,
        code: name?.startsWith('wasm-ld') ? 'link' : 'driver',
        message: message!.slice(0, MAX_MESSAGE),
        severity: kind === 'warning' ? 'warning' : 'error',
      });
  }
  return found;
}

/** Paths as they were submitted. */
const plain = (file: string): string => file.replace(/^\/program\//, '').replace(/^\.\//, '');
