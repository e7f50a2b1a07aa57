/**
 * Which mutants a seed draws, and whether the compiler lets them pass. Every change has its place in an order that its
 * own words and the seed alone decide: a change elsewhere in the sources moves nothing in it, and a larger count is the
 * smaller one and more.
 *
 * @typedef {import('./operators.mjs').Change & { file: string, id: string }} Mutant
 */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import ts from 'typescript';
import { changed, changesOf } from './operators.mjs';

/** @param {string} folder @returns {string[]} */
export function filesBelow(folder, ending = '.ts') {
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((e) => e.isFile() && e.name.endsWith(ending))
    .map((e) => join(e.parentPath ?? e.path, e.name))
    .sort();
}

/**
 * All mutants of the sources below a folder, in the order of a seed.
 * @param {{ root: string, folder: string, seed: string, only?: string | undefined }} o
 * @returns {Mutant[]}
 */
export function drawn({ root, folder, seed, only }) {
  /** @type {[string, Mutant][]} */
  const all = [];
  for (const path of filesBelow(join(root, folder))) {
    const file = relative(root, path).split(sep).join('/');
    if (only !== undefined && !file.includes(only)) continue;
    const text = readFileSync(path, 'utf8');
    const seen = new Map();
    for (const c of changesOf(text)) {
      // The line's words and not its number; the same change of the same words has a count.
      const from = text.lastIndexOf('\n', c.start - 1) + 1;
      const left = text.slice(from, c.start).trimStart();
      const to = text.indexOf('\n', c.end);
      const words = [file, c.operator, left, c.before, c.after, text.slice(c.end, to < 0 ? undefined : to)].join('\n');
      const nth = (seen.get(words) ?? 0) + 1;
      seen.set(words, nth);
      const id = createHash('sha256').update(`${words}\n${nth}`).digest('hex').slice(0, 16);
      all.push([createHash('sha256').update(`${seed}\n${id}`).digest('hex'), { ...c, file, id }]);
    }
  }
  return all.sort(([a], [b]) => (a < b ? -1 : 1)).map(([, m]) => m);
}

/**
 * Says whether a mutant compiles, as far as its own file tells.
 * @param {string} root @param {string} folder
 */
export function compiler(root, folder) {
  const config = ts.getParsedCommandLineOfConfigFile(
    join(root, folder, '../tsconfig.json'),
    {},
    {
      ...ts.sys,
      onUnRecoverableConfigFileDiagnostic: (d) => {
        throw new Error(String(d.messageText));
      },
    },
  );
  if (!config) throw new Error(`${folder}: its tsconfig.json cannot be read`);
  const names = filesBelow(join(root, folder));
  /** @type {Map<string, { version: number, text: string }>} */
  const replaced = new Map();
  const service = ts.createLanguageService({
    getCompilationSettings: () => config.options,
    getScriptFileNames: () => names,
    getScriptVersion: (name) => String(replaced.get(name)?.version ?? 0),
    getScriptSnapshot: (name) => {
      const text = replaced.get(name)?.text ?? ts.sys.readFile(name);
      return text === undefined ? undefined : ts.ScriptSnapshot.fromString(text);
    },
    getCurrentDirectory: () => root,
    getDefaultLibFileName: (options) => ts.getDefaultLibFilePath(options),
    fileExists: ts.sys.fileExists,
    readFile: ts.sys.readFile,
    readDirectory: ts.sys.readDirectory,
    directoryExists: ts.sys.directoryExists,
    getDirectories: ts.sys.getDirectories,
    ...(ts.sys.realpath ? { realpath: ts.sys.realpath } : {}),
  });
  let version = 0;
  /** @param {Mutant} m */
  return (m) => {
    const path = join(root, m.file);
    const text = readFileSync(path, 'utf8');
    replaced.set(path, { version: ++version, text: changed(text, m) });
    const wrong = service.getSyntacticDiagnostics(path).length > 0 || service.getSemanticDiagnostics(path).length > 0;
    replaced.set(path, { version: ++version, text });
    return !wrong;
  };
}
