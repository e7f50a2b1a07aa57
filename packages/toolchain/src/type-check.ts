/**
 * Type-checks a program with TypeScript over a host that knows the program's files, the declarations of 'mayfly', and
 * TypeScript's own library, and nothing else: no path of this machine can be named.
 *
 * Owns: the parsed library, kept between programs (parsing it is most of a first check's time).
 */
import ts from 'typescript';
import { NO_PLAIN_ARRAY, adviceFor } from './advice.ts';
import { PROGRAM_OPTIONS } from './program-options.ts';
import { extensionOf, isScript, resolveImport } from './resolve.ts';
import type { ProgramDiagnostic } from './compile-request.ts';

/** Text of the declarations: those of the module, and those of the globals of a program. */
export interface Declarations {
  readonly mayfly: string;
  readonly globals: string;
}

export interface TypeCheck {
  readonly diagnostics: ProgramDiagnostic[];
}

const ROOT = '/program/';
const MAYFLY = '/types/mayfly.d.ts';
const GLOBALS = '/types/globals.d.ts';
const LIB = '/lib/';
const MAX_DIAGNOSTICS = 200;
const TEXT_MODULE = 'declare const text: string;\nexport default text;\n';

export class TypeChecker {
  /** Parsed files that never change: the library and the declarations of 'mayfly'. */
  readonly #fixed = new Map<string, ts.SourceFile>();
  readonly #options: ts.CompilerOptions;
  readonly #declarations: Declarations;
  readonly #readLib: (name: string) => string | undefined;
  #exports: string[] | undefined;

  /** @param readLib text of a file of TypeScript's library by its name, 'lib.es2023.d.ts' */
  constructor(declarations: Declarations, readLib: (name: string) => string | undefined) {
    this.#declarations = declarations;
    this.#readLib = readLib;
    const parsed = ts.convertCompilerOptionsFromJson(PROGRAM_OPTIONS, ROOT);
    this.#options = parsed.options;
  }

  /** Names of the values that 'mayfly' exports. */
  get exports(): readonly string[] {
    if (this.#exports === undefined) this.check('main.ts', ['main.ts'], new Map([['main.ts', "import 'mayfly';\n"]]));
    return this.#exports!;
  }

  /** @param files paths to check, with what they import */
  check(entry: string, files: readonly string[], sources: ReadonlyMap<string, string>): TypeCheck {
    // Ambient declarations of the program belong to it though nothing imports them; the template's copies of ours do
    // not.
    const ambient = [...sources.keys()].filter(
      (p) => p.endsWith('.d.ts') && !/(?:^|\/)mayfly(?:-globals)?\.d\.ts$/.test(p),
    );
    const roots = [GLOBALS, MAYFLY, ...new Set([entry, ...files, ...ambient])]
      .map((p) => (p.startsWith('/') ? p : ROOT + p))
      .filter((p) => p.startsWith('/types/') || isScript(p));
    const program = ts.createProgram({ rootNames: roots, options: this.#options, host: this.#host(sources) });
    const checker = program.getTypeChecker();
    if (this.#exports === undefined) {
      const module = checker.getSymbolAtLocation(program.getSourceFile(MAYFLY)!);
      this.#exports =
        module === undefined
          ? []
          : checker
              .getExportsOfModule(module)
              .filter((s) => (s.flags & ts.SymbolFlags.Value) !== 0)
              .map((s) => s.name);
    }
    const all = [
      ...program.getOptionsDiagnostics(),
      ...program.getSyntacticDiagnostics(),
      ...program.getGlobalDiagnostics(),
      ...program.getSemanticDiagnostics(),
    ];
    return {
      diagnostics: ts
        .sortAndDeduplicateDiagnostics(all.map((d) => plainArray(d, checker) ?? d))
        .slice(0, MAX_DIAGNOSTICS)
        .map((d) => this.#convert(d)),
    };
  }

  #host(sources: ReadonlyMap<string, string>): ts.CompilerHost {
    const textOf = (name: string): string | undefined => {
      if (name === MAYFLY) return this.#declarations.mayfly;
      if (name === GLOBALS) return this.#declarations.globals;
      if (name.startsWith(LIB)) return this.#libText(name.slice(LIB.length));
      if (!name.startsWith(ROOT)) return undefined;
      const path = name.slice(ROOT.length);
      if (path.endsWith('.txt.d.ts') && sources.has(path.slice(0, -5))) return TEXT_MODULE;
      return sources.get(path);
    };
    return {
      getSourceFile: (name, languageVersionOrOptions) => {
        const kept = this.#fixed.get(name);
        if (kept !== undefined) return kept;
        const text = textOf(name);
        if (text === undefined) return undefined;
        const file = ts.createSourceFile(name, text, languageVersionOrOptions, false);
        if (!name.startsWith(ROOT)) this.#fixed.set(name, file);
        return file;
      },
      fileExists: (name) => textOf(name) !== undefined,
      readFile: textOf,
      directoryExists: () => false,
      getDirectories: () => [],
      realpath: (name) => name,
      getCurrentDirectory: () => ROOT,
      getDefaultLibFileName: () => `${LIB}lib.es2023.d.ts`,
      getDefaultLibLocation: () => LIB.slice(0, -1),
      getCanonicalFileName: (name) => name,
      useCaseSensitiveFileNames: () => true,
      getNewLine: () => '\n',
      writeFile: () => undefined,
      resolveTypeReferenceDirectiveReferences: (references) =>
        references.map(() => ({ resolvedTypeReferenceDirective: undefined })),
      resolveModuleNameLiterals: (literals, containing) =>
        literals.map(({ text }) => {
          const importer = containing.startsWith(ROOT) ? containing.slice(ROOT.length) : '';
          const r = resolveImport(text, importer, (p) => sources.has(p));
          if (r.kind === 'mayfly')
            return { resolvedModule: { resolvedFileName: MAYFLY, extension: '.d.ts', isExternalLibraryImport: false } };
          if (r.kind !== 'file') return { resolvedModule: undefined };
          const extension = extensionOf(r.path);
          if (extension === '.txt')
            return {
              resolvedModule: {
                resolvedFileName: `${ROOT}${r.path}.d.ts`,
                extension: '.d.ts',
                isExternalLibraryImport: false,
              },
            };
          return {
            resolvedModule: {
              resolvedFileName: ROOT + r.path,
              extension: r.path.endsWith('.d.ts') ? '.d.ts' : extension,
              isExternalLibraryImport: false,
            },
          };
        }),
    };
  }

  #libText(name: string): string | undefined {
    // `/// <reference lib="dom" />` would promise what is not there.
    if (!/^lib\.(?:es5|es6|es20(?:1[5-9]|2[0-3])(?:\.[a-z]+)*|decorators(?:\.legacy)?)\.d\.ts$/.test(name))
      return undefined;
    // Weak references would let a program see the garbage collector, which no replay can repeat.
    return name === 'lib.es2021.weakref.d.ts' ? '' : this.#readLib(name);
  }

  #convert(d: ts.Diagnostic): ProgramDiagnostic {
    const place =
      d.file !== undefined && d.start !== undefined
        ? d.file.getLineAndCharacterOfPosition(d.start)
        : { line: 0, character: 0 };
    const file =
      d.file?.fileName
        .replace(/^\/program\//, '')
        .replace(/^\/types\//, '')
        .replace(/^\/lib\//, '') ?? '';
    const name =
      d.file !== undefined && d.start !== undefined ? d.file.text.slice(d.start, d.start + (d.length ?? 0)) : '';
    const message =
      adviceFor(d.code, name, this.#exports ?? []) ??
      ts.flattenDiagnosticMessageText(d.messageText, '\n').replaceAll(ROOT, '');
    return {
      file,
      line: place.line + 1,
      column: place.character + 1,
      code: `TS${d.code}`,
      message: message.slice(0, 4000),
      severity: d.category === ts.DiagnosticCategory.Error ? 'error' : 'warning',
    };
  }
}

/**
 * The common slip `comm.send([1, 2], 0)`: TypeScript complains of each element, that it is no bigint. Said once, of the
 * array.
 */
function plainArray(d: ts.Diagnostic, checker: ts.TypeChecker): ts.DiagnosticWithLocation | undefined {
  const { file, start } = d;
  if (
    d.code !== 2322 ||
    file === undefined ||
    start === undefined ||
    !/type 'bigint'/.test(ts.flattenDiagnosticMessageText(d.messageText, ' '))
  )
    return undefined;
  let found: ts.ArrayLiteralExpression | undefined;
  const visit = (n: ts.Node): void => {
    if (start < n.pos || start >= n.end) return;
    if (
      ts.isArrayLiteralExpression(n) &&
      ts.isCallExpression(n.parent) &&
      checker.getResolvedSignature(n.parent)?.declaration?.getSourceFile().fileName === MAYFLY
    )
      found = n;
    ts.forEachChild(n, visit);
  };
  visit(file);
  return (
    found && {
      ...d,
      file,
      code: 2345,
      start: found.getStart(file),
      length: found.getWidth(file),
      messageText: NO_PLAIN_ARRAY,
    }
  );
}
