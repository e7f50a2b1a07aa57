/** One program from its texts to its bundle: inspect, type-check, bundle. Runs inside the compile process. */
import { isFilePath } from '@mayfly/wire';
import { blake3 } from 'hash-wasm';
import { bundle } from './bundle.ts';
import { inspect } from './inspect.ts';
import { EXTENSIONS, extensionOf, isScript } from './resolve.ts';
import type { TypeChecker } from './type-check.ts';
import type { CompileRequest, CompileResult, ProgramDiagnostic, RefusedProgram } from './compile-request.ts';

export async function compile(
  request: CompileRequest,
  checker: TypeChecker,
  workingDir: string,
): Promise<CompileResult> {
  const sources = new Map(Object.entries(request.sources));
  const { entry } = request;
  const bad = [...sources.keys()].find((p) => !isFilePath(p));
  if (bad !== undefined)
    return refuse('COMPILE_FAILED', [
      problem(
        bad,
        'BAD_PATH',
        `"${bad}" is not a valid file path: use a relative path without ".." and without hidden files.`,
      ),
    ]);
  if (!sources.has(entry))
    return refuse('COMPILE_FAILED', [
      problem(entry, 'NO_ENTRY', `The program has no file "${entry}", which should run first.`),
    ]);
  if (!isScript(entry))
    return refuse('COMPILE_FAILED', [problem(entry, 'NO_ENTRY', `"${entry}" is neither TypeScript nor JavaScript.`)]);

  const found = inspect(entry, sources);
  const unknown = found.files.find((p) => !(EXTENSIONS as readonly string[]).includes(extensionOf(p)));
  if (unknown !== undefined)
    found.diagnostics.push(
      problem(
        unknown,
        'FILE_TYPE',
        `"${unknown}" cannot be imported; a program consists of ${EXTENSIONS.join(' ')} files.`,
      ),
    );
  // A type check on top of a refused import would only repeat it in other words.
  if (found.diagnostics.some((d) => d.severity === 'error'))
    return refuse(codeOf(found.diagnostics), found.diagnostics);

  const checked = checker.check(entry, found.files, sources).diagnostics;
  const warnings = [...found.diagnostics, ...checked];
  if (checked.some((d) => d.severity === 'error')) return refuse('COMPILE_FAILED', warnings);

  const bundled = await bundle(entry, sources, checker.exports, workingDir);
  warnings.push(...bundled.diagnostics);
  if (!bundled.ok) return refuse('COMPILE_FAILED', warnings);
  if (!found.usesMayfly)
    warnings.push({
      ...problem(
        entry,
        'NO_MPI',
        'The program never imports "mayfly": every rank runs the whole of it alone, and they all print the same.',
      ),
      severity: 'warning',
    });
  return {
    ok: true,
    bundle: bundled.bundle,
    sourceMap: bundled.sourceMap,
    hash: await blake3(new TextEncoder().encode(bundled.bundle)),
    warnings,
  };
}

const problem = (file: string, code: string, message: string): ProgramDiagnostic => ({
  file,
  line: 1,
  column: 1,
  code,
  message,
  severity: 'error',
});

const codeOf = (diagnostics: readonly ProgramDiagnostic[]): RefusedProgram['code'] =>
  diagnostics.some((d) => d.code === 'FORBIDDEN_IMPORT') ? 'FORBIDDEN_IMPORT' : 'COMPILE_FAILED';

function refuse(code: RefusedProgram['code'], diagnostics: readonly ProgramDiagnostic[]): RefusedProgram {
  const sorted = [
    ...diagnostics.filter((d) => d.severity === 'error'),
    ...diagnostics.filter((d) => d.severity !== 'error'),
  ];
  const errors = sorted.filter((d) => d.severity === 'error').length;
  const first = sorted[0]!;
  return {
    ok: false,
    code,
    message:
      `${first.file}:${first.line}:${first.column}: ` +
      `${first.message}${errors > 1 ? ` (and ${errors - 1} more)` : ''}`,
    diagnostics: sorted,
  };
}
