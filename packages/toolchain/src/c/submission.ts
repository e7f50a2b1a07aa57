/**
 * A submitted program of C or C++ (its files in memory), or a submitted module, to a checkpointable module. Runs inside the compile process,
 * which bounds its time. Flags have passed the allow-list of the border already; whatever they say, only the submission can be read.
 */
import { blake3 } from 'hash-wasm';
import type { ModuleRequest, ModuleResult, NativeRequest, ProgramDiagnostic, RefusedProgram } from '../types.ts';
import { isUnit } from '../project.ts';
import { cc } from './driver/cc.ts';
import { MemoryFiles } from './files.ts';
import { instrument, type SourceLanguage } from './instrument.ts';
import { ModuleError } from './wasm-module.ts';

/** Where the submission lies for clang. */
const FOLDER = '/program';
const MAX_WRITTEN_BYTES = 512 << 20;
const MAX_DIAGNOSTICS = 200;
const MAX_MESSAGE = 4000;

export async function compileModule(request: NativeRequest | ModuleRequest): Promise<ModuleResult> {
  const maxPages = request.maxPages === undefined ? {} : { maxPages: request.maxPages };
  if (request.language === 'wasm') {
    try {
      return await accepted('wasm', instrument(request.module, maxPages).wasm, []);
    } catch (error) {
      if (!(error instanceof ModuleError)) throw error;
      return refuse('BAD_MODULE', [{ file: '', line: 1, column: 1, code: error.problem, message: error.message, severity: 'error' }]);
    }
  }
  const units = request.units ?? Object.keys(request.sources).filter(isUnit).sort();
  if (units.length === 0) return refuse('COMPILE_FAILED', [at('', 'NO_SOURCE', 'There is nothing to compile: no file ends in .c, .cc, .cpp, .cxx or .C.')]);
  const missing = units.find((u) => !Object.hasOwn(request.sources, u));
  if (missing !== undefined) return refuse('COMPILE_FAILED', [at(missing, 'NO_SOURCE', `The program has no file "${missing}".`)]);
  const files = new MemoryFiles(Object.fromEntries(Object.entries(request.sources).map(([path, text]) => [`${FOLDER}/${path}`, text])), MAX_WRITTEN_BYTES);
  const driver = request.language === 'c++' || units.some((u) => !u.endsWith('.c')) ? 'mpicxx' : 'mpicc';
  // mpicxx takes .c for C++, as clang++ does; a mixed program means C by it.
  const inputs = driver === 'mpicc' ? units : units.flatMap((u) => ['-x', u.endsWith('.c') ? 'c' : 'c++', u]);
  const argv = ['-fno-color-diagnostics', '-fno-caret-diagnostics', ...(request.flags.some((f) => /^-O/.test(f)) ? [] : ['-O2']), ...request.flags, ...inputs, '-o', `${FOLDER}/a.out`];
  const r = cc(argv, { files, cwd: FOLDER, driver, ...maxPages });
  const diagnostics = diagnosticsOf(new TextDecoder().decode(r.stderr));
  const wasm = files.read(`${FOLDER}/a.out`);
  if (r.exit === 0 && wasm !== undefined) return accepted(driver === 'mpicxx' ? 'c++' : 'c', wasm, diagnostics);
  if (!diagnostics.some((d) => d.severity === 'error')) diagnostics.unshift(at('', 'COMPILER', `The compiler ended with exit code ${r.exit}.`));
  return refuse('COMPILE_FAILED', diagnostics);
}

const at = (file: string, code: string, message: string): ProgramDiagnostic => ({ file, line: 1, column: 1, code, message, severity: 'error' });

async function accepted(language: SourceLanguage, module: Uint8Array, warnings: ProgramDiagnostic[]): Promise<ModuleResult> {
  return { ok: true, language, module, hash: await blake3(module), warnings };
}

function refuse(code: RefusedProgram['code'], diagnostics: readonly ProgramDiagnostic[]): RefusedProgram {
  const sorted = [...diagnostics.filter((d) => d.severity === 'error'), ...diagnostics.filter((d) => d.severity !== 'error')];
  const errors = sorted.filter((d) => d.severity === 'error').length;
  const first = sorted[0]!;
  const place = first.file === '' ? '' : `${first.file}:${first.line}:${first.column}: `;
  return { ok: false, code, message: `${place}${first.message}${errors > 1 ? ` (and ${errors - 1} more)` : ''}`, diagnostics: sorted };
}

/** The messages of clang, of the linker and of the driver, each note with what it belongs to. */
export function diagnosticsOf(text: string): ProgramDiagnostic[] {
  const found: ProgramDiagnostic[] = [];
  const note = (message: string): void => {
    const last = found.at(-1);
    if (last !== undefined) found[found.length - 1] = { ...last, message: `${last.message}\n${message}`.slice(0, MAX_MESSAGE) };
  };
  for (const line of text.split('\n')) {
    if (found.length >= MAX_DIAGNOSTICS) break;
    const clang = /^(.+?):(\d+):(\d+): (fatal error|error|warning|note): (.*?)(?: \[(-W[^\]]+)\])?$/.exec(line);
    if (clang !== null) {
      const [, file, row, column, kind, message, flag] = clang;
      if (kind === 'note') note(`note: ${file}:${row}:${column}: ${message}`);
      else found.push({ file: plain(file!), line: Number(row), column: Number(column), code: flag ?? 'clang', message: message!.slice(0, MAX_MESSAGE), severity: kind === 'warning' ? 'warning' : 'error' });
      continue;
    }
    const tool = /^([\w+.-]+): (error|warning|note): (.*)$/.exec(line);
    if (tool === null) continue;
    const [, name, kind, message] = tool;
    if (kind === 'note') note(`note: ${message}`);
    else found.push({ file: '', line: 1, column: 1, code: name!.startsWith('wasm-ld') ? 'link' : 'driver', message: message!.slice(0, MAX_MESSAGE), severity: kind === 'warning' ? 'warning' : 'error' });
  }
  return found;
}

/** Paths as they were submitted. */
const plain = (file: string): string => file.replace(/^\/program\//, '').replace(/^\.\//, '');
