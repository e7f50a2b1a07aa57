/**
 * Reads a program's syntax before anything is bundled: finds the files that are reachable from the entry, and refuses
 * what the runtime cannot give, each with the reason. Nothing here reads a disk.
 *
 * Refused here rather than in the bundler, because the bundler would answer some of these by looking at the disk (glob
 * imports) and others with messages about its own options.
 */
import ts from 'typescript';
import type { ProgramDiagnostic } from './compile-request.ts';
import { extensionOf, isScript, resolveImport } from './resolve.ts';

export interface Inspection {
  /** Reachable files, entry first. */
  readonly files: string[];
  /** Value imports or exports of 'mayfly' somewhere. */
  readonly usesMayfly: boolean;
  readonly diagnostics: ProgramDiagnostic[];
}

export function inspect(entry: string, sources: ReadonlyMap<string, string>): Inspection {
  const diagnostics: ProgramDiagnostic[] = [];
  const files = [entry];
  const seen = new Set(files);
  let usesMayfly = false;
  for (let i = 0; i < files.length; i++) {
    const path = files[i]!;
    if (!isScript(path)) continue;
    const found = inspectFile(path, sources.get(path)!);
    diagnostics.push(...found.diagnostics);
    for (const { specifier, at } of found.imports) {
      const r = resolveImport(specifier, path, (p) => sources.has(p));
      if (r.kind === 'mayfly') usesMayfly = true;
      else if (r.kind === 'file') {
        if (!seen.has(r.path)) {
          seen.add(r.path);
          files.push(r.path);
        }
      } else
        diagnostics.push({
          ...at,
          code: r.kind === 'forbidden' ? 'FORBIDDEN_IMPORT' : 'MISSING_FILE',
          message: r.message,
          severity: 'error',
        });
    }
  }
  return { files, usesMayfly, diagnostics };
}

interface Place {
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

interface FileInspection {
  readonly imports: { specifier: string; at: Place }[];
  readonly diagnostics: ProgramDiagnostic[];
}

/** The imports of one file, in order; used also to read a program from disk. */
export function inspectFile(path: string, text: string): FileInspection {
  const kind =
    { '.ts': ts.ScriptKind.TS, '.mts': ts.ScriptKind.TS, '.tsx': ts.ScriptKind.TSX, '.jsx': ts.ScriptKind.JSX }[
      extensionOf(path)
    ] ?? ts.ScriptKind.JS;
  const source = ts.createSourceFile(path, text, ts.ScriptTarget.ES2023, true, kind);
  const imports: FileInspection['imports'] = [];
  const diagnostics: ProgramDiagnostic[] = [];
  const placeOf = (node: ts.Node): Place => {
    const p = source.getLineAndCharacterOfPosition(node.getStart(source));
    return { file: path, line: p.line + 1, column: p.character + 1 };
  };
  const report = (node: ts.Node, code: string, message: string, severity: 'error' | 'warning' = 'error'): void => {
    diagnostics.push({ ...placeOf(node), code, message, severity });
  };
  const importOf = (node: ts.Expression): void => {
    if (ts.isStringLiteralLike(node)) imports.push({ specifier: node.text, at: placeOf(node) });
  };
  let asyncWarned = false;

  const visit = (node: ts.Node, depth: number): void => {
    if ((ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) && node.moduleSpecifier !== undefined)
      importOf(node.moduleSpecifier);
    else if (ts.isExternalModuleReference(node)) importOf(node.expression);
    else if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument))
      importOf(node.argument.literal as ts.Expression);
    else if (ts.isMetaProperty(node) && node.keywordToken === ts.SyntaxKind.ImportKeyword)
      report(
        node,
        'FORBIDDEN_IMPORT',
        '`import.meta` does not exist: the program is one script without a place of its own. Input files are ' +
          'read with `files.read` from "mayfly".',
      );
    else if (ts.isCallExpression(node)) {
      const callee = node.expression;
      const argument = node.arguments[0];
      if (callee.kind === ts.SyntaxKind.ImportKeyword)
        report(
          node,
          'FORBIDDEN_IMPORT',
          '`import()` loads while the program runs, and asynchronously. Use an `import` statement at the top ' +
            'of the file.',
        );
      else if (ts.isIdentifier(callee) && callee.text === 'require' && !declares(source, 'require')) {
        if (argument !== undefined && ts.isStringLiteralLike(argument)) importOf(argument);
        else
          report(
            node,
            'FORBIDDEN_IMPORT',
            "`require` needs the literal name of one of the program's files. Better: an `import` statement.",
          );
      } else if (ts.isIdentifier(callee) && (callee.text === 'eval' || callee.text === 'Function')) warnEval(node);
    } else if (ts.isNewExpression(node) && ts.isIdentifier(node.expression) && node.expression.text === 'Function')
      warnEval(node);
    else if (
      depth === 0 &&
      (ts.isAwaitExpression(node) || (ts.isForOfStatement(node) && node.awaitModifier !== undefined))
    )
      report(
        node,
        'TOP_LEVEL_AWAIT',
        'MPI calls block; no await is needed. Write `comm.recv(…)`, not `await comm.recv(…)`.',
      );
    else if (
      !asyncWarned &&
      ts.isFunctionLike(node) &&
      ts.canHaveModifiers(node) &&
      node.modifiers?.some((m) => m.kind === ts.SyntaxKind.AsyncKeyword) === true
    ) {
      asyncWarned = true;
      report(
        node,
        'ASYNC',
        'MPI calls block; no async function is needed. What stands behind its first `await` runs only after ' +
          'the end of the program.',
        'warning',
      );
    }
    ts.forEachChild(node, (child) =>
      visit(
        child,
        depth +
          (ts.isFunctionLike(node) || ts.isPropertyDeclaration(node) || ts.isClassStaticBlockDeclaration(node) ? 1 : 0),
      ),
    );
  };
  const warnEval = (node: ts.Node): void =>
    report(
      node,
      'EVAL',
      'Code that is made while the program runs is not compiled: its `**` may differ in the last bit between ' +
        'browsers, and a browser may refuse it.',
      'warning',
    );

  visit(source, 0);
  return { imports, diagnostics };
}

/** True when the file declares the name anywhere: then a call of it is taken for the program's own. */
function declares(source: ts.SourceFile, name: string): boolean {
  let found = false;
  const visit = (node: ts.Node): void => {
    if (found) return;
    const declared =
      (ts.isVariableDeclaration(node) ||
        ts.isFunctionDeclaration(node) ||
        ts.isParameter(node) ||
        ts.isImportSpecifier(node)) &&
      node.name;
    if (declared && ts.isIdentifier(declared) && declared.text === name) found = true;
    else ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}
